"""The only optimisation loop: learning rate → gradients → clip → update → log.

A model brings its batches and a `Step`, which sets the gradients for one batch. There are two kinds: a
step that computes losses and gradients itself (the teacher's, compiled, in teacher/gradient.py), and
`differentiate(losses)`, where autograd finds the gradients (the student's).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from aspectra.config import MODEL_SIZE

Losses = dict[str, Tensor]
"""The named parts of a loss, each a scalar; the loss is their sum."""
Step = Callable[[Any], Losses]
"""Takes a batch, sets the gradient of every parameter that learns, and returns the losses for the log."""


@contextlib.contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Run a block on this many threads, in torch and in numpy; tiny batches are fastest on one."""
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(before)


def differentiate(losses: Callable[[Any], Losses]) -> Step:
    """Make a step of a function from a batch to losses: autograd differentiates their sum."""

    def step(batch: Any) -> Losses:
        parts = losses(batch)
        torch.autograd.backward(sum(parts.values(), torch.zeros(())))
        return parts

    return step


def warmup_rate(step: int, factor: float, warmup: int) -> float:
    """Return the learning rate of "Attention is all you need".

    It rises for `warmup` steps, then falls as step^-½.
    """
    return float(factor * MODEL_SIZE**-0.5 * min(step**-0.5, step * warmup**-1.5))


def clip_gradients(parameters: list[nn.Parameter], longest: float) -> None:
    """Scale all gradients together down to this norm; on small ones five times as fast as torch's own."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = float(
        torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]))
    )
    if norm > longest:
        for gradient in gradients:
            gradient.mul_(longest / norm)


def optimise(
    model: nn.Module,
    batches: Iterable[Any],
    step: Step,
    rate: Callable[[int], float],
    clip: float,
    log: Callable[[int, Losses], None],
) -> None:
    """Update the model once per batch, by Adam; `rate` and `log` get the number of the batch, from 1."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    moments = [Moments.of(parameter) for parameter in parameters]
    for number, batch in enumerate(batches, 1):
        for parameter in parameters:
            parameter.grad = None
        losses = step(batch)
        clip_gradients(parameters, clip)
        update(parameters, moments, rate(number))
        log(number, losses)


class Moments(NamedTuple):
    """What Adam remembers of a parameter's gradients: their mean, that of their squares, how many."""

    mean: Tensor
    square: Tensor
    steps: Tensor

    @classmethod
    def of(cls, parameter: nn.Parameter) -> Self:
        zeros = torch.zeros_like(parameter)
        return cls(zeros, zeros.clone(), torch.zeros((), device=parameter.device))


@torch.no_grad()
def update(parameters: list[nn.Parameter], moments: list[Moments], rate: float) -> None:
    """Take a step of Adam; the class of that name would import torch's compiler, a second and a half."""
    learning = [(one, *kept) for one, kept in zip(parameters, moments, strict=True) if one.grad is not None]
    changed, means, squares, counts = map(list, zip(*learning, strict=True))
    adam(
        changed,
        [one.grad for one in changed],
        means,
        squares,
        [],
        counts,
        fused=True,
        amsgrad=False,
        beta1=0.9,
        beta2=0.999,
        lr=rate,
        weight_decay=0.0,
        eps=1e-8,
        maximize=False,
    )
