"""What the student learns from: segments of the reviews with the teacher's γ, and what the encoder makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aspectra import rundir
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.encoder.features import Features, compute_features
from aspectra.encoder.pretrained import Encoder
from aspectra.progress import StageProgress
from aspectra.student.select import balanced, check_enough, passes
from aspectra.teacher.encode import encode
from aspectra.topicmap.gamma import aspect_probabilities


@dataclass(frozen=True)
class Lesson:
    """N segments with the teacher's γ (N×A) and their hidden states."""

    texts: list[str]
    gamma: np.ndarray
    features: Features

    def targets(self, sharpness: float) -> np.ndarray:
        """Return γ to the power of `sharpness`, normalised: the larger, the nearer to the teacher's answer alone."""
        scaled = sharpness * np.log(np.maximum(self.gamma, 1e-30))
        powers = np.exp(scaled - scaled.max(1, keepdims=True))
        return np.asarray(powers / powers.sum(1, keepdims=True), dtype=np.float32)

    def counts(self) -> list[int]:
        """Count the segments of each answer, A."""
        return [int(count) for count in np.bincount(self.gamma.argmax(1), minlength=self.gamma.shape[1])]

    def passing(self, aspects: tuple[str, ...], config: StudentConfig) -> Lesson:
        """Keep the segments that pass the config's entropy filter."""
        rows = np.flatnonzero(passes(self.gamma, aspects, config.thresholds(len(aspects))))
        return Lesson([self.texts[row] for row in rows], self.gamma[rows], self.features.select(rows))


def choose(detector: AspectDetector, config: StudentConfig) -> tuple[np.ndarray, np.ndarray]:
    """Let the teacher answer for all trainable segments and draw the ones to learn from: their rows, and γ (N×A)."""
    corpus, matrix, aspects = detector.corpus_, detector.topic_map_.matrix(), detector.topic_map_.aspects
    rows = corpus.trainable(detector.min_tokens)
    gamma, unmapped = aspect_probabilities(
        encode(detector.teacher_, corpus.tokens.select(rows), detector.max_tokens), matrix
    )
    certain = np.flatnonzero(passes(gamma, aspects, config.thresholds(len(aspects))) & (unmapped < 1 - 1e-6))
    drawn = balanced(gamma.argmax(1), certain, config.n_segments, config.seed)
    check_enough(gamma[drawn].argmax(1), aspects, matrix.sum(0) > 0)
    return rows[drawn], gamma[drawn]


def prepare_lesson(
    detector: AspectDetector,
    encoder: Encoder,
    config: StudentConfig,
    home: Path,
    progress: StageProgress,
) -> Lesson:
    """Choose segments and encode them; hidden states are kept in `home`."""
    rows, gamma = choose(detector, config)
    texts = detector.corpus_.segments["text"].gather(rows).to_list()
    return Lesson(texts, gamma, compute_features(encoder, texts, home / rundir.FEATURES, progress))
