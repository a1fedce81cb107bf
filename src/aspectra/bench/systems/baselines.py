"""Baselines without a trained network: the majority answer, k-means of word vectors, and LDA.

The topics of the latter two are mapped by dev, as the teacher's are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from aspectra.bench.protocol import DEV_MAP, LABELS, Frozen, Task
from aspectra.corpus import Ragged
from aspectra.fitting import Fitted
from aspectra.scores import gold_matrix
from aspectra.teacher.train import start_topics
from aspectra.topicmap.by_labels import LabelledSegments, expected_scores, suggest_by_labels
from aspectra.topicmap.gamma import answer_probabilities

TopicProbabilities = Callable[[Sequence[str]], np.ndarray]
"""N×K for N segments; a row of a segment without known words is all zero."""


@dataclass(frozen=True)
class Majority:
    """Always the aspect that dev has most often."""

    name: str = "majority"
    title: str = "majority answer"
    supervision: str = LABELS
    seeded: bool = False

    def config(self, task: Task) -> dict[str, Any]:
        return {}

    def fit(self, task: Task) -> Frozen:
        shares = gold_matrix(task.dev.aspects, task.aspects).mean(0)
        return Frozen(lambda texts: np.tile(shares / shares.sum(), (len(texts), 1)))


@dataclass(frozen=True)
class KMeansTopics:
    """The teacher's start alone: a word belongs to its nearest centroid, a segment to those of its words."""

    name: str = "kmeans"
    title: str = "k-means of words"
    supervision: str = DEV_MAP
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"fit": task.bench.config(task.seed).to_dict()}

    def fit(self, task: Task) -> Frozen:
        words = task.words
        centroids = start_topics(words.vectors, words.config.n_topics, task.seed)
        # squared distances, V×K, up to a constant of the word
        distance = (centroids**2).sum(1) - 2 * words.vectors.matrix @ centroids.T
        topic_of_word = distance.argmin(1)

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            tokens = encode(words, texts)
            rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
            counts = np.zeros((len(tokens), len(centroids)))
            np.add.at(counts, (rows, topic_of_word[tokens.ids]), 1)
            return np.asarray(counts / np.maximum(counts.sum(1, keepdims=True), 1))

        return map_by_dev(probabilities, task)


@dataclass(frozen=True)
class LdaTopics:
    """scikit-learn's latent Dirichlet allocation on the same words, of at most `most` segments, at random."""

    name: str = "lda"
    title: str = "LDA"
    supervision: str = DEV_MAP
    most: int = 100_000
    passes: int = 3
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"fit": task.bench.config(task.seed).to_dict(), "most": self.most, "passes": self.passes}

    def fit(self, task: Task) -> Frozen:
        words = task.words
        model = self.learn(words, task.seed)

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            tokens = encode(words, texts)
            beta = model.transform(counts_of(tokens, len(words.vocabulary)))
            return np.where(tokens.lengths[:, None] > 0, beta, 0)

        return map_by_dev(probabilities, task)

    def learn(self, words: Fitted, seed: int) -> Any:
        """Return scikit-learn's model with as many topics as the set's fit, learnt on its segments."""
        from sklearn.decomposition import LatentDirichletAllocation

        rows = sample_rows(words, self.most, seed)
        model = LatentDirichletAllocation(
            words.config.n_topics,
            learning_method="online",
            batch_size=1024,
            max_iter=self.passes,
            random_state=seed,
        )
        return model.fit(counts_of(words.corpus.tokens.select(rows), len(words.vocabulary)))


def sample_rows(words: Fitted, most: int, seed: int) -> np.ndarray:
    """Return the rows of the corpus to learn from, in order: all, or so many at random."""
    rows = words.corpus.trainable(words.config.min_tokens)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def encode(words: Fitted, texts: Sequence[str]) -> Ragged:
    return words.vocabulary.encode(pl.Series(texts, dtype=pl.String))


def counts_of(tokens: Ragged, n_words: int) -> Any:
    """Return the N×V matrix of word counts."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(tokens.ids)), tokens.ids, tokens.offsets), shape=(len(tokens), n_words))


def map_by_dev(topics: TopicProbabilities, task: Task) -> Frozen:
    """Map topics to aspects with the suggestion that the teacher's get, too."""
    beta = topics(task.dev.texts)
    known = beta.sum(1, keepdims=True) > 0
    labelled = LabelledSegments(np.where(known, beta, np.nan), task.dev.aspects)
    suggestions = suggest_by_labels(labelled, task.aspects, task.seed)
    matrix = np.array(
        [[one.aspect == aspect for aspect in task.aspects] for one in suggestions], dtype=np.float64
    )
    shares = beta.mean(0)

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        return answer_probabilities(topics(texts), task.aspects, matrix, shares)[0]

    return Frozen(probabilities, {"dev_estimate": expected_scores(labelled, task.aspects, task.seed)})
