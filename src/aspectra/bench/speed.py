"""Speed and memory: training against the literal algorithm, preparing, labelling, peak RSS. Speeds are compared within one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn import functional

from aspectra.config import FitConfig
from aspectra.corpus import Corpus, prepare
from aspectra.loop import optimise
from aspectra.teacher import gradient
from aspectra.teacher.losses import penalty
from aspectra.teacher.model import Teacher
from aspectra.teacher.train import batches, start_topics, torch_threads
from aspectra.text.read import Source
from aspectra.vectors import WordVectors


def literal_encoding(teacher: Teacher, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return s_E and s_A (B×D each) as the equations are written: W meets every word."""
    embedded = functional.embedding(ids, teacher.vectors)  # B×L×D
    query = (embedded * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)  # B×D
    score = teacher.smoothness * torch.tanh((teacher.align(embedded) * query.unsqueeze(1)).sum(2))  # B×L
    attention = torch.softmax(score.masked_fill(mask == 0, -torch.inf), dim=1)  # B×L
    words = (attention.unsqueeze(2) * embedded).sum(1)  # B×D
    return words, torch.softmax(teacher.classify(words), dim=1) @ teacher.topics


def literal_losses(teacher: Teacher, config: FitConfig, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    """Return the teacher's losses as the algorithm is written: every rotation of the batch is encoded again."""
    ids, mask = batch
    topics = literal_encoding(teacher, ids, mask)[1]
    similarity = []
    for turn in range(len(ids)):
        words, _ = literal_encoding(teacher, torch.roll(ids, turn, 0), torch.roll(mask, turn, 0))
        similarity.append(functional.cosine_similarity(words, topics) / config.temperature)  # B
    negative = torch.stack(similarity[1:])  # B−1×B
    return {"contrastive": (torch.logsumexp(negative, 0) - similarity[0]).mean(), "penalty": penalty(teacher.topics)}


def training_rate(teacher: Teacher, made: Iterable[Any], losses: Callable[[Any], dict[str, Tensor]], config: FitConfig) -> float:
    """Return segments per second of the loop over batches with one way to compute losses and gradients."""
    began, steps = time.perf_counter(), 0

    def count(step: int, parts: dict[str, Tensor]) -> None:
        nonlocal steps
        steps = step

    with torch_threads(1):
        optimise(teacher, made, losses, lambda step: 1e-4, config.clip, count)
    return steps * config.batch_size / (time.perf_counter() - began)


def training_ratio(corpus: Corpus, vectors: WordVectors, config: FitConfig) -> dict[str, float]:
    """Compare our training with the literal algorithm on the same rows; the better of three rounds each."""
    tokens, rows = corpus.tokens, corpus.trainable(config.min_tokens)
    teacher = Teacher(
        torch.from_numpy(vectors.matrix), torch.from_numpy(start_topics(vectors, config.n_topics, config.seed)), config
    )
    ours, literal = [], []
    for _ in range(3):
        words = (tokens.select(batch, config.max_tokens) for batch in batches(rows, 2000, config))
        ours.append(training_rate(teacher, words, partial(gradient.step, teacher, config), config))
        padded = (tokens.padded(batch, config.max_tokens) for batch in batches(rows, 20, config))
        tensors = ((torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32))) for ids, mask in padded)
        literal.append(training_rate(teacher, tensors, partial(literal_losses, teacher, config), config))
    return {"segments_per_second": max(ours), "literal_segments_per_second": max(literal), "ratio": max(ours) / max(literal)}


def preparing_rate(source: Source, config: FitConfig) -> tuple[Corpus, dict[str, float]]:
    """Split, tokenise and index texts that are in memory; return the corpus and segments per second."""
    texts = list(source.texts())
    began = time.perf_counter()
    corpus = prepare(texts, config)
    seconds = time.perf_counter() - began
    return corpus, {"segments": len(corpus.segments), "segments_per_second": len(corpus.segments) / seconds}


def measured(arguments: list[str]) -> tuple[float, float]:
    """Run `aspectra …` in a process of its own; return its seconds and its peak RSS in GB (Linux).

    The peak is read from /proc: what getrusage tells begins with the size of the process that started this one.
    """
    code = (
        "import sys\nfrom pathlib import Path\nfrom aspectra.cli import main\ntry:\n    main()\nfinally:\n"
        "    print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - began, int(done.stderr.strip().rsplit("\n", 1)[-1]) * 1024 / 1e9


def labelling(run: Path, corpus: Corpus, home: Path, sizes: tuple[int, ...] = (100_000, 1_000_000)) -> list[dict[str, float]]:
    """Label Parquet files of one segment a row, end to end in a process each; return rows, rows per second and peak RSS."""
    texts = corpus.segments["text"]
    results = []
    for size in sizes:
        path, out = home / f"segments-{size}.parquet", home / f"labelled-{size}.parquet"
        pl.DataFrame({"id": np.arange(size), "text": pl.concat([texts] * (size // len(texts) + 1))[:size]}).write_parquet(path)
        seconds, peak = measured(["label", str(run), str(path), "-o", str(out), "--model", "teacher", "--quiet"])
        segments = pl.scan_parquet(out).select(pl.len()).collect().item()
        results.append({"rows": size, "segments": segments, "segments_per_second": segments / seconds, "peak_gb": peak})
        out.unlink()
    return results
