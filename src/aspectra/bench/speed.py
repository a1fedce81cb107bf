"""Speed of each stage, compared with a plain way to do the same, and of the student.

Training is compared with the literal algorithm, tokenising with plain Python, frozen features with the
encoder's bare forward pass, ONNX with torch. Both sides are measured in turn: a busy machine disturbs both.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn import functional

from aspectra.bench.processes import measured
from aspectra.config import FitConfig
from aspectra.corpus import Corpus, Vocabulary, prepare
from aspectra.detector import AspectDetector
from aspectra.encoder.features import compute_features
from aspectra.encoder.pretrained import BATCH
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import OnnxLabeller, StudentLabeller
from aspectra.loop import Losses, Step, differentiate, optimise, torch_threads
from aspectra.student.paper.model import Student
from aspectra.teacher import gradient
from aspectra.teacher.losses import penalty
from aspectra.teacher.model import Teacher
from aspectra.teacher.train import batches, start_topics
from aspectra.text.tokens import lemma, stop_words
from aspectra.vectors import WordVectors

ROUNDS = 3
STUDENT_SEGMENTS = 1024
PLAIN_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:'[^\W\d_]+)*")
Line = tuple[str, str]


def literal_encoding(teacher: Teacher, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return s_E and s_A (B×D each) as the equations are written: W meets every word."""
    embedded = functional.embedding(ids, teacher.vectors)  # B×L×D
    query = (embedded * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)  # B×D
    score = teacher.smoothness * torch.tanh((teacher.align(embedded) * query.unsqueeze(1)).sum(2))  # B×L
    attention = torch.softmax(score.masked_fill(mask == 0, -torch.inf), dim=1)  # B×L
    words = (attention.unsqueeze(2) * embedded).sum(1)  # B×D
    return words, torch.softmax(teacher.classify(words), dim=1) @ teacher.topics


def literal_losses(teacher: Teacher, config: FitConfig, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    """Return the teacher's losses as the algorithm is written: every rotation of the batch is encoded."""
    ids, mask = batch
    topics = literal_encoding(teacher, ids, mask)[1]
    similarity = []
    for turn in range(len(ids)):
        words, _ = literal_encoding(teacher, torch.roll(ids, turn, 0), torch.roll(mask, turn, 0))
        similarity.append(functional.cosine_similarity(words, topics) / config.temperature)  # B
    negative = torch.stack(similarity[1:])  # B−1×B
    return {
        "contrastive": (torch.logsumexp(negative, 0) - similarity[0]).mean(),
        "penalty": penalty(teacher.topics),
    }


def training_rate(teacher: Teacher, made: Iterable[Any], one_step: Step, config: FitConfig) -> float:
    """Return segments per second of the loop over batches with one way to compute losses and gradients."""
    began, steps = time.perf_counter(), 0

    def count(step: int, losses: Losses) -> None:
        nonlocal steps
        steps = step

    with torch_threads(1):
        optimise(teacher, made, one_step, lambda step: 1e-4, config.clip, count)
    return steps * config.batch_size / (time.perf_counter() - began)


def training_ratio(
    corpus: Corpus, vectors: WordVectors, config: FitConfig, rounds: int = 3
) -> dict[str, float]:
    """Compare our training with the literal algorithm on the same rows; the best of some rounds each."""
    tokens, rows = corpus.tokens, corpus.trainable(config.min_tokens)
    teacher = Teacher(
        torch.from_numpy(vectors.matrix),
        torch.from_numpy(start_topics(vectors, config.n_topics, config.seed)),
        config,
    )
    ours, literal = [], []
    for _ in range(rounds):
        words = (tokens.select(batch, config.max_tokens) for batch in batches(rows, 2000, config))
        ours.append(training_rate(teacher, words, partial(gradient.step, teacher, config), config))
        padded = (tokens.padded(batch, config.max_tokens) for batch in batches(rows, 20, config))
        tensors = ((torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32))) for ids, mask in padded)
        literal.append(
            training_rate(teacher, tensors, differentiate(partial(literal_losses, teacher, config)), config)
        )
    return {
        "segments_per_second": max(ours),
        "literal_segments_per_second": max(literal),
        "ratio": max(ours) / max(literal),
    }


def preparing_rate(texts: list[pl.Series], config: FitConfig) -> dict[str, float]:
    """Split, tokenise and index texts that are in memory; return segments and segments per second."""
    began = time.perf_counter()
    corpus = prepare(texts, config)
    return {
        "segments": len(corpus.segments),
        "segments_per_second": len(corpus.segments) / (time.perf_counter() - began),
    }


