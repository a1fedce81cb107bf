"""Files of reviews → frames of rows, as a stream: CSV, TSV, JSONL, Parquet and text, also gzipped.

A text file has one review per line. Rows that cannot be used are counted in `Source.skipped`, with their
line numbers. What makes the whole file unusable (encoding, a quote that never closes, NUL bytes, no text
column) is an InputError that says what to do.
"""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import json
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from aspectra.arguments import as_path, check_flag, check_text, shown
from aspectra.errors import InputError
from aspectra.rundir import checksum
from aspectra.text.columns import find_types, with_types
from aspectra.text.find import find_files
from aspectra.text.parquet import Placed, parquet_frames
from aspectra.text.rows import (
    TEXT_NAMES,
    Lines,
    Repeats,
    Skipped,
    csv_rows,
    is_gzip,
    json_rows,
    kind,
    text_rows,
)
from aspectra.text.segment import NOT_BLANK

BATCH = 14_000
LONGEST_LINE = 256 * 2**20
"""Characters; so a small .gz cannot fill the memory with one line."""
ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""How a file begins; the first of them also begins with the third."""
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
UNPACK, AS_CSV = "Unpack it first.", "Save the reviews as CSV."
MAGIC = {
    GZIP: ("a gzip file", "Rename it: {path}.gz"),
    PARQUET: ("a Parquet file", "Rename it: its name must end with .parquet."),
    b"PK\x03\x04": ("a ZIP archive or an Excel file", "Unpack it, or save the sheet as CSV."),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", AS_CSV),
    b"%PDF-": ("a PDF file", AS_CSV),
    b"BZh": ("a bzip2 file", UNPACK),
    b"\xfd7zXZ": ("an xz file", UNPACK),
    b"\x28\xb5\x2f\xfd": ("a Zstandard file", UNPACK),
    b"7z\xbc\xaf": ("a 7-Zip archive", UNPACK),
    b"SQLite format 3": ("a SQLite database", AS_CSV),
}
"""How files of other formats begin, what they are, and what to do."""
ALL_TEXT = (".csv", ".tsv")
"""In these formats all is text; elsewhere, text that looks like a number was meant as text."""
FOR_NOTHING = ("NaN", "nan", "None", "NULL", "null", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaT")
"""What programs write into a table's cell that holds nothing."""
Rows = Iterator[tuple[int, dict[str, Any]]]
Numbered = tuple[Sequence[int], pl.DataFrame]


