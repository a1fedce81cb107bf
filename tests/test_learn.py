"""Learning from target probabilities and from ratings of whole reviews."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import check_grad

from aspectra.sentiment.learn import Objective, Rated, Taught, balanced, learn, probabilities
from aspectra.sentiment.model import SentimentModel
from aspectra.sentiment.opinions import seen
from aspectra.sentiment.words import WordReader

TEXTS = ("zork lid", "blim lid", "the lid", "zork pump and blim", "a pump", "blim blim")


def lesson(texts: tuple[str, ...]) -> tuple[Any, np.ndarray]:
    return seen(WordReader("en"), pl.Series(texts))


def test_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    found, start = lesson(TEXTS)
    taught = Taught(found, start, rng.dirichlet(np.ones(3), len(TEXTS)), rng.uniform(0.5, 1, len(TEXTS)))
    rated = Rated(found, start, np.array([0, 0, 0, 1, 1, 2]), np.array([1.0, 0.25, 0.0]))
    used = np.unique(taught.features.indices)
    objective = Objective(taught, rated, used)
    point = rng.normal(size=2 * len(used) + 2)
    assert check_grad(lambda x: objective(x)[0], lambda x: objective(x)[1], point) < 1e-4


def test_ratings_of_reviews_teach_unknown_words_and_leave_neutral_ones_alone() -> None:
    even = np.tile([0.1, 0.8, 0.1], (len(TEXTS), 1))
    praise, blame = ("It is zork.", "The lid is here."), ("It is blim.", "The lid is here.")
    texts = (*praise * 200, *blame * 200)
    rated = Rated(*lesson(texts), np.arange(800) // 2, np.repeat([1.0, 0.0], 200))
    made = SentimentModel("en", *learn(Taught(*lesson(TEXTS), even, np.ones(len(TEXTS))), rated))
    scores = made.label(pl.Series(["It is zork.", "It is blim.", "The lid is here."]))["sentiment_score"]
    assert scores[0] > 0.2
    assert scores[1] < -0.2
    assert abs(scores[2]) < 0.1


def test_rare_ratings_count_as_much_as_frequent_ones() -> None:
    weights = balanced(np.array([1.0, 1.0, 1.0, 0.0]))
    assert weights.sum() == pytest.approx(1)
    assert weights[3] == pytest.approx(weights[:3].sum())


def test_probabilities_sum_to_one() -> None:
    chances = probabilities(np.array([[0.0, 0.0], [50.0, -800.0]]))
    assert chances.sum(1) == pytest.approx([1, 1])
    assert chances[0] == pytest.approx([1 / 3] * 3)
