"""CAt (Tulkens, van Cranenburgh, ACL 2020): attention to words that are like frequent nouns; only names.

A word w of a segment gets the weight Σ_a exp(−γ‖w − a‖²) over the 200 most frequent nouns a, divided by
the segment's sum. A segment is its weighted mean word, its answer the aspect with the nearest name (cosine).
Departures: the run's vectors (skip-gram, not CBOW) at length 1, so γ was chosen on dev; no tagger: a noun is
what often follows an article or possessive; General, which CAt does not know, is the less similar half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from aspectra.arrays import unit
from aspectra.bench.protocol import NAMES, Frozen, Task
from aspectra.bench.systems.baselines import encode, sample_rows
from aspectra.config import GENERAL
from aspectra.corpus import Ragged

NOUNS, GAMMA = 200, 10.0
NOUN_SHARE = 0.1
"""A word is a noun if it ends a noun phrase in at least this share of its occurrences."""
PHRASE = (
    r"\b(?:the|a|an|my|our|your|his|her|their|its|this|these|some)\s+([a-z]+)"
    r"(?:\s*[.,;:!?)]|\s*$|\s+(?:is|was|are|were|of|and|or|with|has|had|in|on|at|for|to|that|but|from)\b)"
)
GENERAL_HALF, SAMPLE = 0.5, 20_000


@dataclass(frozen=True)
class Cat:
    """Contrastive attention with RBF kernels; it learns nothing but word vectors."""

    name: str = "cat"
    title: str = "CAt"
    supervision: str = NAMES
    nouns: int = NOUNS
    gamma: float = GAMMA
    only_nouns: bool = True
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        own = {"nouns": self.nouns, "gamma": self.gamma, "only_nouns": self.only_nouns}
        return {"fit": task.bench.config(task.seed).to_dict(), **own}

    def fit(self, task: Task) -> Frozen:
        words, vectors = task.words, unit(task.words.vectors.matrix)
        wanted = frequent_nouns(task) if self.only_nouns else np.arange(len(vectors))
        weights = rbf_weights(vectors, vectors[wanted[: self.nouns]], self.gamma)
        named = [aspect for aspect in task.aspects if aspect != GENERAL]
        names = unit(attended(encode(words, named), vectors, np.ones(len(vectors))))
        sample = words.corpus.tokens.select(sample_rows(words, SAMPLE, task.seed))
        usual = unit(attended(sample, vectors, weights)) @ names.T
        general = np.quantile(usual.max(1), GENERAL_HALF)

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            cosines = unit(attended(encode(words, texts), vectors, weights)) @ names.T
            columns = dict(zip(named, cosines.T, strict=True))
            columns[GENERAL] = np.full(len(texts), general)
            result = np.maximum(np.column_stack([columns[aspect] for aspect in task.aspects]), 0)
            return np.asarray((result + 1e-9) / (result + 1e-9).sum(1, keepdims=True))

        return Frozen(probabilities, {"nouns": [words.vocabulary.words[word] for word in wanted[:20]]})


def rbf_weights(vectors: np.ndarray, nouns: np.ndarray, gamma: float) -> np.ndarray:
    """Return Σ_a exp(−γ‖w − a‖²) for every word, V."""
    squared = (vectors**2).sum(1)[:, None] + (nouns**2).sum(1) - 2 * vectors @ nouns.T  # V×nouns
    return np.asarray(np.exp(-gamma * np.maximum(squared, 0)).sum(1))


def attended(tokens: Ragged, vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean vector of each row's words, N×D; zeros for a row without words."""
    result = np.zeros((len(tokens), vectors.shape[1]))
    total = np.zeros(len(tokens))
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    np.add.at(total, rows, weights[tokens.ids])
    np.add.at(result, rows, weights[tokens.ids][:, None] * vectors[tokens.ids])
    return np.asarray(result / np.maximum(total, 1e-30)[:, None])


def frequent_nouns(task: Task) -> np.ndarray:
    """Return the ids of the words that end noun phrases often enough, the most frequent first."""
    vocabulary = task.words.vocabulary
    texts = task.words.corpus.segments["text"].str.to_lowercase()
    ends = texts.str.extract_all(PHRASE).explode().drop_nulls().str.extract(PHRASE, 1)
    counted = ends.value_counts(name="times")
    tokens = vocabulary.encode(counted.get_column(ends.name).cast(pl.String))
    times = np.repeat(counted["times"].to_numpy(), tokens.lengths)
    hits = np.bincount(tokens.ids, weights=times, minlength=len(vocabulary))
    return np.flatnonzero(hits >= NOUN_SHARE * np.array(vocabulary.counts))
