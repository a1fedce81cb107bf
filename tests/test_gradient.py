"""The gradient by hand is autograd's gradient."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from aspectra.config import FitConfig
from aspectra.corpus import Ragged
from aspectra.teacher.gradient import step
from aspectra.teacher.losses import contrastive, penalty
from aspectra.teacher.model import Teacher

RANDOM = np.random.default_rng(0)
TOKENS = Ragged.of(RANDOM.integers(0, 40, 60), np.array([1, 7, 30, 2, 20]))


def make_teacher(config: FitConfig) -> Teacher:
    torch.manual_seed(0)
    return Teacher(torch.randn(40, 8), torch.randn(6, 8), config)


@pytest.mark.parametrize("attention", ["smooth", "regular", "mean"])
@pytest.mark.parametrize("temperature", [1.0, 0.2])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_gradients_and_losses_equal_autograds(attention: str, temperature: float, weight: float) -> None:
    config = FitConfig(attention=attention, temperature=temperature, penalty_weight=weight, smoothness=0.7)
    teacher = make_teacher(config)
    ids, mask = TOKENS.padded(np.arange(5), 30)
    encoding = teacher(torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32)))
    expected = {
        "contrastive": contrastive(encoding.words, encoding.topics, temperature),
        "penalty": weight * penalty(teacher.topics),
    }
    sum(expected.values(), torch.zeros(())).backward()
    wanted = {
        name: 0 * parameter if parameter.grad is None else parameter.grad
        for name, parameter in teacher.named_parameters()
    }
    teacher.zero_grad()
    found = step(teacher, config, TOKENS)
    for name, parameter in teacher.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name].detach(), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(found, {name: value.detach() for name, value in expected.items()})


def test_the_order_of_segments_changes_no_gradient() -> None:
    config = FitConfig()
    gradients = []
    for rows in (np.arange(5), np.array([3, 1, 4, 0, 2])):
        teacher = make_teacher(config)
        step(teacher, config, TOKENS.select(rows))
        gradients.append([parameter.grad for parameter in teacher.parameters()])
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-6)


def test_orthogonal_topics_have_no_penalty_and_a_finite_gradient() -> None:
    config = FitConfig()
    teacher = Teacher(torch.randn(40, 8), torch.eye(8), config)
    losses = step(teacher, config, TOKENS)
    assert losses["penalty"] == 0
    assert all(torch.isfinite(parameter.grad).all() for parameter in teacher.parameters())


def test_without_a_place_to_keep_compiled_code_it_is_compiled_anyway() -> None:
    code = (
        "from aspectra.teacher.gradient import uniform as u; import numpy as n; print(u(n.array([0, 2, 3])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"NUMBA_CACHE_DIR": "/dev/null/no"}
    )
    assert done.stdout == "[0.5 0.5 1. ]\n", done.stderr
