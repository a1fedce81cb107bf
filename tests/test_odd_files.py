"""Plausible but odd files: each is read right, or refused in a sentence that names file and column."""

import datetime
import decimal
import gzip
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as arrow
import pyarrow.parquet
import pytest

from aspectra import rundir
from aspectra.errors import InputError
from aspectra.text import find
from aspectra.text.read import open_source
from aspectra.text.write import check_output, write_frames

LINE = "text,stars\nGood sound.,5\n"


def rows(path: Path, content: bytes | str, **options: Any) -> list[dict[str, Any]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return pl.concat(open_source([str(path)], **options).batches()).to_dicts()


@pytest.mark.parametrize(
    "content",
    [
        LINE,
        LINE.encode("utf-16"),
        LINE.encode("utf-32"),
        b"\xfe\xff" + LINE.encode("utf-16-be"),
        "sep=,\n" + LINE,
        '"sep=;"\r\n' + LINE.replace(",", ";"),
    ],
)
def test_a_byte_order_mark_and_excels_first_line_are_understood(tmp_path: Path, content: bytes | str) -> None:
    assert rows(tmp_path / "a.csv", content) == [{"text": "Good sound.", "stars": "5"}]


def test_a_gzip_file_that_is_damaged_and_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(b"text\nLoud pump.\n\xff")
    path.write_bytes(whole[:-8] + b"\0" * 8)
    with pytest.raises(InputError, match=r"a\.csv\.gz is not a complete gzip file"):
        open_source([str(path)])


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_array_is_read(tmp_path: Path, indent: int | None) -> None:
    found = rows(tmp_path / "a.jsonl", json.dumps([{"text": "One."}, {"text": "Two."}], indent=indent))
    assert found == [{"text": "One."}, {"text": "Two."}]


def test_a_json_array_that_does_not_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aspectra.text.rows.LONGEST_ARRAY", 1000)
    with pytest.raises(InputError, match=r"a\.jsonl is one JSON array of more than"):
        rows(tmp_path / "a.jsonl", "[\n" + '{"text": "Good sound."},\n' * 1000)


def test_text_that_is_an_object_a_list_or_a_number_is_not_labelled(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [{"text": {"en": "x"}}, {"text": ["y"]}, {"text": 5}, {"text": "Good.", "n": 10**30}]
    path.write_text("\n".join(map(json.dumps, lines)))
    source = open_source([str(path)])
    assert pl.concat(source.batches()).to_dicts() == [{"text": "Good.", "n": str(10**30)}]
    assert source.skipped.summary() == ["a.jsonl: left out 3 rows whose text is not text (line 1, 2, 3)"]


@pytest.mark.parametrize("mixed", [[True, 1], [2**53 + 1, 0.5], [[1], "1"], [False, None, 0.5]])
def test_a_column_of_several_types_keeps_every_value(tmp_path: Path, mixed: list[Any]) -> None:
    lines = [json.dumps({"text": "Good.", "value": value}) for value in mixed]
    found = [row["value"] for row in rows(tmp_path / "a.jsonl", "\n".join(lines))]
    assert found == [value if isinstance(value, str | None) else json.dumps(value) for value in mixed]


def test_an_encoding_that_cannot_read_text_is_refused(tmp_path: Path) -> None:
    for encoding, message in {"undefined": "Unknown encoding", "punycode": "is not punycode"}.items():
        with pytest.raises(InputError, match=message):
            rows(tmp_path / "a.csv", LINE, encoding=encoding)


def test_ragged_rows_are_not_called_empty(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"No row of .*a\.csv can be used: .* 300 rows that do not have 2 col"
    ):
        rows(tmp_path / "a.csv", "text,stars\n" + "a|b|c\n" * 300)


def test_the_exact_name_and_a_suffix_in_capitals_are_found(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.csv.GZ"
    path.write_bytes(gzip.compress(b"Text,TEXT,text\na,b,c\n"))
    assert open_source([str(path)]).text_column == "text"


def test_many_columns_are_fast(tmp_path: Path) -> None:
    began = time.process_time()  # of the processor: the machine may be busy
    names = ",".join(f"c{n}" for n in range(20_000))
    assert len(rows(tmp_path / "a.csv", f"text,{names}\nx{',' * 20_000}\n")[0]) == 20_001
    assert time.process_time() - began < 5


def test_a_pipe_is_read_once_and_as_often_as_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LINE * 20_000,))
    writer.start()
    source = open_source([str(pipe)])
    writer.join()
    assert [len(pl.concat(source.batches())) for _ in range(2)] == [2 * 20_000 - 1] * 2
    monkeypatch.setattr(find, "PATIENCE", 0.1)
    with pytest.raises(InputError, match=r"pipe\.csv is a pipe, and nobody writes into it"):
        open_source([str(pipe)])
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"zero\.csv is not a file"):
        open_source([str(tmp_path / "zero.csv")])


