"""Which entropy filter to learn with, chosen on labelled segments: for each candidate a student learns from the segments that pass it.

No filter is taken unless another is better by more than a standard error: with soft targets an uncertain answer already counts for little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from aspectra.student.adapt import Answers, clearly_best
from aspectra.student.card import Card
from aspectra.student.config import StudentConfig
from aspectra.student.lesson import Lesson
from aspectra.student.model import Student
from aspectra.student.select import FEWEST

FILTERS = ((1.0, 1.0), (0.8, 0.8), (0.6, 0.6), (0.5, 0.6), (0.4, 0.6))
"""χ_G and χ_NG as shares of log A."""
Learn = Callable[[Lesson, Card, Callable[[float], None]], Student]


def unfiltered(config: StudentConfig) -> StudentConfig:
    return replace(config, general_entropy=1.0, aspect_entropy=1.0, entropy_unit="share")


def choose_filter(lesson: Lesson, card: Card, dev: Answers, learn: Learn, progress: Callable[[float], None]) -> Card:
    """Return the card with the filter that is best on dev; one that leaves an aspect with too few segments is not tried."""
    found: list[tuple[Card, float]] = []
    for number, (general, other) in enumerate(FILTERS, 1):
        config = replace(card.config, general_entropy=general, aspect_entropy=other, entropy_unit="share")
        kept = lesson.passing(card.aspects, config)
        if not found or all(left >= FEWEST or not had for left, had in zip(kept.counts(), lesson.counts(), strict=True)):
            student = learn(kept, replace(card, config=config), lambda done: None)
            score = dev.score(student.probabilities(dev.texts), card.teacher_weight, card.aspects)["objective"]
            found.append((student.card, score))
        progress(number / len(FILTERS))
    return found[clearly_best([score for _, score in found], len(dev.texts))][0]
