"""The columns of an output: which are written, and the types of those that came as text.

A CSV has only text. Parquet and Excel have numbers and dates, so a column becomes one if every value of the
input can: 4, 4.5, 2024-05-01, 2024-05-01 10:00:00. What would not come back the same, such as 007, stays
text.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import polars as pl

from aspectra.errors import InputError

NUMBERS: dict[pl.DataType, str] = {
    pl.Int64(): r"^(?:0|-?[1-9]\d{0,14})$",
    pl.Float64(): r"^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$",
}
TIMES: dict[pl.DataType, str] = {pl.Date(): "%Y-%m-%d", pl.Datetime("us"): "%Y-%m-%d %H:%M:%S"}


def find_types(frames: Iterable[pl.DataFrame], numbers: bool) -> dict[str, pl.DataType]:
    """Return the types of the columns of text that need not be text: dates and, if wanted, numbers."""
    misfits: dict[pl.DataType, set[str]] = {one: set() for one in (*(NUMBERS if numbers else ()), *TIMES)}
    filled: set[str] = set()
    for frame in frames:
        text = frame.select(pl.col(pl.String, pl.Null).cast(pl.String).replace("", None))
        filled |= {values.name for values in text if values.null_count() < len(values)}
        for wanted, wrong in misfits.items():
            wrong |= set(frame.columns) - set(text.columns)
            left = text[[name for name in text.columns if name not in wrong]]
            read = left.select((pl.all().is_null() | read_as(pl.all(), wanted).is_not_null()).all())
            wrong |= {column.name for column in read if not column[0]}
    found = {name: [one for one, wrong in misfits.items() if name not in wrong] for name in sorted(filled)}
    return {name: fits[0] for name, fits in found.items() if fits}


def read_as(text: pl.Expr, wanted: pl.DataType) -> pl.Expr:
    """Read text as a type; what cannot be read is missing."""
    if wanted in NUMBERS:
        return pl.when(text.str.contains(NUMBERS[wanted])).then(text).cast(wanted)
    plain = text.str.replace("T", " ")
    return plain.str.strptime(wanted, TIMES[wanted], strict=False)  # type: ignore[arg-type]


def with_types(frame: pl.DataFrame, types: dict[str, pl.DataType]) -> pl.DataFrame:
    """Give columns of text the types that were found for them."""
    for wanted in set(types.values()):
        known = frame[[name for name in frame.columns if types.get(name) == wanted]]
        frame = frame.with_columns(known.select(read_as(pl.all().cast(pl.String), wanted)))
    return frame


def choose_columns(frame: pl.DataFrame, wanted: Iterable[str]) -> pl.DataFrame:
    """Return the columns named, in that order; `p_*` stands for all that begin with p_."""
    chosen: dict[str, None] = {}
    for pattern in wanted:
        found = [name for name in frame.columns if name == pattern or fnmatchcase(name, pattern)]
        if not found:
            raise InputError(
                f"There is no column {pattern!r} to write; there are {', '.join(frame.columns)}."
            )
        chosen |= dict.fromkeys(found)
    return frame.select(*chosen)


def carry(frame: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Put the reviews' columns before the labels; one with the name of a label column becomes input_…."""
    taken = {*labels.columns, *frame.columns}
    own = {name: free_name(name, taken) for name in frame.columns if name in labels.columns}
    return frame.rename(own)[labels["review"]].hstack(labels)


def free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"input_{name}"
    return name
