"""Latent Dirichlet allocation by collapsed Gibbs sampling, with own priors for every word and segment.

A word w of segment d gets topic k with probability ∝ (n_dk + α_dk)(n_kw + β_kw)/(n_k + Σ_w β_kw), counted
without itself. LocLDA and W2VLDA differ in the priors only. Compiled; one seed gives one result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aspectra.compiled import compiled
from aspectra.corpus import Ragged


@dataclass(frozen=True)
class TopicModel:
    """φ (K×V): the probability of each word in each topic. Priors α (K or N×K) are given with segments."""

    words: np.ndarray

    def read(self, tokens: Ragged, alpha: np.ndarray, sweeps: int = 20) -> np.ndarray:
        """Return θ (N×K) of segments by mean-field steps with φ fixed; zeros without words."""
        priors = np.broadcast_to(alpha, (len(tokens), len(self.words))).astype(np.float64)
        return np.asarray(infer(tokens.ids, tokens.offsets, self.words, np.ascontiguousarray(priors), sweeps))


def learn_topics(tokens: Ragged, alpha: np.ndarray, beta: np.ndarray, sweeps: int, seed: int) -> TopicModel:
    """Sample topics of all words; α is K or N×K, β is K×V. φ is the mean of the second half of the sweeps."""
    n_topics = len(beta)
    priors = np.ascontiguousarray(np.broadcast_to(alpha, (len(tokens), n_topics)), dtype=np.float64)
    start = draw_start(tokens, priors, beta, seed)
    counts = sample(tokens.ids, tokens.offsets, start, priors, beta.astype(np.float64), sweeps, seed)
    smooth = counts + beta
    return TopicModel(np.asarray(smooth / smooth.sum(1, keepdims=True)))


def draw_start(tokens: Ragged, alpha: np.ndarray, beta: np.ndarray, seed: int) -> np.ndarray:
    """Draw the first topic of every word by the priors alone, ∝ α_dk β_kw."""
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    steps = np.cumsum(alpha[rows] * beta[:, tokens.ids].T, axis=1)
    drawn = np.random.default_rng(seed).random(len(tokens.ids)) * steps[:, -1]
    return np.asarray((steps < drawn[:, None]).sum(1))


@compiled
def sample(ids, offsets, topics, alpha, beta, sweeps, seed):  # type: ignore[no-untyped-def]
    """Return how often (K×V) each word had each topic, the mean over the second half of the sweeps."""
    np.random.seed(seed)
    n_topics, n_words = beta.shape
    of_word, of_topic = np.zeros((n_topics, n_words)), np.zeros(n_topics)
    of_segment = np.zeros((len(offsets) - 1, n_topics))
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            of_word[topics[place], ids[place]] += 1
            of_topic[topics[place]] += 1
            of_segment[row, topics[place]] += 1
    total, mass = np.zeros((n_topics, n_words)), beta.sum(1)
    chances, kept = np.zeros(n_topics), 0
    for sweep in range(sweeps):
        for row in range(len(offsets) - 1):
            for place in range(offsets[row], offsets[row + 1]):
                word, topic = ids[place], topics[place]
                of_word[topic, word] -= 1
                of_topic[topic] -= 1
                of_segment[row, topic] -= 1
                so_far = 0.0
                for k in range(n_topics):
                    fit = (of_word[k, word] + beta[k, word]) / (of_topic[k] + mass[k])
                    so_far += (of_segment[row, k] + alpha[row, k]) * fit
                    chances[k] = so_far
                drawn = np.random.random() * so_far
                topic = 0
                while topic < n_topics - 1 and chances[topic] < drawn:
                    topic += 1
                topics[place] = topic
                of_word[topic, word] += 1
                of_topic[topic] += 1
                of_segment[row, topic] += 1
        if sweep >= sweeps // 2:
            total += of_word
            kept += 1
    return total / max(kept, 1)


@compiled
def infer(ids, offsets, words, alpha, sweeps):  # type: ignore[no-untyped-def]
    """Return θ, N×K: each word spreads over topics by θ·φ, θ is their sum with α, again and again."""
    n_topics = words.shape[0]
    result = np.zeros((len(offsets) - 1, n_topics))
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        if length == 0:
            continue
        theta = alpha[row] / alpha[row].sum()
        for _ in range(sweeps):
            mass = alpha[row].copy()
            for place in range(offsets[row], offsets[row + 1]):
                spread = theta * words[:, ids[place]]
                mass += spread / spread.sum()
            theta = mass / mass.sum()
        result[row] = theta
    return result
