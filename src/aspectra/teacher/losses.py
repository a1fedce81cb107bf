"""The teacher's loss, to read; training uses its compiled gradient in gradient.py, tested to be equal.

The functions are the paper's equations for l_i and Ω over tensors; `contrastive` and `penalty` return
scalars. Shapes: B segments in a batch, D vector width, K topics.
"""

from __future__ import annotations

import torch
from torch import Tensor


def minus_identity(size: int, scale: float) -> Tensor:
    """Return −scale on the diagonal and 0 elsewhere, size×size."""
    return torch.zeros(size, size).fill_diagonal_(-scale)


def unit(rows: Tensor) -> Tensor:
    """Scale rows (N×D) to length 1; a row of zeros stays finite."""
    return rows * torch.rsqrt((rows * rows).sum(1, keepdim=True) + 1e-12)  # N×D


def contrastive(words: Tensor, topics: Tensor, temperature: float) -> Tensor:
    """Return the mean of l_i: low if each s_A (B×D) is close to its own s_E (B×D) and far from the others.

    The positive pair is not in the denominator. A batch of one has nothing to be contrasted with and costs 0.
    """
    if len(words) == 1:
        return (words * 0).sum() + (topics * 0).sum()
    words, topics = unit(words), unit(topics) / temperature  # B×D each
    positive = (topics * words).sum(1)  # B
    diagonal = minus_identity(len(words), torch.inf)  # B×B, takes the positive pairs out
    others = torch.addmm(diagonal, topics, words.T)  # B×B, row i: s_A_i with the other segments' s_E
    return (torch.logsumexp(others, dim=1) - positive).mean()  # scalar


def penalty(topics: Tensor) -> Tensor:
    """Return Ω = ‖ÂÂᵀ − I‖ (Frobenius), Â the topic vectors (K×D) at length 1: 0 when they are orthogonal."""
    rows = unit(topics)  # K×D, Â
    excess = torch.addmm(minus_identity(len(topics), 1.0), rows, rows.T)  # K×K, ÂÂᵀ − I
    size: Tensor = torch.linalg.matrix_norm(excess)  # scalar
    return size
