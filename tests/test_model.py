from typing import Any

import pytest
import torch
from torch import Tensor

from aspectra.config import ATTENTIONS, TeacherConfig
from aspectra.teacher.losses import contrastive, penalty
from aspectra.teacher.model import Teacher

V, D, K = 11, 6, 4


def make_teacher(**settings: Any) -> Teacher:
    torch.manual_seed(1)
    return Teacher(torch.randn(V, D), torch.randn(K, D), TeacherConfig(**settings))


def make_batch(padding: int = 0) -> tuple[Tensor, Tensor]:
    ids = torch.tensor([[1, 2, 3], [4, 0, 0], [5, 6, 0], [7, 8, 9]])
    mask = torch.tensor([[1.0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    return torch.nn.functional.pad(ids, (0, padding), value=9), torch.nn.functional.pad(mask, (0, padding))


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_attention_and_topic_probabilities_sum_to_one(attention: str) -> None:
    ids, mask = make_batch(padding=2)
    encoding = make_teacher(attention=attention)(ids, mask)
    torch.testing.assert_close(encoding.attention.sum(1), torch.ones(4))
    torch.testing.assert_close(encoding.beta.sum(1), torch.ones(4))
    assert (encoding.attention[mask == 0] == 0).all()


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_padding_changes_nothing(attention: str) -> None:
    teacher = make_teacher(attention=attention)
    torch.testing.assert_close(teacher(*make_batch(padding=5)).beta, teacher(*make_batch()).beta)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_batch_order_and_size_change_nothing(attention: str) -> None:
    teacher, (ids, mask), order = make_teacher(attention=attention), make_batch(), torch.tensor([2, 0, 3, 1])
    whole = teacher(ids, mask).beta
    torch.testing.assert_close(teacher(ids[order], mask[order]).beta, whole[order])
    for row in range(4):
        torch.testing.assert_close(teacher(ids[row : row + 1], mask[row : row + 1]).beta[0], whole[row])


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_word_order_changes_nothing(attention: str) -> None:
    teacher, (ids, mask) = make_teacher(attention=attention), make_batch()
    torch.testing.assert_close(teacher(ids[3:].flip(1), mask[3:]).beta, teacher(ids[3:], mask[3:]).beta)


def test_smooth_attention_without_smoothness_is_the_mean() -> None:
    smooth, mean = make_teacher(smoothness=0.0), make_teacher(attention="mean")
    torch.testing.assert_close(smooth(*make_batch()).attention, mean(*make_batch()).attention)


def test_smooth_attention_stays_between_its_bounds() -> None:
    """λ tanh lies in ±λ, so no word can count more than e^2λ times another."""
    teacher = make_teacher(smoothness=0.5)
    teacher.align.weight.data *= 1000
    attention = teacher(*make_batch()).attention[[0, 3]]
    assert (attention.amax(1) / attention.amin(1)).max() <= torch.e * 1.0001


def test_every_topic_and_every_weight_gets_a_gradient() -> None:
    teacher = make_teacher()
    encoding = teacher(*make_batch())
    (contrastive(encoding.words, encoding.topics, 1.0) + penalty(teacher.topics)).backward()
    assert {name for name, _ in teacher.named_parameters()} == {
        "topics", "align.weight", "align.bias", "classify.weight", "classify.bias",
    }  # fmt: skip
    assert all(parameter.grad.norm() > 0 for parameter in teacher.parameters())
    assert (teacher.topics.grad.norm(dim=1) > 0).all()


def test_word_vectors_do_not_learn() -> None:
    assert not make_teacher().vectors.requires_grad


def test_a_batch_of_one_costs_nothing_and_can_be_trained_on() -> None:
    teacher, (ids, mask) = make_teacher(), make_batch()
    encoding = teacher(ids[:1], mask[:1])
    loss = contrastive(encoding.words, encoding.topics, 1.0)
    loss.backward()
    assert loss.item() == 0
    assert all(torch.isfinite(p.grad).all() for p in teacher.parameters() if p.grad is not None)


def test_inputs_are_not_mutated() -> None:
    vectors, topics = torch.randn(V, D), torch.randn(K, D)
    ids, mask = make_batch()
    kept = [tensor.clone() for tensor in (vectors, topics, ids, mask)]
    teacher = Teacher(vectors, topics, TeacherConfig())
    teacher(ids, mask)
    teacher.topics.data += 1
    assert all(
        torch.equal(before, after) for before, after in zip(kept, (vectors, topics, ids, mask), strict=True)
    )


def test_penalty_does_not_depend_on_batch_size_or_on_the_length_of_topics() -> None:
    topics = torch.randn(K, D)
    torch.testing.assert_close(penalty(topics), penalty(topics * torch.rand(K, 1).add(0.1)))


def test_penalty_is_zero_for_orthogonal_topics_and_largest_for_equal_ones() -> None:
    assert penalty(torch.eye(K, D)).item() == pytest.approx(0, abs=1e-6)
    assert penalty(torch.ones(K, D)).item() == pytest.approx((K * (K - 1)) ** 0.5)


@pytest.mark.parametrize("rows", [torch.eye(K, D), torch.ones(K, D), torch.zeros(K, D)])
def test_gradients_stay_finite_for_orthogonal_equal_and_zero_vectors(rows: Tensor) -> None:
    topics = rows.clone().requires_grad_()
    (penalty(topics) + contrastive(topics, topics, 0.1)).backward()
    assert torch.isfinite(topics.grad).all()


def test_contrast_is_cheapest_where_segments_agree_with_their_own_topics() -> None:
    words = torch.eye(4, D)
    assert contrastive(words, words, 1.0) < contrastive(words, words.roll(1, 0), 1.0)


def test_contrast_depends_on_directions_only() -> None:
    words, topics = torch.randn(5, D), torch.randn(5, D)
    torch.testing.assert_close(contrastive(words * 7, topics / 3, 0.5), contrastive(words, topics, 0.5))
