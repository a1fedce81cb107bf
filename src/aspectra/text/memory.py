"""Texts in memory: a list, an array, a Series or a table in, polars out; None is a missing text.

`like` gives pandas back to who gave pandas.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from aspectra.disk import is_utf8
from aspectra.errors import InputError
from aspectra.text.rows import TEXT_NAMES, without_halves

CHUNK = 20_000
MISSING = ("None", "nan", "<NA>")
"""None, NaN and the NA of pandas as text; NA cannot be compared, even with itself."""


def as_series(texts: Any) -> pl.Series:
    """Take a list of str, a polars or a pandas Series, or an array; None is allowed among them."""
    if isinstance(texts, str):
        raise InputError("Give a list of texts, not one text: [text].")
    if hasattr(texts, "columns"):
        raise InputError(f"Give one column of texts, not a table: table[{texts.columns[0]!r}].")
    if isinstance(texts, pl.Series):
        if texts.dtype not in (pl.String, pl.Null):
            raise InputError(f"The texts must be str, got {texts.dtype}.")
        return texts.cast(pl.String)
    if isinstance(texts, Mapping) or not isinstance(texts, Iterable):
        raise InputError(f"Give a list of texts or a table, not {type(texts).__name__}.")
    return pl.Series("text", [as_text(value) for value in texts], dtype=pl.String)


def as_table(reviews: Any, text_column: str | None = None) -> tuple[pl.DataFrame | None, pl.Series]:
    """Return a table's other columns, if a table was given, and its texts."""
    if isinstance(reviews, pl.LazyFrame):
        reviews = reviews.collect()
    if not hasattr(reviews, "columns"):
        return None, as_series(reviews)
    if not isinstance(reviews, pl.DataFrame):
        reviews = with_index(reviews)
    names = list(reviews.columns)
    if text_column is None:
        usual = {"".join(filter(str.isalnum, str(name).lower())): name for name in reversed(names)}
        text_column = next((usual[name] for name in TEXT_NAMES if name in usual), None)
    if text_column is None or text_column not in names:
        found = "no column with a usual name" if text_column is None else f"no column {text_column!r}"
        raise InputError(f"The table has {found}; it has {', '.join(map(str, names))}. Name text_column.")
    texts = as_series(reviews[text_column])
    rest = (
        reviews.drop([text_column])
        if isinstance(reviews, pl.DataFrame)
        else from_pandas(reviews, text_column)
    )
    return rest, texts


def with_index(table: Any) -> Any:
    """Return a pandas table whose index, if it has a name, is a column."""
    names = [name for name in table.index.names if name is not None and name not in table.columns]
    return table.reset_index(level=names) if names else table


def from_pandas(table: Any, text_column: str) -> pl.DataFrame:
    """Return the other columns of a pandas table."""
    from pyarrow.lib import ArrowException

    try:
        return pl.from_pandas(table.drop(columns=[text_column]))
    except ArrowException as error:
        raise InputError(
            f"A column of the table mixes kinds of values: {error}. "
            "Convert it first: table[name].astype(str)."
        ) from error


def like(frame: pl.DataFrame, given: Any) -> Any:
    """Return a table of the same library as what was given: pandas for pandas, otherwise polars."""
    from_pandas = type(given).__module__.partition(".")[0] == "pandas"
    return frame.to_pandas() if from_pandas else frame


def as_text(value: Any) -> str | None:
    """Return a text, or None for a missing one."""
    if isinstance(value, str):
        return value if is_utf8(value) else without_halves(value)
    if str(value) in MISSING:
        return None
    raise InputError(f"The texts must be str, got {value!r}.")


class Texts:
    """Reviews in memory, as a source for a fit."""

    share = 0.0
    """How much of them was given so far, 0…1."""

    def __init__(self, texts: Any) -> None:
        self.series = as_series(texts)

    def texts(self) -> Iterator[pl.Series]:
        for start in range(0, len(self.series), CHUNK):
            self.share = min(1.0, (start + CHUNK) / len(self.series))
            yield self.series[start : start + CHUNK]

    def fingerprint(self) -> list[str]:
        digest = hashlib.sha256()
        for text in self.series:
            digest.update(b"\0" if text is None else b"\1" + text.encode() + b"\0")
        return ["texts", digest.hexdigest()]
