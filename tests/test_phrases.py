"""Words and pairs that stand for an encoder's states."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from aspectra.aspects.gaussians import flat_states
from aspectra.student.phrases import LENGTH, LONGEST, SCORE_PRIOR, Phrases, frequent, learn_phrases, regress
from aspectra.text.tokens import extract

WORDS = ("not", "good", "very", "sound")


@pytest.fixture
def phrases() -> Phrases:
    rng = np.random.default_rng(0)
    pairs = np.array([0 * 4 + 1, 2 * 4 + 1])  # not good, very good
    return Phrases(WORDS, pairs, rng.normal(size=(6, 3)).astype(np.float32), np.ones(3, np.float32))


def slow_state(phrases: Phrases, text: str) -> np.ndarray:
    words = text.lower().split()[:LONGEST]
    known = [word for word in words if word in WORDS]
    total = sum((phrases.vectors[WORDS.index(word)] for word in known), np.zeros(3))
    for first, second in pairwise(words):
        if (first, second) in [("not", "good"), ("very", "good")]:
            total = total + phrases.vectors[4 + (first == "very")]
    state = total / max(1, len(known)) + phrases.start
    return LENGTH * state / np.linalg.norm(state)


def test_states_are_sums_of_words_and_pairs(phrases: Phrases) -> None:
    texts = [
        "Not good",
        "good not",
        "very odd good sound",
        "",
        "odd",
        "sound sound very good",
        "very good " * 90,
    ]
    expected = [slow_state(phrases, text) for text in texts]
    np.testing.assert_allclose(phrases.read(*phrases.find(extract(pl.Series(texts))))[0], expected, rtol=1e-4)


def test_frequent_words_and_pairs_are_found() -> None:
    found = frequent(pl.Series(["the sound is good", "the sound is bad", "once"]))
    size = len(found.types)
    pairs = {(found.types[key // size], found.types[key % size]) for key in found.pairs}
    assert set(found.types) == {"the", "sound", "is"}
    assert pairs == {("the", "sound"), ("sound", "is")}


def test_reviews_without_a_pair_are_no_problem() -> None:
    states = np.eye(4, dtype=np.float32)[[0, 1, 0, 1]]
    texts = ["loud", "sweet", "loud", "sweet"]
    learnt, components = learn_phrases(
        pl.Series(texts), texts, states, lambda words: np.ones((len(words), 2, 4))
    )
    close = learnt.read(*learnt.find(extract(pl.Series(["loud", "sweet"]))))[0] @ components.T
    assert close.argmax(1).tolist() == [0, 1]


def test_a_pair_that_means_something_else_than_its_words_is_learnt() -> None:
    rng = np.random.default_rng(1)
    nouns = [f"noun{letter}" for letter in "abcdefgh"]
    texts = [f"{first} {second}" for first in nouns for second in nouns for _ in range(2)]
    meaning = {text: rng.normal(size=(2, 16)) for text in (*nouns, *texts)}

    def embed(wanted: list[str]) -> np.ndarray:
        return np.stack([meaning[text] for text in wanted])

    states = flat_states(embed(texts), np.zeros((2, 16)))
    learnt, components = learn_phrases(pl.Series(texts), texts, states, embed)
    found = learnt.read(*learnt.find(extract(pl.Series(texts))))[0] @ components.T
    assert (found * states).sum(1).mean() > 0.9 * LENGTH


def test_words_and_pairs_lean_to_what_their_segments_are_answered_with() -> None:
    texts = ["loud sound", "loud sound", "not loud", "good price", "good price", "very good"]
    answers = np.eye(2)[[0, 0, 1, 1, 1, 1]] * 0.9 + 0.05
    known = frequent(pl.Series(texts))
    learnt = replace(
        known, vectors=np.zeros((len(known.types) + len(known.pairs), 0), np.float32)
    ).with_scores(texts, answers)
    asked = ["loud", "loud sound", "Price", "unknown", ""]
    _, scores = learnt.read(*learnt.find(extract(pl.Series(asked))))
    shares, counted = answers.mean(0), {"loud": [0, 1, 2], "sound": [0, 1], "price": [3, 4]}
    expected = {
        word: np.log((SCORE_PRIOR * shares + answers[rows].sum(0)) / (SCORE_PRIOR + len(rows)) / shares)
        for word, rows in counted.items()
    }
    both = expected["loud"] + 2 * expected["sound"]  # the pair leans as "sound" does
    wanted = [expected["loud"], both / np.sqrt(3), expected["price"], [0, 0], [0, 0]]
    np.testing.assert_allclose(scores, wanted, atol=1e-5)


def test_phrases_of_older_versions_lean_nowhere(phrases: Phrases) -> None:
    assert phrases.read(*phrases.find(extract(pl.Series(["very good"]))))[1].shape == (1, 0)
    phrases.check()
    with pytest.raises(ValueError, match="not 6 rows"):
        replace(phrases, vectors=phrases.vectors[:, :2]).check()


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    rng = np.random.default_rng(2)
    inputs, targets = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    twice = np.arange(30) < 10
    weighted = regress(inputs, targets, 1.0 + twice)
    repeated = regress(np.vstack([inputs, inputs[twice]]), np.vstack([targets, targets[twice]]))
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(one, other)
