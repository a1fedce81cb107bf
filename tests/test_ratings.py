"""Ratings as people write them."""

import numpy as np
import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.text.ratings import find_rating_column, read_ratings


@pytest.mark.parametrize(
    ("given", "values", "scale"),
    [
        ([5, 1, None], [5, 1, None], (1, 5)),
        (["5 out of 5", "1 out of 5"], [5, 1], (1, 5)),
        (["4,5", "2.0", "n/a"], [4.5, 2, None], (1, 5)),
        (["★★★★☆", "★", "☆☆☆☆☆"], [4, 1, 0], (0, 5)),
        (["8/10", "3/10"], [8, 3], (1, 10)),
        ([0, 10, 7], [0, 10, 7], (0, 10)),
        ([-1, 1], [-1, 1], (-1, 1)),
        ([0, 1, 1], [0, 1, 1], (0, 1)),
        (["−1", "+1"], [-1, 1], (-1, 1)),
        ([85.0, 40.0, float("nan")], [85, 40, None], (0, 100)),
        ([250, 900], [250, 900], (250, 900)),
        (["5.0 out of 5 stars", "Rated 4", "4½", "5 - Excellent"], [5, 4, 4.5, 5], (1, 5)),
        (["4/5", "5/10", "2/5"], [4, 2.5, 2], (1, 5)),
        (["90%", "35 %", ""], [90, 35, None], (0, 100)),
        (["A", "B+", "F", "see text"], [4, 3.3, 0, None], (0, 4)),
        (["👍", "👎🏽", "Thumbs up"], [1, -1, 1], (-1, 1)),
        (["Excellent", "Very poor", "Average", "Very satisfied", "a story"], [1, -1, 0, 1, None], (-1, 1)),
        ([True, False], [1, -1], (-1, 1)),
        ([5, 1, 3] * 66 + [55], [5, 1, 3] * 66 + [None], (1, 5)),
        ([-5, 5, 0], [-5, 5, 0], (-5, 5)),
        (["4 / 5.0", "3 / 5.0"], [4, 3], (1, 5)),
        (["5★", "4 ⭐️", "3 stars"], [5, 4, 3], (1, 5)),
        (["Five stars", "One star", "four"], [5, 1, 4], (1, 5)),
        (["5.0/5 (123)", "4/5 (1,204 ratings)"], [5, 4], (1, 5)),
        (["4 out of 5!", "1 out of 5"], [4, 1], (1, 5)),
        (["５", "４．５", "３／５"], [5, 4.5, 3], (1, 5)),
        (["1,000", "4", "2"], [None, 4, 2], (1, 5)),
        (["5/5", "4/5", "1/5"] * 7 + ["10/5"], [5, 4, 1] * 7 + [None], (1, 5)),
        (["5 out of 5", "2 out of 5"] * 100 + ["10", "8"], [5, 2] * 100 + [None] * 2, (1, 5)),
        ([5, 1, 3] * 67 + [10], [5, 1, 3] * 67 + [None], (1, 5)),
        ([5, 1, 3] * 67 + [10, 9], [5, 1, 3] * 67 + [10, 9], (1, 10)),
        ([1] * 999 + [2], [1] * 999 + [2], (1, 5)),
    ],
)
def test_ratings_are_read_with_their_scale(
    given: list[object], values: list[float | None], scale: tuple[float, float]
) -> None:
    ratings = read_ratings(pl.Series(given))
    assert ratings.values.to_list() == values
    assert (ratings.low, ratings.high) == scale


@pytest.mark.parametrize(
    "cell",
    [
        "2024-05-06", "$19.99", "r00017", "I sent it back after 2 weeks", "3 days", "1,000",
        "one of the best", "Ten minutes late",
    ],
)  # fmt: skip
def test_a_number_inside_something_else_is_no_rating(cell: str) -> None:
    assert read_ratings(pl.Series([cell])).values.to_list() == [None]


def test_years_and_counts_are_on_no_usual_scale() -> None:
    assert read_ratings(pl.Series([1, 5])).usual
    assert not read_ratings(pl.Series([2019, 2024])).usual
    assert not read_ratings(pl.Series([0, 153])).usual


def test_shares_go_from_the_worst_to_the_best() -> None:
    assert read_ratings(pl.Series([1, 3, 5])).shares.tolist() == [0, 0.5, 1]
    assert np.isnan(read_ratings(pl.Series(["none", "4"])).shares[0])


def test_the_column_is_found_by_its_name() -> None:
    assert find_rating_column(["id", "Star Rating", "date"]) == "Star Rating"
    assert find_rating_column(["id", "mine"], "mine") == "mine"
    assert find_rating_column(["id", "date"]) is None
    with pytest.raises(InputError, match="no column 'stars'"):
        find_rating_column(["id"], "stars")


def test_digits_that_are_not_read_are_no_ratings() -> None:
    assert read_ratings(pl.Series(["٨٠%", "٥٠%"])).values.null_count() == 2


def test_numbers_outside_of_the_scale_are_told_from_what_cannot_be_read() -> None:
    found = read_ratings(pl.Series(["5", "1", "3"] * 67 + ["10", "see text"]))
    assert found.left_out.arg_true().to_list() == [201]
    assert found.values.null_count() == 2
