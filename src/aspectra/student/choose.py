"""What labelled segments choose: the entropy filter to learn with, and how far the student leans to each aspect.

For each filter a student learns from the segments that pass it; no filter is taken unless another is better by more than a standard error:
with soft targets an uncertain answer already counts for little. A lesson has as many segments of each aspect as there are; reviews
speak of some more than of others, so the finished student's logits are then moved to where they serve the labelled segments best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from aspectra.config import GENERAL, StudentConfig
from aspectra.evaluate import objective
from aspectra.progress import StageProgress
from aspectra.student.adapt import Answers, clearly_best
from aspectra.student.card import Card
from aspectra.student.lesson import Lesson
from aspectra.student.model import Student
from aspectra.student.select import FEWEST

FILTERS = ((1.0, 1.0), (0.8, 0.8), (0.6, 0.6), (0.5, 0.6), (0.4, 0.6))
"""χ_G and χ_NG as shares of log A."""
LEANINGS = np.array([0.0, -1.0, 1.0, -2.0, 2.0])
"""What an aspect's logit may be moved by; the first of equals is taken."""
COST = 0.01
"""Of the objective, for each unit that a logit is moved."""
DRAWS = 12
SWEEPS = 3
Learn = Callable[[Lesson, Card, StageProgress], Student]


def unfiltered(config: StudentConfig) -> StudentConfig:
    return replace(config, general_entropy=1.0, aspect_entropy=1.0, entropy_unit="share")


def choose_filter(lesson: Lesson, card: Card, dev: Answers, learn: Learn, progress: StageProgress) -> Student:
    """Return the student whose filter is best on dev; one that leaves an aspect with too few segments is not tried."""
    found: list[tuple[Student, float]] = []
    for number, (general, other) in enumerate(FILTERS, 1):
        config = replace(card.config, general_entropy=general, aspect_entropy=other, entropy_unit="share")
        kept = lesson.passing(card.aspects, config)
        if not found or all(
            left >= FEWEST or not had for left, had in zip(kept.counts(), lesson.counts(), strict=True)
        ):
            student = learn(kept, replace(card, config=config), lambda done: None)
            score = dev.score(student.probabilities(dev.texts), card.teacher_weight, card.aspects)[
                "objective"
            ]
            found.append((student, score))
        progress(number / len(FILTERS))
    return found[clearly_best([score for _, score in found], len(dev.texts))][0]


def lean(student: Student, dev: Answers) -> None:
    """Move the student's logits by what serves dev best, the mean over resampled segments, and write that on its card."""
    aspects, random = student.card.aspects, np.random.default_rng(student.card.config.seed)
    logits = np.log(np.maximum(student.probabilities(dev.texts), 1e-30))
    draws = [random.integers(0, len(logits), len(logits)) for _ in range(DRAWS)]
    moves = np.mean([best_moves(logits[rows], dev.gold[rows], GENERAL in aspects) for rows in draws], axis=0)
    with torch.no_grad():
        student.head.classify.bias.add_(torch.from_numpy(moves))
    student.card = replace(student.card, leaning=dict(zip(aspects, moves.round(3).tolist(), strict=True)))


def best_moves(logits: np.ndarray, gold: np.ndarray, general: bool) -> np.ndarray:
    """Move one aspect at a time to where the objective, less its cost, is highest; logits and gold are N×A, the result A."""
    moves = np.zeros(logits.shape[1])
    for _ in range(SWEEPS):
        before = moves.copy()
        for aspect in range(len(moves)):
            others = logits + moves
            others[:, aspect] = -np.inf
            rival, strength = others.argmax(1)[:, None], others.max(1)[:, None]
            wins = logits[:, [aspect]] + LEANINGS > strength  # N×moves
            values = objective(np.where(wins, aspect, rival), gold, general) - COST * np.abs(LEANINGS)
            moves[aspect] = LEANINGS[values.argmax()]
        if (moves == before).all():
            break
    return moves
