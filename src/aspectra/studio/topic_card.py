"""What a person sees of a topic before choosing: surest segments, boundary segments, nearest topics.

Segments come from a random sample of the corpus, encoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from aspectra.arrays import cosines
from aspectra.aspects.names_sample import sample_rows
from aspectra.detector import AspectDetector
from aspectra.topicmap.gamma import aspect_probabilities, entropy
from aspectra.topics import varied

N_DRAWN = 20_000
CLOSE = 0.8
"""Two topics are about equally likely if one has at least this part of the other's probability."""
AMONG = 5
"""A doubtful segment is the most doubtful of so many. With 50 labels that gains 1.4 over random ones on the
mean of five dev sets; of nine 1.0, of all 0.9, and the least certain of each topic in turn nothing."""
READABLE = (3, 40)
"""Shown are segments with at least and at most this many known words: quick to read."""


@dataclass(frozen=True)
class SegmentSample:
    """Segments of the corpus with their β (N×K), in random order."""

    texts: list[str]
    beta: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def two_highest(self) -> tuple[np.ndarray, np.ndarray]:
        """The largest and the second largest probability of each row."""
        top = np.partition(self.beta, -2, axis=1)[:, -2:]
        return top[:, 1], top[:, 0]


def draw_sample(detector: AspectDetector, n: int = N_DRAWN, seed: int = 0) -> SegmentSample:
    """Draw segments that are quick to read and not junk, each wording once."""
    from aspectra.teacher.encode import encode

    corpus = detector.corpus_
    lengths = corpus.tokens.lengths
    rows = sample_rows(corpus, detector.min_tokens, seed, n)  # those that aspects are learnt from come first
    fit = (lengths[rows] >= READABLE[0]) & (lengths[rows] <= READABLE[1])
    rows = rows[fit] if fit.any() else rows
    texts = corpus.segments["text"].gather(rows)
    distinct = (
        texts.to_frame("text")
        .select(pl.col("text").str.to_lowercase().str.replace_all(r"\W+", " ").is_first_distinct())
        .to_series()
    )
    rows = rows[distinct.to_numpy()]
    return SegmentSample(
        texts.filter(distinct).to_list(),
        encode(detector.teacher_, corpus.tokens.select(rows), detector.max_tokens),
    )


def surest(sample: SegmentSample, topic: int) -> list[int]:
    """Return the rows where the topic is most probable, best first."""
    return varied(sample.texts, np.argsort(-sample.beta[:, topic], kind="stable"))


def boundary(sample: SegmentSample, topic: int) -> list[int]:
    """Return the rows where the topic and one other are both likely, and about equally so."""
    mine = sample.beta[:, topic]
    first, second = sample.two_highest
    rival = np.where(mine == first, second, first)
    closeness = np.minimum(mine, rival) / np.maximum(np.maximum(mine, rival), 1e-12)
    return varied(sample.texts, np.lexsort((-mine, closeness < CLOSE)))


def nearest(topics: np.ndarray, n: int = 3) -> list[list[tuple[int, float]]]:
    """Return for each topic (K×D) the most similar others with their cosine."""
    alike = cosines(topics, topics)
    np.fill_diagonal(alike, -np.inf)
    order = np.argsort(-alike, axis=1, kind="stable")[:, : min(n, len(topics) - 1)]
    return [[(int(other), float(alike[topic, other])) for other in row] for topic, row in enumerate(order)]


def map_doubt(beta: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return how little certain a topic map (K×A) is of segments with these β, N."""
    gamma, unmapped = aspect_probabilities(beta, matrix)
    return np.asarray(entropy(gamma) / np.log(max(2, matrix.shape[1])) + unmapped)


def next_question(doubt: np.ndarray, asked: Sequence[int]) -> int | None:
    """Choose the segment whose label would help most; segments are in random order.

    It is the most doubtful of the next AMONG that nobody was asked about: the most doubtful of all are odd.
    """
    free = np.ones(len(doubt), dtype=bool)
    free[list(asked)] = False
    for start in range(0, len(doubt), AMONG):
        few = slice(start, start + AMONG)
        if free[few].all():
            return start + int(doubt[few].argmax())
    left = np.flatnonzero(free)
    return int(left[doubt[left].argmax()]) if len(left) else None
