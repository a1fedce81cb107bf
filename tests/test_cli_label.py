"""distill, label, export and explain on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from aspectra.cli import app, ending
from aspectra.errors import AspectraError
from aspectra.sample import Sample


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def few(sample: Sample, tmp_path: Path) -> Path:
    sample.reviews.head(20).write_csv(tmp_path / "few.csv")
    return tmp_path / "few.csv"


def test_distill_label_and_export_follow_each_other(
    own_run: Path, encoder_folder: Path, few: Path, tmp_path: Path
) -> None:
    made = invoke("distill", own_run, "--encoder", encoder_folder, "--n-segments", 200, "--epochs", 1)
    assert "Learnt from 200 segments" in made.stderr or "Learnt from 19" in made.stderr
    assert invoke("export", own_run, "-o", tmp_path / "s.onnx").exit_code == 0
    assert invoke("label", own_run, few, "-o", tmp_path / "a.parquet", "--model", "encoder").exit_code == 0
    assert invoke("label", "--onnx", tmp_path / "s.onnx", few, "-o", tmp_path / "b.parquet").exit_code == 0
    ours, theirs = pl.read_parquet(tmp_path / "a.parquet"), pl.read_parquet(tmp_path / "b.parquet")
    assert ours["aspect"].equals(theirs["aspect"])


def test_the_student_labels_by_default_and_the_teacher_when_asked(
    student_run: Path, few: Path, tmp_path: Path
) -> None:
    frames = {}
    for model in ("teacher", "encoder", None):
        output = tmp_path / f"{model}.parquet"
        invoke("label", student_run, few, "-o", output, "-q", *(["--model", model] if model else []))
        frames[model] = pl.read_parquet(output)
    assert frames[None].equals(frames["encoder"])
    assert not frames["encoder"]["probability"].equals(frames["teacher"]["probability"])


def test_evaluate_scores_what_label_answers(student_run: Path, sample: Sample, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    sample.gold.write_ndjson(gold)
    words = ("evaluate", student_run, gold, "--json", "--only", "Taste,Noise,General", "-q")
    answers = [invoke(*words, "--model", model).stdout for model in ("teacher", "encoder")]
    assert invoke(*words).stdout == answers[1] != answers[0]


def test_explain_prints_words_and_writes_a_page(student_run: Path, tmp_path: Path) -> None:
    shown = invoke("explain", student_run, "The pump is loud.", "--html", tmp_path / "x.html")
    assert "pump" in shown.stdout
    assert "teacher  " in shown.stdout
    assert "student  " in shown.stdout
    assert "<span" in (tmp_path / "x.html").read_text()


def test_asking_for_a_student_that_is_not_there_says_how_to_make_it(
    run: Path, few: Path, tmp_path: Path
) -> None:
    failed = invoke("label", run, few, "-o", tmp_path / "x.csv", "--model", "encoder")
    assert isinstance(failed.exception, AspectraError)
    assert "has no student. Make it first: aspectra distill" in str(failed.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "both"], "Give auto, fast, encoder or teacher"),
        (["--model", "teacher", "--onnx", "x.onnx"], "--model or --onnx, not both"),
    ],
)
def test_a_model_that_cannot_be_meant_is_a_usage_error(
    run: Path, few: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    failed = invoke("label", run, few, "-o", tmp_path / "x.csv", *words)
    assert failed.exit_code == 2
    assert said in failed.stderr


def test_a_run_without_files_is_a_usage_error(run: Path, tmp_path: Path) -> None:
    failed = invoke("label", run, "-o", tmp_path / "x.csv")
    assert failed.exit_code == 2
    assert "then one or more files of reviews" in failed.stderr


def test_columns_chooses_what_is_written_before_anything_is_labelled(
    run: Path, few: Path, tmp_path: Path
) -> None:
    done = invoke("label", run, few, "-o", tmp_path / "a.parquet", "--columns", "date, rating, aspect, p_*")
    assert done.exit_code == 0, done.output
    schema = pl.read_parquet_schema(tmp_path / "a.parquet")
    assert list(schema)[:4] == ["date", "rating", "aspect", "p_Taste"]
    assert [schema["date"], schema["rating"]] == [pl.Date, pl.Int64]
    with pytest.raises(AspectraError, match="no column 'stars' to write; there are review_id"):
        CliRunner().invoke(
            app, ["label", str(run), str(few), "-o", "x.csv", "--columns", "stars"], catch_exceptions=False
        )


@pytest.mark.parametrize("output", ["x.csv", "folder/"])
def test_reviews_that_the_run_cannot_read_are_told_also_when_quiet(
    run: Path, tmp_path: Path, output: str
) -> None:
    (tmp_path / "german.txt").write_text("Der Kaffee schmeckt gut.\nDie Pumpe ist viel zu laut.\n")
    told = invoke("label", run, tmp_path / "german.txt", "-o", f"{tmp_path}/{output}", "-q").stderr
    assert "2 of 2 segments (100%) have no word that the run knows, or hardly any" in told
    assert "another language, or about another product" in told


def test_gold_that_the_run_cannot_read_is_told(run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"text": "Der Kaffee schmeckt gut.", "aspects": ["Taste"]}\n' * 2)
    assert "2 of 2 segments (100%)" in invoke("evaluate", run, gold, "-q").stderr


def test_duplicates_are_told_and_left_out(run: Path, few: Path, tmp_path: Path) -> None:
    reviews = pl.read_csv(few).filter(pl.col("text").str.len_chars() > 60)
    reviews.write_csv(few)
    pl.concat([reviews, reviews]).write_csv(tmp_path / "twice.csv")
    told = invoke("label", run, tmp_path / "twice.csv", "-o", tmp_path / "a.csv")
    assert f"{len(reviews)} of {2 * len(reviews)} reviews have the text of an earlier one" in told.stderr
    invoke("label", run, tmp_path / "twice.csv", "-o", tmp_path / "b.csv", "--skip-duplicates")
    invoke("label", run, few, "-o", tmp_path / "c.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="closes a stream with a shell")
def test_a_closed_stderr_is_no_hindrance(program: list[str], run: Path, few: Path, tmp_path: Path) -> None:
    words = [*program, "label", run, few, "-o", tmp_path / "a.csv"]
    end = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words])
    assert end.returncode == 0
    assert (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (["label", "run", "a.csv", "-o", "b.csv"], "start over."),
        (["label", "run", "reviews/", "--output=b.csv"], "start over."),
        (["label", "run", "a.csv", "-o", "out/"], "go on."),
        (["fit", "a.csv"], "go on."),
        (["report", "run", "a.csv"], "start over."),
        ([], "go on."),
    ],
)
def test_what_the_same_command_does_after_ctrl_c_is_said(
    words: list[str], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["aspectra", *words])
    assert ending().endswith(f"type the same command to {end}")
