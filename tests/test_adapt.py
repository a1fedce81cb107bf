"""What labelled segments do to a student."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import student_config
from torch import nn

from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.features import Features
from aspectra.fitting import Fitted
from aspectra.rundir import STUDENT
from aspectra.scores import Gold
from aspectra.student.card import Card
from aspectra.student.paper.adapt import LabelledTexts, adapt, best_shifts, choose_filter, clearly_best, fit
from aspectra.student.paper.from_teacher import train_attention
from aspectra.student.paper.training_set import TrainingSet

ASPECTS = ("Image", "Sound", GENERAL)
GAMMA = np.array([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit classifiers to labels in fewer steps."""
    monkeypatch.setattr("aspectra.student.paper.adapt.STEPS", 40)
    monkeypatch.setattr("aspectra.student.paper.adapt.RATE", 0.1)


@pytest.mark.parametrize(("right_size", "wanted"), [(100, (0.4, 0.6)), (200, (1.0, 1.0))])
def test_dev_chooses_the_filter_that_is_clearly_better(
    monkeypatch: pytest.MonkeyPatch, right_size: int, wanted: tuple
) -> None:
    monkeypatch.setattr("aspectra.student.paper.adapt.FILTERS", ((1.0, 1.0), (0.4, 0.6), (0.4, 0.1)))
    gamma = np.tile(GAMMA, (50, 1))
    training_set = TrainingSet(["x"] * 200, gamma, Features(np.zeros((200, 2), np.float16), np.arange(201)))
    dev = LabelledTexts(("x",) * 200, np.eye(3, dtype=bool)[gamma.argmax(1)], gamma)
    card = Card(ASPECTS, StudentConfig(entropy_unit="nats"), 0.0, "", "", "", {})

    def learn(part: TrainingSet, card: Card, progress: object) -> SimpleNamespace:
        right = len(part.texts) == right_size
        return SimpleNamespace(card=card, probabilities=lambda texts: dev.gold if right else ~dev.gold)

    student = choose_filter(training_set, card, dev, learn, lambda done: None)  # type: ignore[arg-type]
    chosen = student.card.config
    assert (chosen.general_entropy, chosen.aspect_entropy, chosen.entropy_unit) == (*wanted, "share")


def test_logits_shift_to_an_aspect_that_is_answered_too_seldom() -> None:
    gold = np.eye(3, dtype=bool)[np.repeat([0, 1, 2], [60, 30, 10])]
    right = np.where(gold, 5.0, 0.0)
    np.testing.assert_array_equal(best_shifts(right, gold, True), [0, 0, 0])
    np.testing.assert_array_equal(best_shifts(right - [0, 5.5, 0], gold, True), [0, 1, 0])
    np.testing.assert_array_equal(best_shifts(right - [0, 0, 6.5], gold, False), [0, 0, 2])
    shy = np.where(gold, [5.0, 4.9, 5.0], 0.0) - [0, 4.95, 0]
    assert best_shifts(shy[:91], gold[:91], False)[1] == 1  # one step is enough, the second costs


@pytest.mark.usefixtures("quick")
def test_labels_are_never_worse_than_the_better_of_the_two_alone() -> None:
    random = np.random.default_rng(0)
    gold = np.eye(3, dtype=bool)[random.integers(0, 3, 150)]
    pooled = (gold @ random.normal(size=(3, 8)) + random.normal(size=(150, 8))).astype(np.float32)
    wrong = nn.Linear(8, 3)
    card = Card(ASPECTS, StudentConfig(), 0.5, "", "", "", {})
    flat = np.full((150, 3), 1 / 3, dtype=np.float32)
    texts = ("",) * 150
    helped = adapt(wrong, pooled, LabelledTexts(texts, gold, flat), card)
    told = adapt(wrong, pooled, LabelledTexts(texts, gold, gold.astype(np.float32)), card)
    assert helped.facts["choice"] == "labels"
    assert helped.facts["estimate"]["f1_micro"] > 0.6
    assert (told.facts["teacher_weight"], told.facts["estimate"]["f1_micro"]) == (0.5, 1.0)


@pytest.mark.usefixtures("quick")
def test_the_more_labels_the_further_the_classifier_moves_from_the_distilled_one() -> None:
    random = np.random.default_rng(0)
    gold = np.eye(3, dtype=bool)[random.integers(0, 3, 600)]
    pooled = (gold @ random.normal(size=(3, 8)) + random.normal(size=(600, 8))).astype(np.float32)
    start = nn.Linear(8, 3)
    moved = [
        (fit(start, pooled[:n], gold[:n], "both").weight - start.weight).norm().item() for n in (30, 100, 600)
    ]
    assert moved == sorted(moved)
    assert torch.equal(fit(start, pooled, gold, "teacher").weight, start.weight)


def test_another_way_is_taken_only_where_it_is_clearly_better() -> None:
    assert clearly_best([0.80, 0.81, 0.70], 100) == 0
    assert clearly_best([0.80, 0.81, 0.70], 10_000) == 1


@pytest.mark.usefixtures("quick")
def test_a_student_learns_from_a_person_too(student_run: Path, encoder_folder: Path, gold: Gold) -> None:
    some = [place for place, names in enumerate(gold.aspects) if names <= {"Taste", "Noise", GENERAL}]
    labels = Gold(tuple(gold.texts[i] for i in some), tuple(gold.aspects[i] for i in some))
    student = train_attention(
        Fitted.load(student_run), student_config(encoder_folder), student_run / STUDENT, labels
    )
    assert student.card.n_labels == len(some)
    assert set(student.card.estimate) == {"f1_micro", "f1_macro", "f1_weighted"}
    assert "Cross-validated on these labels: f1_micro" in student.card.labels_text()
