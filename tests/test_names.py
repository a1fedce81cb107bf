"""Learning from names, on planted segments."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import DIRECTIONS, N_PLANTED, PLANTED_TOPICS, PLANTED_WIDTH, plant_segments

from aspectra.arrays import softmax
from aspectra.aspects.first_opinion import AspectEvidence, GeneralEvidence
from aspectra.aspects.gaussians import Features
from aspectra.aspects.names import (
    Learned,
    denoise,
    divided_by_shares,
    hardly_answered,
    learn_from_names,
    map_topics,
    own_topics,
)
from aspectra.config import GENERAL


def learn(segments: Features, choices: Any = None, names: tuple[str, ...] = ("Sound", "Image")) -> Learned:
    texts = None if segments.encoder is None else 1
    evidence = [
        AspectEvidence(name, texts and DIRECTIONS[[place]], DIRECTIONS[[place]])
        for place, name in enumerate(names)
    ]
    general = GeneralEvidence(texts and DIRECTIONS[[2]], DIRECTIONS[[2]], texts and DIRECTIONS[[9]])
    return learn_from_names(segments, evidence, general, choices)


@pytest.mark.parametrize("encoder", [True, False])
def test_planted_aspects_are_found_without_a_label(encoder: bool) -> None:
    segments, truth = plant_segments(encoder=encoder)
    learned = learn(segments)
    assert learned.aspects == ("Sound", "Image", GENERAL)
    answers = learned.probabilities(segments).argmax(1)
    assert (answers == truth).mean() > 0.85  # General alone is right for 0.6
    np.testing.assert_allclose(learned.probabilities(segments), learned.targets)
    assert learned.shares == pytest.approx(
        dict(zip(learned.aspects, np.bincount(answers) / N_PLANTED, strict=True))
    )


def test_topics_speak_of_what_their_segments_speak_of() -> None:
    learned = learn(plant_segments()[0])
    assert learned.topic_map.argmax(1)[:6].tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(learned.topic_map.sum(1), 1)


def test_a_persons_choice_moves_the_segments_of_the_topic() -> None:
    segments, _ = plant_segments()
    topic = segments.beta.argmax(1) == 0
    before, after = (learn(segments, some).probabilities(segments)[topic, 1] for some in (None, {0: 1}))
    assert after.mean() > before.mean() + 0.05


@pytest.mark.parametrize(
    ("topic", "own"),
    [
        ((0.02, 0.12, 0.86), {0: 1}),
        ((0.02, 0.06, 0.92), {}),  # too few of its segments
        ((0.40, 0.12, 0.48), {}),  # as far above the usual in another aspect
        ((0.02, 0.50, 0.48), {}),  # the aspect has it already
    ],
)
def test_an_aspect_that_general_would_swallow_keeps_its_own_topic(topic: Any, own: dict[int, int]) -> None:
    others = np.tile([0.02, 0.0, 0.98], (19, 1))
    assert own_topics(np.vstack([topic, others]), np.full(20, 0.05)) == own


def test_a_topic_must_be_larger_than_all_that_is_answered_with_its_aspect() -> None:
    answers = np.vstack([np.tile([0.02, 0.3, 0.68], (2, 1)), np.tile([0.06, 0.0, 0.94], (18, 1))])
    assert own_topics(answers, np.full(20, 0.05)) == {}


def test_labelled_segments_of_a_topic_count_beside_what_its_others_say() -> None:
    segments, _ = plant_segments()
    opinion = learn(segments).targets
    before = map_topics(segments.beta, opinion)
    counts = np.zeros((PLANTED_TOPICS, 3))
    counts[0] = 0, 8, 2
    after = map_topics(segments.beta, opinion, labelled=counts)
    assert before[0, 1] < after[0, 1] < 0.8  # towards four in five, and not all the way
    np.testing.assert_allclose(after[1:], before[1:])
    counts[0, 2] = 0  # no label is General: its part is what it was
    without = map_topics(segments.beta, opinion, labelled=counts)
    assert without[0, 2] == pytest.approx(before[0, 2])
    assert without[0, 1] > before[0, 1]


def test_labels_without_general_do_not_tell_how_frequent_aspects_are() -> None:
    segments, _ = plant_segments()
    opinion = learn(segments).targets
    counts = np.zeros((PLANTED_TOPICS, 3))
    counts[:, :2] = np.random.default_rng(0).integers(1, 9, (PLANTED_TOPICS, 2))
    often = counts * np.array([1, 20, 1])  # somebody labelled 20 times as many of the second aspect
    rare, much = (map_topics(segments.beta, opinion, labelled=1e6 * one) for one in (counts, often))
    np.testing.assert_allclose(rare, much, rtol=1e-3)
    assert (much[:, 1] > 1.5 * much[:, 0]).any()
    assert (much[:, 0] > 1.5 * much[:, 1]).any()


def test_a_topic_left_out_says_what_all_segments_say() -> None:
    segments, _ = plant_segments()
    opinion = softmax(np.random.default_rng(0).normal(size=(N_PLANTED, 3)))
    plain, chosen = (map_topics(segments.beta, opinion, some) for some in (None, {1: None}))
    np.testing.assert_allclose(chosen[1], 0.2 * plain[1] + 0.8 * opinion.mean(0))
    np.testing.assert_allclose(np.delete(chosen, 1, 0), np.delete(plain, 1, 0))


@pytest.mark.parametrize("count", [5, 50, 500])
def test_labels_help_more_the_more_there_are(count: int) -> None:
    segments, truth = plant_segments()
    learned = learn(segments, names=("Image", "Sound"))  # the names are the wrong way round
    fixed = learned.with_labels(segments.select(np.arange(count)), np.eye(3)[[truth[:count]]][0])
    rest = segments.select(np.arange(500, N_PLANTED))
    moved = np.abs(fixed.probabilities(rest) - learned.probabilities(rest)).mean()
    right = (fixed.probabilities(rest).argmax(1) == truth[500:]).mean()
    assert 0 < moved < (0.2 if count == 5 else 1)
    assert count < 500 or right > 0.85


def test_the_surest_segments_keep_an_aspect_that_has_no_labels() -> None:
    segments, truth = plant_segments()
    learned = learn(segments)
    labelled = np.flatnonzero(truth != 0)[:300]
    fixed = learned.with_labels(segments.select(labelled), np.eye(3)[truth[labelled]])
    alone = replace(learned, sure=segments.select(np.zeros(0, int)))
    lost = alone.with_labels(segments.select(labelled), np.eye(3)[truth[labelled]])
    found = [(one.probabilities(segments)[truth == 0, 0]).mean() for one in (lost, fixed)]
    assert found[0] < found[1]


def test_an_aspect_that_nothing_speaks_of_is_found() -> None:
    answers = np.zeros((1000, 4))
    answers[:, 3] = 0.5
    answers[:, 0] = 0.4
    answers[:400, 0] = 0.6
    answers[0, 1] = 0.9
    answers[400:500, 2] = 0.55
    evidence = [AspectEvidence("Sound"), AspectEvidence("Handles"), AspectEvidence("Image")]
    assert hardly_answered(answers, ("Sound", "Handles", "Image", GENERAL), evidence) == ["Handles"]
    answers[:, 2] = np.minimum(answers[:, 2], 0.45)
    answers[400:500, 3] = answers[400:500, 0] = 0.1
    assert hardly_answered(answers, ("Sound", "Handles", "Image", GENERAL), evidence) == ["Handles", "Image"]


def test_an_aspect_without_any_probability_leaves_the_others_as_they_are() -> None:
    said, opinion = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]), np.array([[0.5, 0.5, 0.0]] * 4)
    found = divided_by_shares(said, opinion, np.eye(2)[[0, 1, 0, 1]])
    assert np.isfinite(found).all()
    assert found[:, 2].tolist() == [0, 0]
    assert found[0, 0] == pytest.approx(0.7 / 0.5**0.5)


def test_topics_that_all_segments_share_say_nothing() -> None:
    opinion = np.array([[0.6, 0.4], [0.2, 0.8]] * 5)
    same = np.full((10, 3), 1 / 3)
    after = denoise(same, opinion, map_topics(same, opinion), 1.5)
    np.testing.assert_allclose(after, opinion, atol=1e-6)


def test_odd_input_gives_numbers() -> None:
    segments, _ = plant_segments()
    learned = learn_from_names(
        segments, [AspectEvidence("xqz")], GeneralEvidence(None, np.zeros((0, PLANTED_WIDTH)), None)
    )
    assert np.isfinite(learned.targets).all()
    np.testing.assert_allclose(learned.targets.sum(1), 1)
