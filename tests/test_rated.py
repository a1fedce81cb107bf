"""Which rated reviews sentiment is learnt from, and what is said when none can be."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.sentiment.rated import NONE, RatedReviews, as_text, find_rated, given_ratings
from aspectra.text.memory import Texts
from aspectra.text.read import open_source

GOOD, BAD = "I love it, great taste.", "Terrible, it leaks."


def rated(ratings: list[object], texts: list[str] | None = None) -> RatedReviews:
    texts = texts or [GOOD if number % 2 else BAD for number in range(len(ratings))]
    return find_rated(Texts(texts), ratings, "en", 0)


def test_ratings_in_memory_are_kept_from_0_to_1() -> None:
    found = rated([1, 5] * 60)
    assert found.frame["rating"].unique().sort().to_list() == [0, 1]
    assert "1 to 5" in found.note
    texts, reviews, values = found.segments("sentence", "en") or ((), (), ())
    assert len(texts) == len(reviews) == len(values) == 120


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([5] * 120, "all ratings are 5"),
        (["soft", "hard"] * 60, "0 ratings"),
        ([None] * 110 + [1, 5] * 5, "10 ratings"),
        ([5, 1] * 60, "1 seems to be the best"),
    ],
)
def test_ratings_of_no_use_are_left_out_and_said(ratings: list[object], said: str) -> None:
    found = rated(ratings)
    assert found.frame.is_empty()
    assert said in found.note


def test_what_only_has_the_name_of_a_rating_is_used_only_if_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    texts = [GOOD if number % 2 else BAD for number in range(200)]
    for values, said in (
        ([1, 2, 2, 1] * 50, "do not go with praise"),
        ([2019, 2024] * 100, "not a usual rating scale"),
    ):
        pl.DataFrame({"text": texts, "score": values}).write_csv(path)
        found = find_rated(open_source([str(path)]), None, "en", 0)
        assert found.frame.is_empty()
        assert said in found.note
        assert len(find_rated(open_source([str(path)]), "score", "en", 0).frame) == 200


def test_a_named_column_without_ratings_is_refused_and_one_value_is_no_scale(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    pl.DataFrame({"text": [GOOD] * 40, "product": ["Mini"] * 40, "year": [2024] * 40}).write_csv(path)
    with pytest.raises(InputError, match=r"No rating can be read in column 'product', such as 'Mini'\. Name"):
        find_rated(open_source([str(path)]), "product", "en", 0)
    assert "all ratings are 2024" in find_rated(open_source([str(path)]), "year", "en", 0).note


def test_ratings_of_several_kinds_and_columns_of_lists_are_read() -> None:
    texts = pl.Series(["Good, I like it.", "Bad, I hate it."] * 60)
    found = find_rated(Texts(texts), [5, 1.0] * 59 + ["5", None], "en", 0)
    assert len(found.frame) == 119
    frame = pl.DataFrame({"title": [["a"], ["b"]]})
    assert as_text(frame, "title").to_list() == [None, None]


def test_missing_ratings_are_said() -> None:
    found = rated([1, 5] * 20 + [None] * 80)
    assert len(found.frame) == 40
    assert "Only 33%" in found.note


def test_as_many_ratings_as_reviews_are_needed() -> None:
    with pytest.raises(InputError, match="2 ratings for 1 reviews"):
        find_rated(Texts([GOOD]), [1, 2], "en", 0)


def test_a_files_column_is_found_and_kept_in_a_run(tmp_path: Path) -> None:
    rows = [
        {"text": (BAD, GOOD)[number % 2], "Stars": ("★☆☆☆☆", "★★★★★")[number % 2]} for number in range(80)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "reviews.csv")
    source = open_source([str(tmp_path / "reviews.csv")])
    found = find_rated(source, None, "en", 0)
    assert "'Stars'" in found.note
    found.save(tmp_path)
    assert RatedReviews.load(tmp_path).frame.equals(found.frame)


@pytest.mark.parametrize(
    ("titles", "n"), [(("Awful", "Great"), 240), (("Great kettle", "Great kettle"), 120)]
)
def test_titles_count_as_reviews_unless_they_only_name_the_product(
    tmp_path: Path, titles: tuple[str, str], n: int
) -> None:
    rows = [
        {"text": (BAD, GOOD)[i % 2], "rating": 1 + 4 * (i % 2), "Title": titles[i % 2]} for i in range(120)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "reviews.csv")
    found = find_rated(open_source([str(tmp_path / "reviews.csv")]), None, "en", 0)
    assert len(found.frame) == n
    assert ("Titles" in found.note) == (n == 240)


def test_no_rating_column_is_no_news(tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text(f"{GOOD}\n{BAD}\n")
    assert find_rated(open_source([str(tmp_path / "reviews.txt")]), None, "en", 0) is NONE
    assert find_rated(Texts([GOOD]), None, "en", 0) is NONE


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 5] * 30),
        list(np.array([1, 5] * 30, dtype=np.float32)),
        pd.Series([1, 5] * 29 + [1, None], dtype="Int64"),
        pl.Series(["1", "5"] * 30),
        [Decimal(1), Decimal(5)] * 30,
        [1, float("nan"), pd.NA, pd.NaT, "5", True] * 10,
    ],
    ids=["array", "float32", "Int64", "text", "Decimal", "mixed"],
)
def test_ratings_of_any_library_become_plain_values(given: Any) -> None:
    plain = given_ratings(Texts([GOOD, BAD] * 30), given)
    assert isinstance(plain, list)
    assert {type(one) for one in plain} <= {int, float, str, bool, type(None)}
    assert len(json.dumps(plain, allow_nan=False)) > 60


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "ratings must be a list with one rating per review, got int 3"),
        ("rating", "ratings='rating' is the name of a column, but the reviews are not in files"),
        (["x"] * 60, "No rating can be read in ratings, such as 'x'. Give numbers"),
        ([5, 1], "There are 2 ratings for 60 reviews"),
        ([pd.Timestamp("2024-05-01")] * 60, "A rating must be a number or text, got Timestamp"),
    ],
)
def test_ratings_that_cannot_be_used_are_refused_before_the_work(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        given_ratings(Texts([GOOD, BAD] * 30), given)


def test_a_column_of_ratings_that_is_not_there_is_refused_before_the_work(tmp_path: Path) -> None:
    pl.DataFrame({"text": [GOOD], "stars": [5]}).write_csv(tmp_path / "reviews.csv")
    source = open_source([str(tmp_path / "reviews.csv")])
    assert given_ratings(source, "stars") == "stars"
    with pytest.raises(InputError, match="There is no column 'score'; there are stars"):
        given_ratings(source, "score")
