"""Linear models, their features, and what labels correct."""

from typing import Any

import numpy as np
import pytest
from conftest import N_PLANTED, plant_segments

from aspectra.arrays import softmax
from aspectra.aspects.gaussians import (
    SHRINKAGE,
    SUREST,
    CorrectionData,
    Space,
    fit_gaussians,
    learn_correction,
    surest,
)


def test_a_few_labels_of_doubtful_segments_do_not_turn_clear_answers_round() -> None:
    doubtful = np.tile([0.5, 0.4, 0.1], (12, 1))
    labels = np.eye(3)[[2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 2]]
    correction = learn_correction(CorrectionData.of(doubtful, np.zeros((12, 4)), labels))
    clear = np.array([[0.98, 0.015, 0.005], [0.015, 0.98, 0.005]])
    assert list(correction(clear, np.zeros((2, 4))).argmax(1)) == [0, 1]


def test_labels_of_half_the_weight_count_as_half_as_many() -> None:
    draws = np.random.default_rng(0)
    answers, places = softmax(draws.normal(size=(20, 3))), draws.normal(size=(20, 4))
    labels = np.eye(3)[draws.integers(0, 3, 20)]
    once = CorrectionData.of(answers, places, labels)
    halves = CorrectionData.of(answers, places, labels, 0.5)
    both = [learn_correction(one)(answers, places) for one in (once, halves.and_then(halves))]
    np.testing.assert_allclose(*both, atol=1e-4)


def test_an_offset_of_the_scores_is_left_out_of_the_correction() -> None:
    answers, places = np.full((60, 3), 1 / 3), np.zeros((60, 2))
    labels, offset = np.eye(3)[np.arange(60) % 2], np.tile([5.0, 5.0, 0.0], (60, 1))
    plain, told = (
        learn_correction(CorrectionData.of(answers, places, labels, 1.0, one)) for one in (None, offset)
    )
    assert np.ptp(plain.linear.bias) > 1
    assert np.ptp(told.linear.bias) < 0.1


def test_surest_are_few_of_each_aspect_and_answer_it() -> None:
    answers = softmax(3 * np.random.default_rng(0).normal(size=(400, 4)))
    best = answers.argmax(1)[surest(answers)]
    assert np.bincount(best, minlength=4).tolist() == [SUREST, SUREST, SUREST, 0]


def test_a_model_unfolds_to_the_features() -> None:
    segments, truth = plant_segments()
    space = Space.of(segments)
    places = space(segments)
    model = fit_gaussians(places, np.eye(3)[truth])
    flat = space.unfold(model)
    states = normalised(normalised(segments.encoder) - space.origin) / np.sqrt(2)
    direct = np.hstack([states.reshape(N_PLANTED, -1), segments.words, np.sqrt(segments.beta)])
    np.testing.assert_allclose(flat(direct), model(places), atol=1e-9)


def normalised(rows: Any) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def test_gaussians_find_the_means_and_the_shares() -> None:
    random = np.random.default_rng(0)
    truth = random.choice(2, 4000, p=[0.8, 0.2])
    places = truth[:, None] * np.array([[3.0, 0.0]]) + random.normal(size=(4000, 2))
    answers = fit_gaussians(places, np.eye(2)[truth])(places)
    assert answers.mean(0)[1] == pytest.approx(0.2, abs=0.01)
    assert (answers.argmax(1) == truth).mean() > 0.93


@pytest.mark.parametrize(("n", "held"), [(60, 80 / 140), (4000, SHRINKAGE)])
def test_the_fewer_segments_the_more_firmly_a_model_is_held(n: int, held: float) -> None:
    random = np.random.default_rng(0)
    truth, places = random.integers(0, 2, n), random.normal(size=(n, 10))
    means = np.stack([places[truth == one].mean(0) for one in (0, 1)])
    covariance = np.cov((places - means[truth]).T, bias=True)
    expected = (1 - held) * covariance + held * np.trace(covariance) / 10 * np.eye(10)
    found = fit_gaussians(places, np.eye(2)[truth])
    np.testing.assert_allclose(expected @ found.weights, means.T, atol=1e-6)
