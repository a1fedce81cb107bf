"""The key of a result changes with the code that made it, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aspectra.bench.runner import Cell, run_cells
from aspectra.bench.sets import SAMPLE
from aspectra.bench.systems import SYSTEMS
from aspectra.bench.versions import AFTER_FIT, FIT, HOME, RUNNER, cell_key, code_key, fit_key, reachable

TEACHER = ("aspectra.bench.systems.ours", RUNNER)
FUTURE = "from __future__ import annotations\n"
BASELINES = ("aspectra.bench.systems.baselines", RUNNER)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package's code, to be changed."""
    return Path(shutil.copytree(HOME, tmp_path / "aspectra", ignore=shutil.ignore_patterns("page", "*.pyc")))


def edit(home: Path, name: str, old: str, new: str) -> Path:
    text = (home / name).read_text(encoding="utf-8")
    assert old in text
    (home / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return home


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("topicmap/suggest.py", FUTURE, FUTURE + "EXTRA = 1\n"),
        ("bench/runner.py", "COVERAGES = np.linspace(0.05", "COVERAGES = np.linspace(0.1"),
        ("scores.py", "unit / sizes", "unit * sizes"),
        ("teacher/gradient.py", FUTURE, FUTURE + "EXTRA = 1\n"),
        ("aspects/library_reviews.toml", "bargain", "steal"),
        ("aspects/general.toml", "husband", "wife"),
    ],
)
def test_a_changed_line_changes_the_key_of_the_teacher(copy: Path, name: str, old: str, new: str) -> None:
    assert code_key(*TEACHER, home=edit(copy, name, old, new)) != cell_key(SYSTEMS["teacher"])


def test_docstrings_comments_and_the_words_of_errors_do_not_count(copy: Path) -> None:
    edit(copy, "topicmap/suggest.py", '"""', '"""In other words: ')
    edit(copy, "scores.py", "import gzip", "import gzip  # for packed files")
    edit(copy, "scores.py", "is not UTF-8", "is written in some other encoding")
    assert code_key(*TEACHER, home=copy) == cell_key(SYSTEMS["teacher"])


def test_the_student_counts_for_students_only(copy: Path) -> None:
    edit(copy, "student/distill.py", FUTURE, FUTURE + "EXTRA = 1\n")
    assert code_key(*BASELINES, home=copy) == cell_key(SYSTEMS["kmeans"])
    assert code_key(*TEACHER, home=copy) != cell_key(SYSTEMS["student"])


def test_what_only_shows_or_serves_is_in_no_key() -> None:
    roots = {type(system).__module__ for system in SYSTEMS.values()}
    found = reachable((*roots, RUNNER, *FIT))
    rooms = {module.split(".")[1] for module in found}
    assert {"aspects", "topicmap", "student", "scores", "teacher"} <= rooms
    assert rooms.isdisjoint({"report", "studio", "serve", "cli"})


def test_a_fit_does_not_depend_on_scores_or_maps(copy: Path) -> None:
    assert not {module.split(".")[1] for module in reachable(FIT, without=AFTER_FIT)} & {
        "scores",
        "aspects",
        "topicmap",
        "student",
        "bench",
    }
    assert code_key(*FIT, home=copy) == code_key(*FIT)
    edit(copy, "corpus.py", FUTURE, FUTURE + "EXTRA = 1\n")
    code_key.cache_clear()
    assert code_key(*FIT, home=copy) != code_key(*FIT)
    assert len(fit_key()) == 8


def test_a_cell_made_by_other_code_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(SAMPLE, SYSTEMS["majority"], 0)
    for key in ("one", "two", "two"):
        monkeypatch.setattr("aspectra.bench.runner.cell_key", lambda system, key=key: key)
        (outcome,) = run_cells([cell], None, tmp_path, 1, lambda progress: None)
        assert outcome.values["versions"]["code"] == key
    assert len(list((tmp_path / "cells").iterdir())) == 2
