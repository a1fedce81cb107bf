"""What a trained teacher answers: as its network does, and the same digits in every batch."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from aspectra.config import TeacherConfig
from aspectra.corpus import Ragged
from aspectra.teacher.encode import TrainedTeacher, attend, check_weights, encode
from aspectra.teacher.model import Teacher

V, D, K, LONGEST = 50, 24, 9, 12


def make_teacher(attention: str = "smooth") -> Teacher:
    torch.manual_seed(1)
    return Teacher(torch.randn(V, D), torch.randn(K, D), TeacherConfig(attention=attention))


def draw(n: int) -> Ragged:
    random = np.random.default_rng(0)
    lengths = random.integers(0, LONGEST + 3, n)
    return Ragged.of(random.integers(0, V, lengths.sum()), lengths)


@pytest.mark.parametrize("attention", ["smooth", "regular", "mean"])
def test_it_answers_as_the_network_does(attention: str) -> None:
    network, tokens = make_teacher(attention), draw(200)
    beta = encode(network.trained(), tokens, LONGEST)
    rows = np.flatnonzero(tokens.lengths)
    ids, mask = tokens.padded(rows, LONGEST)
    with torch.inference_mode():
        answer = network(torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32)))
    np.testing.assert_allclose(beta[rows], answer.beta.numpy(), atol=1e-5)
    for same, words in tokens.same_length(LONGEST):
        theirs = answer.attention.numpy()[np.searchsorted(rows, same), : words.shape[1]]
        np.testing.assert_allclose(attend(network.trained(), words), theirs, atol=1e-5)


@pytest.mark.parametrize("attention", ["smooth", "regular", "mean"])
def test_every_digit_is_the_same_in_any_batch_and_on_any_thread(attention: str) -> None:
    teacher, tokens = make_teacher(attention).trained(), draw(3000)
    whole = encode(teacher, tokens, LONGEST)

    def part(start: int, size: int) -> np.ndarray:
        return encode(teacher, tokens.select(np.arange(start, min(start + size, 3000))), LONGEST)

    for size in (1, 7, 1000):
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(part, range(0, 3000, size), [size] * 3000))
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_the_network_built_again_has_what_was_learnt() -> None:
    network = make_teacher("regular")
    again = Teacher.of(network.trained())
    assert again.kind == "regular"
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


@pytest.mark.parametrize(
    ("name", "array", "fault"),
    [
        ("align.bias", None, "it has align.weight, classify.bias"),
        ("more", np.zeros(1, np.float32), "it has align.bias"),
        ("align.weight", np.zeros((D, D + 1), np.float32), r"align.weight is float32 of shape \(24, 25\)"),
        ("classify.bias", np.zeros(K), "classify.bias is float64"),
        ("topics", np.full((K, D), np.nan, np.float32), "topics has a weight that is not finite"),
    ],
)
def test_weights_that_do_not_fit_are_named(name: str, array: np.ndarray | None, fault: str) -> None:
    trained = make_teacher().trained()
    weights = {**trained.weights, name: array}
    weights = {name: array for name, array in weights.items() if array is not None}
    with pytest.raises(ValueError, match=fault):
        check_weights(TrainedTeacher(trained.vectors, weights, "smooth", 0.5))
