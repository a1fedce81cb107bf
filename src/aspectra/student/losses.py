"""What both trainings of the student share: the loss, and the learning rate of each step."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of logits (B×A) against target probabilities (B×A)."""
    return -(targets * functional.log_softmax(logits, dim=1)).sum(1).mean()


def falling(highest: float, steps: int) -> Callable[[int], float]:
    """Return the learning rate of each step: a short rise, then a straight fall to 0."""
    rise = max(1, steps // 20)
    return lambda step: highest * min(step / rise, (steps - step + 1) / (steps - rise + 1))
