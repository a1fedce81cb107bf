"""What systems share that are told seed words: the words' ids and vectors, and answers by aspect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aspectra.bench.protocol import FEW_SEEDS, Frozen, Task
from aspectra.bench.systems.baselines import TopicProbabilities
from aspectra.config import GENERAL
from aspectra.topicmap.gamma import answer_probabilities

GENERAL_SEEDS = 30
"""Where General has no seed words of its own, the most frequent words of the corpus are taken."""


def seed_ids(task: Task, few: bool = False) -> list[dict[int, float]]:
    """Return for each aspect the ids of its known seed words, or of the first five, with their weights."""
    vocabulary = task.words.vocabulary
    found: list[dict[int, float]] = []
    for aspect in task.aspects:
        given = list(task.weighted_seeds.get(aspect, {}).items())
        weights = dict(given[:FEW_SEEDS] if few else given)
        tokens = vocabulary.encode(pl.Series(list(weights), dtype=pl.String))
        known = np.flatnonzero(tokens.lengths)
        firsts = tokens.ids[tokens.offsets[known]]
        values = np.array(list(weights.values()))[known]
        found.append({int(word): float(value) for word, value in zip(firsts, values, strict=True)})
    return found


def seed_vectors(task: Task, vectors: np.ndarray, weighted: bool, few: bool = False) -> np.ndarray:
    """Return the (weighted) mean of each aspect's seed words, A×D."""
    taken: set[int] = set()
    ids = seed_ids(task, few)
    taken.update(*ids)
    frequent = [word for word in range(len(vectors)) if word not in taken][:GENERAL_SEEDS]
    rows = []
    for aspect, seeds in zip(task.aspects, ids, strict=True):
        if not seeds and aspect == GENERAL:
            seeds = dict.fromkeys(frequent, 1.0)
        weights = np.array(list(seeds.values())) if weighted else np.ones(len(seeds))
        rows.append(weights @ vectors[list(seeds)] / max(weights.sum(), 1e-12))
    return np.stack(rows)


def answer_by_aspects(topics: TopicProbabilities, task: Task) -> Frozen:
    """Freeze a system whose topics are the aspects in the task's order; unknown words are General."""
    identity = np.eye(len(task.aspects))
    shares = topics(task.dev.texts).mean(0)

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        return answer_probabilities(topics(texts), task.aspects, identity, shares)[0]

    return Frozen(probabilities)
