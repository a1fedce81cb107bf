import os

import numpy as np
import pytest

from aspectra.config import VectorsConfig
from aspectra.corpus import Ragged, Vocabulary
from aspectra.vectors import FEWEST, MOST, WordVectors, learn_vectors

WORDS = tuple("abcdefgh")
SMALL = VectorsConfig(vector_size=8, window=2, vector_epochs=60)


def corpus(n: int = 400, seed: int = 0) -> Ragged:
    """Sentences of five words, all of them from a-d or all from e-h."""
    random = np.random.default_rng(seed)
    ids = random.integers(0, 4, (n, 5)) + 4 * random.integers(0, 2, (n, 1))
    return Ragged.of(ids.ravel(), np.full(n, 5))


def learn(sentences: Ragged, config: VectorsConfig = SMALL, seed: int = 0) -> WordVectors:
    counts = np.bincount(sentences.ids, minlength=len(WORDS))
    return learn_vectors(
        sentences, Vocabulary(WORDS, tuple(counts.tolist()), "en"), config, seed, lambda done: None
    )


def test_words_that_keep_company_have_similar_vectors() -> None:
    matrix = learn(corpus()).matrix
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    similarity = unit @ unit.T
    assert similarity[:4, :4].mean() > similarity[:4, 4:].mean() + 0.2


def test_vectors_have_a_row_per_word_in_the_order_of_the_vocabulary() -> None:
    vectors = learn(corpus())
    assert vectors.words == WORDS
    assert vectors.matrix.shape == (8, 8)
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.flags.c_contiguous


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = (learn(corpus(), seed=seed).matrix.tobytes() for seed in (0, 0, 1))
    assert first == again != other


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    many = learn(corpus(9000)).matrix
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    np.testing.assert_array_equal(learn(corpus(9000)).matrix, many)


def test_sentences_of_one_word_teach_nothing_and_are_left_out() -> None:
    vocabulary, config = Vocabulary(WORDS, (10,) * 8, "en"), VectorsConfig(vector_size=4, vector_epochs=2)
    whole = corpus(50)
    lone = Ragged.of(
        np.concatenate([whole.ids, np.zeros(30)]), np.concatenate([whole.lengths, np.ones(30, int)])
    )
    found = [
        learn_vectors(sentences, vocabulary, config, 0, lambda done: None).matrix
        for sentences in (whole, lone)
    ]
    np.testing.assert_array_equal(found[0], found[1])


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    vocabulary, config = Vocabulary(WORDS, (10,) * 8, "en"), VectorsConfig(vector_size=4, vector_epochs=4)
    learn_vectors(corpus(50), vocabulary, config, 0, seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_a_small_corpus_is_read_more_often_than_a_large_one() -> None:
    passes: list[float] = []
    learn_vectors(
        corpus(10), Vocabulary(WORDS, (10,) * 8, "en"), VectorsConfig(vector_size=4), 0, passes.append
    )
    assert len(passes) == MOST > FEWEST
