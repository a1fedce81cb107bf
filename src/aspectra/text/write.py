"""Frames → one file, completely or not at all: Parquet, CSV or JSONL, by its suffix.

A CSV starts with a byte order mark, so that Excel reads it as UTF-8.
"""

from __future__ import annotations

import codecs
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import polars as pl
from polars import selectors as cs

from aspectra import rundir
from aspectra.disk import atomic_path
from aspectra.errors import InputError

FORMATS = (".parquet", ".csv", ".jsonl")
FORMULA = r"^[=+\-@\t\r]"
"""How a cell starts that Excel takes for a formula."""
NUMBER = r"^[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?$"


def check_output(path: Path) -> None:
    """Raise InputError, before any work is done, if the output cannot be written."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: the output must end in {', '.join(FORMATS)}.")
    rundir.refuse_own_file(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file in it: {path}/labelled{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise InputError(
            f"Cannot write {path}: {error.strerror}. Choose a folder that you may write to."
        ) from None


def write_frames(frames: Iterable[pl.DataFrame], path: Path, raw_cells: bool = False) -> int:
    """Write frames one by one and return the number of rows; a failure leaves an older file as it was.

    In CSV, text that a spreadsheet would run as a formula gets a ' in front, unless `raw_cells`.
    """
    with atomic_path(path) as temporary:
        if path.suffix == ".parquet":
            return write_parquet(frames, temporary)
        with temporary.open("wb") as file:
            if path.suffix == ".csv":
                return write_csv(frames, file, raw_cells)
            return write_jsonl(frames, file)


def write_csv(frames: Iterable[pl.DataFrame], file: BinaryIO, raw_cells: bool = False) -> int:
    rows, columns = 0, None
    file.write(codecs.BOM_UTF8)
    for frame in frames:
        cells = flat(frame) if raw_cells else for_excel(flat(frame))
        file.write(cells.write_csv(include_header=columns is None).encode())
        columns = columns or frame.columns
        if frame.columns != columns:
            late = ", ".join(sorted(set(columns) ^ set(frame.columns))) or "their order"
            raise InputError(f"The input's columns change after row {rows} ({late}). Write .jsonl instead.")
        rows += len(frame)
    return rows


def write_jsonl(frames: Iterable[pl.DataFrame], file: BinaryIO) -> int:
    rows = 0
    for frame in frames:
        file.write(plain(frame).write_ndjson().encode())
        rows += len(frame)
    return rows


def for_excel(frame: pl.DataFrame) -> pl.DataFrame:
    """Put ' before text that a spreadsheet would run as a formula; numbers such as -5 stay."""
    text = pl.col(pl.String)
    formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    return frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep())


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn bytes into base64 and decimals into text, which JSON can hold."""
    return frame.with_columns(
        pl.col(pl.Binary).bin.encode("base64"),
        cs.decimal().cast(pl.String),
        cs.duration().dt.to_string("iso"),
    )


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn nested columns into JSON text, and bytes into base64, which a CSV can hold."""
    frame = plain(frame)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    texts = [
        [
            None if value is None else json.dumps(value, ensure_ascii=False, default=str)
            for value in frame[name].to_list()
        ]
        for name in nested
    ]
    return frame.with_columns(
        pl.Series(name, values, dtype=pl.String) for name, values in zip(nested, texts, strict=True)
    )


def write_parquet(frames: Iterable[pl.DataFrame], path: Path) -> int:
    import pyarrow as arrow
    import pyarrow.parquet

    writer, rows = None, 0
    try:
        for frame in frames:
            table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            writer = writer or arrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
            try:
                writer.write_table(table.cast(writer.schema))
            except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, ValueError) as error:
                raise InputError(
                    f"The input's columns or their types change after row {rows} ({error}). "
                    "Write .jsonl instead."
                ) from None
            rows += len(frame)
    finally:
        if writer:
            writer.close()
    return rows
