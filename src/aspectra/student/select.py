"""Which of the teacher's labels the student learns from (paper: entropy filters χ_G and χ_NG), balanced over the aspects."""

from __future__ import annotations

import numpy as np

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.topicmap.gamma import entropy

FEWEST = 10
"""An aspect that has topics must keep at least so many segments."""


def passes(gamma: np.ndarray, aspects: tuple[str, ...], thresholds: tuple[float, float]) -> np.ndarray:
    """Tell which rows of γ (N×A) are certain enough: entropy at most χ_G if the answer is General, else at most χ_NG."""
    general = np.array([aspect == GENERAL for aspect in aspects])[gamma.argmax(1)]
    return np.asarray(entropy(gamma) <= np.where(general, *thresholds) + 1e-6)


def balanced(answers: np.ndarray, rows: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Draw about `size` rows, the same number of each answer; what a rare answer lacks is shared among the others."""
    random = np.random.default_rng(seed)
    groups = sorted(
        (random.permutation(rows[answers[rows] == answer]) for answer in np.unique(answers[rows])), key=len
    )
    drawn: list[np.ndarray] = []
    for place, group in enumerate(groups):
        quota = (size - sum(map(len, drawn))) // (len(groups) - place)
        drawn.append(group[:quota])
    return np.concatenate(drawn) if drawn else rows[:0]


def check_enough(answers: np.ndarray, aspects: tuple[str, ...], mapped: np.ndarray) -> None:
    """Raise if an aspect that has topics is left with too few segments; say which and what to change."""
    counts = np.bincount(answers, minlength=len(aspects))
    short = [
        f"{aspect} ({count})"
        for aspect, count, has in zip(aspects, counts, mapped, strict=True)
        if has and count < FEWEST
    ]
    if short:
        raise InputError(
            f"Fewer than {FEWEST} segments are left to learn from for {', '.join(short)}. Raise --aspect-entropy or "
            "--general-entropy, or map more topics to the aspect: aspectra map RUN"
        )
