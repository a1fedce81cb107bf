"""Labelling many files into a folder: which are missing, what is refused, and that it equals labelling
them into one file.
"""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra import rundir
from aspectra.errors import InputError
from aspectra.labelling.files import Plan, labeller_fingerprint
from aspectra.labelling.places import list_inputs, output_folder
from aspectra.sample import Sample

Aspectra = Callable[..., Any]


@pytest.fixture
def inputs(sample: Sample, tmp_path: Path) -> Path:
    """A folder with Parquet, CSV, gzipped JSONL, and files that are none of ours."""
    folder = tmp_path / "in"
    folder.mkdir()
    reviews = sample.reviews.head(60).with_row_index("number")
    reviews[:20].write_parquet(folder / "a.parquet")
    reviews[20:40].write_csv(folder / "b.csv")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(reviews[40:].write_ndjson().encode()))
    (folder / "_about.csv").write_text("no,data\n")
    (folder / "readme.md").write_text("no data")
    return folder


def test_a_folder_is_labelled_as_one_file_would_be(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    assert aspectra("label", run, inputs, "-o", f"{tmp_path}/out/").code == 0
    aspectra("label", run, inputs, "-o", tmp_path / "one.jsonl", "-q")
    names = ["a.parquet", "b.csv.parquet", "c.jsonl.gz.parquet"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [rundir.LABELLING, *names]
    parts = pl.concat(
        pl.read_parquet(tmp_path / "out" / name).select("text", "aspect", "probability") for name in names
    )
    assert parts.equals(
        pl.read_ndjson(tmp_path / "one.jsonl").select("text", "aspect", "probability").cast(parts.schema)
    )


def test_reviews_are_numbered_within_each_file(run: Path, inputs: Path, tmp_path: Path) -> None:
    plan = Plan(run, str(tmp_path / "out"), "text")
    done = plan.label_file(plan.load(), str(inputs / "b.csv"))
    frame = pl.read_parquet(tmp_path / "out" / "b.csv.parquet")
    assert done.counts.segments == len(frame)
    assert (frame["review"].min(), frame["review"].max()) == (0, 19)


def test_a_second_run_labels_only_what_is_missing(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    words = ("label", run, inputs, "-o", f"{tmp_path}/out/")
    aspectra(*words)
    kept, gone = tmp_path / "out/a.parquet", tmp_path / "out/b.csv.parquet"
    before, content = kept.stat().st_mtime_ns, gone.read_bytes()
    gone.unlink()
    assert "2 of 3 files are labelled already." in aspectra(*words).err
    assert (kept.stat().st_mtime_ns, gone.read_bytes()) == (before, content)


def test_a_bad_file_is_told_and_the_others_are_labelled(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    (inputs / "b.csv").write_text('number,text\n1,"open')
    answer = aspectra("label", run, inputs, "-o", f"{tmp_path}/out/")
    assert answer.code == 1
    assert "1 of 3 files could not be labelled; the others are done" in answer.err
    assert "the quote opened in line 2 never closes" in answer.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        rundir.LABELLING,
        "a.parquet",
        "c.jsonl.gz.parquet",
    ]


def test_another_model_is_not_mixed_in(
    aspectra: Aspectra, run: Path, own_run: Path, inputs: Path, tmp_path: Path
) -> None:
    aspectra("label", run, inputs, "-o", f"{tmp_path}/out/")
    aspectra("map", own_run, "--aspects", "Taste,Price", "--encoder", "none", "--replace", "-q")
    answer = aspectra("label", own_run, inputs, "-o", f"{tmp_path}/out/")
    assert answer.code == 1
    assert "holds labels made with another model. Choose another -o, or empty it." in answer.err


@pytest.mark.parametrize("content", ["[]", "{", '{"model": 1}'])
def test_a_folder_whose_labels_are_of_unknown_origin_is_refused(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path, content: str
) -> None:
    aspectra("label", run, inputs / "b.csv", "-o", f"{tmp_path}/out/")
    (tmp_path / "out" / rundir.LABELLING).write_text(content)
    answer = aspectra("label", run, inputs, "-o", f"{tmp_path}/out/")
    assert (answer.code, "Choose another -o, or empty it." in answer.err) == (1, True)


def test_a_labelling_that_failed_does_not_refuse_the_next_one(
    aspectra: Aspectra, run: Path, own_run: Path, inputs: Path, tmp_path: Path
) -> None:
    Plan(run, f"{tmp_path}/out", "text").missing([str(inputs / "b.csv")])
    aspectra("map", own_run, "--aspects", "Taste,Price", "--encoder", "none", "--replace", "-q")
    answer = aspectra("label", own_run, inputs / "b.csv", "-o", f"{tmp_path}/out/")
    assert (answer.code, "Wrote" in answer.err) == (0, True)
    about = rundir.read_json(tmp_path / "out" / rundir.LABELLING)
    assert about["model"] == labeller_fingerprint(own_run, None)


def test_two_inputs_of_one_name_and_an_output_as_input_are_refused(run: Path, tmp_path: Path) -> None:
    plan = Plan(run, str(tmp_path), "text")
    with pytest.raises(
        InputError, match=r"/x/a.csv and /y/a.csv would both be labelled into .*a\.csv\.parquet"
    ):
        plan.missing(["/x/a.csv", "/y/a.csv"])
    with pytest.raises(InputError, match="is also an output"):
        plan.missing([f"{tmp_path}/a.parquet"])


def test_urls_are_read_and_written_whole(run: Path, inputs: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    places = list_inputs([f"file://{inputs}/*.csv"])
    plan = Plan(run, output_folder(f"file://{tmp_path}/out/"), "text")
    missing = plan.missing([place for place in places if "_about" not in place])
    assert [place.rpartition("/")[2] for place in missing] == ["b.csv"]
    assert plan.label_file(plan.load(), missing[0]).problem == ""
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [rundir.LABELLING, "b.csv.parquet"]
    assert plan.missing(missing) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "spark"], "Give local or ray, not spark."),
        (["--address", "localhost:6379"], "Give it with --engine ray."),
    ],
)
def test_engines_are_checked(aspectra: Aspectra, run: Path, words: list[str], message: str) -> None:
    answer = aspectra("label", run, "reviews.csv", "-o", "out/", *words)
    assert (answer.code, message in answer.err) == (2, True)


