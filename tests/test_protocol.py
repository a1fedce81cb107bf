"""Test stays shut until a system is frozen, and opens once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from aspectra.bench.protocol import Frozen, ProtocolError, Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SAMPLE, SETS, prepare_folders
from aspectra.bench.systems.baselines import Majority


class Peeking(Majority):
    """Looks at test while it is fitted."""

    def fit(self, task: Task) -> Frozen:
        (task.data / "test.jsonl").read_text()
        return super().fit(task)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    home = tmp_path_factory.mktemp("bench")
    return Task(SETS[SAMPLE], prepare_folders((SAMPLE,), None, home)[SAMPLE], home, 0)


def test_a_system_that_opens_test_while_it_is_fitted_fails(task: Task) -> None:
    with pytest.raises(ProtocolError, match=r"test\.jsonl was opened before the system was frozen"):
        examine(Peeking(), task)


def test_test_can_be_opened_again_after_the_seal_is_lifted(task: Task) -> None:
    with pytest.raises(ProtocolError), task.exam().sealed():
        (task.data / "test.jsonl").open()
    assert (task.data / "test.jsonl").read_text()


def test_a_link_to_test_is_sealed_too(task: Task, tmp_path: Path) -> None:
    (tmp_path / "harmless.txt").symlink_to((task.data / "test.jsonl").resolve())
    with pytest.raises(ProtocolError, match=r"harmless\.txt was opened"), task.exam().sealed():
        (tmp_path / "harmless.txt").read_bytes()


def test_an_exam_gives_no_test_before_a_system_is_frozen(task: Task) -> None:
    with pytest.raises(ProtocolError, match="before the system was frozen"):
        task.exam().answer()


def test_an_exam_opens_test_once(task: Task) -> None:
    exam = task.exam()
    exam.freeze(Majority().fit(task))
    gold, answers = exam.answer()
    assert answers.shape == (len(gold.texts), len(task.aspects))
    with pytest.raises(ProtocolError, match="it is read once"):
        exam.answer()


def test_a_frozen_system_cannot_be_changed(task: Task) -> None:
    exam = task.exam()
    exam.freeze(Majority().fit(task))
    with pytest.raises(ProtocolError, match="frozen already"):
        exam.freeze(Majority().fit(task))


@pytest.mark.parametrize("answers", [np.ones((3, 3)), np.full((300, 8), np.nan)])
def test_answers_of_a_wrong_shape_or_not_finite_are_refused(task: Task, answers: np.ndarray) -> None:
    def give(texts: Sequence[str]) -> np.ndarray:
        return answers

    exam = task.exam()
    exam.freeze(Frozen(give))
    with pytest.raises(ProtocolError, match="finite probabilities of shape"):
        exam.answer()


def test_the_majority_answer_scores_what_scores_say_of_it(task: Task) -> None:
    scores = examine(Majority(), task)["test"]
    assert scores["f1_micro"] == scores["majority_f1_micro"]


def test_a_task_knows_seed_words_of_its_aspects(task: Task) -> None:
    assert set(task.seed_words) < set(task.aspects)
    assert "loud" in task.seed_words["Noise"]
    assert {len(words) for words in task.seed_words.values()} == {5}
