"""Open a label file, also one that pandas or a spreadsheet saved again: path in, typed rows, unread, out.

Numbers are read however they are written: 6.0 for 6, 0,78 or 78 % for 0.78. Rows without any label are blank.
"""

from __future__ import annotations

import glob
from pathlib import Path

import polars as pl

from aspectra.config import NOT_REVIEW
from aspectra.errors import InputError
from aspectra.text.parquet import check_types
from aspectra.text.read import first_bad_byte, true_encoding
from aspectra.text.rows import find_delimiter

OWN = {
    "review": pl.UInt32, "segment": pl.UInt32, "text": pl.String, "aspect": pl.String,
    "probability": pl.Float32, "entropy": pl.Float32, "margin": pl.Float32, "unmapped": pl.Float32,
    "topic": pl.Int32, "known_words": pl.Int32,
}  # fmt: skip
"""The columns that every label file has, beside one probability per aspect."""
FELT = {"sentiment": pl.String, "sentiment_score": pl.Float32, "sentiment_confidence": pl.Float32}
"""The columns on sentiment; files of version 0.1.0 have none."""
RANGES = {
    "review": (0, 2**32), "segment": (0, 2**32), "probability": (0, 1), "unmapped": (0, 1), "margin": (0, 1),
    "sentiment_score": (-1, 1), "known_words": (0, 10**9), "topic": (0, 10**9),
}  # fmt: skip
"""What numbers of the labels are between; rounding may take them a little over."""
TEXT_FILES = (".csv", ".tsv", ".txt")
IS_REVIEW = pl.col("aspect").ne_missing(NOT_REVIEW)
BLANK = pl.all_horizontal(pl.col(name).is_null() for name in OWN)


def scan(path: Path) -> pl.LazyFrame:
    """Open the file with a column of row numbers; in text files, columns that are not ours stay text."""
    try:
        rows = scan_raw(path)
        kinds, own = rows.collect_schema(), OWN | FELT
        return rows.with_columns(read_column(name, kinds[name], own[name]) for name in kinds if name in own)
    except (pl.exceptions.PolarsError, OSError) as error:
        message = f"Cannot read {path}: {cause(path, error)}. Give a file that aspectra label wrote."
        raise InputError(message) from None


def scan_raw(path: Path) -> pl.LazyFrame:
    """Open the file as it is, with a column of row numbers."""
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give one label file.")
    if not path.is_file():
        raise InputError(f"No such file: {path}.")
    if path.suffix == ".parquet":
        check_types(path)
        rows = pl.scan_parquet(path, glob=False)
    elif path.suffix == ".jsonl":
        rows = pl.scan_ndjson(glob.escape(str(path)), infer_schema_length=None)
    elif path.suffix in TEXT_FILES:
        rows = scan_text(path)
    else:
        endings = ", ".join((".parquet", ".jsonl", *TEXT_FILES))
        raise InputError(f"{path} is not a label file: its name must end in {endings}.")
    if "row" in rows.collect_schema():  # a column of the user's
        rows = rows.rename({"row": "input_row"})
    return rows.with_row_index("row")


def scan_text(path: Path) -> pl.LazyFrame:
    """Open a CSV with any delimiter; UTF-16, in which Excel saves Unicode text, is decoded first."""
    encoding = true_encoding(path, "utf-8")
    source: Path | bytes = path
    if encoding != "utf-8-sig":
        source = decoded(path, encoding).encode()
    with path.open(encoding=encoding, errors="replace") as file:
        first = file.readline()
        told = first.strip().strip('"').lower().startswith("sep=")  # Excel's way to name the delimiter
        separator = find_delimiter(file.readline() if told else first)
    return pl.scan_csv(
        source, separator=separator, infer_schema=False, glob=False, skip_lines=int(told),
        with_column_names=without_escapes,
    )  # fmt: skip


