"""Labels of a person → a better classifier, between the distilled one and one fitted to the labels.

A copy of the distilled classifier is fitted to the labels while an L2 penalty pulls it back; the result lies on the line between the two,
the nearer to the fitted one the more labels there are: where labels and reviews differ, that is better than either end. What the
teacher's lesson alone or the labels alone would give is cross-validated beside it, and taken where that is clearly better.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.evaluate import Gold, average_scores, gold_matrix, objective
from aspectra.loop import differentiate, optimise
from aspectra.student.card import Card
from aspectra.student.losses import cross_entropy, falling
from aspectra.teacher.train import torch_threads

FOLDS = 5
STEPS = 200
RATE = 0.02
PULL = 2.0
"""Weight of the L2 penalty beside the summed cross-entropy of the labels."""
HALFWAY = 300
"""So many labels move the classifier half of the way."""
WAYS = ("both", "teacher", "labels")


@dataclass(frozen=True)
class Answers:
    """Labelled segments: texts, what a person says (N×A) and what the teacher says, γ (N×A)."""

    texts: tuple[str, ...]
    gold: np.ndarray
    gamma: np.ndarray

    @classmethod
    def of(cls, gold: Gold, detector: AspectDetector) -> Self:
        return cls(
            gold.texts,
            gold_matrix(gold.aspects, tuple(detector.classes_)),
            detector.predict_proba(list(gold.texts)),
        )

    def score(self, student: np.ndarray, teacher_weight: float, aspects: tuple[str, ...]) -> dict[str, float]:
        """Score the student's probabilities (N×A) averaged with γ: three kinds of F1, and the objective."""
        both = (1 - teacher_weight) * student + teacher_weight * self.gamma
        answers = both.argmax(1)
        values = average_scores(self.gold, answers, aspects)
        return {
            **{name: values[name] for name in ("f1_micro", "f1_macro", "f1_weighted")},
            "objective": float(objective(answers[:, None], self.gold, GENERAL in aspects)[0]),
        }


@dataclass(frozen=True)
class Adaptation:
    """The classifier to use, and what to write on the card."""

    classify: nn.Linear
    facts: dict[str, Any]


def adapt(start: nn.Linear, pooled: np.ndarray, known: Answers, card: Card) -> Adaptation:
    """Choose how to use labels (of segments whose pooled states are N×D), with the teacher's γ or without, and fit to all of them."""
    gold = known.gold
    folds = np.random.default_rng(card.config.seed).permutation(len(gold)) % min(FOLDS, len(gold))
    answers = {way: held_out(start, pooled, gold, folds, way) for way in WAYS}
    options = list(itertools.product(WAYS, sorted({card.teacher_weight, 0.0}, reverse=True)))
    scores = [known.score(answers[way], weight, card.aspects) for way, weight in options]
    best = clearly_best([values["objective"] for values in scores], len(gold))
    way, weight = options[best]
    estimate = {name: value for name, value in scores[best].items() if name != "objective"}
    facts = {"choice": way, "teacher_weight": weight, "n_labels": len(gold), "estimate": estimate}
    return Adaptation(fit(start, pooled, gold, way), facts)


def clearly_best(scores: list[float], count: int) -> int:
    """Return the place of the highest score, or the first if that is within a standard error of the highest."""
    first, best = scores[0], int(np.argmax(scores))
    return best if scores[best] - first > np.sqrt(first * (1 - first) / count) else 0


def held_out(
    start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, folds: np.ndarray, way: str
) -> np.ndarray:
    """Return probabilities (N×A) for each segment from a classifier that has not seen its label."""
    result = np.zeros(gold.shape, dtype=np.float32)
    for fold in np.unique(folds):
        seen = folds != fold
        classify = fit(start, pooled[seen], gold[seen], way)
        with torch.inference_mode():
            result[~seen] = torch.softmax(classify(torch.from_numpy(pooled[~seen])), 1).numpy()
    return result


def fit(start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, way: str) -> nn.Linear:
    """Return the classifier as it is, one fitted to labels from nothing, or one between it and its fitted copy."""
    classify = copy.deepcopy(start)
    if way == "teacher":
        return classify
    if way == "labels":
        nn.init.zeros_(classify.weight)
        nn.init.zeros_(classify.bias)
    origin = classify.weight.detach().clone()
    inputs, targets = (
        torch.from_numpy(pooled),
        torch.from_numpy((gold / gold.sum(1, keepdims=True)).astype(np.float32)),
    )

    def losses(step: int) -> dict[str, Tensor]:
        pull = PULL / len(gold) / 2 * (classify.weight - origin).square().sum()
        return {"cross_entropy": cross_entropy(classify(inputs), targets), "pull": pull}

    with torch_threads(1):
        optimise(
            classify,
            range(STEPS),
            differentiate(losses),
            falling(RATE, STEPS),
            clip=10.0,
            log=lambda step, parts: None,
        )
    if way == "both":
        with torch.no_grad():
            for fitted, distilled in zip(classify.parameters(), start.parameters(), strict=True):
                fitted.lerp_(distilled, HALFWAY / (len(gold) + HALFWAY))
    return classify
