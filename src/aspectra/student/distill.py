"""Distillation: the teacher's γ on the reviews, and labels of a person where there are some → a trained `Student` (paper: SSCLS).

The teacher answers for every segment; the certain ones, balanced over the aspects, are encoded once, and the head learns to give the
teacher's probabilities from them. With labels, the classifier then moves from there as far as cross-validation finds good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from aspectra.corpus import Corpus
from aspectra.detector import AspectDetector
from aspectra.errors import MapError, RunError
from aspectra.evaluate import Gold, gold_matrix
from aspectra.label import aspect_probabilities
from aspectra.loop import optimise
from aspectra.student.adapt import adapt
from aspectra.student.card import Card, map_mark
from aspectra.student.config import StudentConfig
from aspectra.student.encoder import load_encoder, weights_fingerprint
from aspectra.student.features import Features, compute_features
from aspectra.student.losses import cross_entropy, falling
from aspectra.student.model import Head, Student
from aspectra.student.select import balanced, check_enough, passes
from aspectra.teacher.train import encode, torch_threads

FOLDER, FEATURES = "student", "features"
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Lesson:
    """What the student learns from: rows of the corpus with the teacher's γ (N×A)."""

    rows: np.ndarray
    gamma: np.ndarray

    def targets(self, sharpness: float) -> np.ndarray:
        """Return γ to the power of `sharpness`, normalised: the larger, the nearer to the teacher's answer alone."""
        scaled = sharpness * np.log(np.maximum(self.gamma, 1e-30))
        powers = np.exp(scaled - scaled.max(1, keepdims=True))
        return np.asarray(powers / powers.sum(1, keepdims=True), dtype=np.float32)


def distill(
    detector: AspectDetector, config: StudentConfig, home: Path, labels: Gold | None = None, progress: Progress = lambda *_: None
) -> Student:
    """Make a student of a mapped detector; hidden states are kept in `home`, the student itself is not written."""
    aspects = tuple(detector.classes_)
    if len(aspects) < 2:
        raise MapError(f"The topic map has the single aspect {aspects[0]}: there is nothing to tell apart. Map another aspect.")
    gold = None if labels is None else gold_matrix(labels.aspects, aspects)
    corpus = detector.corpus_
    lesson = choose_lesson(detector, corpus, config)
    encoder = load_encoder(config.encoder, config.longest)
    texts = corpus.segments["text"].gather(lesson.rows).to_list()
    features = compute_features(encoder, texts, home / FEATURES, lambda done: progress("features", done))
    head = train_head(features, lesson.targets(config.sharpness), config, lambda done: progress("head", done))
    counts = np.bincount(lesson.gamma.argmax(1), minlength=len(aspects)).tolist()
    card = Card(
        aspects, config, config.teacher_weight, encoder.fingerprint, detector.marks_["prepare"], map_mark(detector.topic_map_),
        dict(zip(aspects, counts, strict=True)),
    )  # fmt: skip
    student = Student(encoder, head, card).eval()
    if config.finetune:
        finetune(student, texts, lesson.targets(config.sharpness), lambda done: progress("encoder", done))
    if labels is not None and gold is not None:
        gamma = detector.predict_proba(list(labels.texts))
        adaptation = adapt(head.classify, student.pooled(labels.texts), gold, gamma, card)
        head.classify = adaptation.classify
        student.card = replace(card, **adaptation.facts)
    return student


def choose_lesson(detector: AspectDetector, corpus: Corpus, config: StudentConfig) -> Lesson:
    """Let the teacher answer for all trainable segments and draw the ones to learn from."""
    matrix = detector.topic_map_.matrix()
    rows = corpus.trainable(detector.min_tokens)
    gamma, unmapped = aspect_probabilities(encode(detector.teacher_, corpus.tokens.select(rows), detector.max_tokens), matrix)
    aspects = detector.topic_map_.aspects
    certain = np.flatnonzero(passes(gamma, aspects, config.thresholds(len(aspects))) & (unmapped < 1 - 1e-6))
    drawn = balanced(gamma.argmax(1), certain, config.n_segments, config.seed)
    check_enough(gamma[drawn].argmax(1), aspects, matrix.sum(0) > 0)
    return Lesson(rows[drawn], gamma[drawn])


def shuffled(count: int, size: int, epochs: int, seed: int) -> Iterator[np.ndarray]:
    """Yield batches of row numbers, in a new order in each pass."""
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(count)
        yield from (order[start : start + size] for start in range(0, count, size))


def bucketed(batches: list[np.ndarray], lengths: np.ndarray, window: int = 16) -> Iterator[np.ndarray]:
    """Sort by length within each window of batches, so that there is little padding; the order of batches stays random."""
    for start in range(0, len(batches), window):
        group = batches[start : start + window]
        rows = np.concatenate(group)
        cut = np.array_split(rows[np.argsort(lengths[rows], kind="stable")], len(group))
        yield from (cut[place] for place in np.random.default_rng(start).permutation(len(cut)))


def train_head(features: Features, targets: np.ndarray, config: StudentConfig, progress: Callable[[float], None]) -> Head:
    """Train attention and classifier on frozen hidden states towards the targets, N×A."""
    torch.manual_seed(config.seed)
    head = Head(features.hidden.shape[1], targets.shape[1], config.attention, config.smoothness)
    wanted = torch.from_numpy(targets)
    steps = config.epochs * -(-len(features) // config.batch_size)

    def losses(rows: np.ndarray) -> dict[str, Tensor]:
        answer = head(*features.padded(rows))
        penalty = config.decay / 2 * head.classify.weight.square().sum()
        return {"cross_entropy": cross_entropy(answer.logits, wanted[rows]), "penalty": penalty}

    def log(step: int, parts: dict[str, Tensor]) -> None:
        progress(step / steps)

    batches = list(shuffled(len(features), config.batch_size, config.epochs, config.seed))
    with torch_threads(1):
        optimise(
            head, bucketed(batches, np.diff(features.offsets)), losses, falling(config.learning_rate, steps), clip=1.0, log=log
        )
    return head.eval()


def finetune(student: Student, texts: list[str], targets: np.ndarray, progress: Callable[[float], None]) -> None:
    """Train encoder and head together, on the GPU in mixed precision where there is one."""
    config = student.card.config
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    student.to(device).train()
    pieces, wanted = student.encoder.tokenise(texts), torch.from_numpy(targets).to(device)
    steps = config.finetune_epochs * -(-len(texts) // config.batch_size)

    def losses(rows: np.ndarray) -> dict[str, Tensor]:
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            answer = student(*student.encoder.padded(pieces, rows))
        return {"cross_entropy": cross_entropy(answer.logits.float(), wanted[rows])}

    batches = list(shuffled(len(texts), config.batch_size, config.finetune_epochs, config.seed))
    try:
        optimise(
            student,
            bucketed(batches, pieces.lengths),
            losses,
            falling(config.finetune_rate, steps),
            1.0,
            lambda step, parts: progress(step / steps),
        )
    except (MemoryError, torch.OutOfMemoryError):
        raise RunError(f"Out of memory with {config.batch_size} segments at once. Lower --batch-size.") from None
    student.eval()
    student.encoder = replace(student.encoder, fingerprint=weights_fingerprint(student.encoder.model))
    student.card = replace(student.card, encoder=student.encoder.fingerprint)
