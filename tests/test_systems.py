"""What the systems give, those with an encoder on a tiny one, and who uses the labels of dev."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aspectra.bench.protocol import DEV_MAP, LABELS, NAMES, SEED_WORDS, System, Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SAMPLE, SETS, prepare_folders
from aspectra.bench.systems import SYSTEMS
from aspectra.bench.systems.baselines import KMeansTopics
from aspectra.bench.systems.curve import BOTH, DOUBTFUL, LOGISTIC, RANDOM, TEACHER, LabelsPoint
from aspectra.bench.systems.labelled import LogisticOnDev
from aspectra.bench.systems.names import LinearSystem, ZeroShot
from aspectra.bench.systems.ours import PAPER_STUDENT, PAPER_TEACHER, StudentSystem, TeacherSystem
from aspectra.labelling.labeller import load
from aspectra.student.distill import distill

TEXTS = ["The pump is loud.", "The crema tastes bitter.", "zzz", ""]


@pytest.fixture(scope="module")
def task(bench_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Task:
    home = Path(shutil.copytree(bench_home, tmp_path_factory.mktemp("bench") / "home"))
    return Task(SETS[SAMPLE], prepare_folders((SAMPLE,), None, home)[SAMPLE], home, 0)


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> str:
    return str(encoder_folder)


def student(encoder: str, **more: object) -> StudentSystem:
    settings = {"encoder": encoder, "n_segments": 400, "epochs": 2}
    return StudentSystem(settings=settings, **more)  # type: ignore[arg-type]


def linear(encoder: str, supervision: str) -> LinearSystem:
    return LinearSystem(supervision=supervision, settings={"encoder": encoder, "n_segments": 1000})


@pytest.mark.parametrize(
    "system",
    [TeacherSystem(), KMeansTopics(), SYSTEMS["lda"], SYSTEMS["teacher+dev"]],
    ids=lambda one: one.name,
)
def test_answers_beat_the_majority_and_are_probabilities_even_for_unknown_words(
    system: System, task: Task
) -> None:
    fitted = system.fit(task)
    answers = fitted.probabilities(TEXTS)
    assert answers.shape == (4, len(task.aspects))
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)
    assert task.aspects[answers[2].argmax()] == "General"
    found = [task.aspects[one] for one in fitted.probabilities(task.dev.texts).argmax(1)]
    right = [one in said for one, said in zip(found, task.dev.aspects, strict=True)]
    shares = [np.mean([name in said for said in task.dev.aspects]) for name in task.aspects]
    assert np.mean(right) > max(shares)


def test_columns_are_in_the_order_of_the_tasks_aspects(task: Task) -> None:
    answers = TeacherSystem().fit(task).probabilities(["A noisy, loud pump and a loud grinder."])
    assert task.aspects[answers[0].argmax()] == "Noise"
    assert tuple(task.teacher.classes_) != task.aspects


def test_a_student_is_scored_with_and_without_its_teacher(task: Task, encoder: str) -> None:
    both = examine(student(encoder), task)
    alone = examine(StudentSystem(settings={**student(encoder).settings, "teacher_weight": 0.0}), task)
    assert both["test"]["f1_micro"] > alone["test"]["f1_micro"]
    assert sum(both["facts"]["learnt"].values()) <= 400


def test_the_student_as_published_learns_hard_labels_of_a_teacher_of_its_own(
    task: Task, encoder: str
) -> None:
    filters = {"general_entropy": 9.0, "aspect_entropy": 9.0}  # a short fit is certain of nothing
    settings = {**PAPER_STUDENT, **filters, **student(encoder).settings}
    system = replace(SYSTEMS["sscls-paper"], settings=settings, teacher={**PAPER_TEACHER, "n_topics": 10})
    assert system.config(task)["fit"]["n_topics"] == 10
    assert system.config(task)["student"]["sharpness"] == 1000
    answers = system.fit(task).probabilities(TEXTS)
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)


def test_dev_labels_reach_the_student_that_learns_from_them(task: Task, encoder: str) -> None:
    with_labels = examine(student(encoder, dev_as="labels"), task)
    assert with_labels["facts"]["dev_estimate"]["f1_micro"] > 0.5
    assert student(encoder).config(task) != student(encoder, dev_as="labels").config(task)


@pytest.mark.parametrize("supervision", [NAMES, SEED_WORDS, DEV_MAP, LABELS])
def test_the_student_beats_the_majority_whatever_it_is_told(
    task: Task, encoder: str, supervision: str
) -> None:
    system = linear(encoder, supervision)
    found = examine(system, task)
    assert found["test"]["f1_micro"] > found["test"]["majority_f1_micro"]
    answers = system.fit(task).probabilities(TEXTS)
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)


def test_the_student_answers_as_a_distilled_run_labels(task: Task, encoder: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    task.teacher.save(run)
    distill(run, linear(encoder, DEV_MAP).student_config())  # the map of this run is made by dev
    system = linear(encoder, DEV_MAP)
    for model, one, rounding in (("encoder", system, 1e-5), ("fast", replace(system, fast=True), 0.05)):
        labels = load(run, model).label_segments(TEXTS)
        wanted = labels.select(f"p_{aspect}" for aspect in task.aspects).to_numpy()
        np.testing.assert_allclose(one.fit(task).probabilities(TEXTS), wanted, atol=rounding)


def test_the_less_similar_half_is_general_without_a_fit(task: Task, encoder: str) -> None:
    answers = ZeroShot(encoder=encoder).fit(task).probabilities(task.dev.texts)
    general = answers.argmax(1) == task.aspects.index("General")
    assert abs(general.mean() - 0.5) < 0.1


def test_texts_of_a_set_are_encoded_once_for_all_seeds(task: Task, encoder: str) -> None:
    linear(encoder, NAMES).fit(task).probabilities(task.dev.texts)
    before = set(task.encoded.rglob("*.npy"))
    other = replace(task, seed=1)
    linear(encoder, NAMES).fit(other).probabilities(task.dev.texts)
    assert before
    assert set(other.encoded.rglob("*.npy")) == before


@pytest.mark.parametrize("kind", [BOTH, LOGISTIC, TEACHER])
def test_a_point_of_the_curve_uses_so_many_labels(task: Task, encoder: str, kind: str) -> None:
    settings = {"encoder": encoder, "n_segments": 1000}
    for choice in (RANDOM, DOUBTFUL):
        frozen = LabelsPoint(kind, 30, choice, settings=settings).fit(task)
        assert frozen.facts["labels"] == 30
        assert np.isfinite(frozen.probabilities(TEXTS)).all()


def test_a_variant_of_the_student_leaves_nothing_behind(task: Task, encoder: str) -> None:
    _ = task.teacher
    before = sorted(path.name for path in task.home.iterdir())
    student(encoder).fit(task)
    assert sorted(path.name for path in task.home.iterdir()) == before


def test_logistic_regression_beats_the_majority(task: Task, encoder: str) -> None:
    found = examine(LogisticOnDev(encoder=encoder), task)["test"]
    assert found["f1_micro"] > found["majority_f1_micro"]
    assert found["f1_macro"] > 1.5 * found["majority_f1_macro"]
