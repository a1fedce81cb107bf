"""Text of reviews and names of files on the terminal: shown, never obeyed."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra.cli import show, was_interrupted
from aspectra.errors import typed

Aspectra = Callable[..., Any]
ESCAPE = "\x1b]0;title\x07\x9b2J\u202e"


@pytest.fixture
def odd_run(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run, tmp_path / f"my run [1]* {ESCAPE}"))


def obeyed(text: str) -> list[str]:
    return show.OBEYED.findall(text)


def test_text_and_names_in_tables_lines_json_and_errors_move_no_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid = show.table("a")
    grid.add_row(f"[/b] {ESCAPE}")
    show.console().print(grid)
    show.line(ESCAPE)
    show.as_json([ESCAPE])
    show.note(ESCAPE)
    said = capsys.readouterr()
    assert "[/b]" in said.out
    assert obeyed(said.out + said.err) == []
    assert json.loads(said.out[said.out.index("[\n") :]) == [ESCAPE]
    assert said.err == "\\u001b]0;title\\u0007\\u009b2J\\u202e\n"


def test_a_folder_with_signs_of_globs_spaces_and_escapes_can_be_used(
    aspectra: Aspectra, odd_run: Path, tmp_path: Path
) -> None:
    reviews = tmp_path / f"reviews [{ESCAPE}].csv"
    reviews.write_text(f"text,{ESCAPE}\n" + f"The pump is loud {ESCAPE} all day long.,1\n" * 9)
    said = [aspectra("topics", odd_run), aspectra("check", odd_run)]
    for suffix in ("csv", "jsonl", "parquet"):
        labels = tmp_path / f"labels [1]*.{suffix}"
        said.append(aspectra("label", odd_run, reviews, "-o", labels))
        said.append(aspectra("report", odd_run, labels, "-o", tmp_path / "r.html"))
    said.append(aspectra("update", odd_run, reviews))
    assert [one.code for one in said] == [0] * len(said)
    assert obeyed("".join(one.out + one.err for one in said)) == []
    assert len(pl.read_csv(tmp_path / "labels [1]*.csv", glob=False)) == 9


def test_a_path_in_a_command_to_type_is_in_quotes(aspectra: Aspectra, run: Path, tmp_path: Path) -> None:
    odd = Path(shutil.copytree(run, tmp_path / "my run"))
    (odd / "topic_map.json").unlink()
    for words in (("topics", odd), ("export", odd, "-o", tmp_path / "m.onnx")):
        assert f"aspectra map {shlex.quote(str(odd))}" in aspectra(*words).err


def test_a_path_that_looks_like_an_option_can_be_typed(run: Path) -> None:
    assert typed("-dash") == typed(Path("-dash")) == "./-dash"
    assert show.label_command(run.parent / "-dash").startswith(f"aspectra label {run.parent}/-dash ")
    assert show.label_command(Path("-my run"), "-o.csv") == "aspectra label './-my run' new.csv -o ./-o.csv"


@pytest.mark.parametrize("columns", ["0", "1", "abc"])
def test_a_terminal_without_columns_still_shows_tables(
    aspectra: Aspectra, run: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = aspectra("topics", run).out.splitlines()
    assert max(map(len, lines)) == 80
    assert "keywords and a typical segment" in lines[1]


def test_an_error_is_one_line_whatever_the_path(aspectra: Aspectra, tmp_path: Path) -> None:
    answer = aspectra("topics", tmp_path / "two\nlines\rand\x1b[2J")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "two\\nlines\\u000dand\\u001b[2J" in answer.err


def test_an_aspect_that_looks_like_markup_is_printed(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    assert aspectra("map", own_run, "--aspects", "[/b],[taste]", "--encoder", "none", "--replace").code == 0
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"text": "The pump is loud.", "aspects": ["[/b]"]}) + "\n")
    answer = aspectra("evaluate", own_run, gold)
    assert (answer.code, "majority answer is [/b]" in answer.out) == (0, True)


def test_ctrl_c_while_a_class_is_made_is_still_ctrl_c() -> None:
    wrapped = RuntimeError("Error calling __set_name__")
    wrapped.__cause__ = KeyboardInterrupt()
    assert was_interrupted(wrapped)
    assert not was_interrupted(RuntimeError("no"))
    assert not was_interrupted(None)
