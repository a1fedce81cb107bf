"""ABAE (He, Lee, Ng, Dahlmeier, ACL 2017): topics are learnt by rebuilding segments, see autoencoder.py.

As in the paper: topics start at k-means of the word vectors, Adam at 0.001, batches of 50, 20 negatives,
λ = 1. Departures, with those of autoencoder.py: the run's words and vectors, 128 wide and not 200; 5,000
steps or 10 passes, not 15,000; dev makes the map that people made. HRSMap is the SSCL paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.bench.protocol import DEV_MAP, Frozen, Task
from aspectra.bench.systems.autoencoder import STEPS, centred, network_config, topics_of, train_autoencoder
from aspectra.bench.systems.baselines import TopicProbabilities, map_by_dev
from aspectra.config import FitConfig
from aspectra.scores import gold_matrix
from aspectra.teacher.train import centroids


@dataclass(frozen=True)
class Abae:
    """ABAE with topics that dev maps: each to one aspect, or with `selective` as the paper's HRSMap does."""

    name: str = "abae"
    title: str = "ABAE, 14 topics"
    supervision: str = DEV_MAP
    n_topics: int | None = 14
    """None takes as many as the set's own fit."""
    selective: bool = False
    steps: int = STEPS
    seeded: bool = True

    def settings(self, task: Task) -> FitConfig:
        config = task.bench.config(task.seed)
        return network_config(config, self.n_topics or config.n_topics)

    def config(self, task: Task) -> dict[str, Any]:
        return {"fit": self.settings(task).to_dict(), "steps": self.steps, "selective": self.selective}

    def fit(self, task: Task) -> Frozen:
        config = self.settings(task)
        start = centroids(centred(task.words.vectors.matrix), config.n_topics, task.seed)
        topics = topics_of(train_autoencoder(task.words, start, config, self.steps), task.words)
        return map_by_dev(topics, task) if self.selective else map_each_topic(topics, task)


def map_each_topic(topics: TopicProbabilities, task: Task) -> Frozen:
    """Give each topic the aspect of most dev segments whose best topic it is; answer by the best topic."""
    gold = gold_matrix(task.dev.aspects, task.aspects)
    shares = gold / gold.sum(1, keepdims=True)
    best = topics(task.dev.texts)
    votes = np.zeros((best.shape[1], len(task.aspects)))
    np.add.at(votes, best.argmax(1), shares)
    votes += 1e-6 * (best.T @ shares)  # a topic that is nowhere the best
    aspect_of = votes.argmax(1)

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        beta = topics(texts)
        sure = beta.max(1)
        result = np.repeat((1 - sure)[:, None] / len(task.aspects), len(task.aspects), axis=1)
        result[np.arange(len(beta)), aspect_of[beta.argmax(1)]] += sure
        return np.where(sure[:, None] > 0, result, shares.mean(0))

    return Frozen(probabilities, {"aspect_of_topic": [task.aspects[place] for place in aspect_of]})
