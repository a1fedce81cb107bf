"""Bad files of reviews: odd ones must be read right, broken ones be read right or refused in one sentence."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as arrow
import pyarrow.parquet

from .place import Place, Trial, bare, read_labels

TEXTS = (
    "The crema tastes bitter. The pump is loud!", "Größe passt, naïve 👍", "=1+1", 'He said "loud", twice',
    "line\nbreak in the middle", "  spaces around  ", "价格 太贵", "a;b,c\td|e", "'quoted'", "-5", "x" * 2000,
    "Cheap but noisy; would not buy again.",
)  # fmt: skip
LATIN = tuple(text for text in TEXTS if all(ord(sign) < 256 for sign in text))
CHANGED = 120
RAW = ("--raw-cells", "--model", "teacher", "-q")
KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt")
BROKEN_JSON = (
    b'{"text": NaN}', b'{"text": "\\ud800 half"}', b'{"text": ' + b"9" * 6000 + b"}", b"[" * 50_000,
    b'{"text": {"en": "x"}}', b'{"text": ["x"]}', b'{"text": true}', b'{"text": null}', b'{"text": 5}',
    b'{"text": "a", "text": "b"}', b"null", b'"text"', b"{}", b'{"": 1}', b'[{"text": "x"}', b"[1, 2]",
    b'{"text": "x", "n": 1e999}', b'{"text": "\\u0000"}', b"\xff\xfe{", b'{"text": "x"}{"text": "y"}',
)  # fmt: skip
BROKEN_CSV = (
    b"", b"\n", b"\xef\xbb\xbf", b"text", b"text\n", b"text\n\n\n", b'text\n"open', b'text\na"b"c"\n"d"e\n',
    b"text,text\na,b\n", b",,\n1,2,3\n", b"text,n\na\nb,1,2\nc,3\n", b"text\n\xff\xfe\n", b"text\na\0b\n",
    b"sep=|\ntext|n\na|1\n", b"text|n\na|1\nb|2\n", b"PK\x03\x04text", b"<html><table><tr><td>text",
    b"text\r\ra\r", b"t\xc3\nx\n", b"\0" * 100, b"text," * 5000 + b"z\n" + b"a," * 5000 + b"b\n",
    b'"text"\n' + b'"' * 999, b"n\n" + b"1\n" * 50, b"text\n" + b"," * 50, b"a,b\nx,y\n", b"\xfe\xff\x00t",
)  # fmt: skip


@dataclass(frozen=True)
class BadFile:
    """A file's name, how it is made, options, and the texts that it holds if they are certain."""

    name: str
    make: Callable[[Path], object]
    options: tuple[str, ...] = ()
    texts: tuple[str, ...] | None = None


def content(name: str, data: bytes, *options: str, texts: tuple[str, ...] | None = None) -> BadFile:
    return BadFile(name, lambda path: path.write_bytes(data), options, texts)


def as_csv(
    texts: tuple[str, ...], delimiter: str = ",", end: str = "\n", quoting: Any = 0, extra: int = 1
) -> str:
    table = io.StringIO()
    writer = csv.writer(table, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["id", "text", *(f"c{n}" for n in range(extra))])
    writer.writerows([number, text, *(number,) * extra] for number, text in enumerate(texts))
    return table.getvalue()


def as_jsonl(texts: tuple[str, ...], ascii_only: bool = True) -> str:
    rows = ({"id": number, "text": text} for number, text in enumerate(texts))
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)


def as_parquet(texts: tuple[str, ...], kind: Any = None, **options: Any) -> bytes:
    data = io.BytesIO()
    table = arrow.table({"id": list(range(len(texts))), "text": arrow.array(texts, kind or arrow.string())})
    arrow.parquet.write_table(table, data, **options)
    return data.getvalue()


