"""Suggestions from names alone, and what is said of names that cannot be used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aspectra.aspects.aspects import Aspect
from aspectra.aspects.names_sample import (
    NamesSample,
)
from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.encoder.pretrained import load_encoder
from aspectra.errors import InputError
from aspectra.sample import ASPECTS, Sample
from aspectra.topicmap.by_names import (
    Suggested,
    is_clear,
    names_alone,
    suggest_by_names,
    suggest_topic,
    topic_shares,
)


@pytest.fixture(scope="module")
def words(detector: AspectDetector) -> NamesSample:
    return detector.fitted_.names_sample()


def named(*names: str) -> list[Aspect]:
    return [Aspect(name) for name in names]


@pytest.fixture(scope="module")
def found(detector: AspectDetector, words: NamesSample) -> Suggested:
    return suggest_by_names(detector.topics_, named(*ASPECTS), words)


def test_every_topic_gets_an_aspect_or_general_with_a_reason(found: Suggested) -> None:
    assert {one.aspect for one in found.suggestions} <= {*ASPECTS, GENERAL}
    for one in found.suggestions:
        assert one.why.startswith(f"{one.aspect}: ")
        assert "% of its segments" in one.why
        assert one.aspect == GENERAL or "; nearest words " in one.why
    assert sum(found.shares.values()) == pytest.approx(1)


def test_a_topic_that_a_person_gave_brings_an_unspoken_aspect_back(
    detector: AspectDetector, words: NamesSample
) -> None:
    aspects = named("Taste", "Xqzt")
    assert any(
        "Nothing speaks of Xqzt" in note for note in suggest_by_names(detector.topics_, aspects, words).notes
    )
    found = suggest_by_names(detector.topics_, aspects, words, {3: "Xqzt"})
    assert not any("Nothing speaks of Xqzt" in note for note in found.notes)
    assert "Xqzt" in found.shares


def test_the_nearest_words_are_keywords_of_the_topic(detector: AspectDetector, found: Suggested) -> None:
    for one, item in zip(found.suggestions, detector.topics_.items, strict=True):
        _, _, near = one.why.partition("; nearest words ")
        assert {word for word in near.split(", ") if word} <= set(item.keywords)


def test_shared_topics_have_weights_that_sum_to_one(found: Suggested) -> None:
    shared = [one for one in found.suggestions if one.shares]
    assert shared
    for one in shared:
        assert one.shares[0][0] == one.aspect
        assert sum(weight for _, weight in one.shares) == pytest.approx(1, abs=0.01)


def test_clear_is_what_most_segments_say_and_the_names_alone_too() -> None:
    assert is_clear(np.array([0.7, 0.1, 0.2]), np.array([0.5, 0.2, 0.3]), 0)
    assert not is_clear(np.array([0.7, 0.1, 0.2]), np.array([0.4, 0.2, 0.4]), 0)  # the names alone do not
    assert not is_clear(np.array([0.55, 0.1, 0.35]), np.array([0.9, 0.1, 0.0]), 0)  # too few of its segments
    assert not is_clear(np.array([0.62, 0.0, 0.38]), np.array([0.9, 0.1, 0.0]), 0)  # another is too near
    assert not is_clear(np.array([0.1, 0.1, 0.8]), np.array([0.1, 0.1, 0.8]), 0)  # most say another


def test_the_names_alone_do_not_know_what_a_person_said(words: NamesSample) -> None:
    plain, told = (words.evidence(Aspect("Taste", words=given)) for given in ((), ("grinder", "noise")))
    assert told.by_name is not None
    (alone,), (expected,) = names_alone([told]), names_alone([plain])
    assert (alone.examples, alone.has_word, alone.by_name) == (None, None, None)
    assert np.array_equal(np.asarray(alone.words), np.asarray(expected.words))


def test_a_topic_of_general_is_not_called_clear() -> None:
    shares, weights = np.array([0.1, 0.9]), np.array([0.0, 1.0])
    one = suggest_topic(3, ["Taste", GENERAL], shares, weights, lambda topic, aspect: [], True)
    assert (one.aspect, one.flag, one.shares) == (GENERAL, "general", ())


def test_a_topics_share_counts_the_segments_it_is_most_probable_for(words: NamesSample) -> None:
    answer = np.zeros((len(words.texts), 2))
    answer[:, 1] = 1
    mine = words.topic == words.topic[0]
    answer[mine] = [1, 0]
    shares = topic_shares(words, answer)
    assert shares[words.topic[0], 0] > 0.9
    assert np.allclose(shares.sum(1), 1)


def test_what_a_person_chose_is_respected(detector: AspectDetector, words: NamesSample) -> None:
    before = suggest_by_names(detector.topics_, named("Taste", "Noise"), words)
    topic = next(one.topic for one in before.suggestions if one.aspect == GENERAL)
    after = suggest_by_names(detector.topics_, named("Taste", "Noise"), words, {topic: "Noise"})
    assert dict(after.suggestions[topic].shares).get("Noise", 1) > dict(before.suggestions[topic].shares).get(
        "Noise", 0
    )
    left_out = suggest_by_names(detector.topics_, named("Taste", "Noise"), words, {topic: None})
    assert len(left_out.suggestions) == 16


def test_names_with_an_encoder_give_suggestions_too(
    detector: AspectDetector, encoder_folder: Path, sample: Sample
) -> None:
    encoder = load_encoder(str(encoder_folder))
    found = suggest_by_names(
        detector.topics_, named("Taste", "Noise"), detector.fitted_.names_sample(encoder)
    )
    assert len(found.suggestions) == 16


# Names that cannot be used, or hardly


def test_where_one_topic_has_most_segments_mapping_topics_is_not_advised(
    detector: AspectDetector, words: NamesSample
) -> None:
    items = tuple(replace(item, share=float(item.id == 3)) for item in detector.topics_.items)
    notes = suggest_by_names(replace(detector.topics_, items=items), named("Taste", "Noise"), words).notes
    assert any("Too few reviews for topics: one of them has 100% of the segments" in note for note in notes)
    assert not any("Give it a topic on the page" in note for note in notes)


def test_a_name_that_nobody_knows_is_said_and_left_out(detector: AspectDetector, words: NamesSample) -> None:
    found = suggest_by_names(detector.topics_, named("Taste", "xqz"), words)
    assert (
        "Nothing speaks of xqz: no word of it occurs in the reviews. Add words or examples" in found.notes[0]
    )
    assert "xqz" not in {one.aspect for one in found.suggestions}
    with pytest.raises(InputError, match="Nothing speaks of xqz"):
        suggest_by_names(detector.topics_, named("xqz"), words)


def test_two_aspects_that_mean_the_same_are_named(detector: AspectDetector, words: NamesSample) -> None:
    twins = [
        Aspect("Price", words=("expensive",)),
        Aspect("Cost", words=("price", "expensive")),
        Aspect("Taste"),
    ]
    notes = suggest_by_names(detector.topics_, twins, words).notes
    assert any("Price and Cost mean nearly the same" in note for note in notes)
    assert not any("Taste" in note for note in notes)


def test_one_aspect_is_enough(detector: AspectDetector, words: NamesSample) -> None:
    found = suggest_by_names(detector.topics_, named("Taste"), words)
    assert {one.aspect for one in found.suggestions} == {"Taste", GENERAL}
    assert "Taste is the only aspect" in found.notes[0]


def test_sixty_aspects_work_and_the_user_learns_that_topics_are_few(
    detector: AspectDetector, words: NamesSample
) -> None:
    names = [word.title() for word in detector.vocabulary_.words if word.isalpha()][:60]
    found = suggest_by_names(detector.topics_, named(*names), words)
    assert any("60 aspects but only 16 topics" in note and "--n-topics 180" in note for note in found.notes)
    assert any("No topic speaks mainly of" in note for note in found.notes)
