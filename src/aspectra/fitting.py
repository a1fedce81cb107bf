"""The four stages of a fit, prepare → vectors → teacher → topics, in memory or kept in a run directory and resumed from there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import polars as pl
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes

from aspectra import rundir
from aspectra.config import FitConfig, PrepareConfig, TeacherConfig, VectorsConfig
from aspectra.corpus import Corpus, Vocabulary, prepare
from aspectra.errors import InputError, RunError
from aspectra.progress import Progress, progress_of
from aspectra.rundir import RunDir, fingerprint
from aspectra.teacher.model import Teacher
from aspectra.teacher.train import Trained, train
from aspectra.topics import Topics, interpret
from aspectra.vectors import WordVectors, learn_vectors

STAGES = tuple(rundir.STAGE_FILES)
Made = TypeVar("Made")


class Reviews(Protocol):
    """Where reviews come from: texts in memory or files."""

    def texts(self) -> Iterator[pl.Series]: ...
    def fingerprint(self) -> list[str]: ...


@dataclass(frozen=True)
class Fitted:
    """What a fit learns."""

    corpus: Corpus
    vectors: WordVectors
    trained: Trained
    topics: Topics
    marks: dict[str, str]


def stage_marks(source: Reviews, config: FitConfig) -> dict[str, str]:
    """Return each stage's fingerprint: its settings and the fingerprint of the stage before."""
    prepared = fingerprint(source.fingerprint(), config.stage(PrepareConfig), config.seed)
    vectors = fingerprint(prepared, config.stage(VectorsConfig))
    teacher = fingerprint(vectors, config.stage(TeacherConfig))
    return dict(zip(STAGES, (prepared, vectors, teacher, fingerprint(teacher, "topics")), strict=True))


def fit_stages(source: Reviews, config: FitConfig, run: RunDir | None, progress: Progress) -> Fitted:
    """Run the stages in order; with a run directory, those already finished there are loaded instead."""
    marks = stage_marks(source, config)

    def stage(
        name: str,
        make: Callable[[], Made],
        save: Callable[[Made, RunDir], None],
        load: Callable[[RunDir], Made],
    ) -> Made:
        progress(name, 0.0)
        if run and run.finished(name, marks[name]):
            made = load(run)
        else:
            made = make()
            if run:
                save(made, run)
                run.finish(name, marks[name])
        progress(name, 1.0)
        return made

    corpus = stage(
        "prepare",
        lambda: enough(prepare(source.texts(), config, config.seed), config),
        Corpus.save,
        lambda home: enough(Corpus.load(home), config),
    )
    vectors = stage(
        "vectors",
        lambda: learn_vectors(
            corpus.sentences(), corpus.vocabulary, config, config.seed, progress_of("vectors", progress)
        ),
        save_vectors,
        lambda home: load_vectors(home, corpus.vocabulary),
    )
    trained = stage(
        "teacher",
        lambda: train(
            corpus.tokens,
            corpus.trainable(config.min_tokens),
            vectors,
            config,
            progress_of("teacher", progress),
        ),
        save_trained,
        lambda home: load_trained(home, vectors, config),
    )
    topics = stage(
        "topics",
        lambda: interpret(trained.teacher, vectors, corpus, config.max_tokens, config.seed),
        lambda made, home: save_topics(made, home, config),
        load_topics,
    )
    return Fitted(corpus, vectors, trained, topics, marks)


def save_fitted(fitted: Fitted, run: RunDir, config: FitConfig) -> None:
    """Write all stages into a run directory."""
    saves: tuple[Callable[[], None], ...] = (
        lambda: fitted.corpus.save(run),
        lambda: save_vectors(fitted.vectors, run),
        lambda: save_trained(fitted.trained, run),
        lambda: save_topics(fitted.topics, run, config),
    )
    for stage, save in zip(STAGES, saves, strict=True):
        save()
        run.finish(stage, fitted.marks[stage])


def enough(corpus: Corpus, config: FitConfig) -> Corpus:
    """Return the corpus, or raise if there is too little in it to learn from."""
    if len(corpus.vocabulary) < config.n_topics:
        raise InputError(
            f"The reviews have {len(corpus.vocabulary)} words that occur {config.min_count} times or more, fewer than "
            f"{config.n_topics} topics. Give more reviews, or lower --min-count or --n-topics."
        )
    if len(corpus.trainable(config.min_tokens)) < 2:
        raise InputError(
            f"No two segments have {config.min_tokens} or more known words. Give more reviews, or lower --min-tokens."
        )
    return corpus


def save_vectors(vectors: WordVectors, run: RunDir) -> None:
    with rundir.atomic_path(run / rundir.VECTORS) as path, path.open("wb") as file:
        np.save(file, vectors.matrix)


def load_vectors(run: RunDir, vocabulary: Vocabulary) -> WordVectors:
    return WordVectors(vocabulary.words, np.load(run / rundir.VECTORS))


def save_trained(trained: Trained, run: RunDir) -> None:
    """Write what the teacher learnt (the word vectors have a file of their own) and how its losses went."""
    learnt = {name: tensor for name, tensor in trained.teacher.state_dict().items() if name != "vectors"}
    rundir.write_atomic(run / rundir.TEACHER, to_bytes(learnt))
    rundir.write_atomic(
        run / rundir.HISTORY, "".join(json.dumps(line) + "\n" for line in trained.history).encode()
    )


def load_trained(run: RunDir, vectors: WordVectors, config: TeacherConfig) -> Trained:
    try:
        learnt = load_file(run / rundir.TEACHER)
        teacher = Teacher(torch.from_numpy(vectors.matrix), learnt["topics"], config)
        teacher.load_state_dict({**learnt, "vectors": teacher.vectors})
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise RunError(
            f"{run / rundir.TEACHER} cannot be used ({error}). Repeat the fit: damaged files are rebuilt."
        ) from None
    history = [json.loads(line) for line in (run / rundir.HISTORY).read_text().splitlines()]
    return Trained(teacher.eval(), history)


def save_topics(topics: Topics, run: RunDir, config: FitConfig) -> None:
    """Write the topics and, as the run is then complete, the settings that all of it was made with."""
    rundir.write_json(run / rundir.TOPICS, topics.to_dict())
    rundir.write_json(run / rundir.CONFIG, config.to_dict())


def load_topics(run: RunDir) -> Topics:
    return Topics.from_dict(rundir.read_json(run / rundir.TOPICS))
