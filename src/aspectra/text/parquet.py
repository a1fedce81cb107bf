"""Parquet files → frames. Types that polars lacks become others with the same instants or the same digits.

A file that cannot be read, or a column that is not what its type says, is an InputError that names it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from aspectra.errors import InputError
from aspectra.text.rows import is_gzip

Placed = tuple[Sequence[int], pl.DataFrame, int]
"""The numbers of rows, the rows, and how many bytes of the file were read."""
BUFFER = 2**20
"""Bytes of a column that are read at once, not all that a part of the file has."""


def parquet_frames(path: Path, size: int) -> Iterator[Placed]:
    """Yield the rows of a file, in frames of at most `size`."""
    import pyarrow as arrow
    import pyarrow.parquet

    if is_gzip(path):
        raise InputError(f"{path}: Parquet files are not read through gzip. Unpack it first: gunzip {path}")
    first = 1
    try:
        file = arrow.parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
        twice = [name for name, count in Counter(file.schema_arrow.names).items() if count > 1]
        if twice:
            raise InputError(f"{path} has the column {twice[0]!r} twice. Rename one of them.")
        for batch in file.iter_batches(batch_size=size):
            frame = pl.DataFrame(pl.from_arrow(known_types(path, batch)))
            frame.columns = batch.schema.names
            frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
            numbers = range(first, first + len(frame))
            first += len(frame)
            yield numbers, frame, path.stat().st_size * (first - 1) // max(1, file.metadata.num_rows)
            arrow.default_memory_pool().release_unused()  # else memory grows with the file
    except arrow.ArrowNotImplementedError as error:
        raise InputError(
            f"{path} has a column of a type that cannot be read ({error}). Write that column as text."
        ) from None
    except (arrow.ArrowException, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path} is not a complete Parquet file ({error}). Download or copy it again."
        ) from None


def known_types(path: Path, batch: Any) -> Any:
    """Return the columns in types that polars has; raise InputError if one is not what its type says.

    Their names are their places: polars would name a column without a name by itself.
    """
    import pyarrow as arrow

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
            columns.append(column.cast(known_type(column.type)))
        except arrow.ArrowInvalid as error:
            raise InputError(
                f"Column {name!r} of {path} cannot be read ({error}). Write the file again with valid UTF-8."
            ) from None
    return arrow.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])


def known_type(kind: Any) -> Any:
    """Return UTC instead of a time zone without a name, such as +05:30, and text instead of long decimals.

    Of a type that another program has defined, such as a UUID, it is the type that it is stored as.
    """
    import pyarrow as arrow

    if isinstance(kind, arrow.BaseExtensionType):
        return known_type(kind.storage_type)
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    if any(known_type(one) != one for one in inner):
        raise arrow.ArrowNotImplementedError(str(kind))
    if arrow.types.is_timestamp(kind) and kind.tz is not None and not is_zone(kind.tz):
        return arrow.timestamp(kind.unit, "UTC")
    return arrow.string() if arrow.types.is_decimal256(kind) else kind


def check_types(path: Path) -> None:
    """Raise InputError if polars cannot open a file because of a column's type."""
    import pyarrow as arrow
    import pyarrow.parquet

    with contextlib.suppress(arrow.ArrowException, OSError):  # polars says what is wrong
        for field in arrow.parquet.read_schema(path):
            if known_type(field.type) != field.type:
                raise InputError(
                    f"Column {field.name!r} of {path} has the type {field.type}, which cannot be read. "
                    "Write times in UTC, and long decimals and unusual types as text."
                )


def is_zone(name: str) -> bool:
    """Tell whether polars knows a time zone."""
    try:
        pl.Series([0], dtype=pl.Datetime("us", name)).dt.year()
    except pl.exceptions.PolarsError:
        return False
    return True
