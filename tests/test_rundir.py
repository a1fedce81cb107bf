from pathlib import Path

import pytest

from aspectra import rundir
from aspectra.disk import write_atomic
from aspectra.errors import InputError, RunError
from aspectra.rundir import STAGE_FILES, RunDir, fingerprint, read_json, write_json


def finished_run(path: Path, *stages: str) -> RunDir:
    run = RunDir(path)
    run.create()
    for stage in stages or STAGE_FILES:
        for name in STAGE_FILES[stage]:
            write_atomic(run / name, f"{stage} {name}".encode())
        run.finish(stage, f"mark of {stage}")
    return run


def test_json_survives_writing_and_reading(tmp_path: Path) -> None:
    value = {"words": ["naïve", "Größe", "👍"], "share": 0.25, "aspect": None}
    write_json(tmp_path / "deep" / "value.json", value)
    assert read_json(tmp_path / "deep" / "value.json") == value


def test_a_fingerprint_depends_on_values_and_not_on_the_order_of_keys() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})
    assert fingerprint("topics", 3) == "43afb5b096ee1a2e"


def test_a_stage_is_finished_for_its_own_fingerprint_only(tmp_path: Path) -> None:
    run = finished_run(tmp_path, "prepare")
    assert run.finished("prepare", "mark of prepare")
    assert not run.finished("prepare", "another mark")
    assert not run.finished("vectors", "mark of vectors")


@pytest.mark.parametrize("name", STAGE_FILES["prepare"])
def test_a_stage_with_a_damaged_or_missing_file_is_not_finished(tmp_path: Path, name: str) -> None:
    run = finished_run(tmp_path)
    (run / name).write_bytes(b"damaged")
    assert not run.finished("prepare", "mark of prepare")
    (run / name).unlink()
    assert not run.finished("prepare", "mark of prepare")


def test_making_a_stage_again_forgets_those_after_it(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    run.finish("vectors", "new mark")
    assert [stage for stage in STAGE_FILES if run.finished(stage, f"mark of {stage}")] == ["prepare"]
    assert run.fingerprint_of("vectors") == "new mark"


def test_taking_up_a_run_keeps_its_stages_and_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    leftover = tmp_path / f".{rundir.VECTORS}.x1y2.npy"
    leftover.write_bytes(b"half")
    run.create()
    run.check(*STAGE_FILES)
    assert not leftover.exists()


def test_a_run_killed_before_its_first_file_can_be_taken_up(tmp_path: Path) -> None:
    (tmp_path / ".manifest.json.x1y2.json").write_bytes(b"{")
    run = RunDir(tmp_path)
    run.create()
    assert not run.finished("prepare", "any")


def test_check_names_the_missing_stage(tmp_path: Path) -> None:
    run = finished_run(tmp_path, "prepare")
    with pytest.raises(RunError, match=r"is not finished: its stage 'vectors' is missing. Repeat the fit"):
        run.check("prepare", "vectors")


def test_check_names_the_damaged_file(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    (run / rundir.TOPICS).write_bytes(b"damaged")
    with pytest.raises(RunError, match=r"topics\.json is missing or damaged. Repeat the fit"):
        run.check("topics")


def test_a_folder_that_is_not_there_is_said_to_be_made_by_fit(tmp_path: Path) -> None:
    with pytest.raises(
        RunError, match=r"There is no folder .*nowhere. Make it first: aspectra fit reviews.csv --run"
    ):
        RunDir(tmp_path / "nowhere").check("topics")
    (tmp_path / "few.csv").touch()
    with pytest.raises(RunError, match=r"few.csv is a file. Name the folder given to aspectra fit --run"):
        RunDir(tmp_path / "few.csv").check("topics")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is not a run of aspectra: it has no manifest\.json"):
        RunDir(tmp_path).check("topics")


def test_a_folder_with_other_things_in_it_is_not_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match=r"is not empty and not a run of aspectra. Choose another --run"):
        RunDir(tmp_path).create()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_not_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(RunError, match=r"file is a file, not a folder. Choose another --run"):
        RunDir(tmp_path / "file").create()
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ('{"format": 2, "stages": {}}', "has format 2, this version reads format 1. Update aspectra"),
        ("[]", "has format None, this version reads format 1"),
        ('{"format": 1}', r"is damaged \(its stages are not .*\). Fit the reviews again into a new --run"),
        ('{"format": 1, "sta', r"manifest.json is damaged \(.*\). Fit the reviews again into a new --run"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_also_by_fit(
    tmp_path: Path, manifest: str, message: str
) -> None:
    (tmp_path / rundir.MANIFEST).write_text(manifest)
    for use in (RunDir(tmp_path).create, RunDir(tmp_path).config):
        with pytest.raises(RunError, match=message):
            use()
    assert (tmp_path / rundir.MANIFEST).read_text() == manifest


def test_a_place_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        RunError, match=r"Cannot write .*x\.json: File exists. Choose a folder that you may write to."
    ):
        write_json(tmp_path / "file" / "x.json", {})


@pytest.mark.parametrize(
    "place",
    [
        ".",
        rundir.SEGMENTS,
        rundir.DEV,
        rundir.ASPECTS,
        "topic_map.Ada.json",
        "student/x.onnx",
        "features/a/b.csv",
    ],
)
def test_no_output_may_replace_what_a_run_keeps(tmp_path: Path, place: str) -> None:
    finished_run(tmp_path)
    with pytest.raises(InputError, match=r"belongs to the run .*Choose another place"):
        rundir.refuse_own_file(tmp_path / place)


@pytest.mark.parametrize("place", ["labelled.csv", "labels/a.parquet", "r/student/x.html", "../topics.json"])
def test_other_files_in_a_runs_folder_and_beside_it_may_be_written(tmp_path: Path, place: str) -> None:
    run = finished_run(tmp_path / "run")
    rundir.refuse_own_file(run / place)
    assert not (run / place).exists()


def test_unknown_inputs_are_none_of_the_runs(tmp_path: Path) -> None:
    assert rundir.inputs_of(tmp_path) == []
    write_json(tmp_path / rundir.INPUTS, {"a": 1})
    assert rundir.inputs_of(tmp_path) == []
    write_json(tmp_path / rundir.INPUTS, ["a.csv"])
    assert rundir.inputs_of(tmp_path) == ["a.csv"]
