"""Learning from names, on planted segments."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aspectra.config import GENERAL
from aspectra.topicmap.first_opinion import AspectEvidence, GeneralEvidence, first_opinion, specific_share
from aspectra.topicmap.gaussians import (
    SHRINKAGE,
    SUREST,
    CorrectionData,
    Features,
    Space,
    fit_gaussians,
    learn_correction,
    softmax,
    surest,
)
from aspectra.topicmap.names import (
    Learned,
    against_shares,
    denoise,
    learn_from_names,
    map_topics,
    own_topics,
    unspoken,
)
from aspectra.topicmap.sentences import find_products

SIZE, N, N_TOPICS = 12, 1500, 8
DIRECTIONS = np.eye(SIZE)


def plant(seed: int = 0, encoder: bool = True) -> tuple[Features, np.ndarray]:
    """Draw segments of Sound, Image and General: each near its direction, with two topics of its own."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, N, p=[0.2, 0.2, 0.6])
    near = DIRECTIONS[truth] + 0.35 * random.normal(size=(N, SIZE))
    beta = random.dirichlet(np.full(N_TOPICS, 0.3), N)
    beta[np.arange(N), 2 * truth + random.integers(0, 2, N)] += 1
    beta /= beta.sum(1, keepdims=True)
    other = DIRECTIONS[truth][:, None] + 0.5 * random.normal(size=(N, 2, SIZE))
    return Features(near, beta, other if encoder else None), truth


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
    segments, truth = plant(encoder=encoder)
    learned = learn(segments)
    assert learned.aspects == ("Sound", "Image", GENERAL)
    answers = learned.probabilities(segments).argmax(1)
    assert (answers == truth).mean() > 0.85  # General alone is right for 0.6
    np.testing.assert_allclose(learned.probabilities(segments), learned.targets)
    assert learned.shares == pytest.approx(dict(zip(learned.aspects, np.bincount(answers) / N, strict=True)))


def test_sentences_about_aspects_tell_apart_what_their_names_do_not() -> None:
    segments, truth = plant()
    general = GeneralEvidence(DIRECTIONS[[2]], DIRECTIONS[[2]], DIRECTIONS[[9]])
    right = []
    for told in (None, False, True):
        evidence = [
            AspectEvidence(
                name, DIRECTIONS[[0, 1]], DIRECTIONS[[0, 1]], None if told is None else DIRECTIONS[[place]]
            )
            for place, name in enumerate(("Sound", "Image"))
        ]
        evidence = [replace(one, told=bool(told)) for one in evidence]
        answers = first_opinion(segments, evidence, general)[:, :-1].argmax(1)
        right.append((answers == truth)[truth < 2].mean())
    assert right[0] < 0.7 < 0.8 < right[2] <= right[1]


def test_a_segment_with_a_given_word_speaks_more_of_its_aspect() -> None:
    segments, _ = plant()
    general = GeneralEvidence(DIRECTIONS[[2]], DIRECTIONS[[2]], DIRECTIONS[[9]])
    sound, image = (
        AspectEvidence(name, DIRECTIONS[[place]]) for place, name in enumerate(("Sound", "Image"))
    )
    before = first_opinion(segments, [sound, image], general)
    half = replace(sound, has_word=(np.arange(N) % 2).astype(float))
    after = first_opinion(segments, [half, image], general)
    assert (after[1::2, 0] > before[1::2, 0]).all()
    np.testing.assert_array_equal(after[::2], before[::2])


def test_topics_speak_of_what_their_segments_speak_of() -> None:
    learned = learn(plant()[0])
    assert learned.topic_map.argmax(1)[:6].tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(learned.topic_map.sum(1), 1)


def test_a_persons_choice_moves_the_segments_of_the_topic() -> None:
    segments, _ = plant()
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
    segments, _ = plant()
    opinion = learn(segments).targets
    before = map_topics(segments.beta, opinion)
    counts = np.zeros((N_TOPICS, 3))
    counts[0] = 0, 8, 2
    after = map_topics(segments.beta, opinion, labelled=counts)
    assert before[0, 1] < after[0, 1] < 0.8  # towards four in five, and not all the way
    np.testing.assert_allclose(after[1:], before[1:])
    counts[0, 2] = 0  # no label is General: its part is what it was
    without = map_topics(segments.beta, opinion, labelled=counts)
    assert without[0, 2] == pytest.approx(before[0, 2])
    assert without[0, 1] > before[0, 1]


