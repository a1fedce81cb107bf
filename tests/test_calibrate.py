"""Probabilities that are right as often as they say, and thresholds for several aspects."""

import numpy as np
import pytest

from aspectra.scores import calibration_error
from aspectra.topicmap.calibrate import (
    FOLDS,
    SEVERAL_FROM,
    corpus_temperature,
    folds,
    label_calibration,
    label_threshold,
    members,
    soften,
)

ASPECTS = ("Image", "Sound", "General")


def draw(n: int = 4000, sharp: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw probabilities that are `sharp` times as sure as they should be, and gold, N×3 booleans."""
    rng = np.random.default_rng(0)
    true = rng.dirichlet([0.6] * 3, n)
    gold = np.array([rng.choice(3, p=row) for row in true])[:, None] == np.arange(3)
    return soften(true, 1 / sharp), gold


def error(probabilities: np.ndarray, gold: np.ndarray) -> float:
    return calibration_error(gold[np.arange(len(gold)), probabilities.argmax(1)], probabilities.max(1))


def test_labels_find_the_temperature_that_makes_probabilities_true() -> None:
    guess, gold = draw()
    temperature, lead = label_calibration(guess, gold, without=1.0)
    assert temperature == pytest.approx(3, rel=0.15)
    assert lead < 1.2
    assert error(guess, gold) > 0.1
    assert error(soften(guess, temperature), gold) < 0.03


def test_calibration_changes_no_answer() -> None:
    guess, _ = draw(500)
    for temperature, lead in ((0.5, 1.0), (1.0, 3.0), (7.0, 1.5)):
        soft = soften(guess, temperature, lead)
        assert (soft.argmax(1) == guess.argmax(1)).all()
        np.testing.assert_allclose(soft.sum(1), 1)


def test_the_corpus_makes_answers_that_are_too_sure_less_sure_and_leaves_others() -> None:
    guess, _ = draw(sharp=20.0)
    temperature = corpus_temperature(guess)
    assert temperature > 2
    assert soften(guess, temperature).max(1).mean() == pytest.approx(1 / 3 + 2 / 3 * 0.66, abs=0.01)
    assert corpus_temperature(np.full((5, 3), 1 / 3)) == 1
    assert 1 <= corpus_temperature(np.eye(3)) < 100  # all certain: there is no order to soften


def test_few_labels_leave_the_temperature_of_the_corpus_nearly_as_it_was() -> None:
    guess, gold = draw(5)
    temperature, lead = label_calibration(guess, gold, without=4.0)
    assert temperature == pytest.approx(4, rel=0.2)
    assert lead == 1


def test_many_labels_find_that_answers_lead_by_more_than_they_say() -> None:
    guess, gold = draw(sharp=1.0)
    answer = guess.argmax(1)
    rng = np.random.default_rng(1)
    gold[rng.random(len(gold)) < 0.4] = False  # the answer is right more often than its probability says
    gold[~gold.any(1), answer[~gold.any(1)]] = True
    temperature, lead = label_calibration(guess, gold, without=1.0)
    assert lead > 1.5
    assert error(soften(guess, temperature, lead), gold) < error(guess, gold) / 2


def test_general_is_an_answer_but_nothing_beside_others() -> None:
    chances = np.array([[0.5, 0.1, 0.4], [0.3, 0.3, 0.4], [0.4, 0.35, 0.25]])
    assert members(chances, ASPECTS, 0.3).tolist() == [
        [True, False, False],
        [True, True, True],
        [True, True, False],
    ]


def test_labels_with_several_aspects_choose_the_threshold() -> None:
    chances = np.array([[0.55, 0.43, 0.02], [0.6, 0.38, 0.02]] * 300)
    gold = np.array([[True, True, False], [True, False, False]] * 300)
    assert 0.37 < label_threshold(chances, gold, ASPECTS) < 0.43
    assert label_threshold(chances, gold & [True, False, False], ASPECTS) == SEVERAL_FROM


def test_neighbours_are_held_out_together_and_parts_are_of_one_size() -> None:
    part = folds(700, 0)
    assert np.bincount(part).min() >= 100
    assert (part[1:] == part[:-1]).mean() > 0.9
    assert sorted(np.bincount(folds(23, 1))) == [4, 4, 5, 5, 5]
    assert folds(3, 0).max() < 3
    assert np.array_equal(folds(61, 5), folds(61, 5))
    assert set(folds(61, 5)) == set(range(FOLDS))
