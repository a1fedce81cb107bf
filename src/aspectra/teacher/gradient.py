"""One training step's losses and gradients by hand: what autograd gives for `Teacher` and `losses`, in less than half the time.

Training steps are tiny, so autograd's bookkeeping and padding cost more than the arithmetic. Here the words of a batch lie flat, N words of
B segments, without padding, and each line of `step` below the losses is the derivative of a line above them. tests/test_gradient.py
holds it equal to autograd.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from aspectra.config import TeacherConfig
from aspectra.corpus import Ragged
from aspectra.teacher.losses import minus_identity
from aspectra.teacher.model import Teacher


@dataclass(frozen=True)
class FlatBatch:
    """The words of B segments, one after the other; every segment has at least one."""

    ids: Tensor  # N
    starts: Tensor  # B: where each segment begins
    segment: Tensor  # N: to which segment each word belongs

    @classmethod
    def of(cls, words: Ragged) -> FlatBatch:
        segment = np.repeat(np.arange(len(words)), words.lengths)
        return cls(torch.from_numpy(words.ids.astype(np.int64)), torch.from_numpy(words.offsets[:-1]), torch.from_numpy(segment))

    def summed(self, vectors: Tensor, weights: Tensor) -> Tensor:
        """Return Σ w_t E_t for each segment, B×D."""
        return torch.embedding_bag(vectors, self.ids, self.starts, mode=0, per_sample_weights=weights)[0]

    def total(self, values: Tensor) -> Tensor:
        """Sum the words' values (N) in each segment, B."""
        return torch.zeros(len(self.starts)).index_add_(0, self.segment, values)

    def spread(self, values: Tensor) -> Tensor:
        """Give each word its segment's value or row: B(×D) to N(×D)."""
        return torch.index_select(values, 0, self.segment)


def unit_gradient(unit: Tensor, length: Tensor, gradient: Tensor) -> Tensor:
    """Take a gradient back through rows / length = unit."""
    return (gradient - unit * (unit * gradient).sum(1, keepdim=True)) / length


def softmax_gradient(probability: Tensor, gradient: Tensor) -> Tensor:
    """Take a gradient back through a softmax over rows."""
    return probability * (gradient - (probability * gradient).sum(1, keepdim=True))


@torch.no_grad()
def step(teacher: Teacher, config: TeacherConfig, batch: FlatBatch) -> dict[str, Tensor]:
    """Return the losses of a batch of at least two segments and set the gradient of every parameter."""
    vectors, topics, classifier = teacher.vectors, teacher.topics, teacher.classify.weight
    size, temperature = len(batch.starts), config.temperature
    query = torch.embedding_bag(vectors, batch.ids, batch.starts, mode=1)[0]  # B×D, q
    attention, slope = attend(teacher, batch, query)  # N, α; N, ∂u/∂score
    words = batch.summed(vectors, attention)  # B×D, s_E
    beta = torch.softmax(torch.addmm(teacher.classify.bias, words, classifier.T), dim=1)  # B×K, β
    mixture = beta @ topics  # B×D, s_A
    word_length, mixture_length = words.norm(dim=1, keepdim=True), mixture.norm(dim=1, keepdim=True)  # B×1
    word_unit, mixture_unit = words / word_length, mixture / mixture_length  # B×D
    others = torch.addmm(minus_identity(size, torch.inf), mixture_unit, word_unit.T, alpha=1 / temperature)  # B×B
    positive = (mixture_unit * word_unit).sum(1) / temperature  # B
    weights = torch.exp(others - 1 / temperature)  # B×B; a cosine is at most 1, so nothing overflows
    total = weights.sum(1, keepdim=True)  # B×1
    contrastive = (torch.log(total).squeeze(1) - positive).mean() + 1 / temperature

    scale = 1 / (size * temperature)
    d_similarity = torch.add(minus_identity(size, scale), weights / total, alpha=scale)  # B×B
    d_mixture = unit_gradient(mixture_unit, mixture_length, d_similarity @ word_unit)  # B×D
    d_words = unit_gradient(word_unit, word_length, d_similarity.T @ mixture_unit)  # B×D
    d_logits = softmax_gradient(beta, d_mixture @ topics.T)  # B×K
    penalty, d_penalty = penalty_gradient(topics)
    topics.grad = torch.addmm(d_penalty, beta.T, d_mixture, beta=config.penalty_weight)  # K×D
    teacher.classify.weight.grad = d_logits.T @ words  # K×D
    teacher.classify.bias.grad = d_logits.sum(0)  # K
    if slope is not None:
        d_words = torch.addmm(d_words, d_logits, classifier)  # B×D
        d_attention = attention * (torch.index_select(vectors, 0, batch.ids) * batch.spread(d_words)).sum(1)  # N, α ∂/∂α
        d_score = (d_attention - attention * batch.spread(batch.total(d_attention))) * slope  # N
        teacher.align.weight.grad = query.T @ batch.summed(vectors, d_score)  # D×D
        teacher.align.bias.grad = batch.total(d_score) @ query  # D
    return {"contrastive": contrastive, "penalty": config.penalty_weight * penalty}


def attend(teacher: Teacher, batch: FlatBatch, query: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return α and the slope of u over the score qᵀ(W E_t + b), N each; mean attention has no slope."""
    if teacher.kind == "mean":
        return 1 / batch.spread(batch.total(torch.ones(len(batch.ids)))), None
    embedded = torch.index_select(teacher.vectors, 0, batch.ids)  # N×D
    score = (embedded * batch.spread(query @ teacher.align.weight)).sum(1) + batch.spread(query @ teacher.align.bias)  # N
    if teacher.kind == "smooth":
        bent = torch.tanh(score)
        weight, slope = torch.exp(teacher.smoothness * bent), teacher.smoothness * (1 - bent * bent)  # N
    else:
        highest = torch.full((len(batch.starts),), -torch.inf).scatter_reduce_(0, batch.segment, score, "amax")
        weight, slope = torch.exp(score - batch.spread(highest)), torch.ones_like(score)  # N
    return weight / batch.spread(batch.total(weight)), slope


def penalty_gradient(topics: Tensor) -> tuple[Tensor, Tensor]:
    """Return Ω and its gradient, K×D."""
    length = topics.norm(dim=1, keepdim=True)  # K×1
    unit = topics / length  # K×D
    excess = torch.addmm(minus_identity(len(topics), 1.0), unit, unit.T)  # K×K
    penalty = excess.norm()
    return penalty, unit_gradient(unit, length, excess @ unit * (2 / (penalty + 1e-12)))
