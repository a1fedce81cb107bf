"""What the systems give, those with an encoder on a tiny one, and who uses the labels of dev."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aspectra.bench.protocol import System, Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SAMPLE, SETS, prepare_folders
from aspectra.bench.systems import SYSTEMS
from aspectra.bench.systems.baselines import KMeansTopics
from aspectra.bench.systems.labelled import LogisticOnDev
from aspectra.bench.systems.ours import StudentSystem, TeacherSystem

TEXTS = ["The pump is loud.", "The crema tastes bitter.", "zzz", ""]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    home = tmp_path_factory.mktemp("bench")
    return Task(SETS[SAMPLE], prepare_folders((SAMPLE,), None, home)[SAMPLE], home, 0)


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> str:
    return str(encoder_folder)


def student(encoder: str, **more: object) -> StudentSystem:
    settings = {"encoder": encoder, "n_segments": 400, "epochs": 2}
    return StudentSystem(settings=settings, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "system",
    [TeacherSystem(), KMeansTopics(), SYSTEMS["lda"], SYSTEMS["teacher+dev"]],
    ids=lambda one: one.name,
)
def test_answers_are_probabilities_even_for_unknown_words(system: System, task: Task) -> None:
    answers = system.fit(task).probabilities(TEXTS)
    assert answers.shape == (4, len(task.aspects))
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)
    assert task.aspects[answers[2].argmax()] == "General"


def test_columns_are_in_the_order_of_the_tasks_aspects(task: Task) -> None:
    answers = TeacherSystem().fit(task).probabilities(["A noisy, loud pump and a loud grinder."])
    assert task.aspects[answers[0].argmax()] == "Noise"
    assert tuple(task.teacher.classes_) != task.aspects


def test_a_student_is_scored_with_and_without_its_teacher(task: Task, encoder: str) -> None:
    both = examine(student(encoder), task)
    alone = examine(StudentSystem(settings={**student(encoder).settings, "teacher_weight": 0.0}), task)
    assert both["test"]["f1_micro"] > alone["test"]["f1_micro"]
    assert sum(both["facts"]["learnt"].values()) <= 400


def test_dev_labels_reach_the_student_that_learns_from_them(task: Task, encoder: str) -> None:
    with_labels = examine(student(encoder, dev_as="labels"), task)
    assert with_labels["facts"]["dev_estimate"]["f1_micro"] > 0.5
    assert student(encoder).config(task) != student(encoder, dev_as="labels").config(task)


def test_a_variant_of_the_student_leaves_nothing_behind(task: Task, encoder: str) -> None:
    _ = task.teacher
    before = sorted(path.name for path in task.home.iterdir())
    student(encoder).fit(task)
    assert sorted(path.name for path in task.home.iterdir()) == before


def test_logistic_regression_beats_the_majority(task: Task, encoder: str) -> None:
    found = examine(LogisticOnDev(encoder=encoder), task)["test"]
    assert found["f1_micro"] > found["majority_f1_micro"]
