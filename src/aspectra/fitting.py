"""The four stages of a fit: prepare → vectors → teacher → topics. Reviews in, a `Fitted` out.

With a run directory every finished stage is kept there, and a later fit resumes from it.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import polars as pl
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as to_bytes

from aspectra import disk, rundir
from aspectra.aspects.names_sample import SAMPLE, NamesSample, read_sample, sample_rows, short_rows
from aspectra.aspects.reader import Embed, Reader
from aspectra.config import FitConfig, PrepareConfig, TeacherConfig, TopicsConfig, VectorsConfig
from aspectra.corpus import Corpus, Vocabulary, load_vocabulary, prepare
from aspectra.errors import ConfigError, InputError, MapError, RunError, typed
from aspectra.progress import Progress, StageProgress, progress_of, unseen
from aspectra.rundir import AGAIN, RunDir, fingerprint
from aspectra.sentiment.model import SentimentModel, load_sentiment
from aspectra.sentiment.opinions import train as train_sentiment
from aspectra.sentiment.rated import NONE, RatedReviews, find_rated, load_rated
from aspectra.teacher.encode import Trained, TrainedTeacher, check_weights, encode
from aspectra.text.code import language_hint
from aspectra.text.memory import as_series
from aspectra.text.tokens import check_language
from aspectra.topicmap.agree import refuse_to_replace
from aspectra.topicmap.topicmap import TopicMap, read_map, write_map
from aspectra.topics import Topics, interpret
from aspectra.vectors import WordVectors, learn_vectors, load_vectors, save_vectors

if TYPE_CHECKING:
    from aspectra.encoder.pretrained import Encoder

STAGES = tuple(rundir.STAGE_FILES)
Made = TypeVar("Made")


@runtime_checkable
class Reviews(Protocol):
    """Where reviews come from: texts in memory or files; `share`, if there, is how much it gave so far."""

    def texts(self) -> Iterator[pl.Series]: ...
    def fingerprint(self) -> list[str]: ...


@dataclass(frozen=True)
class Fitted:
    """What a fit learnt, the settings it was made with, and the topic map if there is one."""

    config: FitConfig
    vocabulary: Vocabulary
    vectors: WordVectors
    trained: Trained
    topics: Topics
    fingerprints: dict[str, str]
    """One per stage."""
    segments: Corpus | RunDir
    """The corpus, or the run to read it from."""
    topic_map: TopicMap | None = None
    sentiment: SentimentModel | None = None
    rated: RatedReviews = NONE
    """What sentiment was learnt from, until it is in a run."""

    def felt(self) -> SentimentModel:
        """Return the sentiment model, or the lexicon alone if none was learnt."""
        return self.sentiment or SentimentModel(self.config.language)

    @property
    def teacher(self) -> TrainedTeacher:
        return self.trained.teacher

    @cached_property
    def corpus(self) -> Corpus:
        """The segments that were learnt from; of a loaded run they are read when first asked for."""
        if not isinstance(self.segments, RunDir):
            return self.segments
        self.segments.check("prepare")
        if self.segments.fingerprint_of("prepare") != self.fingerprints["prepare"]:
            raise RunError(f"{self.segments.path} was updated meanwhile. Repeat the command.")
        return Corpus.load(self.segments)

    @property
    def shares(self) -> np.ndarray:
        """Each topic's share of the corpus, K."""
        return np.array([item.share for item in self.topics.items])

    def read(self, texts: pl.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return β (N×K; NaN where no word is known) and the number of known words (N) of segments."""
        words = self.vocabulary.encode(texts)
        return encode(self.teacher, words, self.config.max_tokens), words.lengths

    def topic_probabilities(self, segments: Any) -> np.ndarray:
        """Return β for segments, N×K; NaN where no word is known."""
        return self.read(as_series(segments))[0]

    def reader(self, encoder: Encoder | None = None) -> Reader:
        """Return what reads segments and aspects for the learner of names.py."""
        embed = encoder.states if encoder else None
        vectors, longest = self.vectors.matrix, self.config.max_tokens
        return Reader(self.vocabulary, vectors, self.topic_probabilities, embed, longest)

    def names_sample(
        self, encoder: Encoder | None = None, progress: StageProgress = unseen, n: int = SAMPLE
    ) -> NamesSample:
        """Read the segments that aspects are learnt from; the encoder's states are kept in the run."""
        rows = sample_rows(self.corpus, self.config.min_tokens, self.config.seed, n)
        texts = self.corpus.segments["text"].gather(rows).to_list()
        states = self.encoded(encoder, texts, progress) if encoder else None
        return read_sample(self.reader(encoder), texts, encoder, states)

    def short_segments(self, n: int) -> list[str]:
        """Return segments too short to be in `names_sample`: as many beside n of it as the reviews have."""
        rows = short_rows(self.corpus, self.config.min_tokens, self.config.seed, n)
        return list(self.corpus.segments["text"].gather(rows))

    def encoded(self, encoder: Encoder, texts: Sequence[str], progress: StageProgress = unseen) -> np.ndarray:
        """Return the encoder's mean states of texts, N×2×De; the run keeps them, so each is read once."""
        if not isinstance(self.segments, RunDir):
            return encoder.states(texts, progress)
        from aspectra.encoder.features import compute_states

        return compute_states(encoder, texts, self.segments / rundir.FEATURES, progress)

    def with_map(self, topic_map: TopicMap) -> Fitted:
        """Return a copy with another topic map; a corpus that was read stays read."""
        other = copy.copy(self)
        object.__setattr__(other, "topic_map", topic_map)
        return other

    def with_sentiment(self, sentiment: SentimentModel, rated: RatedReviews = NONE) -> Fitted:
        """Return a copy with a sentiment model, and the rated reviews that it was learnt from."""
        other = copy.copy(self)
        object.__setattr__(other, "sentiment", sentiment)
        object.__setattr__(other, "rated", rated)
        return other

    def the_map(self) -> TopicMap:
        """Return the topic map, or raise and say how to make one."""
        if self.topic_map is None:
            place = self.segments.path if isinstance(self.segments, RunDir) else "RUN"
            raise MapError(
                "No topic map yet. Map the topics first: detector.suggest_map([…]) "
                f"or aspectra map {typed(place)}"
            )
        return self.topic_map

    def save(self, path: Path | str, replace: bool = False) -> None:
        """Write all stages into a run directory, and the map; what a person chose there only if told to."""
        run = RunDir(path)
        with run.writing(), disk.locked(run.path, "map"):
            if self.topic_map is not None and not replace:
                refuse_to_replace(run / rundir.TOPIC_MAP, self.topic_map)
            self._save(run)

    def _save(self, run: RunDir) -> None:
        saves: tuple[Callable[[], None], ...] = (
            lambda: self.corpus.save(run),
            lambda: save_vectors(self.vectors, run),
            lambda: save_trained(self.trained, run),
            lambda: save_topics(self.topics, run, self.config),
        )
        for stage, save in zip(STAGES, saves, strict=True):
            save()
            run.finish(stage, self.fingerprints[stage])
        if self.sentiment is not None:
            if len(self.rated.frame):
                self.rated.save(run.path)
            self.sentiment.save(run / rundir.SENTIMENT)
        if self.topic_map is not None:
            write_map(run / rundir.TOPIC_MAP, self.topic_map)

    @classmethod
    def load(cls, path: Path | str, with_map: bool = True) -> Self:
        """Read a run directory; the topic map too, if there is one and it is wanted."""
        run = RunDir(path)
        before = run.manifest()
        try:
            return cls._load(run, with_map)
        except RunError:
            if run.manifest() == before:
                raise
            return cls._load(run, with_map)  # it was updated meanwhile

    @classmethod
    def _load(cls, run: RunDir, with_map: bool) -> Self:
        run.check(*STAGES, unread=(rundir.SEGMENTS, rundir.TOKENS))
        config = load_config(run)
        vocabulary = load_vocabulary(run / rundir.VOCABULARY)
        vectors, topics = load_vectors(run, vocabulary), load_topics(run)
        if len(topics.items) != config.n_topics:
            raise RunError(
                f"{run / rundir.TOPICS} has {len(topics.items)} topics, {run / rundir.CONFIG} says "
                f"{config.n_topics}. {AGAIN}"
            )
        has_map = with_map and (run / rundir.TOPIC_MAP).exists()
        return cls(
            config,
            vocabulary,
            vectors,
            load_trained(run, vectors, config),
            topics,
            {stage: run.fingerprint_of(stage) for stage in STAGES},
            run,
            read_map(run / rundir.TOPIC_MAP, topics.fingerprint, len(topics.items)) if has_map else None,
            load_sentiment(run) if (run / rundir.SENTIMENT).exists() else None,
        )


def stage_fingerprints(source: Reviews, config: FitConfig) -> dict[str, str]:
    """Return each stage's fingerprint: its settings and the fingerprint of the stage before."""
    prepared = fingerprint(source.fingerprint(), config.stage(PrepareConfig), config.seed)
    vectors = fingerprint(prepared, config.stage(VectorsConfig))
    teacher = fingerprint(vectors, config.stage(TeacherConfig))
    topics = fingerprint(teacher, config.stage(TopicsConfig))
    return dict(zip(STAGES, (prepared, vectors, teacher, topics), strict=True))


def fit_stages(source: Reviews, config: FitConfig, run: RunDir | None, progress: Progress) -> Fitted:
    """Run the stages in order; with a run directory, those already finished there are loaded instead."""
    from aspectra.teacher.train import train  # imports torch

    fingerprints = stage_fingerprints(source, config)

    def stage(
        name: str,
        make: Callable[[StageProgress], Made],
        save: Callable[[Made, RunDir], None],
        load: Callable[[RunDir], Made],
    ) -> Made:
        progress(name, 0.0)
        if run and run.finished(name, fingerprints[name]):
            made = load(run)
        else:
            made = make(progress_of(name, progress))
            if run:
                save(made, run)
                run.finish(name, fingerprints[name])
        progress(name, 1.0)
        return made

    corpus = stage(
        "prepare",
        lambda done: check_corpus(prepare(told(source, done), config, config.seed), config),
        Corpus.save,
        lambda home: check_corpus(Corpus.load(home), config),
    )
    vectors = stage(
        "vectors",
        lambda done: learn_vectors(corpus.sentences(), corpus.vocabulary, config, config.seed, done),
        save_vectors,
        lambda home: load_vectors(home, corpus.vocabulary),
    )
    trained = stage(
        "teacher",
        lambda done: train(corpus.tokens, corpus.trainable(config.min_tokens), vectors, config, done),
        save_trained,
        lambda home: load_trained(home, vectors, config),
    )
    topics = stage(
        "topics",
        lambda _: interpret(
            trained.teacher, vectors, corpus, config.max_tokens, config.seed, config.keywords
        ),
        lambda made, home: save_topics(made, home, config),
        load_topics,
    )
    return Fitted(config, corpus.vocabulary, vectors, trained, topics, fingerprints, corpus)


def told(source: Reviews, progress: StageProgress) -> Iterator[pl.Series]:
    """Yield the source's texts and tell how far it is; what comes after reading is a tenth of the work."""
    for texts in source.texts():
        yield texts
        progress(0.9 * getattr(source, "share", 0.0))


def fit_sentiment(
    fitted: Fitted, source: Reviews, ratings: Any, run: RunDir | None, progress: Progress
) -> Fitted:
    """Find the ratings, learn sentiment and keep both in the run, unless they are there already."""
    progress("sentiment", 0.0)
    made_for = fingerprint(fitted.fingerprints["prepare"], ratings)
    if run and (run / rundir.SENTIMENT).exists():
        with contextlib.suppress(RunError):  # what is damaged is made again
            there = load_sentiment(run)
            load_rated(run, there)
            if there.about.get("made_for") == made_for:
                progress("sentiment", 1.0)
                return fitted.with_sentiment(there)
    rated = find_rated(source, ratings, fitted.config.language, fitted.config.seed)
    made = learn_sentiment(fitted, rated)
    made.about.update(made_for=made_for)
    if run:
        rated.save(run.path)
        made.save(run / rundir.SENTIMENT)
    progress("sentiment", 1.0)
    return fitted.with_sentiment(made, rated)


def learn_sentiment(
    fitted: Fitted,
    rated: RatedReviews,
    encoder: Encoder | None = None,
    embed: Embed | None = None,
    n: int = SAMPLE,
) -> SentimentModel:
    """Learn sentiment from a sample of the corpus, rated reviews, and an encoder if there is one.

    `embed` is how the encoder reads other texts than the sample.
    """
    corpus, config = fitted.corpus, fitted.config
    rows = sample_rows(corpus, config.min_tokens, config.seed, n)
    texts, reviews = corpus.segments["text"].gather(rows), corpus.segments["review"].gather(rows)
    encoded = fitted.encoded(encoder, texts.to_list()) if encoder else None
    made = train_sentiment(
        texts, config.language, reviews.to_numpy(), encoded, embed,
        rated.segments(config.segment, config.language),
    )  # fmt: skip
    made.about.update(
        reviews=fitted.fingerprints["prepare"], rated=len(rated.frame), ratings=rated.fingerprint(),
        encoder=bool(encoder), note=rated.note,
    )  # fmt: skip
    return made


def check_corpus(corpus: Corpus, config: FitConfig) -> Corpus:
    """Return the corpus, or raise if there is too little in it to learn from."""
    if len(corpus.vocabulary) < config.n_topics:
        least = config.least_count(sum(corpus.vocabulary.counts))
        more = f"Give more reviews, or lower {'--min-count, perhaps to 2, or ' * (least > 2)}--n-topics."
        raise InputError(
            f"The reviews have {len(corpus.vocabulary)} words that occur {least} times or more, "
            f"fewer than {config.n_topics} topics. {language_hint(corpus.segments, config.language) or more}"
        )
    if len(corpus.trainable(config.min_tokens)) < 2:
        raise InputError(
            f"No two segments have {config.min_tokens} or more known words. "
            + (language_hint(corpus.segments, config.language) or "Give more reviews, or lower --min-tokens.")
        )
    return corpus


def load_config(run: RunDir) -> FitConfig:
    try:
        config = FitConfig.from_dict(run.config())
        check_language(config.language)
    except ConfigError as error:
        raise RunError(f"{run / rundir.CONFIG}: {error} {AGAIN}") from None
    return config


def save_trained(trained: Trained, run: RunDir) -> None:
    """Write what the teacher learnt (the word vectors have a file of their own) and how its losses went."""
    disk.write_atomic(run / rundir.TEACHER, to_bytes(trained.teacher.weights))
    disk.write_atomic(
        run / rundir.HISTORY, "".join(json.dumps(line) + "\n" for line in trained.history).encode()
    )


def load_trained(run: RunDir, vectors: WordVectors, config: TeacherConfig) -> Trained:
    try:
        learnt = load_file(run / rundir.TEACHER)
        teacher = TrainedTeacher(vectors.matrix, learnt, config.attention, config.smoothness)
        check_weights(teacher)
    except (SafetensorError, LookupError, OSError, ValueError, TypeError) as error:
        raise RunError(f"{run / rundir.TEACHER} cannot be used ({error}). {AGAIN}") from None
    try:
        lines = (run / rundir.HISTORY).read_bytes().decode().splitlines()
        history = [json.loads(line) for line in lines]
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{run / rundir.HISTORY} cannot be used ({error}). {AGAIN}") from None
    return Trained(teacher, history)


def save_topics(topics: Topics, run: RunDir, config: FitConfig) -> None:
    """Write the topics and, as the run is then complete, the settings that all of it was made with."""
    rundir.write_json(run / rundir.TOPICS, topics.to_dict())
    rundir.write_json(run / rundir.CONFIG, config.to_dict())


def load_topics(run: RunDir) -> Topics:
    try:
        topics = Topics.from_dict(rundir.read_json(run / rundir.TOPICS))
    except TypeError as error:
        raise RunError(f"{run / rundir.TOPICS} cannot be used ({error}). {AGAIN}") from None
    if [item.id for item in topics.items] != list(range(len(topics.items))):
        raise RunError(f"{run / rundir.TOPICS} must list the topics from 0 on, in order. {AGAIN}")
    return topics
