"""The teacher's loss as functions of tensors (paper: equations for l_i and Ω). Each function returns a scalar."""

from __future__ import annotations

import torch
from torch import Tensor


def minus_identity(size: int, scale: float) -> Tensor:
    """Return −scale on the diagonal and 0 elsewhere."""
    return torch.zeros(size, size).fill_diagonal_(-scale)


def unit(rows: Tensor) -> Tensor:
    """Scale rows to length 1; a row of zeros stays finite."""
    return rows * torch.rsqrt((rows * rows).sum(1, keepdim=True) + 1e-12)


def contrastive(words: Tensor, topics: Tensor, temperature: float) -> Tensor:
    """Pull each segment's s_A (B×D) to its own s_E (B×D) and away from the others' in the batch; the mean of l_i.

    The positive pair is not in the denominator. A batch of one has nothing to be contrasted with and costs 0.
    """
    if len(words) == 1:
        return (words * 0).sum() + (topics * 0).sum()
    words, topics = unit(words), unit(topics) / temperature
    positive = (topics * words).sum(1)  # B
    others = torch.addmm(
        minus_identity(len(words), torch.inf), topics, words.T
    )  # B×B: row i is s_A_i, −∞ on the diagonal
    return (torch.logsumexp(others, dim=1) - positive).mean()


def penalty(topics: Tensor) -> Tensor:
    """Ω = ‖ÂÂᵀ − I‖, Frobenius, over the topic vectors (K×D) with their rows normalised: 0 when they are orthogonal."""
    rows = unit(topics)  # K×D
    size: Tensor = torch.linalg.matrix_norm(torch.addmm(minus_identity(len(topics), 1.0), rows, rows.T))
    return size