def test_an_engine_that_writes_many_files_wants_a_folder(aspectra: Aspectra, run: Path, inputs: Path) -> None:
    answer = aspectra("label", run, inputs, "-o", "out.parquet", "--engine", "ray")
    assert answer.code == 1
    assert "a file is written for each input. Name a folder" in answer.err
    with pytest.raises(InputError, match="Cannot reach nowhere://x"):
        list_inputs(["nowhere://x/*.csv"])


def test_an_input_that_has_changed_is_labelled_again(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    words = ("label", run, inputs, "-o", f"{tmp_path}/out/")
    aspectra(*words)
    (inputs / "b.csv").write_text("text\nThe coffee is tasty.\n")
    told = aspectra(*words).err
    assert "2 of 3 files are labelled already." in told
    assert "1 file has changed since labelling and is labelled again." in told
    assert "Wrote 1 segment of 1 file to" in told
    assert pl.read_parquet(tmp_path / "out/b.csv.parquet")["text"].to_list() == ["The coffee is tasty."]
    assert "3 of 3 files are labelled already." in aspectra(*words).err


def test_a_changed_input_that_cannot_be_labelled_stays_changed(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    words = ("label", run, inputs, "-o", f"{tmp_path}/out/")
    aspectra(*words)
    (inputs / "b.csv").write_text('number,text\n1,"open')
    for _ in range(2):
        answer = aspectra(*words)
        assert (answer.code, "1 file has changed" in answer.err) == (1, True)


def test_labels_of_an_older_version_are_kept(
    aspectra: Aspectra, run: Path, inputs: Path, tmp_path: Path
) -> None:
    words, about = ("label", run, inputs, "-o", f"{tmp_path}/out/"), tmp_path / "out" / rundir.LABELLING
    aspectra(*words)
    for inputs_then in (None, ["b.csv"], {}):
        rundir.write_json(about, {**rundir.read_json(about), "inputs": inputs_then})
        assert "3 of 3 files are labelled already." in aspectra(*words).err
    (inputs / "b.csv").write_text("text\nThe coffee is tasty.\n")
    assert "1 file has changed" in aspectra(*words).err
