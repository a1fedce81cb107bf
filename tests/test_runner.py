"""Cells of the benchmark: made once, resumed, the same twice, however many run at a time."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspectra.bench import runner
from aspectra.bench.ablations import ABLATIONS
from aspectra.bench.protocol import Frozen, Task
from aspectra.bench.runner import Cell, CellProgress, Outcome, quality_cells, run_cells
from aspectra.bench.sets import SAMPLE, choose_sets
from aspectra.bench.systems import SYSTEMS, choose_systems
from aspectra.errors import InputError

FAST = "majority,kmeans,teacher,teacher+dev"


def ignore(progress: CellProgress) -> None:
    pass


def quality(home: Path, systems: str = FAST, jobs: int = 1, seeds: int = 1) -> list[Outcome]:
    return run_cells(quality_cells((SAMPLE,), choose_systems(systems), seeds), None, home, jobs, ignore)


@pytest.fixture(scope="module")
def home(bench_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(bench_home, tmp_path_factory.mktemp("bench") / "home"))


@pytest.fixture(scope="module")
def outcomes(home: Path) -> list[Outcome]:
    return quality(home)


@dataclass(frozen=True)
class Counting:
    """Counts how often it is fitted, and can fail."""

    calls: list[int] = field(default_factory=list)
    error: str = ""
    name: str = "counting"
    title: str = "counting"
    supervision: str = "names"
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {}

    def fit(self, task: Task) -> Frozen:
        self.calls.append(task.seed)
        if self.error:
            raise InputError(self.error)
        return Frozen(lambda texts: np.eye(len(task.aspects))[np.zeros(len(texts), dtype=int)])


def test_systems_rank_as_expected_on_planted_aspects(outcomes: list[Outcome]) -> None:
    score = {one.name: one.values["test"]["f1_micro"] for one in outcomes}
    assert score["majority"] < score["kmeans"]
    assert score["teacher"] > 0.85
    assert score["teacher+dev"] > 0.85


def test_several_processes_give_the_same_scores_once_more(
    outcomes: list[Outcome], home: Path, tmp_path: Path
) -> None:
    shutil.copytree(home / "runs", tmp_path / "runs")
    again = quality(tmp_path, "majority,kmeans,teacher", jobs=2)
    wanted = {one.name: one.values for one in outcomes}
    assert [one.name for one in again] == ["majority", "kmeans", "teacher"]
    for one in again:
        assert one.values["test"] == wanted[one.name]["test"]
        assert one.values["coverage"] == wanted[one.name]["coverage"]


def test_a_finished_cell_is_not_made_again(home: Path) -> None:
    system = Counting()
    for _ in range(2):
        run_cells([Cell(SAMPLE, system, seed) for seed in (0, 1)], None, home, 1, ignore)
    assert system.calls == [0, 1]


def test_an_interrupted_benchmark_goes_on(home: Path) -> None:
    system = Counting(name="stopped")
    cells = [Cell(SAMPLE, system, seed) for seed in (0, 1, 2)]

    def stop(progress: CellProgress) -> None:
        if progress.stage == runner.FINISHED and len(system.calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, None, home, 1, stop)
    run_cells(cells, None, home, 1, ignore)
    assert system.calls == [0, 1, 2]


def test_a_failure_is_an_outcome_and_is_tried_again(home: Path) -> None:
    system = Counting(error="Too few segments.", name="failing")
    for _ in range(2):
        (outcome,) = run_cells([Cell(SAMPLE, system, 0)], None, home, 1, ignore)
        assert outcome.error == "Too few segments."
    assert system.calls == [0, 0]


def test_progress_ends_every_cell(home: Path, outcomes: list[Outcome]) -> None:
    told: list[CellProgress] = []
    run_cells(quality_cells((SAMPLE,), choose_systems(FAST), 1), None, home, 1, told.append)
    assert [one.cell for one in told if one.stage == runner.FINISHED] == FAST.split(",")


def test_the_record_says_how_it_was_made(outcomes: list[Outcome]) -> None:
    teacher = next(one for one in outcomes if one.name == "teacher")
    assert teacher.values["config"]["fit"]["n_topics"] == 30
    assert {"aspectra", "torch", "code"} <= set(teacher.values["versions"])
    assert set(teacher.values["facts"]["dev_estimate"]) == {"f1_micro", "f1_macro", "f1_weighted"}


def test_a_variant_at_its_default_is_the_cell_of_the_system(home: Path, outcomes: list[Outcome]) -> None:
    made = set((home / "cells").iterdir())
    cells = [cell for cell in ABLATIONS["attention"].cells((SAMPLE,), 1) if cell.label == "attention smooth"]
    (again,) = run_cells(cells, None, home, 1, ignore)
    assert again.values == next(one.values for one in outcomes if one.name == "teacher")
    assert set((home / "cells").iterdir()) == made


def test_a_variant_changes_nothing_in_the_shared_fit(home: Path, outcomes: list[Outcome]) -> None:
    (run,) = (home / "runs").iterdir()
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    cells = [cell for cell in ABLATIONS["attention"].cells((SAMPLE,), 1) if cell.label == "attention mean"]
    (other,) = run_cells(cells, None, home, 1, ignore)
    assert other.values["config"]["fit"]["attention"] == "mean"
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


def test_without_data_the_sample_is_measured() -> None:
    assert choose_sets(None, None) == (SAMPLE,)


def test_only_sets_that_are_whole_are_chosen(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the sets citysearch, tv"):
        choose_sets(None, tmp_path)


def test_a_set_without_its_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The set tv needs its data"):
        run_cells([Cell("tv", SYSTEMS["majority"], 0)], None, tmp_path, 1, ignore)


def test_a_missing_file_of_a_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No file .*tv\.jsonl\.gz, which the set tv needs"):
        run_cells([Cell("tv", SYSTEMS["majority"], 0)], tmp_path, tmp_path, 1, ignore)


@pytest.mark.parametrize(
    ("names", "what"), [("tv,radio", "No set radio. There are citysearch"), (" , ", "No set ' , '")]
)
def test_unknown_sets_are_refused(names: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        choose_sets(names, None)


def test_unknown_systems_are_refused() -> None:
    with pytest.raises(InputError, match=r"No system magic\. There are zero-shot, names"):
        choose_systems("teacher,magic")
