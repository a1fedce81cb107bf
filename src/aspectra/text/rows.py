"""The lines of a text file → numbered rows: CSV and TSV, JSONL, or one review per line.

Rows that cannot be used are counted in `Skipped`, with their line numbers.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra.errors import InputError

LONGEST_FIELD = 64 * 2**20
LONGEST_ARRAY = 256 * 2**20
"""Characters of a JSON array, which is read as a whole."""
FEWEST_WORDS = 5
"""Shorter reviews may be the same by chance: "Works great." """
TEXT_NAMES = (
    "text", "review", "reviewtext", "reviewbody", "reviewcontent", "content", "body", "comment", "comments",
    "sentence", "segment",
)  # fmt: skip
"""Names of text columns, likeliest first; compared without case, spaces and punctuation."""
WORTH_TELLING = 0.01
MOST_TEXTS = 500_000
"""So many texts are remembered to count repeated ones."""
Lines = Iterator[str]


@dataclass
class Skipped:
    """Rows left out, and why: (file, line or row number, reason)."""

    rows: list[tuple[str, int, str]] = field(default_factory=list)

    def summary(self) -> list[str]:
        """Return one line per file and reason, with the number of rows and the first line numbers."""
        lines, found = [], dict[tuple[str, str], list[int]]()
        for file, number, reason in self.rows:
            found.setdefault((file, reason), []).append(number)
        for (file, reason), numbers in found.items():
            shown = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
            lines.append(
                f"{file}: left out {len(numbers)} row{'s' * (len(numbers) > 1)} {reason} (line {shown})"
            )
        return lines


@dataclass
class Repeats:
    """Counts reviews of FEWEST_WORDS words or more whose text an earlier review has, too.

    Unless each must be found, a part of many texts is counted, chosen by their hashes: memory stays small.
    """

    each: bool = False
    one_in: int = 1
    """One in so many texts is counted."""
    reviews: int = 0
    repeated: int = 0
    seen: list[np.ndarray] = field(default_factory=list, repr=False)
    """Sorted hashes of the texts so far, 8 bytes each, in arrays of which each is over twice the next."""

    def find(self, texts: pl.Series) -> pl.Series:
        """Tell which of the next reviews repeat an earlier one, of those that are counted."""
        texts = texts.str.strip_chars()
        hashes = texts.hash()
        before = np.zeros(len(texts), dtype=bool)
        for earlier in self.seen:
            places = np.searchsorted(earlier, hashes.to_numpy())
            before |= earlier[np.minimum(places, len(earlier) - 1)] == hashes.to_numpy()
        counted = (texts.str.count_matches(r"\S+") >= FEWEST_WORDS) & (hashes % self.one_in == 0)
        found = counted & (pl.Series(before) | ~hashes.is_first_distinct())
        self.reviews += len(texts)
        self.repeated += int(found.sum()) * self.one_in
        self.remember(hashes.filter(counted & ~found).sort().to_numpy())
        return found

    def remember(self, hashes: np.ndarray) -> None:
        while self.seen and len(self.seen[-1]) <= 2 * len(hashes):
            hashes = np.sort(np.concatenate([self.seen.pop(), hashes]), kind="stable")  # merges sorted arrays
        if len(hashes):
            self.seen.append(hashes)
        while not self.each and sum(map(len, self.seen)) > MOST_TEXTS:
            self.one_in *= 2
            kept = (one[one % np.uint64(self.one_in) == 0] for one in self.seen)
            self.seen = [one for one in kept if len(one)]

    def summary(self, skipped: bool) -> list[str]:
        """Return a line on repeated reviews, if they were left out or are enough to change shares."""
        if not self.repeated or (not skipped and self.repeated < WORTH_TELLING * self.reviews):
            return []
        end = "left out" if skipped else "--skip-duplicates leaves them out"
        about = "About " if self.one_in > 1 else ""
        return [
            f"{about}{self.repeated:,} of {self.reviews:,} reviews have the text of an earlier one: {end}."
        ]


def kind(path: Path) -> str:
    """Return the suffix that says the format, without .gz."""
    return (Path(path.stem) if is_gzip(path) else path).suffix.lower()


def is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def text_rows(path: Path, lines: Lines, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        yield number, {"text": line.rstrip("\r\n")}


def json_rows(path: Path, lines: Lines, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    first = next(lines, "")
    if first.lstrip().startswith("["):
        yield from array_rows(path, whole(path, itertools.chain([first], lines)), skipped)
        return
    for number, line in enumerate(itertools.chain([first], lines), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "\\ud" in line.lower():
                row = json.loads(without_halves(json.dumps(row, ensure_ascii=False)))
        except (ValueError, RecursionError):  # also a number of 5,000 digits
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            skipped.rows.append((path.name, number, "that are not JSON objects"))


def without_halves(text: str) -> str:
    """Return a text in which half an emoji, where it was cut, is the sign for the unreadable."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole(path: Path, lines: Lines) -> str:
    """Return all lines as one text; so a small .gz cannot fill the memory with many of them."""
    parts, length = [], 0
    for line in lines:
        parts.append(line)
        length += len(line)
        if length > LONGEST_ARRAY:
            raise InputError(
                f"{path} is one JSON array of more than {LONGEST_ARRAY // 2**20} MB. "
                "Write one JSON object per line."
            )
    return "".join(parts)


def array_rows(path: Path, text: str, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file that is one JSON array; their numbers are places in the array, from 1."""
    try:
        values = json.loads(without_halves(json.dumps(json.loads(text), ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} starts with [, but is not a JSON array ({error}). Write one JSON object per line."
        ) from None
    for number, row in enumerate(values, 1):
        if isinstance(row, dict):
            yield number, row
        else:
            skipped.rows.append((path.name, number, "that are not JSON objects"))


def find_delimiter(header: str) -> str:
    """Return the delimiter of a CSV: comma, semicolon, tab or |, whichever its header has most of."""
    return max(",;\t|", key=header.count)


def csv_rows(path: Path, lines: Lines, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows below the header, as dictionaries."""
    header_line, before = next(lines, ""), 0
    delimiter = "\t" if kind(path) == ".tsv" else find_delimiter(header_line)
    told = header_line.strip().strip('"')
    if len(told) == 5 and told.lower().startswith("sep="):  # Excel's way to name the delimiter
        delimiter, header_line, before = told[4], next(lines, ""), 1
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(
        itertools.chain([header_line] if header_line else [], lines), delimiter=delimiter, strict=True
    )
    header: list[str] | None = None
    start = 1
    while True:
        start = reader.line_num + 1 + before
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{path}: {csv_fault(str(error), start)}") from None
        if header is None:
            header = [name.strip() for name in values]
            check_header(path, header)
        elif len(values) == len(header):
            yield start, dict(zip(header, values, strict=True))
        elif values:
            skipped.rows.append((path.name, start, f"that do not have {len(header)} columns"))


def csv_fault(error: str, line: int) -> str:
    if "field larger" in error:
        return (
            f"a field that starts in line {line} is longer than {LONGEST_FIELD // 2**20} MB: its quote never "
            "closes, or it is no review. Close the quote, or remove the row."
        )
    if "unexpected end" in error:
        return (
            f"the quote opened in line {line} never closes. "
            "Close it, or double the quote if it is part of the text."
        )
    return f"line {line} cannot be read as CSV ({error}). Fix the line."


def check_header(path: Path, header: list[str]) -> None:
    if not any(header):
        raise InputError(f"{path} is empty: no header in line 1.")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(f"{path} has the column {twice[0]!r} twice. Rename one of them.")
