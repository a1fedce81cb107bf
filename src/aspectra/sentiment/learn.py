"""Segments with target probabilities, and rated reviews if there are some → a weight per feature and class.

A review's rating is not copied to its segments (multiple-instance learning): the positive share of what its
segments say, each weighted by its probability of not being neutral, is to match the rating. So neutral is a
class of its own, and a complaint in a good review may stay a complaint. Shapes: N segments, F features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.arrays import softmax
from aspectra.sentiment.rules import BITS, Features

CLASSES = ("negative", "neutral", "positive")
SHRINKAGE = 1e-4
FEW_RATED = 1000
"""Many rated reviews count as much as all taught segments, so many half of that."""
STEPS = 60
LEAST_SEEN = 2
"""A feature that fewer segments have is not learnt."""
PRIOR = 0.05
"""Added to what a review says for and against, so that one of neutral segments has no extreme share."""
ALONE_PRIOR = 0.5
"""The same where no encoder helps: the more, the less can neutral segments explain a rating."""


@dataclass(frozen=True)
class Taught:
    """Segments with the probability of each class, and how much each segment counts."""

    features: Any  # sparse, N×2^BITS
    start: np.ndarray  # logits of the lexicon, N×2
    targets: np.ndarray  # N×3
    weights: np.ndarray  # N


@dataclass(frozen=True)
class Rated:
    """The segments of rated reviews: `reviews` tells whose each is, `ratings` are 0 to 1."""

    features: Any  # sparse, N×2^BITS
    start: np.ndarray  # logits of the lexicon, N×2
    reviews: np.ndarray  # N
    ratings: np.ndarray  # one per review
    prior: float = PRIOR


def matrix(features: Features) -> Any:
    """Return features as a sparse matrix, N×2^BITS."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(features.ids), np.float32)
    made = csr_matrix((ones, (features.rows, features.ids)), shape=(features.n, 2**BITS))
    made.data[:] = 1  # a word that is there twice counts once
    return made


def probabilities(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities of CLASSES, N×3, from the logits of positive and negative, N×2."""
    return softmax(np.stack([logits[:, 1], np.zeros(len(logits)), logits[:, 0]], 1))


def learn(taught: Taught, rated: Rated | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features that count, their weights (F×2: positive, negative) and the two biases."""
    from scipy.optimize import minimize

    parts = [taught.features] + ([rated.features] if rated else [])
    seen = sum(np.bincount(part.indices, minlength=2**BITS) for part in parts)
    used = np.flatnonzero(seen >= LEAST_SEEN)
    objective = Objective(taught, rated, used)
    start = np.zeros(2 * len(used) + 2)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    weights = found.x[:-2].reshape(-1, 2).astype(np.float16)  # as the file keeps them
    return used, weights.astype(np.float32), found.x[-2:]


class Objective:
    """The loss and its gradient: cross-entropy of taught segments, of rated reviews, and shrinkage."""

    def __init__(self, taught: Taught, rated: Rated | None, used: np.ndarray) -> None:
        self.told, self.told_t = both_ways(taught.features, used)
        self.targets, self.weights = taught.targets, taught.weights / taught.weights.sum()
        self.start, self.rated = taught.start, rated
        if rated:
            self.said, self.said_t = both_ways(rated.features, used)
            self.review_weights = balanced(rated.ratings)
            self.weight = len(rated.ratings) / (len(rated.ratings) + FEW_RATED)

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias = flat[:-2].reshape(-1, 2), flat[-2:]
        guess = probabilities(self.start + self.told @ weights + bias)  # N×3
        loss = -(self.weights[:, None] * self.targets * np.log(guess + 1e-12)).sum()
        change = (self.weights[:, None] * (guess - self.targets))[:, [2, 0]]  # N×2
        slope, bias_slope = self.told_t @ change, change.sum(0)
        if self.rated:
            more, change = rating_loss(
                probabilities(self.rated.start + self.said @ weights + bias), self.rated, self.review_weights
            )
            loss += self.weight * more
            slope = slope + self.weight * (self.said_t @ change)
            bias_slope = bias_slope + self.weight * change.sum(0)
        loss += 0.5 * SHRINKAGE * (weights**2).sum()
        return float(loss), np.concatenate([(slope + SHRINKAGE * weights).ravel(), bias_slope])


def both_ways(features: Any, used: np.ndarray) -> tuple[Any, Any]:
    """Return the columns in use, and the same transposed: both products are then fast."""
    columns = features[:, used].tocsr()
    return columns, columns.T.tocsr()


def balanced(ratings: np.ndarray) -> np.ndarray:
    """Return weights that sum to 1: reviews above the middle count as much as those below it."""
    weights = np.ones(len(ratings))
    for side in (ratings > 0.5, ratings < 0.5):
        weights[side] = len(ratings) / (2 * max(1, side.sum()))
    return np.asarray(np.minimum(weights, 20 * weights.min()) / np.minimum(weights, 20 * weights.min()).sum())


def rating_loss(guess: np.ndarray, rated: Rated, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the cross-entropy of ratings, and its gradient by the logits of positive and negative, N×2."""
    n, at = len(rated.ratings), rated.reviews
    good, bad = (np.bincount(at, guess[:, column], n) + rated.prior for column in (2, 0))
    share, ratings = good / (good + bad), rated.ratings
    loss = -(weights * (ratings * np.log(share) + (1 - ratings) * np.log(1 - share))).sum()
    by_share = weights * ((1 - ratings) / (1 - share) - ratings / share)
    by_good, by_bad = (by_share * bad / (good + bad) ** 2)[at], (-by_share * good / (good + bad) ** 2)[at]
    mean = guess[:, 2] * by_good + guess[:, 0] * by_bad
    return float(loss), np.stack([guess[:, 2] * (by_good - mean), guess[:, 0] * (by_bad - mean)], 1)
