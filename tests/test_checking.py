"""aspectra check says of every file of a run whether it is whole, and what to type if not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aspectra import rundir
from aspectra.checking import check_run
from aspectra.topicmap.topicmap import read_map, write_map

Aspectra = Callable[..., Any]


def states(run: Path) -> dict[str, str]:
    return {one.name: one.state for one in check_run(run)}


def messages(run: Path) -> dict[str, str]:
    return {one.name: one.message for one in check_run(run) if one.wrong}


def test_a_whole_run_is_ok_and_stays_as_it_was(
    linear_run: Path, snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    before = snapshot(linear_run)
    found = states(linear_run)
    assert set(found.values()) == {"ok"}
    assert {rundir.SEGMENTS, rundir.TEACHER, rundir.TOPIC_MAP, rundir.STUDENT} <= set(found)
    assert snapshot(linear_run) == before


@pytest.mark.parametrize("name", [name for names in rundir.STAGE_FILES.values() for name in names])
def test_a_changed_or_missing_file_is_named_with_the_command_that_makes_it_again(
    own_run: Path, name: str
) -> None:
    (own_run / name).write_bytes(b"changed")
    assert {name} == set(messages(own_run))
    assert f"aspectra fit reviews.csv --run {own_run}" in messages(own_run)[name]
    (own_run / name).unlink()
    assert states(own_run)[name] == "missing"


def test_the_command_that_repeats_a_fit_has_its_files_and_settings(own_run: Path) -> None:
    rundir.write_json(own_run / rundir.INPUTS, ["my reviews.csv"])
    (own_run / rundir.VECTORS).unlink()
    said = messages(own_run)[rundir.VECTORS]
    assert f"aspectra fit 'my reviews.csv' --run {own_run} --n-topics 16 --steps 300" in said


@pytest.mark.parametrize(
    ("name", "content"),
    {
        rundir.TOPIC_MAP: "{",
        rundir.STUDIO: "[]",
        rundir.DEV: "no JSON",
        rundir.LABELS: "no JSON",
        rundir.ASPECTS: "= 1",
        f"{rundir.MAP_HISTORY}/old.json": "[]",
        rundir.MANIFEST: "[",
    }.items(),
)
def test_damaged_files_of_people_are_named(own_run: Path, name: str, content: str) -> None:
    (own_run / name).parent.mkdir(exist_ok=True)
    (own_run / name).write_text(content)
    assert states(own_run)[name] == "damaged"


def test_a_map_of_other_topics_and_a_newer_run_are_foreign(own_run: Path) -> None:
    path = own_run / rundir.TOPIC_MAP
    path.write_text(json.dumps({**json.loads(path.read_text()), "topics": "others"}))
    assert states(own_run)[rundir.TOPIC_MAP] == "foreign"
    assert "--replace" in messages(own_run)[rundir.TOPIC_MAP]
    (own_run / rundir.MANIFEST).write_text('{"format": 99, "stages": {}}')
    assert states(own_run)[rundir.MANIFEST] == "foreign"


def test_a_student_of_another_map_is_stale_and_a_forged_one_damaged(linear_run: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(linear_run, tmp_path / "run"))
    path = own / rundir.TOPIC_MAP
    write_map(path, read_map(path).with_choice(0, None, "Ada"))
    assert states(own)[rundir.STUDENT] == "stale"
    assert f"aspectra distill {own}" in messages(own)[rundir.STUDENT]
    write_map(path, read_map(linear_run / rundir.TOPIC_MAP))
    (own / rundir.ASPECTS).write_text('[Taste]\nwords = ["bitter"]\n')
    assert states(own)[rundir.STUDENT] == "stale"
    (own / rundir.STUDENT / rundir.HEAD).write_bytes(b"")
    assert states(own)[rundir.STUDENT] == "damaged"


def test_what_is_not_there_yet_left_over_or_not_ours_is_told_and_no_fault(
    aspectra: Aspectra, own_run: Path
) -> None:
    (own_run / rundir.TOPIC_MAP).unlink()
    (own_run / f".{rundir.TOPIC_MAP}.0.json").write_text("{")
    (own_run / "labelled.csv").write_text("text")
    found = states(own_run)
    assert (found[rundir.TOPIC_MAP], found[rundir.STUDENT]) == ("not yet", "not yet")
    assert (found[f".{rundir.TOPIC_MAP}.0.json"], found["labelled.csv"]) == ("leftover", "unknown")
    assert aspectra("check", own_run).code == 0


def test_the_command_prints_what_is_wrong_and_ends_with_1(aspectra: Aspectra, own_run: Path) -> None:
    (own_run / rundir.TOPICS).unlink()
    answer = aspectra("check", own_run, "--quiet")
    assert answer.code == 1
    assert answer.out.startswith("missing   topics.json\n")
    answer = aspectra("check", own_run, "--json")
    told = json.loads(answer.out)
    assert (answer.code, told["whole"]) == (1, False)
    assert {"name": rundir.VECTORS, "state": "ok", "message": ""} in told["files"]
    assert "is not a run of aspectra" in aspectra("check", own_run.parent).err


def test_an_aspect_that_only_aspects_toml_has_is_told(
    aspectra: Aspectra, own_run: Path, sample_files: Path, tmp_path: Path
) -> None:
    (own_run / rundir.ASPECTS).write_text('[taste]\nwords = ["aroma"]\n\n[Prize]\nwords = ["cheap"]\n')
    told = f"aspects.toml has Prize, which the map does not have. Use it: aspectra map {own_run} --aspects"
    answer = aspectra("check", own_run)
    assert (answer.code, told in answer.out) == (0, True)
    few = tmp_path / "few.txt"
    few.write_text("The coffee is cheap and tasty.\n")
    assert f"Note: {told}" in aspectra("label", own_run, few, "-o", tmp_path / "few.csv", "-q").err
    aspectra("map", own_run, "--aspects", own_run / rundir.ASPECTS, "--encoder", "none", "-q")
    assert "Prize" in read_map(own_run / rundir.TOPIC_MAP).aspects
    assert "Prize" not in aspectra("check", own_run).out
