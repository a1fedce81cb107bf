"""One function suggests, whoever asks; what it is given decides how."""

import numpy as np
import pytest
from test_by_labels import planted_segments

from aspectra.aspects.aspects import Aspect
from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.topicmap.by_labels import LabelledSegments, suggest_by_labels
from aspectra.topicmap.by_names import suggest_by_names
from aspectra.topicmap.suggest import propose_aspects, suggest
from aspectra.topics import Topic, Topics

TOPICS = Topics(tuple(Topic(number, ("word",), (1.0,), 0.1, 1.0, ()) for number in range(5)), 1.0, "print")
NAMES = ["Image", "Sound", "Price", GENERAL]
ASPECTS = [Aspect(name) for name in NAMES]


def test_labels_are_used_before_names(detector: AspectDetector) -> None:
    segments, sample = planted_segments(), detector.fitted_.names_sample()
    assert suggest(TOPICS, ASPECTS, None, segments).suggestions == suggest_by_labels(segments, NAMES)
    wanted = [Aspect("Taste"), Aspect("Noise")]
    by_names = suggest_by_names(detector.topics_, wanted, sample)
    assert suggest(detector.topics_, wanted, sample).suggestions == by_names.suggestions


def test_labels_of_other_aspects_are_refused_unless_told_to_skip_them() -> None:
    segments = planted_segments()
    with pytest.raises(InputError, match="Gold aspect"):
        suggest(TOPICS, ASPECTS[:2], None, segments)
    rows = [row for row, names in enumerate(segments.gold) if "Price" not in names]
    kept = LabelledSegments(segments.beta[rows], [segments.gold[row] for row in rows])
    found = suggest(TOPICS, ASPECTS[:2], None, segments, strict=False)
    assert found.suggestions == suggest_by_labels(kept, sorted(["Image", "Sound", GENERAL]))


def test_too_few_labels_and_nothing_to_go_by_suggest_nothing() -> None:
    nothing = suggest(TOPICS, ASPECTS, None, planted_segments(n=4), strict=False).suggestions
    assert [(one.aspect, one.why) for one in nothing] == [(None, "")] * 5


def test_groups_of_topics_get_different_names(detector: AspectDetector) -> None:
    items = detector.topics_.items
    matrix = detector.teacher_.topics
    groups = propose_aspects(detector.topics_, matrix, detector.vocabulary_, detector.vectors_)
    assert 3 <= len(groups) <= 9
    assert sorted(topic for _, topics in groups for topic in topics) == list(range(len(items)))
    for name, topics in groups:
        assert name.lower() in {word for topic in topics for word in items[topic].keywords}
    shares = [sum(items[topic].share for topic in topics) for _, topics in groups]
    np.testing.assert_array_equal(shares, sorted(shares, reverse=True))
