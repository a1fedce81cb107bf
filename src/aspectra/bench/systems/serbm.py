"""SERBM (Wang et al., ACL 2015): a restricted Boltzmann machine of aspects, other words, sentiment.

Of N words, v_k times k, and binary units h: E = −Σ_jk h_j W_jk v_k − Σ_k b_k v_k − N Σ_j a_j h_j, learnt by
contrastive divergence; priors π tie words to units: −λ Σ (σ(W_jk) − π_jk)². Departures: π comes from 5 seed
words per aspect and VADER, theirs from lists that we do not have; the unit of other words is General; the
answer is the unit with most input; at most 100,000 segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.arrays import softmax
from aspectra.bench.protocol import SEED_WORDS, Frozen, Task
from aspectra.bench.systems.baselines import counts_of, encode, sample_rows
from aspectra.bench.systems.seeds import seed_ids
from aspectra.config import GENERAL
from aspectra.sentiment.lexicon import valences
from aspectra.topicmap.gamma import answer_probabilities

STEPS, BATCH, RATE, PRIOR, START = 3000, 100, 0.05, 10.0, 0.01


@dataclass(frozen=True)
class Serbm:
    """The machine with a unit for each aspect, three more, and priors."""

    name: str = "serbm"
    title: str = "SERBM"
    supervision: str = SEED_WORDS
    most: int = 100_000
    steps: int = STEPS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        own = {"most": self.most, "steps": self.steps, "prior": PRIOR}
        return {"fit": task.bench.config(task.seed).to_dict(), **own, "seeds": task.seed_words}

    def fit(self, task: Task) -> Frozen:
        words, n_words = task.words, len(task.words.vocabulary)
        tokens = words.corpus.tokens.select(sample_rows(words, self.most, task.seed))
        priors = word_priors(task)
        machine = learn(counts_of(tokens, n_words), priors, self.steps, task.seed)
        named = [aspect for aspect in task.aspects if aspect != GENERAL]
        matrix = np.array([[name == aspect for aspect in task.aspects] for name in [*named, GENERAL]], float)

        def topics(texts: Sequence[str]) -> np.ndarray:
            counts = counts_of(encode(words, texts), n_words)
            inputs = machine.inputs(counts)[:, : len(named) + 1]
            return np.where(np.asarray(counts.sum(1)) > 0, softmax(inputs), 0)

        shares = topics(task.dev.texts).mean(0)
        return Frozen(lambda texts: answer_probabilities(topics(texts), task.aspects, matrix, shares)[0])


@dataclass
class Machine:
    """W (H×V) between units and words, and their biases a (H) and b (V)."""

    weights: np.ndarray
    units: np.ndarray
    words: np.ndarray

    def inputs(self, counts: Any) -> np.ndarray:
        """Return N a_j + Σ_k W_jk v_k for counts (B×V), B×H; its σ is p(h_j = 1 | v)."""
        totals = np.asarray(counts.sum(1)).reshape(-1, 1)
        return np.asarray(counts @ self.weights.T + totals * self.units)

    def word_probabilities(self, hidden: np.ndarray) -> np.ndarray:
        """Return p(k | h) for units (B×H), B×V: softmax of b_k + Σ_j h_j W_jk."""
        return softmax(hidden @ self.weights + self.words)


def word_priors(task: Task) -> np.ndarray:
    """Return π, H×V, NaN where nothing is known: aspects, other words, praise, complaint."""
    vocabulary = task.words.vocabulary
    named = [place for place, aspect in enumerate(task.aspects) if aspect != GENERAL]
    priors = np.full((len(named) + 3, len(vocabulary)), np.nan)
    ids = seed_ids(task, few=True)
    seeds = {word for place in named for word in ids[place]}
    for row, place in enumerate(named):
        priors[: len(named) + 1, list(ids[place])] = 0.0
        priors[row, list(ids[place])] = 1.0
    for word, value in valences(task.words.config.language).items():
        known = vocabulary.index.get(word)
        if known is not None and known not in seeds:
            priors[:, known] = 0.5  # it says nothing of the aspect
            priors[-2:, known] = 0.5 + value / 8, 0.5 - value / 8
    return priors


def learn(counts: Any, priors: np.ndarray, steps: int, seed: int) -> Machine:
    """Learn from counts (N×V) by contrastive divergence with one step, words as their probabilities."""
    random = np.random.default_rng(seed)
    known = np.flatnonzero(~np.isnan(priors).all(0))
    wanted = priors[:, known]
    frequencies = np.asarray(counts.sum(0)).ravel() + 1.0
    machine = Machine(
        random.normal(0, START, priors.shape), np.zeros(len(priors)), np.log(frequencies / frequencies.sum())
    )
    for number in range(steps):
        batch = counts[random.integers(0, counts.shape[0], BATCH)]
        change = divergence(machine, batch, random)
        rate = RATE * (1 - number / steps)
        machine.weights += rate * change.weights
        machine.units += rate * change.units
        machine.words += rate * change.words
        sure = sigmoid(machine.weights[:, known])
        pull = np.nan_to_num(2 * (wanted - sure)) * sure * (1 - sure)
        machine.weights[:, known] += rate * PRIOR * pull
    return machine


def divergence(machine: Machine, batch: Any, random: np.random.Generator) -> Machine:
    """Return the change of all weights: correlations of words and units now minus after a step."""
    totals = np.asarray(batch.sum(1)).reshape(-1, 1)
    first = sigmoid(machine.inputs(batch))
    drawn = (random.random(first.shape) < first).astype(np.float64)
    again = totals * machine.word_probabilities(drawn)
    second = sigmoid(machine.inputs(again))
    size = len(totals)
    return Machine(
        (np.asarray(batch.T @ first).T - second.T @ again) / size,
        (totals * (first - second)).mean(0),
        np.asarray(batch.sum(0)).ravel() / size - again.mean(0),
    )


def sigmoid(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -50, 50))))
