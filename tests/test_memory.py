"""Texts and tables from Python."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.text.memory import as_series, as_table

TEXTS = ["Nice crema.", "Loud pump."]


def test_an_index_with_a_name_is_a_column_like_the_others() -> None:
    table = pd.DataFrame({"text": TEXTS, "stars": [5, 2]}, index=pd.Index(["r1", "r2"], name="id"))
    rest, texts = as_table(table)
    assert rest is not None
    assert rest.to_dict(as_series=False) == {"id": ["r1", "r2"], "stars": [5, 2]}
    assert texts.to_list() == TEXTS


def test_an_index_without_a_name_or_with_that_of_a_column_is_left_out() -> None:
    for name in (None, "stars"):
        table = pd.DataFrame({"text": TEXTS, "stars": [5, 2]}, index=pd.Index([7, 8], name=name))
        rest, _ = as_table(table)
        assert rest is not None
        assert rest.columns == ["stars"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "a list of texts or a table, not int"),
        (None, "not NoneType"),
        ({"text": TEXTS}, "not dict"),
        ("Nice crema.", "not one text"),
        (pd.DataFrame({"text": TEXTS, "stars": [5, "two"]}), "mixes kinds of values.*'two'"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        as_table(given)


def test_half_an_emoji_is_the_sign_for_the_unreadable() -> None:
    assert as_series(["cut \ud83d", "fine"]).to_list() == ["cut \ufffd", "fine"]


def test_a_lazy_table_is_read() -> None:
    other, texts = as_table(pl.LazyFrame({"text": TEXTS, "stars": [5] * len(TEXTS)}))
    assert texts.to_list() == TEXTS
    assert other is not None
    assert other.columns == ["stars"]
