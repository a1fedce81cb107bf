"""The only optimisation loop: rate → step → clip → log. A model brings its batches and the function that turns one into named losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from aspectra.config import MODEL_SIZE


def warmup_rate(step: int, factor: float, warmup: int) -> float:
    """Return the learning rate of "Attention is all you need": it rises for `warmup` steps, then falls as step^-½."""
    return float(factor * MODEL_SIZE**-0.5 * min(step**-0.5, step * warmup**-1.5))


def clip_gradients(parameters: list[nn.Parameter], longest: float) -> None:
    """Shorten the gradient of all parameters together to this norm; torch's own function takes five times as long on small ones."""
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
    losses: Callable[[Any], dict[str, Tensor]],
    rate: Callable[[int], float],
    clip: float,
    log: Callable[[int, dict[str, Tensor]], None],
) -> None:
    """Take one Adam step per batch on the sum of its losses; losses without a graph have set the gradients themselves."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(parameters, betas=(0.9, 0.999), eps=1e-8, fused=True)
    for step, batch in enumerate(batches, 1):
        optimiser.param_groups[0]["lr"] = rate(step)
        optimiser.zero_grad()
        parts = losses(batch)
        total = sum(parts.values(), torch.zeros(()))
        if total.requires_grad:
            torch.autograd.backward(total)
        clip_gradients(parameters, clip)
        optimiser.step()
        log(step, parts)
