"""Frames → one file, completely or not at all: Parquet, CSV, Excel or JSONL, by its suffix.

A CSV starts with a byte order mark, so that Excel reads it as UTF-8. An Excel file has a header that stays
in view, filters, and numbers and dates as such; it can hold about a million rows.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
from polars import selectors as cs

from aspectra import rundir
from aspectra.disk import atomic_path
from aspectra.errors import InputError

FORMATS = (".parquet", ".csv", ".xlsx", ".jsonl")
TYPED = (".parquet", ".xlsx")
"""Formats with numbers and dates; in the others, what came as text is written as it came."""
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 2**20 - 1, 2**14, 32_767
"""What an Excel sheet can hold, below its header."""
WIDTHS = {"text": 70, "aspect": 18}
"""Of columns in an Excel sheet, in characters."""
LISTS = ("aspects", "aspect_sentiments")
"""Columns of the labels that are lists; CSV and Excel have them with ; between the values."""
FORMULA = r"^[=+\-@＝＋－＠\t\r\n]"
"""How a cell starts that Excel takes for a formula; in Japan, wide signs start one, too."""
FARTHEST = 95_000_000
"""Days from 1970, both ways, that can be written as a date: 260,000 years."""
TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
"""Per second, in the units of times."""
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
        if path.suffix == ".xlsx":
            return write_excel(frames, temporary)
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


def write_excel(frames: Iterable[pl.DataFrame], path: Path) -> int:
    """Write one sheet, row by row, so that memory does not grow; text is never taken for a formula."""
    import xlsxwriter

    rows, columns = 0, None
    with path.open("wb") as file, xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
        sheet, bold = book.add_worksheet("labels"), book.add_format({"bold": True})
        formats = {pl.Date: "yyyy-mm-dd", pl.Datetime: "yyyy-mm-dd hh:mm:ss", pl.Float64: "0.###"}
        looks = {kind: book.add_format({"num_format": look}) for kind, look in formats.items()}
        for frame in frames:
            cells = excel_cells(frame, rows)
            if columns is None:
                columns = cells.columns
                for place, (name, kind) in enumerate(cells.schema.items()):
                    width = WIDTHS.get(name, 12)
                    sheet.set_column(place, place, width, looks.get(kind.base_type()))
                    sheet.write_string(0, place, name, bold)
                sheet.freeze_panes(1, 0)
            if cells.columns != columns:
                raise InputError(f"The input's columns change after row {rows}. Write .jsonl instead.")
            for row in cells.iter_rows():
                rows += 1
                for place, value in enumerate(row):
                    write_cell(sheet, rows, place, value)
        if columns:
            sheet.autofilter(0, 0, rows, len(columns) - 1)
    return rows


def write_cell(sheet: Any, row: int, place: int, value: Any) -> None:
    if isinstance(value, str):
        sheet.write_string(row, place, value)
    elif isinstance(value, bool):
        sheet.write_boolean(row, place, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, place, value)
    elif value is not None:
        sheet.write_datetime(row, place, value)


def excel_cells(frame: pl.DataFrame, before: int) -> pl.DataFrame:
    """Return a frame with values that Excel has, or raise if they are too many or too long."""
    if before + len(frame) > MOST_ROWS or frame.width > MOST_COLUMNS:
        raise InputError(
            f"These labels are too large for Excel: a sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
            "columns. Write .csv or .parquet, or label fewer reviews."
        )
    cells = pl.DataFrame({column.name: excel_column(column) for column in flat(frame)})
    for column in cells.select(cs.string()):
        longest = int(column.str.len_chars().max() or 0)  # type: ignore[arg-type]
        if longest > LONGEST_CELL:
            raise InputError(
                f"Column {column.name!r} has a text of {longest:,} characters; a cell of Excel holds "
                f"{LONGEST_CELL:,}. Leave it out with --columns, or write .csv or .parquet."
            )
    return cells


def excel_column(column: pl.Series) -> pl.Series:
    """Return a column as Excel can hold it; what it cannot, such as numbers of 16 digits, becomes text."""
    kind = column.dtype
    if kind.is_float():
        return column.set(~column.is_finite().fill_null(False), None).cast(pl.Float64)
    if kind.is_integer() and (column.cast(pl.Float64).abs().max() or 0) < 1e15:  # type: ignore[operator]
        return column
    if kind.base_type() in (pl.Date, pl.Datetime) and column.dt.year().is_between(1900, 9999).all():
        return column.dt.replace_time_zone(None) if kind.base_type() == pl.Datetime else column
    return column if kind in (pl.Boolean, pl.Null) else column.cast(pl.String)


def for_excel(frame: pl.DataFrame) -> pl.DataFrame:
    """Put ' before text that a spreadsheet would run as a formula; numbers such as -5 stay."""
    text = pl.col(pl.String)
    formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    cells = frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep())
    return cells.rename({name: f"'{name}" for name in cells.columns if re.match(FORMULA, name)})


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn bytes into base64 and decimals into text, which JSON can hold."""
    check_dates(frame)
    return frame.with_columns(
        *(json_text(column) for column in frame if column.dtype.is_nested() and holds_bytes(column.dtype)),
        pl.col(pl.Binary).bin.encode("base64"),
        cs.decimal().cast(pl.String),
        cs.duration().dt.to_string("iso"),
    )


def check_dates(frame: pl.DataFrame) -> None:
    """Raise InputError if a column has a date that cannot be written as text."""
    for column in frame.select(cs.date(), cs.datetime()):
        a_day = 86_400 * TICKS[column.dtype.time_unit] if isinstance(column.dtype, pl.Datetime) else 1
        if not (column.to_physical() // a_day).is_between(-FARTHEST, FARTHEST).all():
            raise InputError(
                f"Column {column.name!r} has a date {FARTHEST // 365:,} years away. Correct it, leave it out "
                "with --columns, or write .parquet."
            )


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn our lists into text with ; in it, nested columns into JSON and bytes into base64: CSV has text."""
    frame = plain(frame).with_columns(
        pl.col(name).list.join(";") for name in LISTS if frame.schema.get(name) == pl.List(pl.String)
    )
    return frame.with_columns(json_text(column) for column in frame if column.dtype.is_nested())


def json_text(column: pl.Series) -> pl.Series:
    """Write each value of a nested column as JSON."""
    texts = [
        None if value is None else json.dumps(value, ensure_ascii=False, default=as_text)
        for value in column.to_list()
    ]
    return pl.Series(column.name, texts, dtype=pl.String)


def as_text(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def holds_bytes(kind: Any) -> bool:
    """Tell whether a type is bytes, or has them inside."""
    inner = [field.dtype for field in kind.fields] if kind == pl.Struct else [getattr(kind, "inner", None)]
    return kind == pl.Binary or any(holds_bytes(one) for one in inner if one is not None)


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
