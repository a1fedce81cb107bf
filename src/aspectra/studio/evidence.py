"""What a person sees of a topic before choosing: surest segments, boundary segments, nearest topics.

Segments come from a random sample of the corpus, encoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.topicmap.gamma import aspect_probabilities, entropy
from aspectra.topics import varied

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

SAMPLE = 20_000
CLOSE = 0.8
"""Two topics share a segment if the less likely has this part of the other's probability."""
READABLE = (3, 40)
"""A segment with so many known words can be judged at a glance."""


@dataclass(frozen=True)
class Sample:
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


def draw_sample(detector: AspectDetector, n: int = SAMPLE, seed: int = 0) -> Sample:
    """Draw segments that are not junk and can be read at a glance, each wording once."""
    from aspectra.teacher.encode import encode

    corpus = detector.corpus_
    lengths = corpus.tokens.lengths
    fit = ~corpus.segments["junk"].to_numpy() & (lengths >= READABLE[0]) & (lengths <= READABLE[1])
    rows = np.flatnonzero(fit if fit.any() else lengths > 0)
    rows = np.random.default_rng(seed).permutation(rows)[:n]
    texts = corpus.segments["text"].gather(rows)
    distinct = (
        texts.to_frame("text")
        .select(pl.col("text").str.to_lowercase().str.replace_all(r"\W+", " ").is_first_distinct())
        .to_series()
    )
    rows = rows[distinct.to_numpy()]
    return Sample(
        texts.filter(distinct).to_list(),
        encode(detector.teacher_, corpus.tokens.select(rows), detector.max_tokens),
    )


def surest(sample: Sample, topic: int) -> list[int]:
    """Return the rows where the topic is most probable, best first."""
    return varied(sample.texts, np.argsort(-sample.beta[:, topic], kind="stable"))


def boundary(sample: Sample, topic: int) -> list[int]:
    """Return the rows that the topic all but shares with one other: both likely, and nearly equally so."""
    mine = sample.beta[:, topic]
    first, second = sample.two_highest
    rival = np.where(mine == first, second, first)
    closeness = np.minimum(mine, rival) / np.maximum(np.maximum(mine, rival), 1e-12)
    return varied(sample.texts, np.lexsort((-mine, closeness < CLOSE)))


def nearest(topics: np.ndarray, n: int = 3) -> list[list[tuple[int, float]]]:
    """Return for each topic (K×D) the most similar others with their cosine."""
    unit = topics / np.maximum(np.linalg.norm(topics, axis=1, keepdims=True), 1e-12)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, : min(n, len(topics) - 1)]
    return [[(int(other), float(cosine[topic, other])) for other in row] for topic, row in enumerate(order)]


def next_question(beta: np.ndarray, matrix: np.ndarray, asked: Sequence[int]) -> int | None:
    """Choose the segment whose label would settle most doubt: the largest, most doubtful topic asked least, its most doubtful row."""
    if len(set(asked)) >= len(beta):
        return None
    gamma, unmapped = aspect_probabilities(beta, matrix)
    doubt = entropy(gamma) / np.log(max(2, matrix.shape[1])) + unmapped
    top = beta.argmax(1)
    n_topics = beta.shape[1]
    asked_of = np.bincount(top[list(asked)], minlength=n_topics) if asked else np.zeros(n_topics)
    worth = np.bincount(top, weights=doubt, minlength=n_topics) / (1 + asked_of) ** 2
    free = np.ones(len(beta), dtype=bool)
    free[list(asked)] = False
    for topic in np.argsort(-worth, kind="stable"):
        rows = np.flatnonzero(free & (top == topic))
        if len(rows):
            return int(rows[doubt[rows].argmax()])
    return None
