"""The paper's student (SSCLS): the teacher's γ on the reviews, and labels if there are some → a `Student`.

The teacher answers for every segment. The certain ones, balanced over the aspects, are encoded once, and the
head learns to give the teacher's probabilities for them. With labels, the classifier then moves as far from
there as cross-validation finds good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from aspectra.aspects.names_sample import foreign_encoder
from aspectra.config import StudentConfig
from aspectra.encoder.features import Features
from aspectra.encoder.pretrained import Encoder, load_encoder, weights_fingerprint
from aspectra.errors import InputError, RunError
from aspectra.fitting import Fitted
from aspectra.loop import differentiate, optimise, torch_threads
from aspectra.progress import Progress, StageProgress, progress_of, quiet
from aspectra.scores import Gold
from aspectra.student.card import Card
from aspectra.student.paper.adapt import LabelledTexts, adapt, choose_filter, shift_logits, unfiltered
from aspectra.student.paper.model import Head, Student, cross_entropy, falling
from aspectra.student.paper.training_set import TrainingSet, make_training_set


def train_attention(
    fitted: Fitted,
    config: StudentConfig,
    home: Path,
    labels: Gold | None = None,
    dev: Gold | None = None,
    progress: Progress = quiet,
) -> Student:
    """Make a student; hidden states are kept in `home`, the student itself is not written."""
    foreign = foreign_encoder(config.encoder, fitted.config.language)
    if foreign:
        raise InputError(f"{foreign} Until then the run keeps to its teacher.")
    card, encoder = Card.new(fitted, config), load_encoder(config.encoder, config.longest)
    card = replace(card, encoder_fingerprint=encoder.fingerprint)
    known = {
        name: LabelledTexts.of(gold, fitted)
        for name, gold in (("labels", labels), ("dev", dev))
        if gold is not None
    }
    wide = config if dev is None else unfiltered(config)
    training_set = make_training_set(fitted, encoder, wide, home, progress_of("features", progress))
    if dev is None:
        student = learn(encoder, training_set, card, progress_of("head", progress))
    else:
        student = choose_filter(
            training_set, card, known["dev"], partial(learn, encoder), progress_of("filter", progress)
        )
        training_set = training_set.passing(card.aspects, student.card.config)
    if config.finetune:
        finetune(student, training_set, progress_of("encoder", progress))
    if dev is not None:
        shift_logits(student, known["dev"])
    if labels is not None:
        head = student.head
        adaptation = adapt(head.classify, student.pooled(labels.texts), known["labels"], student.card)
        head.classify = adaptation.classify
        student.card = replace(student.card, **adaptation.facts)
    return student


def learn(encoder: Encoder, training_set: TrainingSet, card: Card, progress: StageProgress) -> Student:
    """Train a head on a training set and put it on the frozen encoder."""
    head = train_head(
        training_set.features, training_set.targets(card.config.sharpness), card.config, progress
    )
    return Student(
        encoder, head, replace(card, learnt=dict(zip(card.aspects, training_set.counts(), strict=True)))
    ).eval()


def shuffled(count: int, size: int, epochs: int, seed: int) -> Iterator[np.ndarray]:
    """Yield batches of row numbers, in a new order in each pass."""
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(count)
        yield from (order[start : start + size] for start in range(0, count, size))


def bucketed(batches: list[np.ndarray], lengths: np.ndarray, window: int = 16) -> Iterator[np.ndarray]:
    """Sort by length within each window of batches, for little padding; the order of batches stays random."""
    for start in range(0, len(batches), window):
        group = batches[start : start + window]
        rows = np.concatenate(group)
        cut = np.array_split(rows[np.argsort(lengths[rows], kind="stable")], len(group))
        yield from (cut[place] for place in np.random.default_rng(start).permutation(len(cut)))


def train_head(
    features: Features, targets: np.ndarray, config: StudentConfig, progress: StageProgress
) -> Head:
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
            head,
            bucketed(batches, np.diff(features.offsets)),
            differentiate(losses),
            falling(config.learning_rate, steps),
            clip=1.0,
            log=log,
        )
    return head.eval()


def finetune(student: Student, training_set: TrainingSet, progress: StageProgress) -> None:
    """Train encoder and head together, on the GPU in mixed precision where there is one."""
    config = student.card.config
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    student.to(device).train()
    pieces, wanted = (
        student.encoder.tokenise(training_set.texts),
        torch.from_numpy(training_set.targets(config.sharpness)).to(device),
    )
    steps = config.finetune_epochs * -(-len(training_set.texts) // config.batch_size)

    def losses(rows: np.ndarray) -> dict[str, Tensor]:
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            answer = student(*student.encoder.padded(pieces, rows))
        return {"cross_entropy": cross_entropy(answer.logits.float(), wanted[rows])}

    batches = list(shuffled(len(training_set.texts), config.batch_size, config.finetune_epochs, config.seed))
    try:
        optimise(
            student,
            bucketed(batches, pieces.lengths),
            differentiate(losses),
            falling(config.finetune_rate, steps),
            1.0,
            lambda step, parts: progress(step / steps),
        )
    except (MemoryError, torch.OutOfMemoryError):
        raise RunError(
            f"Out of memory with {config.batch_size} segments at once. Lower --batch-size."
        ) from None
    student.cpu().eval()
    student.encoder = replace(student.encoder, fingerprint=weights_fingerprint(student.encoder.model))
    student.card = replace(student.card, encoder_fingerprint=student.encoder.fingerprint)
