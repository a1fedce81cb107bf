"""Speed and memory: each stage, training against the literal algorithm, tokenising against plain Python, labelling, peak RSS.

Speeds are compared within one run, so that a busy machine disturbs both sides.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
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
from aspectra.corpus import Corpus, Vocabulary, prepare
from aspectra.loop import Losses, Step, differentiate, optimise
from aspectra.teacher import gradient
from aspectra.teacher.losses import penalty
from aspectra.teacher.model import Teacher
from aspectra.teacher.train import batches, start_topics, torch_threads
from aspectra.text.tokens import lemma, stop_words
from aspectra.vectors import WordVectors

ROUNDS = 3
ASPECTRA = [sys.executable, "-c", "from aspectra.cli import main; main()"]
"""How to start it as a process of its own."""
PLAIN_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:'[^\W\d_]+)*")


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


def training_ratio(corpus: Corpus, vectors: WordVectors, config: FitConfig) -> dict[str, float]:
    """Compare our training with the literal algorithm on the same rows; the better of three rounds each."""
    tokens, rows = corpus.tokens, corpus.trainable(config.min_tokens)
    teacher = Teacher(
        torch.from_numpy(vectors.matrix),
        torch.from_numpy(start_topics(vectors, config.n_topics, config.seed)),
        config,
    )
    ours, literal = [], []
    for _ in range(3):
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
    """Compare our tokenising and indexing with a loop over words; the better of three rounds each, word forms known beforehand."""
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
    """Return the ids of the known words of each segment, word by word; `seen` keeps the lemmas of word forms met."""
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


def measured(arguments: list[str]) -> tuple[float, float]:
    """Run `aspectra …` in a process of its own; return its seconds and its peak RSS in GB (Linux).

    The peak is read from /proc: what getrusage tells begins with the size of the process that started this one.
    """
    code = (
        "import sys\nfrom pathlib import Path\nfrom aspectra.cli import main\ntry:\n    main()\nfinally:\n"
        "    print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - began, int(done.stderr.strip().rsplit("\n", 1)[-1]) * 1024 / 1e9


def labelling(run: Path, texts: pl.Series, size: int) -> dict[str, float]:
    """Label a Parquet file of one segment a row, end to end in a process; return rows, segments per second and peak RSS."""
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
