import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.text import write
from aspectra.text.read import open_source
from aspectra.text.write import check_output, write_frames

FIRST = pl.DataFrame({"text": ["Tür, offen", 'so "gut"\nwie'], "probability": [0.5, 0.25]})
SECOND = pl.DataFrame({"text": ["👍"], "probability": [1.0]})


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_is_written_can_be_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"labelled.{kind}"
    assert write_frames([FIRST, FIRST.clear(), SECOND], path) == 3
    frame = pl.concat(open_source([str(path)]).batches()).with_columns(pl.col("probability").cast(pl.Float64))
    assert frame.equals(pl.concat([FIRST, SECOND]))
    assert list(tmp_path.iterdir()) == [path]


def test_a_csv_opens_with_the_mark_that_excel_needs_and_one_header(tmp_path: Path) -> None:
    write_frames([FIRST.clear(), FIRST, SECOND], tmp_path / "x.csv")
    data = (tmp_path / "x.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbftext,probability\n")
    assert data.count(b"probability") == 1


def test_nested_columns_are_json_in_a_csv(tmp_path: Path) -> None:
    frame = pl.DataFrame({"tags": [["ä", "b"], None], "who": [{"name": "Ada"}, {"name": None}]})
    write_frames([frame], tmp_path / "x.csv")
    rows = pl.read_csv(tmp_path / "x.csv")
    assert rows["tags"].to_list() == ['["ä", "b"]', None]
    assert [json.loads(who) for who in rows["who"]] == [{"name": "Ada"}, {"name": None}]


def test_all_aspects_of_a_segment_have_semicolons_between_them_in_a_csv(tmp_path: Path) -> None:
    frame = pl.DataFrame({"aspects": [["Food", "Staff"], [], ["Food"]]})
    write_frames([frame], tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text("utf-8-sig").splitlines()[1:] == ["Food;Staff", '""', "Food"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_failure_midway_leaves_the_earlier_file(tmp_path: Path, kind: str) -> None:
    def frames() -> Iterator[pl.DataFrame]:
        yield FIRST
        raise InputError("the next file is broken")

    path = tmp_path / f"x.{kind}"
    path.write_text("earlier")
    with pytest.raises(InputError, match="the next file is broken"):
        write_frames(frames(), path)
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_change_midway_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=r"columns .*change after row 2 .*Write .jsonl instead."):
        write_frames([FIRST, SECOND.with_columns(late=1)], tmp_path / f"x.{kind}")
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_changes_midway_is_refused_in_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="or their types change after row 2"):
        write_frames([FIRST, SECOND.with_columns(probability=pl.lit("high"))], tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_checking_an_output_leaves_no_trace(tmp_path: Path) -> None:
    check_output(tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_output_of_no_known_format_is_refused() -> None:
    with pytest.raises(InputError, match=r"x.ods: the output must end in .parquet, .csv, .xlsx, .jsonl."):
        check_output(Path("x.ods"))


def test_a_folder_as_output_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match=r"out.csv is a folder. Name a file in it: .*out.csv/labelled.csv"):
        check_output(tmp_path / "out.csv")


def test_an_output_inside_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(
        InputError, match=r"Cannot write .*file/x.csv: File exists. Choose a folder that you may write to."
    ):
        check_output(tmp_path / "file" / "x.csv")
    assert (tmp_path / "file").read_text() == "precious"


def sheet(path: Path) -> str:
    with zipfile.ZipFile(path) as book:
        return book.read("xl/worksheets/sheet1.xml").decode()


def test_excel_gets_types_filters_and_a_header_that_stays(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": ["=1+1"], "stars": [4], "day": [date(2024, 5, 1)], "none": [float("nan")]})
    assert write_frames([frame, frame], tmp_path / "x.xlsx") == 2
    text = sheet(tmp_path / "x.xlsx")
    assert "<f>" not in text
    assert re.findall(r'<c r="([BC]\d)"[^>]*><v>(\d+)</v>', text) == [
        ("B2", "4"), ("C2", "45413"), ("B3", "4"), ("C3", "45413")
    ]  # fmt: skip
    assert '<autoFilter ref="A1:D3"/>' in text
    assert 'state="frozen"' in text


def test_what_excel_cannot_hold_becomes_text_or_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"id": [2**60], "day": [date(1850, 1, 1)], "at": [datetime(2024, 5, 1, tzinfo=UTC)]})
    write_frames([frame], tmp_path / "x.xlsx")
    assert str(2**60) in sheet(tmp_path / "x.xlsx")
    assert "1850-01-01" in sheet(tmp_path / "x.xlsx")
    with pytest.raises(InputError, match=r"'text' has a text of 40,000 characters.*--columns"):
        write_frames([pl.DataFrame({"text": ["x" * 40_000]})], tmp_path / "y.xlsx")
    monkeypatch.setattr(write, "MOST_ROWS", 2)
    with pytest.raises(InputError, match="too large for Excel: a sheet holds 2 rows"):
        write_frames([FIRST, SECOND], tmp_path / "y.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["x.xlsx"]
