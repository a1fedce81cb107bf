"""What labelled segments do: `labels` train the student's classifier; `dev` sets its filter and logits.

Labels: a copy of the distilled classifier is fitted to them. The result lies between the two, nearer to the
copy the more labels there are. The distilled classifier alone and the labels alone are cross-validated
beside it and taken where clearly better. Dev: a filter is used only if it is better than none by more than
a standard error, and each aspect's logit is shifted to where it serves dev best.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from aspectra.config import GENERAL, StudentConfig
from aspectra.fitting import Fitted
from aspectra.loop import differentiate, optimise, torch_threads
from aspectra.progress import StageProgress
from aspectra.scores import Gold, average_scores, gold_matrix, objective
from aspectra.student.card import Card, mark
from aspectra.student.paper.model import Student, cross_entropy, falling
from aspectra.student.paper.training_set import FEWEST, TrainingSet
from aspectra.topicmap.by_labels import METRICS
from aspectra.topicmap.calibrate import folds
from aspectra.topicmap.gamma import answer_probabilities, restrict

STEPS = 200
RATE = 0.02
PULL = 2.0
"""Weight of the L2 penalty beside the summed cross-entropy of the labels."""
HALFWAY = 300
"""So many labels move the classifier half of the way."""
WAYS = ("both", "teacher", "labels")
FILTERS = ((1.0, 1.0), (0.8, 0.8), (0.6, 0.6), (0.5, 0.6), (0.4, 0.6))
"""χ_G and χ_NG as shares of log A."""
SHIFTS = np.array([0.0, -1.0, 1.0, -2.0, 2.0])
"""What an aspect's logit may be shifted by; of equally good ones the first is taken."""
COST = 0.01
"""Of the objective, for each unit that a logit is shifted."""
DRAWS = 12
SWEEPS = 3
Learn = Callable[[TrainingSet, Card, StageProgress], Student]


@dataclass(frozen=True)
class LabelledTexts:
    """Labelled segments: texts, what a person says (N×A) and what the teacher says, γ (N×A)."""

    texts: tuple[str, ...]
    gold: np.ndarray
    gamma: np.ndarray

    @classmethod
    def of(cls, gold: Gold, fitted: Fitted) -> Self:
        aspects, matrix = restrict(fitted.the_map(), None)
        beta = fitted.topic_probabilities(gold.texts)
        gamma, _ = answer_probabilities(beta, aspects, matrix, fitted.shares)
        return cls(gold.texts, gold_matrix(gold.aspects, aspects), gamma)

    def score(self, student: np.ndarray, teacher_weight: float, aspects: tuple[str, ...]) -> dict[str, float]:
        """Score the student's probabilities (N×A) averaged with γ: three kinds of F1, and the objective."""
        both = (1 - teacher_weight) * student + teacher_weight * self.gamma
        answers = both.argmax(1)
        values = average_scores(self.gold, answers, aspects)
        return {
            **{name: values[name] for name in METRICS},
            "objective": float(objective(answers[:, None], self.gold, GENERAL in aspects)[0]),
        }


@dataclass(frozen=True)
class Adaptation:
    """The classifier to use, and what to write on the card."""

    classify: nn.Linear
    facts: dict[str, Any]


def adapt(start: nn.Linear, pooled: np.ndarray, known: LabelledTexts, card: Card) -> Adaptation:
    """Choose how to use labels, with the teacher's γ or without, and fit to all; `pooled` states are N×D."""
    gold = known.gold
    part = folds(len(gold), card.config.seed)
    answers = {way: held_out(start, pooled, gold, part, way) for way in WAYS}
    options = list(itertools.product(WAYS, sorted({card.teacher_weight, 0.0}, reverse=True)))
    scores = [known.score(answers[way], weight, card.aspects) for way, weight in options]
    best = clearly_best([values["objective"] for values in scores], len(gold))
    way, weight = options[best]
    estimate = {name: value for name, value in scores[best].items() if name != "objective"}
    facts = {"choice": way, "teacher_weight": weight, "n_labels": len(gold), "estimate": estimate}
    facts["label_marks"] = tuple(map(mark, known.texts))
    return Adaptation(fit(start, pooled, gold, way), facts)


