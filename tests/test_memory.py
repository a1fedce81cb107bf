"""Texts and tables from Python."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
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
        (5, "a list of texts or a table, got int 5"),
        (None, "got None"),
        ({"text": TEXTS}, "got dict"),
        ("Nice crema.", "not one text"),
        (pd.DataFrame({"text": TEXTS, "stars": [5, "two"]}), "'stars' .* mixes kinds of values.*'two'"),
        (pd.DataFrame({"text": TEXTS, "id": [10**30, 1]}), "'id' of the table .* too large"),
        (pd.DataFrame({"text": TEXTS, "id": ["\ud83d", "b"]}, dtype=object), "'id' .* half of a character"),
        (pd.DataFrame([[*TEXTS, "a"]], columns=["text", "id", "id"]), "more than one column 'id'. Rename"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        as_table(given)


@pytest.mark.parametrize(
    "make",
    [
        pa.table,
        lambda columns: pa.table(columns).to_batches()[0],
        lambda columns: pl.DataFrame(columns, schema_overrides={"text": pl.Categorical}),
        lambda columns: pl.DataFrame(columns, schema_overrides={"text": pl.Enum(TEXTS)}),
    ],
)
def test_tables_of_arrow_and_texts_of_few_kinds_are_read(make: Callable[[dict], Any]) -> None:
    rest, texts = as_table(make({"text": TEXTS, "stars": [5, 2]}))
    assert rest is not None
    assert rest.to_dict(as_series=False) == {"stars": [5, 2]}
    assert texts.to_list() == TEXTS
    assert as_series(pa.chunked_array([TEXTS])).to_list() == TEXTS


def test_a_missing_time_is_a_missing_text() -> None:
    assert as_series([pd.NaT, "fine"]).to_list() == [None, "fine"]
    with pytest.raises(InputError, match=r"Give one column of texts, not a table\."):
        as_series(pd.DataFrame())


def test_half_an_emoji_is_the_sign_for_the_unreadable() -> None:
    assert as_series(["cut \ud83d", "fine"]).to_list() == ["cut \ufffd", "fine"]


def test_a_lazy_table_is_read() -> None:
    other, texts = as_table(pl.LazyFrame({"text": TEXTS, "stars": [5] * len(TEXTS)}))
    assert texts.to_list() == TEXTS
    assert other is not None
    assert other.columns == ["stars"]
