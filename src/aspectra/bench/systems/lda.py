"""LocLDA (Brody, Elhadad, NAACL 2010) and W2VLDA (García-Pablos, Cuadros, Rigau, 2018), by gibbs.py.

LocLDA is LDA with segments as documents, 14 topics, α = β = 0.1; dev maps each topic to one aspect.
W2VLDA has one topic per aspect: β_kw and α_dk grow with the similarity of a word, and of a segment's words,
to the aspect's seed words in the run's vectors. Departures: at most 100,000 segments; of W2VLDA the aspects
alone, without its separation of opinion words and without sentiment; 5 seed words instead of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.arrays import unit
from aspectra.bench.protocol import DEV_MAP, SEED_WORDS, Frozen, Task
from aspectra.bench.systems.abae import map_each_topic
from aspectra.bench.systems.baselines import encode, sample_rows
from aspectra.bench.systems.cat import attended
from aspectra.bench.systems.seeds import answer_by_aspects, seed_vectors
from aspectra.corpus import Ragged

MOST, SWEEPS = 100_000, 100
SHARPNESS = 4.0
"""Similarities are taken to this power, so that the nearest aspect gets most of a prior."""


@dataclass(frozen=True)
class LocLda:
    """LDA whose documents are segments; every topic is mapped to one aspect."""

    name: str = "loclda"
    title: str = "LocLDA, 14 topics"
    supervision: str = DEV_MAP
    n_topics: int = 14
    most: int = MOST
    sweeps: int = SWEEPS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        own = {"topics": self.n_topics, "most": self.most, "sweeps": self.sweeps}
        return {"fit": task.bench.config(task.seed).to_dict(), **own}

    def fit(self, task: Task) -> Frozen:
        from aspectra.bench.systems.gibbs import learn_topics  # compiles

        words = task.words
        alpha = np.full(self.n_topics, 0.1)
        beta = np.full((self.n_topics, len(words.vocabulary)), 0.1)
        tokens = words.corpus.tokens.select(sample_rows(words, self.most, task.seed))
        model = learn_topics(tokens, alpha, beta, self.sweeps, task.seed)
        return map_each_topic(lambda texts: model.read(encode(words, texts), alpha), task)


@dataclass(frozen=True)
class W2vLda:
    """LDA with a topic per aspect and priors by the similarity with its seed words."""

    name: str = "w2vlda"
    title: str = "W2VLDA"
    supervision: str = SEED_WORDS
    most: int = MOST
    sweeps: int = SWEEPS
    strength: float = 5.0
    """Sum of α over the aspects."""
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        own = {"most": self.most, "sweeps": self.sweeps, "strength": self.strength}
        return {"fit": task.bench.config(task.seed).to_dict(), **own, "seeds": task.seed_words}

    def fit(self, task: Task) -> Frozen:
        from aspectra.bench.systems.gibbs import learn_topics  # compiles

        words, vectors = task.words, unit(task.words.vectors.matrix)
        seeds = unit(seed_vectors(task, vectors, weighted=False, few=True))  # A×D
        beta = shares(vectors @ seeds.T).T  # A×V, each word's columns sum to 1

        def alpha(tokens: Ragged) -> np.ndarray:
            means = unit(attended(tokens, vectors, np.ones(len(vectors))))
            return self.strength * shares(means @ seeds.T)  # N×A

        tokens = words.corpus.tokens.select(sample_rows(words, self.most, task.seed))
        model = learn_topics(tokens, alpha(tokens), beta, self.sweeps, task.seed)

        def topics(texts: Sequence[str]) -> np.ndarray:
            known = encode(words, texts)
            return model.read(known, alpha(known))

        return answer_by_aspects(topics, task)


def shares(cosines: np.ndarray) -> np.ndarray:
    """Turn similarities with A aspects into priors: (1 + cosine)^s, rows sum to 1."""
    powers = (1 + cosines) ** SHARPNESS
    return np.asarray(powers / powers.sum(1, keepdims=True))
