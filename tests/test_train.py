from typing import Any

import numpy as np
import pytest
import torch

from aspectra.config import FitConfig
from aspectra.corpus import Ragged
from aspectra.errors import InputError
from aspectra.loop import torch_threads
from aspectra.teacher import train as training
from aspectra.teacher.encode import Trained, encode
from aspectra.teacher.train import (
    MOST_STEPS,
    batches,
    choose_start,
    choose_steps,
    segment_means,
    start_topics,
    train,
)
from aspectra.vectors import WordVectors

GROUPS, WORDS_EACH, D = 4, 6, 8


def planted(n: int = 300, seed: int = 0) -> tuple[Ragged, WordVectors, np.ndarray]:
    """Return segments that each use one of four groups of similar words, and the group of each."""
    random = np.random.default_rng(seed)
    matrix = np.repeat(np.eye(GROUPS, D) * 2, WORDS_EACH, axis=0) + random.normal(
        0, 0.3, (GROUPS * WORDS_EACH, D)
    )
    group = random.integers(0, GROUPS, n)
    lengths = random.integers(3, 7, n)
    ids = np.repeat(group, lengths) * WORDS_EACH + random.integers(0, WORDS_EACH, lengths.sum())
    words = tuple(f"word{number}" for number in range(len(matrix)))
    return Ragged.of(ids, lengths), WordVectors(words, matrix.astype(np.float32)), group


def learn(rows: int = 300, **settings: Any) -> Trained:
    tokens, vectors, _ = planted()
    config = FitConfig(**{"n_topics": GROUPS, "steps": 150, "warmup": 30, "learning_factor": 4.0, **settings})
    return train(tokens, np.arange(rows), vectors, config, lambda done: None)


def state(trained: Trained) -> bytes:
    return b"".join(array.tobytes() for array in trained.teacher.weights.values())


@pytest.mark.parametrize("attention", ["smooth", "regular", "mean"])
def test_it_learns_planted_topics(attention: str) -> None:
    tokens, _, group = planted()
    trained = learn(attention=attention, n_topics=2 * GROUPS)
    best = encode(trained.teacher, tokens, 30).argmax(1)
    majority = sum(np.bincount(group[best == topic]).max(initial=0) for topic in range(2 * GROUPS))
    assert majority / len(group) > 0.95
    assert trained.history[-1]["contrastive"] < trained.history[0]["contrastive"]


def test_every_topic_moves() -> None:
    _, vectors, _ = planted()
    trained = learn(start="words")
    moved = np.linalg.norm(trained.teacher.topics - start_topics(vectors, GROUPS, 0), axis=1)
    assert (moved > 0.01).all()


def test_word_vectors_and_tokens_are_not_mutated() -> None:
    tokens, vectors, _ = planted()
    train(tokens, np.arange(300), vectors, FitConfig(n_topics=4, steps=20), lambda done: None)
    fresh_tokens, fresh_vectors, _ = planted()
    np.testing.assert_array_equal(vectors.matrix, fresh_vectors.matrix)
    np.testing.assert_array_equal(tokens.ids, fresh_tokens.ids)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = (state(learn(steps=20, seed=seed)) for seed in (0, 0, 1))
    assert first == again != other


def test_the_number_of_threads_changes_nothing() -> None:
    random = np.random.default_rng(0)
    matrix = random.normal(size=(3000, 32)).astype(
        np.float32
    )  # so many words that k-means would share them among threads
    tokens = Ragged.of(random.integers(0, 3000, 500), np.full(100, 5))
    vectors = WordVectors(tuple(map(str, range(3000))), matrix)
    found = []
    for threads in (1, 2):
        with torch_threads(threads):
            found.append(
                train(
                    tokens,
                    np.arange(100),
                    vectors,
                    FitConfig(n_topics=20, steps=2, start="words"),
                    lambda done: None,
                )
            )
    assert state(found[0]) == state(found[1])


def test_chance_drawn_elsewhere_changes_nothing() -> None:
    first = state(learn(steps=5))
    np.random.default_rng(0).random(100)
    torch.rand(100)
    assert state(learn(steps=5)) == first


def test_penalty_in_history_does_not_depend_on_batch_size() -> None:
    small, large = (learn(steps=1, batch_size=size).history[0] for size in (2, 300))
    assert small["penalty"] == large["penalty"]


def test_no_penalty_weight_means_no_penalty() -> None:
    assert learn(steps=1, penalty_weight=0.0).history[0]["penalty"] == 0


