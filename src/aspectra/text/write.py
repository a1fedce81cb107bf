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

from aspectra.errors import InputError
from aspectra.rundir import atomic_path

FORMATS = (".parquet", ".csv", ".jsonl")


def check_output(path: Path) -> None:
    """Raise InputError, before any work is done, if the output cannot be written."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: the output must end in {', '.join(FORMATS)}.")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file in it: {path}/labelled{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise InputError(
            f"Cannot write {path}: {error.strerror}. Choose a folder that you may write to."
        ) from None


def write_frames(frames: Iterable[pl.DataFrame], path: Path) -> int:
    """Write frames one by one and return the number of rows; a failure leaves an older file as it was."""
    with atomic_path(path) as temporary:
        if path.suffix == ".parquet":
            return write_parquet(frames, temporary)
        with temporary.open("wb") as file:
            return write_csv(frames, file) if path.suffix == ".csv" else write_jsonl(frames, file)


def write_csv(frames: Iterable[pl.DataFrame], file: BinaryIO) -> int:
    rows, columns = 0, None
    file.write(codecs.BOM_UTF8)
    for frame in frames:
        file.write(flat(frame).write_csv(include_header=columns is None).encode())
        columns = columns or frame.columns
        if frame.columns != columns:
            late = ", ".join(sorted(set(columns) ^ set(frame.columns))) or "their order"
            raise InputError(f"The input's columns change after row {rows} ({late}). Write .jsonl instead.")
        rows += len(frame)
    return rows


def write_jsonl(frames: Iterable[pl.DataFrame], file: BinaryIO) -> int:
    rows = 0
    for frame in frames:
        file.write(frame.write_ndjson().encode())
        rows += len(frame)
    return rows


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn nested columns into JSON text, which a CSV can hold."""
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