def test_labels_without_general_do_not_tell_how_frequent_aspects_are() -> None:
    segments, _ = plant()
    opinion = learn(segments).targets
    counts = np.zeros((N_TOPICS, 3))
    counts[:, :2] = np.random.default_rng(0).integers(1, 9, (N_TOPICS, 2))
    often = counts * np.array([1, 20, 1])  # somebody labelled 20 times as many of the second aspect
    rare, much = (map_topics(segments.beta, opinion, labelled=1e6 * one) for one in (counts, often))
    np.testing.assert_allclose(rare, much, rtol=1e-3)
    assert (much[:, 1] > 1.5 * much[:, 0]).any()
    assert (much[:, 0] > 1.5 * much[:, 1]).any()


def test_a_topic_left_out_says_what_all_segments_say() -> None:
    segments, _ = plant()
    opinion = softmax(np.random.default_rng(0).normal(size=(N, 3)))
    plain, chosen = (map_topics(segments.beta, opinion, some) for some in (None, {1: None}))
    np.testing.assert_allclose(chosen[1], 0.2 * plain[1] + 0.8 * opinion.mean(0))
    np.testing.assert_allclose(np.delete(chosen, 1, 0), np.delete(plain, 1, 0))


@pytest.mark.parametrize("count", [5, 50, 500])
def test_labels_help_more_the_more_there_are(count: int) -> None:
    segments, truth = plant()
    learned = learn(segments, names=("Image", "Sound"))  # the names are the wrong way round
    fixed = learned.with_labels(segments.select(np.arange(count)), np.eye(3)[[truth[:count]]][0])
    rest = segments.select(np.arange(500, N))
    moved = np.abs(fixed.probabilities(rest) - learned.probabilities(rest)).mean()
    right = (fixed.probabilities(rest).argmax(1) == truth[500:]).mean()
    assert 0 < moved < (0.2 if count == 5 else 1)
    assert count < 500 or right > 0.85


def test_a_few_labels_of_doubtful_segments_do_not_turn_clear_answers_round() -> None:
    doubtful = np.tile([0.5, 0.4, 0.1], (12, 1))
    labels = np.eye(3)[[2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 2]]
    correction = learn_correction(CorrectionData.of(doubtful, np.zeros((12, 4)), labels))
    clear = np.array([[0.98, 0.015, 0.005], [0.015, 0.98, 0.005]])
    assert list(correction(clear, np.zeros((2, 4))).argmax(1)) == [0, 1]


def test_a_lesson_of_half_the_weight_counts_as_half_as_many() -> None:
    draws = np.random.default_rng(0)
    answers, places = softmax(draws.normal(size=(20, 3))), draws.normal(size=(20, 4))
    labels = np.eye(3)[draws.integers(0, 3, 20)]
    once = CorrectionData.of(answers, places, labels)
    halves = CorrectionData.of(answers, places, labels, 0.5)
    both = [learn_correction(one)(answers, places) for one in (once, halves.and_then(halves))]
    np.testing.assert_allclose(*both, atol=1e-4)


def test_what_is_added_beside_is_left_out_of_the_correction() -> None:
    answers, places = np.full((60, 3), 1 / 3), np.zeros((60, 2))
    labels, beside = np.eye(3)[np.arange(60) % 2], np.tile([5.0, 5.0, 0.0], (60, 1))
    plain, told = (
        learn_correction(CorrectionData.of(answers, places, labels, 1.0, one)) for one in (None, beside)
    )
    assert np.ptp(plain.linear.bias) > 1
    assert np.ptp(told.linear.bias) < 0.1


def test_the_surest_segments_keep_an_aspect_that_has_no_labels() -> None:
    segments, truth = plant()
    learned = learn(segments)
    labelled = np.flatnonzero(truth != 0)[:300]
    fixed = learned.with_labels(segments.select(labelled), np.eye(3)[truth[labelled]])
    alone = replace(learned, sure=segments.select(np.zeros(0, int)))
    lost = alone.with_labels(segments.select(labelled), np.eye(3)[truth[labelled]])
    found = [(one.probabilities(segments)[truth == 0, 0]).mean() for one in (lost, fixed)]
    assert found[0] < found[1]


