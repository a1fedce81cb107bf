"""What the student learns from: segments of the reviews with the teacher's γ, and their hidden states.

Of all segments, those that pass the entropy filter (paper: χ_G and χ_NG) are taken, the same number for
each aspect.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aspectra import rundir
from aspectra.arrays import softmax
from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.features import Features, compute_features
from aspectra.encoder.pretrained import Encoder
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.progress import StageProgress
from aspectra.teacher.encode import encode
from aspectra.topicmap.gamma import aspect_probabilities, entropy

FEWEST = 10
"""An aspect that has topics must keep at least so many segments."""


@dataclass(frozen=True)
class TrainingSet:
    """N segments with the teacher's γ (N×A) and their hidden states."""

    texts: list[str]
    gamma: np.ndarray
    features: Features

    def targets(self, sharpness: float) -> np.ndarray:
        """Return γ to the power of `sharpness`, normalised; a large one leaves the teacher's answer alone."""
        scaled = sharpness * np.log(np.maximum(self.gamma, 1e-30))
        return softmax(scaled).astype(np.float32)

    def counts(self) -> list[int]:
        """Count the segments of each answer, A."""
        return [int(count) for count in np.bincount(self.gamma.argmax(1), minlength=self.gamma.shape[1])]

    def passing(self, aspects: tuple[str, ...], config: StudentConfig) -> TrainingSet:
        """Keep the segments that pass the config's entropy filter."""
        rows = np.flatnonzero(passes(self.gamma, aspects, config.thresholds(len(aspects))))
        return TrainingSet([self.texts[row] for row in rows], self.gamma[rows], self.features.select(rows))


def make_training_set(
    fitted: Fitted, encoder: Encoder, config: StudentConfig, home: Path, progress: StageProgress
) -> TrainingSet:
    """Draw segments and encode them; hidden states are kept in `home`."""
    rows, gamma = draw_segments(fitted, config)
    texts = fitted.corpus.segments["text"].gather(rows).to_list()
    return TrainingSet(texts, gamma, compute_features(encoder, texts, home / rundir.FEATURES, progress))


def draw_segments(fitted: Fitted, config: StudentConfig) -> tuple[np.ndarray, np.ndarray]:
    """Let the teacher answer for all segments and draw the ones to learn from: their rows, and γ (N×A)."""
    corpus, topic_map = fitted.corpus, fitted.the_map()
    matrix, aspects = topic_map.matrix(), topic_map.aspects
    rows = corpus.trainable(fitted.config.min_tokens)
    beta = encode(fitted.teacher, corpus.tokens.select(rows), fitted.config.max_tokens)
    gamma, unmapped = aspect_probabilities(beta, matrix)
    certain = np.flatnonzero(passes(gamma, aspects, config.thresholds(len(aspects))) & (unmapped < 1 - 1e-6))
    drawn = balanced(gamma.argmax(1), certain, config.n_segments, config.seed)
    check_enough(gamma[drawn].argmax(1), aspects, matrix.sum(0) > 0)
    return rows[drawn], gamma[drawn]


def passes(gamma: np.ndarray, aspects: tuple[str, ...], thresholds: tuple[float, float]) -> np.ndarray:
    """Tell which rows of γ (N×A) have an entropy of at most χ_G (answer General) or χ_NG (other answers)."""
    general = np.array([aspect == GENERAL for aspect in aspects])[gamma.argmax(1)]
    return np.asarray(entropy(gamma) <= np.where(general, *thresholds) + 1e-6)


def balanced(answers: np.ndarray, rows: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Draw about `size` rows, the same number of each answer; the others fill up what a rare one lacks."""
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
            f"Fewer than {FEWEST} segments are left to learn from for {', '.join(short)}. "
            "Raise --aspect-entropy or --general-entropy, or map more topics to the aspect: aspectra map RUN"
        )