def test_parquet_with_two_columns_of_a_name_or_broken_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = arrow.Table.from_arrays([arrow.array(["x"]), arrow.array(["y"])], names=["text", "text"])
    arrow.parquet.write_table(table, path)
    with pytest.raises(InputError, match=r"a\.parquet has the column 'text' twice"):
        open_source([str(path)])
    broken = arrow.array([b"\xff\xfe"]).view(arrow.string())
    arrow.parquet.write_table(arrow.table({"text": broken}), path)
    with pytest.raises(InputError, match=r"Column 'text' of .*a\.parquet cannot be read"):
        open_source([str(path)])


def test_types_that_polars_lacks_keep_their_instants_and_digits(tmp_path: Path) -> None:
    path, long = tmp_path / "a.parquet", decimal.Decimal("1" * 50 + ".5")
    noon = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)
    columns = {
        "text": ["Good sound."],
        "at": arrow.array([noon], arrow.timestamp("us", "+05:30")),
        "long": arrow.array([long], arrow.decimal256(60, 1)),
    }
    arrow.parquet.write_table(arrow.table(columns), path)
    row = next(open_source([str(path)]).batches()).row(0, named=True)
    assert (row["at"], row["long"]) == (noon, str(long))
    nested = arrow.StructArray.from_arrays([columns["long"]], ["inner"])
    arrow.parquet.write_table(arrow.table({**columns, "nested": nested}), path)
    with pytest.raises(InputError, match=r"a\.parquet has a column of a type that cannot be read"):
        open_source([str(path)])


@pytest.mark.parametrize("name", ["a\0b", "^a.*$", "*"])
def test_names_that_cannot_be_written_or_are_patterns_of_polars_are_refused(
    tmp_path: Path, name: str
) -> None:
    for row in ({"text": "Good sound.", "a1": 1, name: 2}, {name: "Good sound.", "a1": 1}):
        with pytest.raises(InputError, match=r"a\.jsonl has a column with the name .* Rename it"):
            rows(tmp_path / "a.jsonl", json.dumps(row))


