"""The network of ABAE and MATE: the teacher's, with regular attention, trained to rebuild segments.

z = Σ α_t e_t; p = softmax(W z + b); r = Tᵀp. The loss is Σ_i max(0, 1 − r·z + r·n_i) over 20 negatives n_i,
the mean words of random segments, plus λ‖TTᵀ − I‖ where topics learn; all vectors have length 1. Departures:
the vectors lose the mean of all words, whose cosine with each is 0.75 on average; W starts at the topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from aspectra.arrays import unit as unit_rows
from aspectra.bench.systems.baselines import TopicProbabilities
from aspectra.bench.systems.baselines import encode as encode_texts
from aspectra.config import FitConfig
from aspectra.fitting import Fitted
from aspectra.loop import Losses, differentiate, optimise, torch_threads
from aspectra.teacher.encode import TrainedTeacher, encode
from aspectra.teacher.losses import penalty, unit
from aspectra.teacher.model import Teacher
from aspectra.teacher.train import batches
from aspectra.topicmap.gamma import no_known_words

STEPS, RATE, CLIP, NEGATIVES = 5_000, 0.001, 10.0, 20
SHARPNESS = 10.0
PASSES = 10
"""A small corpus is read at most so often, however many steps there are."""
OTHERS = 20_000
"""Negatives are drawn among so many segments, whose means are taken once."""
Batch = tuple[Tensor, Tensor, Tensor]
"""Word ids and mask, B×L each, and negatives, B×20×D."""


@dataclass(frozen=True)
class SecondTask:
    """What a network learns beside rebuilding: a part of its own, and its losses at each step."""

    part: nn.Module
    losses: Callable[[Teacher], Losses]


def network_config(config: FitConfig, n_topics: int) -> FitConfig:
    return replace(config, n_topics=n_topics, attention="regular", batch_size=50)


def centred(matrix: np.ndarray) -> np.ndarray:
    """Return word vectors without the direction that all share, at length 1."""
    rows = unit_rows(matrix)
    return unit_rows(rows - rows.mean(0))


def unit_tensor(matrix: np.ndarray) -> Tensor:
    return torch.from_numpy(unit_rows(matrix).astype(np.float32))


def hinge(words: Tensor, topics: Tensor, negatives: Tensor) -> Tensor:
    """Return the mean over segments of Σ_i max(0, 1 − r·z + r·n_i); z, r are B×D, n is B×20×D."""
    z, r = unit(words), unit(topics)  # B×D each
    wrong = torch.einsum("bd,bnd->bn", r, negatives)  # B×20
    return torch.relu(1 - (r * z).sum(1, keepdim=True) + wrong).sum(1).mean()  # scalar


def train_autoencoder(
    words: Fitted,
    start: np.ndarray,
    config: FitConfig,
    steps: int,
    fixed: bool = False,
    second: SecondTask | None = None,
) -> TrainedTeacher:
    """Train on the run's segments from these topics, K×D."""
    torch.manual_seed(config.seed)
    model = Teacher(unit_tensor(centred(words.vectors.matrix)), unit_tensor(start), config)
    model.topics.requires_grad_(not fixed)
    if second:
        model.add_module("second", second.part)
    train_network(model, words, config, steps, second)
    if second:
        del model.second  # it has learnt its part of the attention
    return model.trained()


def train_network(
    model: Teacher, words: Fitted, config: FitConfig, steps: int, second: SecondTask | None = None
) -> None:
    """Minimise the loss on the run's segments; topics that need no gradient stay as they are.

    p begins as the likeness of z with each topic: W = 10 T, b = 0. From random weights, topics turn against
    each other instead, and p stays nearly even.
    """
    with torch.no_grad():
        model.classify.weight.copy_(SHARPNESS * model.topics)
        model.classify.bias.zero_()
    fixed = not model.topics.requires_grad

    def losses(batch: Batch) -> Losses:
        ids, mask, negatives = batch
        found = model(ids, mask)
        parts = {"hinge": hinge(found.words, found.topics, negatives)}
        apart = {} if fixed else {"penalty": config.penalty_weight * penalty(model.topics)}
        return parts | apart | (second.losses(model) if second else {})

    def ignore(step: int, losses: Losses) -> None:
        """Nobody asks how the loss falls."""

    with torch_threads(1):
        drawn = autoencoder_batches(words, model.vectors.numpy(), config, steps)
        optimise(model, drawn, differentiate(losses), lambda step: RATE, CLIP, ignore)


def autoencoder_batches(words: Fitted, vectors: np.ndarray, config: FitConfig, steps: int) -> Iterator[Batch]:
    """Yield segments, and for each 20 mean vectors of random segments, at length 1."""
    corpus, random = words.corpus, np.random.default_rng((config.seed, 1))
    rows = corpus.trainable(config.min_tokens)
    others = corpus.tokens.select(random.choice(rows, OTHERS), config.max_tokens)
    means = unit_tensor(np.add.reduceat(vectors[others.ids], others.offsets[:-1]))  # OTHERS×D
    steps = min(steps, -(-PASSES * len(rows) // config.batch_size))
    for batch in batches(rows, steps, config):
        ids, mask = corpus.tokens.padded(batch, config.max_tokens)
        negatives = means[random.integers(0, OTHERS, (len(batch), NEGATIVES))]
        yield torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32)), negatives


def topics_of(model: TrainedTeacher, words: Fitted) -> TopicProbabilities:
    """Return what gives a trained network's topic probabilities, all zero without known words."""

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        beta = encode(model, encode_texts(words, texts), words.config.max_tokens)
        return np.where(no_known_words(beta)[:, None], 0, beta)

    return probabilities