@dataclass
class Source:
    """Reviews in one or several files with the same columns."""

    paths: list[Path]
    text_column: str
    id_column: str | None
    encoding: str
    skip_duplicates: bool = False
    """Whether reviews with the text of an earlier one are left out."""
    types: dict[str, pl.DataType] = field(default_factory=dict)
    """Of columns that came as text and are not; `find_types` finds them."""
    skipped: Skipped = field(default_factory=Skipped)
    repeats: Repeats = field(default_factory=Repeats)
    share: float = field(default=0.0, init=False)
    """How much of the input is in the batches so far, 0…1."""

    def batches(self, size: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield frames of at most `size` rows, all with text; `skipped` and `repeats` start anew."""
        self.skipped.rows.clear()
        self.repeats = Repeats(self.skip_duplicates)
        some, before = False, 0
        total = sum(path.stat().st_size for path in self.paths)
        for path in self.paths:
            for numbers, frame, place in read_frames(
                path, self.encoding, size, self.skipped, self.text_column
            ):
                frame = self._with_text(path, numbers, frame)
                repeated = self.repeats.find(frame[self.text_column])
                frame = frame.filter(~repeated) if self.skip_duplicates else frame
                some = some or len(frame) > 0
                self.share = (before + place) / max(1, total)
                yield with_types(frame, self.types)
            before += path.stat().st_size
        if not some:
            detail = "; ".join(self.skipped.summary())
            raise InputError(
                f"No review with text in {', '.join(map(str, self.paths))}."
                + (f" {detail}." if detail else " The file is empty.")
            )

    def find_types(self) -> None:
        """Read everything once; from then on, columns of text that hold numbers or dates have that type."""
        self.types = {}
        numbers = all(kind(path) in ALL_TEXT for path in self.paths)
        self.types = find_types((frame.drop(self.text_column) for frame in self.batches()), numbers)

    def texts(self) -> Iterator[pl.Series]:
        """Yield the review texts alone."""
        for frame in self.batches():
            yield frame[self.text_column]

    def _with_text(self, path: Path, numbers: Sequence[int], frame: pl.DataFrame) -> pl.DataFrame:
        missing = [name for name in (self.text_column, self.id_column) if name and name not in frame.columns]
        if missing:
            raise InputError(
                f"{path} has no column {missing[0]!r}; it has {', '.join(frame.columns)}. Name one of them."
            )
        text = frame[self.text_column]
        if text.dtype == pl.Null:
            text = text.cast(pl.String)
        if text.dtype != pl.String:
            raise InputError(
                f"Column {self.text_column!r} of {path} holds {text.dtype}, not text. "
                "Name another with --text-column."
            )
        blank = ~text.str.contains(NOT_BLANK).fill_null(False)
        self.skipped.rows += [(path.name, numbers[place], "without text") for place in blank.arg_true()]
        if kind(path) in ALL_TEXT:
            absent = text.str.strip_chars().is_in(FOR_NOTHING).fill_null(False)
            self.skipped.rows += [
                (path.name, numbers[place], f"without text, but {text[place].strip()!r}")
                for place in absent.arg_true()
            ]
            blank |= absent
        return frame.with_columns(text).filter(~blank)

    def fingerprint(self) -> list[str]:
        """Return what the result depends on: the content, encoding and text column, not the files' names."""
        how = [self.text_column, self.encoding, *(["skip duplicates"] if self.skip_duplicates else [])]
        return [*how, *(checksum(path) for path in self.paths)]


def open_source(
    patterns: list[str],
    text_column: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    skip_duplicates: bool = False,
) -> Source:
    """Find the files and the text column, and check what can be checked before reading everything."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError, TypeError):
        raise InputError(
            f"Unknown encoding {shown(encoding)}. Try utf-8, latin-1, cp1252 or utf-16."
        ) from None
    paths = find_files(patterns)
    column = find_text_column(paths[0], text_column, id_column, encoding)
    return Source(paths, column, id_column, encoding, skip_duplicates)


def read_reviews(
    *files: str | Path,
    text_column: str | None = None,
    encoding: str = "utf-8",
    skip_duplicates: bool = False,
) -> pl.DataFrame:
    """Read files of reviews into memory: one row per review, its text in the column `text`.

    Rows that cannot be used are left out; a warning says which. The other columns stay as they are; one that
    is called `text`, too, becomes `input_text`.

    - `files`: paths, globs or folders of CSV, TSV, JSONL, Parquet, or text (one review per line); also .gz.
    - `text_column`: the column with the text. By default the likely one, as `aspectra fit` takes it.
    - `encoding`: how text files are encoded, such as "utf-8", "latin-1" or "utf-16".
    - `skip_duplicates`: leave out reviews of five words or more whose text an earlier review has, too.
    """
    check_text(text_column, "text_column", optional=True)
    check_flag(skip_duplicates, "skip_duplicates")
    paths = [str(as_path(file, "Each of files")) for file in files]
    source = open_source(paths, text_column, None, encoding, skip_duplicates)
    frame = pl.concat(source.batches(), how="diagonal_relaxed")
    for line in source.skipped.summary():
        warnings.warn(line, stacklevel=2)
    if source.text_column == "text":
        return frame
    return frame.rename({"text": "input_text"}, strict=False).rename({source.text_column: "text"})


def find_text_column(path: Path, text_column: str | None, id_column: str | None, encoding: str) -> str:
    """Return the column to read: the one named, or a guess by the file's first rows."""
    skipped = Skipped()
    first: pl.DataFrame | None = next(
        (frame for _, frame, _ in read_frames(path, encoding, 1000, skipped)), None
    )
    if first is None:
        detail = "; ".join(skipped.summary())
        raise InputError(
            f"No row of {path} can be used: {detail}." if detail else f"{path} is empty: no review in it."
        )
    text_column = text_column or guess_text_column(first, path)
    if id_column == text_column:
        raise InputError(
            f"Column {id_column!r} cannot be both the id and the text. "
            "Name another --id-column or --text-column."
        )
    return text_column


def guess_text_column(frame: pl.DataFrame, path: Path) -> str:
    """Return the column with a usual name, or the only one with long texts."""
    plain = {"".join(filter(str.isalnum, name.lower())): name for name in reversed(frame.columns)}
    for name in TEXT_NAMES:
        if name in plain:
            return name if name in frame.columns else plain[name]
    strings = [name for name in frame.columns if frame[name].dtype == pl.String]
    means = {name: frame[name].str.len_chars().mean() for name in strings}
    lengths = sorted(
        ((mean if isinstance(mean, float) else 0.0, name) for name, mean in means.items()), reverse=True
    )
    if len(lengths) == 1 or (len(lengths) > 1 and lengths[0][0] >= 20 and lengths[0][0] > 2 * lengths[1][0]):
        return lengths[0][1]
    raise InputError(
        f"{path} has no obvious text column among {', '.join(frame.columns)}. Name it: --text-column NAME."
    )


def read_frames(
    path: Path, encoding: str, size: int, skipped: Skipped, text_column: str = ""
) -> Iterator[Placed]:
    """Yield the line numbers of the rows (in Parquet: row numbers), the rows as frames, and the bytes read.

    Rows whose `text_column` is not text are skipped.
    """
    try:
        check_kind(path)
        frames = (
            parquet_frames(path, size)
            if kind(path) == ".parquet"
            else decoded_frames(path, encoding, size, skipped, text_column)
        )
        for numbers, frame, place in frames:
            check_names(str(path), frame.columns)
            yield numbers, frame, place
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{path} is not a complete gzip file ({error}). Download or copy it again."
        ) from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from None


