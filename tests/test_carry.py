from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from conftest import SMALL

from aspectra.detector import AspectDetector
from aspectra.errors import RunError
from aspectra.sample import Sample
from aspectra.scores import Gold
from aspectra.studio.opening import run_topics
from aspectra.topicmap.carry import SURE, carry_over, confidence, keyword_lists, match_topics, similarity
from aspectra.topicmap.topicmap import Suggestion, TopicMap


def by_gold(detector: AspectDetector, gold: Gold) -> AspectDetector:
    """Map each topic to the aspect that most of its gold segments have, as a person would."""
    mapping: dict[str, list[int]] = {}
    top = np.nan_to_num(detector.topic_probabilities(list(gold.texts))).argmax(1)
    for topic in range(len(detector.topics_.items)):
        aspects = Counter(min(names) for names, mine in zip(gold.aspects, top == topic, strict=True) if mine)
        mapping.setdefault(aspects.most_common(1)[0][0] if aspects else "General", []).append(topic)
    return copy(detector).map_topics(mapping, by="Ada")


def carried_over(
    old: AspectDetector, new: AspectDetector, texts: Sequence[str]
) -> tuple[TopicMap, list[Suggestion]]:
    return carry_over(old.topic_map_, run_topics(old, texts), run_topics(new, texts))


@pytest.fixture(scope="module")
def mapped(detector: AspectDetector, gold: Gold) -> AspectDetector:
    return by_gold(detector, gold)


@pytest.fixture(scope="module")
def retrained(sample: Sample) -> AspectDetector:
    return AspectDetector(**{**SMALL, "seed": 7, "n_topics": 20}).fit(sample.reviews["text"][50:])


def test_sure_choices_are_those_that_a_person_would_make_again(
    mapped: AspectDetector, retrained: AspectDetector, gold: Gold
) -> None:
    carried, advice = carried_over(mapped, retrained, gold.texts)
    again = by_gold(retrained, gold).topic_map_.choices
    sure = [
        choice.aspect == again[choice.topic].aspect
        for choice, one in zip(carried.choices, advice, strict=True)
        if one.confidence >= SURE
    ]
    assert len(sure) >= 8
    assert np.mean(sure) >= 0.8


def test_the_same_topics_carry_over_unchanged(mapped: AspectDetector) -> None:
    carried, advice = carried_over(mapped, mapped, ["coffee"])
    assert [choice.aspect for choice in carried.choices] == [
        choice.aspect for choice in mapped.topic_map_.choices
    ]
    assert {choice.by for choice in carried.choices} == {"Ada"}
    assert min(one.confidence for one in advice) == 1


def test_only_sure_choices_of_a_person_stay_decided(
    mapped: AspectDetector, retrained: AspectDetector, gold: Gold
) -> None:
    carried, advice = carried_over(mapped, retrained, gold.texts)
    for choice, one in zip(carried.choices, advice, strict=True):
        assert (choice.by == "Ada") == (one.confidence >= SURE)
        assert choice.aspect == one.aspect
        assert one.flag == ("clear" if choice.by == "Ada" else "ambiguous")
    assert 0 < sum(choice.by == "Ada" for choice in carried.choices) < 20


def test_keywords_of_an_old_run_are_compared_with_the_same_kind_of_a_new_one(mapped: AspectDetector) -> None:
    new = mapped.topics_
    old = replace(new, items=tuple(replace(item, keywords=item.paper_keywords) for item in new.items))
    for first, second in (keyword_lists(old, new), keyword_lists(new, old)):
        assert first == second == [item.paper_keywords for item in new.items]
    assert keyword_lists(new, new)[0] == [item.keywords for item in new.items]


def test_matching_undoes_a_shuffle_of_topics() -> None:
    order = np.array([2, 0, 3, 1])
    matches = match_topics(np.eye(4)[:, order], ["a", "b", "c", "d"])
    assert [match.old for match in matches] == order.tolist()


def test_a_topic_left_over_takes_its_most_similar_old_one() -> None:
    alike = np.array([[0.9, 0.1, 0.8], [0.1, 0.9, 0.1]])
    assert [match.old for match in match_topics(alike, ["Image", "Sound"])] == [0, 1, 0]


def test_a_rival_of_another_aspect_lowers_confidence_one_of_the_same_does_not() -> None:
    alike = np.array([[0.8, 0.1], [0.75, 0.1]])
    same, other = (match_topics(alike, ["Image", second])[0].confidence for second in ("Image", "Sound"))
    assert other < 0.2 < 0.8 < same
    assert confidence(0.4, 0.5) == 0


def test_runs_without_common_words_cannot_be_matched(mapped: AspectDetector) -> None:
    other = AspectDetector(**{**SMALL, "n_topics": 2, "min_count": 1}).fit(
        ["zug bahn gleis halt", "baum wald ast laub"] * 5
    )
    with pytest.raises(RunError, match="share only 0 words"):
        similarity(run_topics(mapped, ["zug"]), run_topics(other, ["zug"]))
