import numpy as np
import pytest

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.topicmap.by_labels import LabelledSegments, expected_scores, share_out, suggest_by_labels
from aspectra.topicmap.topicmap import Suggestion

ASPECTS = ["Image", "Sound", "Price", GENERAL]


def planted_segments(n: int = 300, seed: int = 0) -> LabelledSegments:
    """Topics 0 to 3 tell the aspects in order, topic 4 says nothing; beta is N×5."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n, p=[0.2, 0.15, 0.05, 0.6])
    logits = rng.normal(size=(n, 5))
    logits[np.arange(n), truth] += 3
    logits[:, 4] += 2
    beta = np.exp(logits)
    beta = (beta / beta.sum(axis=1, keepdims=True)).astype(np.float32)
    return LabelledSegments(beta, [frozenset([ASPECTS[number]]) for number in truth])


def chosen(suggestions: list[Suggestion]) -> list[str | None]:
    return [suggestion.aspect for suggestion in suggestions]


def test_planted_topics_are_found_from_labelled_segments() -> None:
    segments = planted_segments()
    result = suggest_by_labels(segments, ASPECTS)
    assert chosen(result)[:4] == ASPECTS
    assert [suggestion.flag for suggestion in result[:4]] == ["clear", "clear", "clear", "general"]
    assert expected_scores(segments, ASPECTS)["f1_micro"] > 0.8


def test_a_map_of_noise_is_not_praised() -> None:
    segments = planted_segments()
    shuffled = np.random.default_rng(1).permutation(segments.beta)
    assert expected_scores(LabelledSegments(shuffled, segments.gold), ASPECTS)["f1_macro"] < 0.35


def test_without_general_topics_are_mapped_to_the_aspects_alone() -> None:
    segments = planted_segments()
    rows = [row for row, names in enumerate(segments.gold) if GENERAL not in names]
    specific = LabelledSegments(segments.beta[rows], [segments.gold[row] for row in rows])
    result = suggest_by_labels(specific, ASPECTS[:3])
    assert chosen(result)[:3] == ASPECTS[:3]
    assert GENERAL not in chosen(result)


def test_a_segment_without_known_words_counts_as_even_over_the_topics() -> None:
    segments = planted_segments()
    unknown, even = segments.beta.copy(), segments.beta.copy()
    unknown[:20], even[:20] = np.nan, 1 / 5
    first, second = (LabelledSegments(beta, segments.gold) for beta in (unknown, even))
    assert suggest_by_labels(first, ASPECTS) == suggest_by_labels(second, ASPECTS)


def test_the_same_seed_gives_the_same_suggestion_and_leaves_its_input_alone() -> None:
    segments = planted_segments()
    before = segments.beta.copy()
    assert suggest_by_labels(segments, ASPECTS, seed=3) == suggest_by_labels(segments, ASPECTS, seed=3)
    assert expected_scores(segments, ASPECTS, seed=3) == expected_scores(segments, ASPECTS, seed=3)
    np.testing.assert_array_equal(segments.beta, before)


def test_a_row_of_topics_is_needed_for_each_segment() -> None:
    segments = planted_segments()
    with pytest.raises(InputError, match="got 299 rows for 300 segments"):
        suggest_by_labels(LabelledSegments(segments.beta[:-1], segments.gold), ASPECTS)


def test_too_few_labelled_segments_are_refused() -> None:
    with pytest.raises(InputError, match="needs at least 5 labelled segments, got"):
        suggest_by_labels(planted_segments(n=4), ASPECTS)


def test_a_topic_that_fits_no_aspect_alone_is_shared_in_part() -> None:
    beta = np.array([[0.8, 0.2]] * 4 + [[0.2, 0.8]] * 4)
    member = np.array([[1, 0]] * 4 + [[1, 0], [0, 1]] * 2, dtype=bool)
    weights = share_out(beta, member, np.array([0, 2]))
    assert weights[0].tolist() == [1, 0]
    assert weights[1].sum() == pytest.approx(0.5)
    assert (weights[1] > 0).all()
    assert not share_out(beta[:6], member[:6], np.array([0, 2]))[1].any()  # two segments are too few