def tokenising_ratio(segments: pl.Series, vocabulary: Vocabulary) -> dict[str, float]:
    """Compare our tokenising and indexing with a loop over words; the best of three rounds each.

    Both know the lemmas of all word forms beforehand.
    """
    lemmas: dict[str, str | None] = {}
    vocabulary.encode(segments)
    plain_ids(segments, vocabulary, lemmas)
    ours, plain = fastest(
        lambda: vocabulary.encode(segments), lambda: plain_ids(segments, vocabulary, lemmas)
    )
    return {
        "segments_per_second": len(segments) / ours,
        "plain_segments_per_second": len(segments) / plain,
        "ratio": plain / ours,
    }


def plain_ids(segments: pl.Series, vocabulary: Vocabulary, seen: dict[str, str | None]) -> list[list[int]]:
    """Return the ids of each segment's known words, word by word; `seen` keeps the lemmas of word forms."""
    stops, result = stop_words(vocabulary.language), []
    for text in segments.to_list():
        ids = []
        for word in PLAIN_TOKEN.findall(text.lower().replace("’", "'")):
            if word not in seen:
                seen[word] = lemma(word, vocabulary.language, stops)
            number = vocabulary.index.get(seen[word] or "", -1)
            if number >= 0:
                ids.append(number)
        result.append(ids)
    return result


def labelling_rate(run: Path, texts: pl.Series, size: int) -> dict[str, float]:
    """Label a Parquet file with one segment per row, end to end in a process of its own."""
    with tempfile.TemporaryDirectory(dir=run.parent) as folder:
        path, out = Path(folder) / "segments.parquet", Path(folder) / "labelled.parquet"
        pl.DataFrame(
            {"id": np.arange(size), "text": pl.concat([texts] * (size // len(texts) + 1))[:size]}
        ).write_parquet(path)
        seconds, peak = measured(
            ["label", str(run), str(path), "-o", str(out), "--model", "teacher", "--quiet"]
        )
        segments = pl.scan_parquet(out).select(pl.len()).collect().item()
    return {"rows": size, "segments": segments, "segments_per_second": segments / seconds, "peak_gb": peak}


def fastest(*works: Callable[[], object]) -> list[float]:
    """Return the best time of each in seconds, measured in turn so that all meet the same machine."""
    times = [[elapsed(work) for work in works] for _ in range(ROUNDS)]
    return np.min(times, axis=0).tolist()  # type: ignore[no-any-return]


def elapsed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def student_lines(detector: AspectDetector, student: Student) -> Iterator[Line]:
    """Measure the student on segments of the run's corpus; yield names and values."""
    segments = detector.corpus_.segments["text"].sample(STUDENT_SEGMENTS, seed=0)
    yield feature_line(student, segments.to_list())
    yield from labelling_lines(StudentLabeller(detector.fitted_, student), segments)


def feature_line(student: Student, texts: list[str]) -> Line:
    encoder = student.encoder
    batches = [(ids, mask) for _, ids, mask in encoder.batches(encoder.tokenise(texts), BATCH)]

    def bare() -> None:
        with torch.inference_mode():
            for ids, mask in batches:
                encoder.hidden(ids, mask)

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            compute_features(encoder, texts, Path(folder), lambda done: None)

    forward, features = fastest(bare, whole)
    rates = f"{len(texts) / features:,.0f} segments/s; bare forward {len(texts) / forward:,.0f}/s"
    return "frozen features, tokenised, encoded, written", f"{rates}; {forward / features:.0%}"


def labelling_lines(model: StudentLabeller, segments: pl.Series) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.onnx" for name in ("fp32", "int8")}
        for name, path in paths.items():
            export_onnx(model.fitted, model.student, path, int8=name == "int8")
        sizes = {name: path.stat().st_size / 1e6 for name, path in paths.items()}
        models = {name: OnnxLabeller(path) for name, path in paths.items()}
        works = [lambda one=one: one.label_segments(segments) for one in (model, *models.values())]
        torch_time, *times = fastest(*works)
        answers = model.label_segments(segments)["aspect"]
        yield "student, labelling segments, torch fp32", f"{len(segments) / torch_time:,.0f} segments/s"
        for (name, one), seconds in zip(models.items(), times, strict=True):
            same = float(np.mean((one.label_segments(segments)["aspect"] == answers).to_numpy()))
            rate = f"{len(segments) / seconds:,.0f} segments/s, {torch_time / seconds:.2f}× torch"
            yield f"the same, ONNX {name}, {sizes[name]:.0f} MB", f"{rate}, {same:.1%} of labels equal"