def check_kind(path: Path) -> None:
    """Raise InputError if the first bytes are those of another format than the file's name says."""
    with path.open("rb") as file:
        start = file.read(16)
        file.seek(max(0, path.stat().st_size - len(PARQUET)))
        end = file.read()
    found = next((magic for magic in MAGIC if start.startswith(magic)), b"")
    expected = is_gzip(path) if found == GZIP else found == PARQUET and kind(path) == ".parquet"
    if not found or expected or (found == PARQUET and end != PARQUET):  # a column may be called PAR1
        return
    what, todo = MAGIC[found]
    raise InputError(f"{path} is {what}, whatever its name says. {todo.format(path=path)}")


def check_names(where: str, names: Iterable[str]) -> None:
    """Raise InputError for a column's name that cannot be written, or that polars takes for a pattern."""
    for name in names:
        if "\0" in name or name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InputError(f"{where} has a column with the name {name!r}, which cannot be used. Rename it.")


def decoded_frames(
    path: Path, encoding: str, size: int, skipped: Skipped, text_column: str
) -> Iterator[Placed]:
    """Yield the same for files of text."""
    parse = {".csv": csv_rows, ".tsv": csv_rows, ".txt": text_rows}.get(kind(path), json_rows)
    try:
        with path.open("rb") as file:
            rows = parse(path, open_lines(path, file, encoding), skipped)
            for numbers, frame in collect(with_plain_text(path, rows, text_column, skipped), size):
                yield numbers, frame, path.stat().st_size if file.closed else file.tell()
    except UnicodeError:
        encoding = true_encoding(path, encoding).removesuffix("-sig")
        raise InputError(
            f"{path} is not {encoding}: {first_bad_byte(path, encoding)}. "
            "Name its encoding, e.g. --encoding cp1252."
        ) from None


def open_binary(path: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(path, "rb") if is_gzip(path) else path.open("rb")


def open_lines(path: Path, file: io.BufferedReader, encoding: str) -> Lines:
    """Yield decoded lines with their line ends; a NUL byte is an error."""
    plain = gzip.GzipFile(fileobj=file) if is_gzip(path) else file
    with io.TextIOWrapper(plain, encoding=true_encoding(path, encoding), newline="") as lines:
        for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE), ""), 1):
            if len(line) == LONGEST_LINE:
                raise InputError(f"Line {number} of {path} is too long: {LONGEST_LINE // 2**20} MB or more.")
            if "\0" in line:
                raise InputError(
                    f"{path} has a NUL byte in line {number}: not plain text. "
                    "If it is UTF-16, add --encoding utf-16."
                )
            yield line


def true_encoding(path: Path, encoding: str) -> str:
    """Return the encoding to read with: a byte order mark says more than the default."""
    if encoding != "utf-8":
        return encoding
    with open_binary(path) as file:
        start = file.read(4)
    return next((name for mark, name in ORDER_MARKS.items() if start.startswith(mark)), "utf-8-sig")


def first_bad_byte(path: Path, encoding: str) -> str:
    if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        return "it cannot be decoded"
    with open_binary(path) as lines:
        for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE), b""), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                return f"byte 0x{line[error.start]:02x} in line {number}"
            except UnicodeError:
                break
    return "it cannot be decoded"


def collect(rows: Iterator[tuple[int, dict[str, Any]]], size: int) -> Iterator[Numbered]:
    """Collect numbered rows in frames; a column that later rows lack stays, with nulls."""
    names: dict[str, None] = {}
    while batch := list(itertools.islice(rows, size)):
        names |= dict.fromkeys(name for _, row in batch for name in row)
        yield [number for number, _ in batch], to_frame([row for _, row in batch], names)


def with_plain_text(path: Path, rows: Rows, text_column: str, skipped: Skipped) -> Rows:
    """Leave out rows whose text is a number, an object or a list."""
    for number, row in rows:
        if text_column and not isinstance(row.get(text_column), str | None):
            skipped.rows.append((path.name, number, f"whose {text_column} is not text"))
        else:
            yield number, row


def to_frame(rows: list[dict[str, Any]], names: Iterable[str]) -> pl.DataFrame:
    """Build a frame; a column of mixed or nested values becomes JSON text."""
    columns: dict[str, pl.Series] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        limit = 2**53 if float in kinds else 2**63
        if (
            kinds & {list, dict}
            or (len(kinds) > 1 and kinds != {int, float})
            or any(type(value) is int and not -limit <= value < limit for value in values)
        ):
            values = [
                value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                for value in values
            ]
        columns[name] = pl.Series(name, values, strict=False)
    return pl.DataFrame(columns)
