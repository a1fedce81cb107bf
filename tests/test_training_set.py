"""What the student learns from."""

import numpy as np

from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.features import Features
from aspectra.student.paper.training_set import TrainingSet, balanced, passes

ASPECTS = ("Image", "Sound", GENERAL)
GAMMA = np.array([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]])
STATES = Features(np.arange(14, dtype=np.float16).reshape(7, 2), np.array([0, 2, 3, 6, 7]))


def test_general_must_be_more_certain_than_other_aspects() -> None:
    relative = StudentConfig(general_entropy=0.4, aspect_entropy=1.0).thresholds(3)
    assert passes(GAMMA, ASPECTS, relative).tolist() == [True, True, True, False]
    assert passes(GAMMA, ASPECTS, StudentConfig(entropy_unit="nats").thresholds(3)).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert passes(GAMMA, ASPECTS, StudentConfig().thresholds(3)).all()


def test_the_sample_is_balanced_and_others_fill_what_a_rare_aspect_lacks() -> None:
    answers = np.repeat([0, 1, 2], [5, 500, 500])
    drawn = balanced(answers, np.arange(len(answers)), 105, seed=1)
    assert np.bincount(answers[drawn]).tolist() == [5, 50, 50]
    assert len(set(drawn.tolist())) == 105
    np.testing.assert_array_equal(drawn, balanced(answers, np.arange(len(answers)), 105, seed=1))


def test_targets_go_from_gamma_to_the_answer_alone() -> None:
    training_set = TrainingSet(list("abcd"), GAMMA, STATES)
    np.testing.assert_allclose(training_set.targets(1), GAMMA, atol=1e-6)
    np.testing.assert_allclose(training_set.targets(2)[1], np.array([16, 9, 9]) / 34, atol=1e-6)
    np.testing.assert_allclose(training_set.targets(1000), np.eye(3)[[0, 0, 2, 2]], atol=1e-6)


def test_a_filtered_training_set_keeps_texts_gamma_and_states_together() -> None:
    kept = TrainingSet(list("abcd"), GAMMA, STATES).passing(
        ASPECTS, StudentConfig(general_entropy=0.4, aspect_entropy=0.6)
    )
    assert (kept.texts, kept.counts()) == (["a", "c"], [1, 0, 1])
    np.testing.assert_array_equal(kept.gamma, GAMMA[[0, 2]])
    np.testing.assert_array_equal(kept.features.hidden[:, 0], [0, 2, 6, 8, 10])
