"""One function suggests, whoever asks; what it is given decides how."""

import numpy as np
import pytest
from test_by_labels import planted_segments
from test_by_words import GROUPS, planted_vectors, topics_of

from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.topicmap.by_labels import LabelledSegments, suggest_by_labels
from aspectra.topicmap.by_words import suggest_by_words
from aspectra.topicmap.suggest import propose_aspects, suggest

TOPICS = topics_of([*GROUPS.values(), ["picture", "loud"]])
VECTORS = planted_vectors()
ASPECTS = ["Image", "Sound", "Price", GENERAL]


def test_words_are_used_without_labels_and_labels_before_words() -> None:
    segments = planted_segments()
    assert suggest(TOPICS, VECTORS, ASPECTS) == suggest_by_words(TOPICS, VECTORS, ASPECTS)
    assert suggest(TOPICS, VECTORS, ASPECTS, None, segments) == suggest_by_labels(segments, ASPECTS)


def test_what_cannot_be_used_is_refused_unless_told_to_skip_it() -> None:
    with pytest.raises(InputError, match="No word for Smell"):
        suggest(TOPICS, VECTORS, ["Image", "Smell"])
    skipped = suggest(TOPICS, VECTORS, ["Image", "Smell"], {"Other": ["loud"]}, strict=False)
    assert skipped == suggest_by_words(TOPICS, VECTORS, ["Image"])


def test_labels_of_other_aspects_are_refused_unless_told_to_skip_them() -> None:
    segments = planted_segments()
    with pytest.raises(InputError, match="Gold aspect"):
        suggest(TOPICS, VECTORS, ["Image", "Sound"], None, segments)
    rows = [row for row, names in enumerate(segments.gold) if "Price" not in names]
    kept = LabelledSegments(segments.beta[rows], [segments.gold[row] for row in rows])
    found = suggest(TOPICS, VECTORS, ["Image", "Sound"], None, segments, strict=False)
    assert found == suggest_by_labels(kept, sorted(["Image", "Sound", GENERAL]))


def test_too_few_labels_fall_back_to_words_and_nothing_to_go_by_suggests_nothing() -> None:
    few = planted_segments(n=4)
    found = suggest(TOPICS, VECTORS, ["Image"], None, few, strict=False)
    assert found == suggest_by_words(TOPICS, VECTORS, ["Image"])
    nothing = suggest(TOPICS, VECTORS, ["Smell"], None, few, strict=False)
    assert [(one.aspect, one.why) for one in nothing] == [(None, "")] * 5


def test_groups_of_topics_get_different_names(detector: AspectDetector) -> None:
    items = detector.topics_.items
    matrix = detector.teacher_.topics.detach().numpy()
    groups = propose_aspects(detector.topics_, matrix, detector.vocabulary_, detector.vectors_)
    assert 3 <= len(groups) <= 9
    assert sorted(topic for _, topics in groups for topic in topics) == list(range(len(items)))
    for name, topics in groups:
        assert name.lower() in {word for topic in topics for word in items[topic].keywords}
    shares = [sum(items[topic].share for topic in topics) for _, topics in groups]
    np.testing.assert_array_equal(shares, sorted(shares, reverse=True))
