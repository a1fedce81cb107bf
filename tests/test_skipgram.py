import numpy as np

from aspectra.skipgram import SkipGram, join, learn_pair

MODEL = SkipGram.of(np.array([8.0, 4.0, 2.0]), window=2, negative=2)


def test_a_pair_moves_as_the_gradient_of_negative_sampling_says() -> None:
    random = np.random.default_rng(0)
    word, outputs = random.normal(size=4).astype(np.float32), random.normal(size=(3, 4)).astype(np.float32)
    targets, rate = np.array([1, 0, 2], np.int32), np.float32(0.1)
    expected_word, expected = word.copy(), outputs.copy()
    for target, truth in zip(targets, (1, 0, 0), strict=True):
        gain = rate * (truth - 1 / (1 + np.exp(-word @ outputs[target])))
        expected_word += gain * outputs[target]
        expected[target] += gain * word
    learn_pair(word, outputs, targets, MODEL.sigmoid, rate, np.empty(4, np.float32))
    np.testing.assert_allclose(word, expected_word, atol=2e-3)
    np.testing.assert_allclose(outputs, expected, atol=2e-3)


def test_a_negative_that_is_the_word_itself_is_passed_over() -> None:
    word, outputs = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    other = outputs.copy()
    change = np.empty(2, np.float32)
    learn_pair(word.copy(), outputs, np.array([1, 1], np.int32), MODEL.sigmoid, np.float32(0.1), change)
    learn_pair(word.copy(), other, np.array([1], np.int32), MODEL.sigmoid, np.float32(0.1), change)
    np.testing.assert_array_equal(outputs, other)


def test_joining_takes_the_mean_of_those_that_changed_a_row() -> None:
    before = np.zeros((3, 2), np.float32)
    copies = np.array([[[1, 1], [2, 2], [0, 0]], [[3, 3], [0, 0], [0, 0]]], np.float32)
    join(before, copies)
    np.testing.assert_array_equal(copies[0], [[2, 2], [2, 2], [0, 0]])
    np.testing.assert_array_equal(copies[1], copies[0])
    np.testing.assert_array_equal(before, copies[0])


def test_frequent_words_are_negatives_more_often_and_skipped_more_often() -> None:
    shares = np.bincount(MODEL.negatives, minlength=3) / len(MODEL.negatives)
    np.testing.assert_allclose(
        shares, np.array([8, 4, 2]) ** 0.75 / (np.array([8, 4, 2]) ** 0.75).sum(), atol=1e-4
    )
    assert MODEL.keep[0] < MODEL.keep[2] <= 1