def test_surest_are_few_of_each_aspect_and_answer_it() -> None:
    answers = softmax(3 * np.random.default_rng(0).normal(size=(400, 4)))
    best = answers.argmax(1)[surest(answers)]
    assert np.bincount(best, minlength=4).tolist() == [SUREST, SUREST, SUREST, 0]


def test_a_model_unfolds_to_the_features() -> None:
    segments, truth = plant()
    space = Space.of(segments)
    places = space(segments)
    model = fit_gaussians(places, np.eye(3)[truth])
    flat = space.unfold(model)
    states = normalised(normalised(segments.encoder) - space.origin) / np.sqrt(2)
    direct = np.hstack([states.reshape(N, -1), segments.words, np.sqrt(segments.beta)])
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


@pytest.mark.parametrize(("n", "held"), [(60, 10 / 70), (4000, SHRINKAGE)])
def test_the_fewer_segments_the_more_firmly_a_model_is_held(n: int, held: float) -> None:
    random = np.random.default_rng(0)
    truth, places = random.integers(0, 2, n), random.normal(size=(n, 10))
    means = np.stack([places[truth == one].mean(0) for one in (0, 1)])
    covariance = np.cov((places - means[truth]).T, bias=True)
    expected = (1 - held) * covariance + held * np.trace(covariance) / 10 * np.eye(10)
    found = fit_gaussians(places, np.eye(2)[truth])
    np.testing.assert_allclose(expected @ found.weights, means.T, atol=1e-6)


def test_an_aspect_that_nothing_speaks_of_is_found() -> None:
    answers = np.zeros((1000, 4))
    answers[:, 3] = 0.5
    answers[:, 0] = 0.4
    answers[:400, 0] = 0.6
    answers[0, 1] = 0.9
    answers[400:500, 2] = 0.55
    evidence = [AspectEvidence("Sound"), AspectEvidence("Handles"), AspectEvidence("Image")]
    assert unspoken(answers, ("Sound", "Handles", "Image", GENERAL), evidence) == ["Handles"]
    answers[:, 2] = np.minimum(answers[:, 2], 0.45)
    answers[400:500, 3] = answers[400:500, 0] = 0.1
    assert unspoken(answers, ("Sound", "Handles", "Image", GENERAL), evidence) == ["Handles", "Image"]


def test_an_aspect_without_any_probability_leaves_the_others_as_they_are() -> None:
    said, opinion = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]), np.array([[0.5, 0.5, 0.0]] * 4)
    found = against_shares(said, opinion, np.eye(2)[[0, 1, 0, 1]])
    assert np.isfinite(found).all()
    assert found[:, 2].tolist() == [0, 0]
    assert found[0, 0] == pytest.approx(0.7 / 0.5**0.5)


def test_topics_that_all_segments_share_say_nothing() -> None:
    opinion = np.array([[0.6, 0.4], [0.2, 0.8]] * 5)
    same = np.full((10, 3), 1 / 3)
    after = denoise(same, opinion, map_topics(same, opinion), 1.5)
    np.testing.assert_allclose(after, opinion, atol=1e-6)


def test_odd_input_gives_numbers() -> None:
    segments, _ = plant()
    learned = learn_from_names(
        segments, [AspectEvidence("xqz")], GeneralEvidence(None, np.zeros((0, SIZE)), None)
    )
    assert np.isfinite(learned.targets).all()
    np.testing.assert_allclose(learned.targets.sum(1), 1)


def test_a_word_must_follow_my_often_to_be_the_product() -> None:
    texts = ["I love my teacher."] * 4 + ["This course is fine."] * 5
    assert find_products(texts, ["Lessons"], ()) == ["course"]


def test_the_share_of_general_follows_how_many_segments_mention_an_aspect() -> None:
    rows = np.arange(1000)
    few, many = (AspectEvidence("Price", mentioned=rows < n) for n in (50, 500))
    assert specific_share([few]) == pytest.approx(0.05 + 1.3 * 0.05)
    assert specific_share([few, many]) == pytest.approx(0.05 + 1.3 * 0.5)
    assert specific_share([AspectEvidence("Sound", mentioned=rows < 0)]) == 0.1
    assert specific_share([AspectEvidence("Sound")]) == 0.4