def decoded(path: Path, encoding: str) -> str:
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not {encoding.upper()}, as it says. Save it as CSV UTF-8.") from None


def without_escapes(names: list[str]) -> list[str]:
    """Undo CSV's "" for a quote in names of columns, which polars undoes in cells only."""
    return [name.replace('""', '"') for name in names]


def read_column(name: str, kind: pl.DataType, wanted: type[pl.DataType]) -> pl.Expr:
    """Return the expression that reads a column of the labels; an empty cell is null."""
    if wanted == pl.String:
        text = pl.col(name).cast(pl.String)
        return pl.when(text.str.strip_chars() != "").then(text).alias(name)
    return read_number(name, kind, whole=wanted.is_integer()).cast(wanted, strict=False)


def read_number(name: str, kind: pl.DataType, whole: bool) -> pl.Expr:
    """Read numbers; what cannot be read becomes −1 among whole numbers, and NaN among others."""
    value, wrong = pl.col(name), pl.lit(value=False)
    if kind.is_numeric():
        value = value.cast(pl.Float64)
    else:
        text = value.cast(pl.String).str.replace_all(r"[\s']", "").str.replace("−", "-", literal=True)
        digits = text.str.strip_suffix("%")
        if whole:  # 1,234 is a thousand and more
            grouped = digits.str.contains(r"^\d{1,3}(,\d{3})+$")
            digits = pl.when(grouped).then(digits.str.replace_all(",", "")).otherwise(digits)
        number = digits.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        value = pl.when(text.str.ends_with("%")).then(number / 100).otherwise(number)
        wrong = (text != "") & value.is_null()
    if whole:
        value = value.fill_nan(None)
        return pl.when(wrong | (value != value.round())).then(-1).otherwise(value).alias(name)
    return pl.when(wrong).then(float("nan")).otherwise(value).alias(name)


def check_rows(path: Path, rows: pl.LazyFrame) -> tuple[int, int]:
    """Count what is no review, and blank rows; raise InputError for a row that no label can be."""
    wrong = {"text": pl.col("text").is_null()}
    for name in RANGES.keys() & set(rows.collect_schema().names()):
        low, high = RANGES[name]
        inside = pl.col(name).is_between(low - 0.001, high + 0.001)
        known = inside.fill_null(name == "topic")  # without known words there is none
        wrong[name] = IS_REVIEW & ~known  # what is no review has no sentiment
    wrong = {name: ~BLANK & one for name, one in wrong.items()}
    found = {name: pl.col("row").filter(one).first() for name, one in wrong.items()}
    counts = rows.select(left_out=(~IS_REVIEW).sum(), blank=BLANK.sum(), **found)
    left_out, blank, *places = counts.collect(engine="streaming").row(0)
    for name, row in zip(found, places, strict=True):
        if row is not None:
            raise InputError(
                f"{path}, row {row + 1}: {fault(path, name, row)}. Undo changes to the file, or label again."
            )
    return int(left_out), int(blank)


def fault(path: Path, name: str, row: int) -> str:
    """Say what is wrong with a value, as it stands in the file."""
    value = scan_raw(path).select(name).slice(row, 1).collect().item()
    if value is None:
        return f"its {name} is missing"
    low, high = RANGES[name]
    return f"its {name} is {value!r}, not a number from {low}{f' to {high}' if high == 1 else ''}"


def cause(path: Path, error: Exception) -> str:
    """Say why a file cannot be read."""
    found = str(error).strip().splitlines()[0]
    if path.suffix not in TEXT_FILES or isinstance(error, OSError):
        return found
    where = first_bad_byte(path, "utf-8")
    if where.startswith("byte"):
        return f"it is not UTF-8 ({where}); save it as CSV UTF-8"
    return f"a quote does not close, or a row has more cells than the header ({found})"


def unreadable_file(path: Path, error: Exception) -> InputError:
    return InputError(f"Cannot read the labels in {path}: {cause(path, error)}. Or label the reviews again.")