def odd_files() -> Iterator[BadFile]:
    """Yield unusual files whose content is certain."""
    for delimiter, end, quoting in itertools.product(
        ",;\t", ("\n", "\r\n"), (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    ):
        table = as_csv(TEXTS, delimiter, end, quoting, 3)
        yield content(f"d{ord(delimiter)}{len(end)}{quoting}.csv", table.encode(), texts=TEXTS)
    for encoding in ("utf-8-sig", "utf-16", "utf-8"):
        yield content(f"{encoding}.csv", as_csv(TEXTS).encode(encoding), texts=TEXTS)
        yield content(f"{encoding}.jsonl", as_jsonl(TEXTS, False).encode(encoding), texts=TEXTS)
    for encoding in ("latin-1", "cp1252", "utf-16-le"):
        yield content(f"{encoding}.csv", as_csv(LATIN).encode(encoding), "--encoding", encoding, texts=LATIN)
    for suffix in (".gz", ".GZ"):
        yield content(f"z.csv{suffix}", gzip.compress(as_csv(TEXTS).encode()), texts=TEXTS)
        yield content(f"z.jsonl{suffix}", gzip.compress(as_jsonl(TEXTS).encode()), texts=TEXTS)
    yield content("told.csv", b"sep=;\n" + as_csv(TEXTS, ";").encode(), texts=TEXTS)
    yield content("t.tsv", as_csv(TEXTS, "\t").encode(), texts=TEXTS)
    yield content("wide.csv", as_csv(TEXTS, extra=5000).encode(), texts=TEXTS)
    rows = [json.loads(line) for line in as_jsonl(TEXTS).splitlines()]
    for indent in (None, 2):
        yield content(f"array{indent}.jsonl", json.dumps(rows, indent=indent).encode(), texts=TEXTS)
    for kind in (arrow.string(), arrow.large_string(), arrow.string_view()):
        yield content(f"{kind}.parquet", as_parquet(TEXTS, kind), texts=TEXTS)
    yield content("groups.parquet", as_parquet(TEXTS, row_group_size=2), texts=TEXTS)
    coded = arrow.dictionary(arrow.int32(), arrow.string())
    yield content("coded.parquet", as_parquet(TEXTS, coded), texts=TEXTS)
    for name in ("a b.csv", "[x].csv", "ü\n.csv", "-o.csv", "x" * 200 + ".csv", "a*.csv", "%s{}.csv"):
        yield content(name, as_csv(TEXTS).encode(), texts=TEXTS)


def broken_files() -> Iterator[BadFile]:
    """Yield files with a fault that people and programs make."""
    made = {".csv": as_csv(TEXTS).encode(), ".jsonl": as_jsonl(TEXTS).encode(), ".parquet": as_parquet(TEXTS)}
    for number, data in enumerate(BROKEN_CSV):
        yield content(f"broken{number}.csv", data)
    for number, data in enumerate(BROKEN_JSON):
        yield content(f"broken{number}.jsonl", data + b"\n")
        yield content(f"mixed{number}.jsonl", b'{"text": "Good."}\n' + data + b'\n{"text": "Bad."}\n')
    for (of, data), suffix in itertools.product(made.items(), KINDS):
        if of != suffix:
            yield content(f"really{of[1:]}{suffix}", data)
        yield content(f"packed{of[1:]}{suffix}.gz", gzip.compress(data)[: -len(data) // 3])
    for number, frame in enumerate(odd_frames()):
        yield BadFile(f"frame{number}.parquet", frame.write_parquet)
    yield BadFile("folder.csv", Path.mkdir)
    yield BadFile("loop.csv", lambda path: path.symlink_to(path))
    yield BadFile("zero.csv", lambda path: path.symlink_to("/dev/zero"))
    yield BadFile("gone.csv", lambda path: path.symlink_to(path.parent / "nowhere"))
    yield BadFile("pipe.csv", os.mkfifo)
    yield content("bomb.csv.gz", gzip.compress(b"text\n" + b"a" * 2**29))


def odd_frames() -> Iterator[pl.DataFrame]:
    """Yield tables whose text column is of another type, or whose other columns are unusual."""

    for values in (
        [1, 2],
        [1.5, None],
        [True],
        [["x"]],
        [{"a": "x"}],
        [b"x"],
        [None],
        [datetime.date.today()],
    ):
        yield pl.DataFrame({"text": values})
    others: tuple[Any, ...] = (
        b"\xff", decimal.Decimal("1.5"), datetime.timedelta(1), {"a": [1]}, [None], float("nan"), 2**63, None,
        datetime.datetime.now(datetime.UTC), datetime.time(1),
    )  # fmt: skip
    for value in others:
        yield pl.DataFrame({"text": ["Good."], "other": pl.Series([value], strict=False)})
    yield pl.DataFrame({"text": []})
    yield pl.DataFrame()


def mutations(random: Random) -> Iterator[BadFile]:
    """Yield good files with a few bytes cut, changed or put in, without end."""
    made = {
        ".csv": as_csv(TEXTS).encode(), ".jsonl": as_jsonl(TEXTS).encode(), ".parquet": as_parquet(TEXTS),
        ".csv.gz": gzip.compress(as_csv(TEXTS).encode()),
    }  # fmt: skip
    for number in itertools.count():
        suffix, data = random.choice(list(made.items()))
        for _ in range(random.randint(1, 4)):
            at, count = random.randrange(len(data)), random.randint(0, 20)
            put = random.choice((b"", random.randbytes(count), b"\0", b'"', b"\n", b"\xff", b"{"))
            data = data[:at] + put + data[at + random.choice((0, count, len(put), len(data))) :] or b"\n"
        yield content(f"changed{number}{suffix}", data)


def attack(place: Place) -> Iterator[Trial]:
    """Label each file into a format chosen at random."""
    random = place.random("files")
    certain = [*odd_files(), *broken_files()]
    random.shuffle(certain)
    changed = itertools.islice(mutations(random), place.count(CHANGED))
    for number, bad in enumerate((*certain[: place.count(len(certain))], *changed)):
        folder = place.scratch(f"files/{number}")
        bad.make(folder / bad.name)
        output = folder / f"out{random.choice(('.csv', '.jsonl', '.parquet'))}"
        words = ("label", place.run, folder / bad.name, "-o", output, *bad.options, *RAW)
        outcome = place.worker(*words)
        yield f"{bad.name} ({number})", outcome.fault() or wrong(bad, output, outcome.code, outcome.err)


def wrong(bad: BadFile, output: Path, code: int | None, err: str) -> str:
    """Say what is wrong with an answer that looks right."""
    left = [path.name for path in output.parent.glob(".*")]
    if left:
        return f"left behind: {left}"
    if code != 0:
        if bad.texts:
            return f"refused, though it can be read: {err}"
        if bad.name.split("\n")[0] not in err:
            return f"does not name the file: {err}"
        return "an output beside an error" if output.exists() else ""
    frame = read_labels(output)
    if bad.texts is None:
        return "" if len(frame) else "no rows, and no error"
    rows = frame.group_by(pl.col("id").cast(pl.Int64), maintain_order=True).agg("text").iter_rows()
    found = {number: bare("".join(texts)) for number, texts in rows}
    lost = [text for number, text in enumerate(bad.texts) if found.get(number) != bare(text)]
    return f"another text than was given: {lost[0][:40]!r}" if lost else ""
