import numpy as np
import polars as pl
import pytest
from conftest import make_map

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import MapError
from aspectra.topicmap.gamma import (
    entropy,
    label_beta,
    margin,
    mark_not_reviews,
    not_review_note,
)

SHARES = np.array([0.1, 0.2, 0.3, 0.4])
BETA = np.array([[0.3, 0.3, 0.4, 0.0], [0.1, 0.1, 0.2, 0.6], [np.nan] * 4], dtype=np.float32)
KNOWN = np.array([5, 2, 0])


def label(*aspects: str | None, only: tuple[str, ...] | None = None, beta: np.ndarray = BETA) -> pl.DataFrame:
    return label_beta(beta, KNOWN, make_map(*aspects), SHARES, only)


def test_the_label_is_the_aspect_with_the_largest_sum_not_the_single_best_topic() -> None:
    frame = label("Image", "Image", "Sound", GENERAL)
    assert frame["topic"][0] == 2
    assert frame["aspect"].to_list() == ["Image", GENERAL, GENERAL]
    assert frame["probability"].to_list()[:2] == pytest.approx([0.6, 0.6])


def test_mass_on_unmapped_topics_is_reported_and_does_not_look_like_certainty() -> None:
    frame = label("Image", "Sound", None, None)
    assert frame["unmapped"].to_list() == pytest.approx([0.4, 0.8, 1.0])
    assert frame["probability"].to_list()[:2] == pytest.approx([0.5, 0.5])
    assert frame["entropy"].to_list()[:2] == pytest.approx([np.log(2)] * 2)
    assert frame["margin"].to_list()[:2] == pytest.approx([0, 0], abs=1e-6)


def test_a_segment_without_known_words_is_general_and_flagged() -> None:
    row = label("Image", "Sound", "Sound", GENERAL).row(2, named=True)
    assert (row["aspect"], row["probability"], row["known_words"], row["topic"]) == (GENERAL, 1.0, 0, None)


def test_without_general_a_segment_without_known_words_gets_the_prior() -> None:
    row = label("Image", "Sound", "Sound", None).row(2, named=True)
    assert (row["aspect"], row["known_words"], row["unmapped"]) == ("Sound", 0, 1.0)
    assert (row["p_Image"], row["p_Sound"]) == (pytest.approx(1 / 6), pytest.approx(5 / 6))


def test_a_segment_all_of_unmapped_topics_gets_the_prior_too() -> None:
    row = label("Image", "Sound", "Sound", None, beta=np.eye(4, dtype=np.float32)[[3, 3, 3]]).row(
        0, named=True
    )
    assert (row["aspect"], row["unmapped"], row["topic"]) == ("Sound", 1.0, 3)
    assert row["p_Image"] + row["p_Sound"] == pytest.approx(1)


def test_probabilities_stand_in_the_order_of_the_aspects_and_sum_to_one() -> None:
    frame = label("Sound", None, GENERAL, "Image")
    names = [name for name in frame.columns if name.startswith("p_")]
    assert names == ["p_Image", "p_Sound", "p_General"]
    assert frame.select(pl.sum_horizontal(names)).to_series().to_list() == pytest.approx([1, 1, 1])
    assert not frame.drop("topic").to_pandas().isna().any(axis=None)


def test_only_restricts_the_answers() -> None:
    frame = label("Image", "Image", GENERAL, "Sound", only=("Sound", "Image"))
    assert frame["aspect"].to_list() == ["Image", "Sound", "Sound"]
    assert [name for name in frame.columns if name.startswith("p_")] == ["p_Sound", "p_Image"]
    assert frame["unmapped"].to_list()[:2] == pytest.approx([0.4, 0.2], abs=1e-6)


def test_no_segments_give_an_empty_frame_with_the_same_columns() -> None:
    empty = label_beta(BETA[:0], KNOWN[:0], make_map("Image", "Sound", None, None), SHARES)
    assert len(empty) == 0
    assert empty.schema == label("Image", "Sound", None, None).schema


def test_beta_is_not_mutated() -> None:
    beta = BETA.copy()
    label("Image", "Sound", None, GENERAL, beta=beta)
    np.testing.assert_array_equal(beta, BETA)


def test_a_single_aspect_is_certain() -> None:
    frame = label("Image", None, None, "Image", only=("Image",))
    assert frame["probability"].to_list() == frame["margin"].to_list() == [1, 1, 1]
    assert frame["entropy"].to_list() == [0, 0, 0]


def test_entropy_lies_between_certainty_and_no_idea() -> None:
    gamma = np.array([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])
    assert entropy(gamma).tolist() == pytest.approx([0, np.log(3), np.log(2)])
    assert margin(gamma).tolist() == pytest.approx([1, 0, 0])


@pytest.mark.parametrize(
    ("aspects", "only", "message"),
    [
        (
            (None, None, None, None),
            None,
            "No topic is mapped to an aspect. Map the topics first: aspectra map RUN --aspects",
        ),
        (
            ("Image", None, None, None),
            ("Smell", "Sound"),
            "The topic map has no aspect Smell; it has Image, Sound.",
        ),
        (
            ("Image", None, None, None),
            ("Sound",),
            "No topic is mapped to Sound. Map one first: aspectra map RUN",
        ),
    ],
)
def test_a_map_that_cannot_answer_is_refused(aspects: tuple, only: tuple | None, message: str) -> None:
    with pytest.raises(MapError, match=message):
        label(*aspects, only=only)


def mark(*aspects: str, code: tuple[bool, ...] = (False, False, False)) -> pl.DataFrame:
    topic_map = make_map(*aspects, names=("Image", "Sound", GENERAL))
    return mark_not_reviews(label_beta(BETA, KNOWN, topic_map, SHARES), BETA, topic_map, np.array(code))


def test_segments_of_topics_that_are_not_reviews_are_marked_where_no_aspect_has_more() -> None:
    frame = mark("Image", "Image", "Sound", NOT_REVIEW)
    assert frame["aspect"].to_list() == ["Image", NOT_REVIEW, GENERAL]
    assert frame["probability"][1] == pytest.approx(0.6)
    few = mark("Image", "Image", NOT_REVIEW, GENERAL)
    assert few["aspect"].to_list() == ["Image", GENERAL, GENERAL]


def test_pasted_code_is_no_review_and_keeps_the_probabilities_of_the_aspects() -> None:
    aspects = ("Image", "Image", "Sound", GENERAL)
    frame, plain = mark(*aspects, code=(True, False, True)), mark(*aspects)
    assert frame["aspect"].to_list() == [NOT_REVIEW, GENERAL, NOT_REVIEW]
    assert frame["probability"].to_list()[::2] == [1, 1]
    names = ["p_Image", "p_Sound", "p_General"]
    assert frame.select(names).equals(plain.select(names))
    assert frame.schema == plain.schema


def test_what_is_left_out_is_said_in_one_line() -> None:
    assert not_review_note(0) == ()
    assert not_review_note(37) == ("37 segments are not reviews and are left out of the shares.",)
    assert not_review_note(1) == ("1 segment is not a review and is left out of the shares.",)