def test_types_of_other_programs_and_columns_without_a_name_are_carried(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = [arrow.array(["Good sound."]), arrow.array(['{"a": 1}'], arrow.json_()), arrow.array([1])]
    arrow.parquet.write_table(arrow.Table.from_arrays(columns, names=["text", "", "column_1"]), path)
    frame = next(open_source([str(path)]).batches())
    assert frame.rows() == [("Good sound.", '{"a": 1}', 1)]
    assert frame.columns == ["text", "", "column_1"]
    for name in ("a.csv", "a.xlsx", "a.jsonl"):
        assert write_frames([frame], tmp_path / name) == 1


def test_dates_out_of_reach_are_refused(tmp_path: Path) -> None:
    far = pl.DataFrame({"day": pl.Series([2**31 - 1]).cast(pl.Int32).cast(pl.Date)})
    for name in ("a.csv", "a.jsonl", "a.xlsx"):
        with pytest.raises(InputError, match=r"Column 'day' has a date 260,273 years away"):
            write_frames([far], tmp_path / name)
    near = pl.DataFrame({"day": ["0000-01-01", "2024-05-01"]}).with_columns(pl.col("day").str.to_date())
    assert write_frames([near.with_columns(pl.col("day").dt.offset_by("9000y"))], tmp_path / "a.xlsx") == 2


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_values_of_every_type_are_carried(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(
        {
            "bytes": [b"\xff"],
            "decimal": [decimal.Decimal("1.50")],
            "lasted": [datetime.timedelta(seconds=5)],
            "day": [datetime.date(2024, 5, 1)],
            "nested": [{"a": [1, 2]}],
            "nested_bytes": [{"a": [b"\xff"]}],
        }
    )
    assert write_frames([frame], tmp_path / f"a{suffix}") == 1
    if suffix != ".parquet":
        written = (tmp_path / f"a{suffix}").read_text()
        assert all(value in written for value in ("1.50", "/w=="))


def test_formulas_are_defused_in_csv_unless_asked_not_to(tmp_path: Path) -> None:
    cells = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\n=1", "＝1+1", "-5", "+3.5e-2", "fine = ok", None]
    path = tmp_path / "a.csv"
    write_frames([pl.DataFrame({"=text": cells})], path)
    expected = [*(f"'{cell}" for cell in cells[:7]), *cells[7:]]
    assert pl.read_csv(path, infer_schema=False)["'=text"].to_list() == expected
    write_frames([pl.DataFrame({"=text": cells})], path, raw_cells=True)
    assert pl.read_csv(path, infer_schema=False)["=text"].to_list() == cells


def test_names_and_words_that_are_not_utf_8_are_refused(aspectra: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "x\udcff.csv").write_text(LINE)
    with pytest.raises(InputError, match=r"is not UTF-8\. Rename"):
        open_source([str(tmp_path)])
    answer = aspectra("label", tmp_path, tmp_path / "x\udcff.csv", "-o", "out.csv")
    assert (answer.code, "is not UTF-8" in answer.err) == (1, True)


def test_a_file_of_the_run_is_no_output(aspectra: Callable[..., Any], own_run: Path) -> None:
    with pytest.raises(InputError, match="belongs to the run"):
        check_output(own_run / rundir.SEGMENTS)
    check_output(own_run / "labelled.parquet")
    before = (own_run / rundir.TOPIC_MAP).read_bytes()
    for words in (
        ("map", "export", own_run, own_run / rundir.TOPIC_MAP),
        ("sample", own_run),
        ("label", own_run, "x.csv", "-o", f"{own_run}/"),
        ("explain", own_run, "Loud.", "--html", own_run / "student" / "why.html"),
        ("report", own_run, "x.csv", "-o", own_run / "report.html", "--png", own_run),
    ):
        answer = aspectra(*words)
        assert (answer.code, "belongs to the run" in answer.err) == (1, True)
    answer = aspectra("explain", own_run, "Loud.", "--html", own_run / rundir.TOPIC_MAP)
    assert (answer.code, "ends in .html" in answer.err) == (1, True)
    assert (own_run / rundir.TOPIC_MAP).read_bytes() == before


def test_a_link_to_itself_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to("a.csv")
    check_output(tmp_path / "a.csv")
    assert write_frames([pl.DataFrame({"a": [1]})], tmp_path / "a.csv") == 1


def test_a_field_that_is_too_long_is_not_called_an_open_quote_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aspectra.text.rows.LONGEST_FIELD", 1000)
    with pytest.raises(InputError, match="is longer than"):
        rows(tmp_path / "a.csv", "text\n" + "x" * 2000 + "\n")
    monkeypatch.undo()
    assert len(rows(tmp_path / "a.csv", "text\n" + "x" * 2000 + "\n")) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (gzip.compress(LINE.encode(), mtime=0), r"is a gzip file, .* Rename it: .*reviews\.csv\.gz"),
        (b"PAR1....PAR1", r"is a Parquet file, .* must end with \.parquet"),
        (b"PK\x03\x04....", "is a ZIP archive or an Excel file"),
        (b"%PDF-1.7", "is a PDF file"),
        (b"BZh91AY", "is a bzip2 file"),
    ],
)
def test_a_file_of_another_format_than_its_name_says_is_called_by_its_own(
    tmp_path: Path, content: bytes, told: str
) -> None:
    for encoding in ("utf-8", "latin-1"):
        with pytest.raises(InputError, match=told):
            rows(tmp_path / "reviews.csv", content, encoding=encoding)


def test_text_that_begins_like_another_format_is_read(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.csv", "PAR1,text\n1,Good.\n") == [{"PAR1": "1", "text": "Good."}]
    assert rows(tmp_path / "a.txt", "SQLite is fine.\n") == [{"text": "SQLite is fine."}]
