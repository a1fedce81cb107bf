from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from aspectra.detector import AspectDetector
from aspectra.sample import Sample
from aspectra.studio.topic_card import (
    SegmentSample,
    boundary,
    draw_sample,
    map_doubt,
    nearest,
    next_question,
    surest,
)


@pytest.fixture(scope="module")
def drawn(detector: AspectDetector) -> SegmentSample:
    return draw_sample(detector, 500)


def test_the_sample_has_no_wording_twice_and_sure_topics(
    drawn: SegmentSample, detector: AspectDetector
) -> None:
    assert len(drawn) > 100
    assert len({" ".join(text.lower().split()) for text in drawn.texts}) == len(drawn)
    np.testing.assert_allclose(drawn.beta, detector.topic_probabilities(drawn.texts), atol=1e-5)


def test_surest_segments_come_first_and_boundary_ones_are_shared() -> None:
    beta = np.array(
        [
            [0.5, 0.49, 0.01],
            [0.98, 0.01, 0.01],
            [0.34, 0.33, 0.33],
            [0.01, 0.01, 0.98],
            [0.8, 0.1, 0.1],
            [0.6, 0.2, 0.2],
        ]
    )
    sample = SegmentSample(["one a", "two b", "three c", "four d", "five e", "six f"], beta)
    assert surest(sample, 0) == [1, 4, 5, 0, 2]
    assert boundary(sample, 0)[:2] == [0, 2]


def test_near_copies_are_shown_only_if_there_is_nothing_else() -> None:
    sample = SegmentSample(
        ["good hot coffee here", "good hot coffee there", "bad milk"],
        np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]),
    )
    assert surest(sample, 0) == [0, 2, 1]


def test_nearest_topics_are_the_most_similar_others() -> None:
    near = nearest(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 1)
    assert [row[0][0] for row in near] == [1, 0, 1]
    assert near[0][0][1] == pytest.approx(0.9939, abs=1e-4)


def test_questions_go_to_the_most_doubtful_of_the_next_few_and_never_repeat() -> None:
    doubt = np.array([0.1, 0.9, 0.2, 0.3, 0.4, 0.0, 0.2, 0.1, 0.5, 0.3, 0.7])
    asked: list[int] = []
    while (row := next_question(doubt, asked)) is not None:
        asked.append(row)
    assert asked[:3] == [1, 8, 10]
    assert asked[3:] == [4, 3, 9, 2, 6, 0, 7, 5]  # then whatever is left
    assert next_question(doubt, [0, 5]) == 10  # few that hold one of another kind are passed over


def test_a_map_doubts_where_aspects_are_even_or_topics_are_unmapped() -> None:
    beta = np.array([[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.1, 0.0, 0.9]])
    doubt = map_doubt(beta, np.eye(3)[:, :2])
    assert doubt[0] < doubt[1]
    assert doubt[2] == pytest.approx(0.9, abs=0.01)


def test_a_corpus_of_junk_only_still_gives_a_sample(detector: AspectDetector, sample: Sample) -> None:
    corpus = detector.corpus_
    junk = replace(corpus, segments=corpus.segments.with_columns(junk=True))
    settings = {"min_tokens": detector.min_tokens, "max_tokens": detector.max_tokens}
    parts = {"corpus_": junk, "teacher_": detector.teacher_, **settings}
    assert len(draw_sample(SimpleNamespace(**parts), 50)) > 0  # type: ignore[arg-type]
