import pytest
import torch
from torch import Tensor

from aspectra.loop import Losses, Step, differentiate, optimise


def run(step: Step, model: torch.nn.Module, rates: list[float]) -> list[Losses]:
    logged: list[Losses] = []
    optimise(model, rates, step, lambda n: rates[n - 1], 2.0, lambda n, losses: logged.append(losses))
    return logged


def line() -> torch.nn.Linear:
    torch.manual_seed(0)
    return torch.nn.Linear(1, 1, bias=False)


def test_the_loop_clips_gradients_and_uses_the_rate_of_the_step() -> None:
    model, norms = line(), []
    start, rates = model.weight.item(), [0.1, 0.01]

    def log(step: int, losses: Losses) -> None:
        norms.append(model.weight.grad.norm().item())

    steep = differentiate(lambda batch: {"loss": 1000 * model.weight.sum()})
    optimise(model, rates, steep, lambda step: rates[step - 1], 2.0, log)
    assert norms == pytest.approx([2.0, 2.0], rel=1e-4)
    assert start - model.weight.item() == pytest.approx(0.11, abs=1e-5)


def test_autograd_differentiates_the_sum_of_the_losses() -> None:
    model = line()
    step = differentiate(lambda batch: {"a": 2 * model.weight.sum(), "b": batch * model.weight.sum()})
    losses = step(3.0)
    assert model.weight.grad.item() == 5.0
    assert set(losses) == {"a", "b"}


def test_a_step_that_sets_its_own_gradients_moves_the_model_as_autograd_does() -> None:
    by_autograd, by_hand = line(), line()

    def step(batch: float) -> dict[str, Tensor]:
        by_hand.weight.grad = torch.full_like(by_hand.weight, 3.0)
        return {"loss": 3 * by_hand.weight.detach().sum()}

    expected = run(
        differentiate(lambda batch: {"loss": 3 * by_autograd.weight.sum()}), by_autograd, [0.1, 0.2]
    )
    assert [float(losses["loss"]) for losses in run(step, by_hand, [0.1, 0.2])] == pytest.approx(
        [float(losses["loss"].detach()) for losses in expected]
    )
    assert by_hand.weight.item() == by_autograd.weight.item()
