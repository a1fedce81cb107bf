"""Texts in memory: a list, an array, a Series or a table in, polars out; None is a missing text.

Tables and columns of other libraries are read if they speak Arrow, as those of pyarrow and DuckDB do. `like`
gives pandas back to who gave pandas.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import polars as pl

from aspectra.arguments import as_list, is_table, shown, wrong_kind
from aspectra.disk import is_utf8
from aspectra.errors import InputError
from aspectra.text.rows import TEXT_NAMES, without_halves

CHUNK = 20_000
MISSING = ("None", "nan", "<NA>", "NaT")
"""None, NaN, and the NA and NaT of pandas as text; NA cannot be compared, even with itself."""
CANNOT_HOLD = (ValueError, TypeError, OverflowError, NotImplementedError)
"""What polars raises for a column of pandas that it cannot hold."""


def as_series(texts: Any) -> pl.Series:
    """Take a list of str, a polars or a pandas Series, or an array; None is allowed among them."""
    if isinstance(texts, str):
        raise InputError("Give a list of texts, not one text: [text].")
    if is_table(texts):
        first = "".join(f": table[{name!r}]" for name in column_names(texts)[:1])
        raise InputError(f"Give one column of texts, not a table{first}.")
    if speaks_arrow(texts):
        texts = pl.Series(texts)
    if isinstance(texts, pl.Series):
        if texts.dtype not in (pl.String, pl.Null, pl.Categorical, pl.Enum):
            raise InputError(f"The texts must be str, got {texts.dtype}.")
        return texts.cast(pl.String)
    values = as_list(texts, "What is given", "a list of texts or a table")
    return pl.Series("text", [as_text(value) for value in values], dtype=pl.String)


def as_table(reviews: Any, text_column: str | None = None) -> tuple[pl.DataFrame | None, pl.Series]:
    """Return a table's other columns, if a table was given, and its texts."""
    if not is_table(reviews):
        return None, as_series(reviews)
    reviews = known_table(reviews)
    names = list(reviews.columns)
    if not isinstance(text_column, Hashable):
        raise wrong_kind("text_column", "the name of a column", text_column)
    if text_column is None:
        usual = {"".join(filter(str.isalnum, str(name).lower())): name for name in reversed(names)}
        text_column = next((usual[name] for name in TEXT_NAMES if name in usual), None)
    if text_column is None or text_column not in names:
        found = "no column with a usual name" if text_column is None else f"no column {shown(text_column)}"
        raise InputError(f"The table has {found}; it has {', '.join(map(str, names))}. Name text_column.")
    texts = as_series(reviews[text_column])
    rest = (
        reviews.drop([text_column])
        if isinstance(reviews, pl.DataFrame)
        else from_pandas(reviews, text_column)
    )
    return rest, texts


def speaks_arrow(given: Any) -> bool:
    """Tell whether polars can read what another library holds; pandas is read as it always was."""
    streams = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return streams and not hasattr(given, "iloc") and not isinstance(given, pl.Series | pl.DataFrame)


def column_names(table: Any) -> list[Any]:
    if isinstance(table, pl.LazyFrame):
        return table.collect_schema().names()
    return list(getattr(table, "column_names", None) or table.columns)


def known_table(table: Any) -> Any:
    """Return a table as one of polars or pandas, its columns all with names of their own."""
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    names = list(map(str, column_names(table)))
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"The table has more than one column {twice[0]!r}. Rename one.")
    if speaks_arrow(table):
        return pl.DataFrame(table)
    if hasattr(table, "iloc"):
        return with_index(table)
    if isinstance(table, pl.DataFrame):
        return table
    raise InputError(f"Give a table of polars or pandas, not {type(table).__name__}. Convert it first.")


def with_index(table: Any) -> Any:
    """Return a pandas table whose index, if it has a name, is a column."""
    names = [name for name in table.index.names if name is not None and name not in table.columns]
    return table.reset_index(level=names) if names else table


def from_pandas(table: Any, text_column: str) -> pl.DataFrame:
    """Return the other columns of a pandas table."""
    rest = table.drop(columns=[text_column])
    try:
        return pl.from_pandas(rest)
    except CANNOT_HOLD:
        for name in rest.columns:
            check_column(name, rest[name])
        raise


def check_column(name: Any, values: Any) -> None:
    """Raise InputError if polars cannot hold a column of pandas."""
    try:
        pl.from_pandas(values)
    except UnicodeError:
        raise InputError(
            f"Column {name!r} of the table has half of a character in it. Write its text again."
        ) from None
    except CANNOT_HOLD as error:
        raise InputError(
            f"Column {name!r} of the table mixes kinds of values, or has too large numbers: {error}. "
            f"Convert it first: table[{name!r}].astype(str)."
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