def clearly_best(scores: list[float], count: int) -> int:
    """Return the place of the highest score, or 0 if the first is within a standard error of it."""
    first, best = scores[0], int(np.argmax(scores))
    return best if scores[best] - first > np.sqrt(first * (1 - first) / count) else 0


def held_out(
    start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, part: np.ndarray, way: str
) -> np.ndarray:
    """Return probabilities (N×A) for each segment from a classifier that has not seen its label."""
    result = np.zeros(gold.shape, dtype=np.float32)
    for fold in np.unique(part):
        seen = part != fold
        classify = fit(start, pooled[seen], gold[seen], way)
        with torch.inference_mode():
            result[~seen] = torch.softmax(classify(torch.from_numpy(pooled[~seen])), 1).numpy()
    return result


def fit(start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, way: str) -> nn.Linear:
    """Return the classifier itself, one fitted to labels alone, or one between it and its fitted copy."""
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


def unfiltered(config: StudentConfig) -> StudentConfig:
    return replace(config, general_entropy=1.0, aspect_entropy=1.0, entropy_unit="share")


def choose_filter(
    training_set: TrainingSet,
    card: Card,
    dev: LabelledTexts,
    learn: Learn,
    progress: StageProgress,
) -> Student:
    """Return the student whose filter is best on dev; filters that leave too few segments are skipped."""
    found: list[tuple[Student, float]] = []
    for number, (general, other) in enumerate(FILTERS, 1):
        config = replace(card.config, general_entropy=general, aspect_entropy=other, entropy_unit="share")
        kept = training_set.passing(card.aspects, config)
        if not found or all(
            left >= FEWEST or not had for left, had in zip(kept.counts(), training_set.counts(), strict=True)
        ):
            student = learn(kept, replace(card, config=config), lambda done: None)
            score = dev.score(student.probabilities(dev.texts), card.teacher_weight, card.aspects)[
                "objective"
            ]
            found.append((student, score))
        progress(number / len(FILTERS))
    return found[clearly_best([score for _, score in found], len(dev.texts))][0]


def shift_logits(student: Student, dev: LabelledTexts) -> None:
    """Shift the student's logits to where they serve dev best (mean over resamples), and note it on its card.

    A training set has the same number of segments for each aspect; reviews talk about some more than others.
    """
    aspects, random = student.card.aspects, np.random.default_rng(student.card.config.seed)
    logits = np.log(np.maximum(student.probabilities(dev.texts), 1e-30))
    draws = [random.integers(0, len(logits), len(logits)) for _ in range(DRAWS)]
    shifts = np.mean(
        [best_shifts(logits[rows], dev.gold[rows], GENERAL in aspects) for rows in draws], axis=0
    )
    with torch.no_grad():
        student.head.classify.bias.add_(torch.from_numpy(shifts))
    student.card = replace(
        student.card, logit_shift=dict(zip(aspects, shifts.round(3).tolist(), strict=True))
    )


def best_shifts(logits: np.ndarray, gold: np.ndarray, general: bool) -> np.ndarray:
    """Shift one aspect at a time to where the objective less its cost is highest; N×A, N×A → A."""
    shifts = np.zeros(logits.shape[1])
    for _ in range(SWEEPS):
        before = shifts.copy()
        for aspect in range(len(shifts)):
            others = logits + shifts
            others[:, aspect] = -np.inf
            rival, strength = others.argmax(1)[:, None], others.max(1)[:, None]
            wins = logits[:, [aspect]] + SHIFTS > strength  # N×shifts
            values = objective(np.where(wins, aspect, rival), gold, general) - COST * np.abs(SHIFTS)
            shifts[aspect] = SHIFTS[values.argmax()]
        if (shifts == before).all():
            break
    return shifts
