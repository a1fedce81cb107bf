"""Small functions of arrays, against literal loops."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from aspectra.arrays import cosines, even_where_unknown, normalise, softmax, unit

ROWS = np.random.default_rng(0).random((4, 5))


def test_softmax_is_a_literal_loop_and_bears_large_scores() -> None:
    for scores, found in zip(ROWS, softmax(ROWS), strict=True):
        powers = [math.exp(score) for score in scores]
        np.testing.assert_allclose(found, [power / sum(powers) for power in powers])
    np.testing.assert_allclose(softmax(1000 + ROWS), softmax(ROWS))


def test_rows_sum_to_one_or_have_length_one() -> None:
    for row, shares, vector in zip(ROWS, normalise(ROWS), unit(ROWS), strict=True):
        np.testing.assert_allclose(shares, [number / sum(row) for number in row])
        np.testing.assert_allclose(vector, [number / math.sqrt(sum(row**2)) for number in row])


def test_cosines_do_not_depend_on_lengths() -> None:
    np.testing.assert_allclose(cosines(3 * ROWS, ROWS[:2]), unit(ROWS) @ unit(ROWS[:2]).T)
    np.testing.assert_allclose(np.diag(cosines(ROWS, ROWS)), 1)


@pytest.mark.parametrize("function", [normalise, unit])
def test_zeros_stay_zeros(function: Callable[[np.ndarray], np.ndarray]) -> None:
    assert function(np.zeros((2, 3))).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("function", [normalise, unit, softmax, even_where_unknown])
def test_float32_stays_and_inputs_are_not_changed(
    function: Callable[[np.ndarray], np.ndarray],
) -> None:
    given = ROWS.astype(np.float32)
    assert function(given).dtype == np.float32
    np.testing.assert_array_equal(given, ROWS.astype(np.float32))


def test_every_topic_is_equally_likely_where_no_word_is_known() -> None:
    beta = np.array([[0.1, 0.9], [np.nan, np.nan]])
    assert even_where_unknown(beta).tolist() == [[0.1, 0.9], [0.5, 0.5]]