def test_fewer_segments_than_a_batch_are_enough() -> None:
    trained = learn(rows=2, steps=3)
    assert all(np.isfinite(array).all() for array in trained.teacher.weights.values())


def test_a_pass_sees_every_segment_once_in_an_order_of_its_own() -> None:
    seen = np.concatenate(list(batches(np.arange(12), 6, FitConfig(batch_size=4))))
    first, second = seen[:12].tolist(), seen[12:].tolist()
    assert sorted(first) == sorted(second) == list(range(12))
    assert first != second


def test_only_the_given_rows_are_trained_on() -> None:
    seen = np.concatenate(list(batches(np.array([3, 5, 8]), 9, FitConfig(batch_size=2))))
    assert set(seen.tolist()) == {3, 5, 8}


@pytest.mark.parametrize(
    ("rows", "steps", "expected"), [(100, 0, 4000), (300_000, 0, 6000), (10**7, 0, MOST_STEPS), (100, 7, 7)]
)
def test_steps_are_those_asked_for_or_one_pass_within_bounds(rows: int, steps: int, expected: int) -> None:
    assert choose_steps(rows, FitConfig(steps=steps)) == expected


def test_a_segment_to_start_from_is_the_mean_of_its_first_words() -> None:
    tokens, vectors, _ = planted(20)
    config = FitConfig(max_tokens=4)
    rows = np.array([2, 7, 11])
    found = segment_means(tokens, rows, vectors, config)
    literal = [
        np.mean(
            [vectors.matrix[i] for i in tokens.ids[tokens.offsets[r] :][: min(4, tokens.lengths[r])]], axis=0
        )
        for r in rows
    ]
    order = np.random.default_rng(config.seed).permutation(3)
    np.testing.assert_allclose(found, np.array(literal)[order], rtol=1e-5)


@pytest.mark.parametrize(("small", "same_as"), [(301, "segments"), (300, "words")])
def test_topics_start_from_segments_only_in_a_small_corpus(
    monkeypatch: pytest.MonkeyPatch, small: int, same_as: str
) -> None:
    tokens, vectors, _ = planted()
    monkeypatch.setattr(training, "SMALL", small)
    by_size, asked, other = (
        choose_start(tokens, np.arange(300), vectors, FitConfig(n_topics=GROUPS, start=start))
        for start in ("auto", same_as, {"words": "segments", "segments": "words"}[same_as])
    )
    np.testing.assert_array_equal(by_size, asked)
    assert not np.array_equal(by_size, other)


def test_at_most_a_sample_of_the_segments_is_clustered(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, vectors, _ = planted()
    monkeypatch.setattr(training, "START_SAMPLE", 50)
    assert segment_means(tokens, np.arange(300), vectors, FitConfig()).shape == (50, D)


def test_too_few_different_segments_start_from_words_unless_segments_were_asked_for() -> None:
    _, vectors, _ = planted()
    tokens, rows = Ragged.of(np.array([1, 2, 3] * 9), np.full(9, 3)), np.arange(9)
    by_size = choose_start(tokens, rows, vectors, FitConfig(n_topics=GROUPS))
    np.testing.assert_array_equal(by_size, start_topics(vectors, GROUPS, 0))
    with pytest.raises(InputError, match="only 1 different segments to start 4 topics from"):
        choose_start(tokens, rows, vectors, FitConfig(n_topics=GROUPS, start="segments"))


def test_encode_gives_each_row_its_own_beta_and_nothing_to_a_row_without_words() -> None:
    teacher = learn(steps=5).teacher
    tokens = Ragged.of(np.array([1, 2, 3, 9]), np.array([3, 0, 1]))
    beta = encode(teacher, tokens, 30)
    assert np.isnan(beta[1]).all()
    np.testing.assert_allclose(beta[[0, 2]].sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(encode(teacher, tokens.select(np.array([2])), 30), beta[2:], rtol=1e-5)


def test_encode_reads_at_most_so_many_words() -> None:
    teacher = learn(steps=5).teacher
    long, cut = (Ragged.of(np.arange(n), np.array([n])) for n in (9, 4))
    np.testing.assert_array_equal(encode(teacher, long, 4), encode(teacher, cut, 30))


def test_the_number_of_threads_is_put_back_even_after_an_error() -> None:
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    with pytest.raises(KeyError), torch_threads(before + 1):
        raise KeyError
    assert torch.get_num_threads() == before
