from collections import Counter
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL

from aspectra.detector import AspectDetector
from aspectra.errors import MapError, RunError
from aspectra.evaluate import Gold
from aspectra.sample import Sample
from aspectra.topicmap.agree import agreed, compare, kappa, map_path, read_opinions
from aspectra.topicmap.carry import SURE, carry_over, confidence, match_topics, similarity
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, write_map

AT = "2024-05-01T10:00:00+00:00"


def by_gold(detector: AspectDetector, gold: Gold) -> AspectDetector:
    """Map each topic to the aspect that most of its gold segments have, as a person would."""
    mapping: dict[str, list[int]] = {}
    top = np.nan_to_num(detector.topic_probabilities(list(gold.texts))).argmax(1)
    for topic in range(len(detector.topics_.items)):
        aspects = Counter(min(names) for names, mine in zip(gold.aspects, top == topic, strict=True) if mine)
        mapping.setdefault(aspects.most_common(1)[0][0] if aspects else "General", []).append(topic)
    return copy(detector).map_topics(mapping, by="Ada")


@pytest.fixture(scope="module")
def mapped(detector: AspectDetector, gold: Gold) -> AspectDetector:
    return by_gold(detector, gold)


@pytest.fixture(scope="module")
def retrained(sample: Sample) -> AspectDetector:
    return AspectDetector(**{**SMALL, "seed": 7, "n_topics": 20}).fit(sample.reviews["text"][50:])


def test_sure_choices_are_those_that_a_person_would_make_again(
    mapped: AspectDetector, retrained: AspectDetector, gold: Gold
) -> None:
    carried, advice = carry_over(mapped, retrained, gold.texts)
    again = by_gold(retrained, gold).topic_map_.choices
    sure = [
        choice.aspect == again[choice.topic].aspect
        for choice, one in zip(carried.choices, advice, strict=True)
        if one.confidence >= SURE
    ]
    assert len(sure) >= 8
    assert np.mean(sure) >= 0.8


def test_the_same_topics_carry_over_unchanged(mapped: AspectDetector) -> None:
    carried, advice = carry_over(mapped, mapped, ["coffee"])
    assert [choice.aspect for choice in carried.choices] == [
        choice.aspect for choice in mapped.topic_map_.choices
    ]
    assert {choice.by for choice in carried.choices} == {"Ada"}
    assert min(one.confidence for one in advice) == 1


def test_only_sure_choices_of_a_person_stay_decided(
    mapped: AspectDetector, retrained: AspectDetector, gold: Gold
) -> None:
    carried, advice = carry_over(mapped, retrained, gold.texts)
    for choice, one in zip(carried.choices, advice, strict=True):
        assert (choice.by == "Ada") == (one.confidence >= SURE)
        assert choice.aspect == one.aspect
        assert one.flag == ("clear" if choice.by == "Ada" else "ambiguous")
    assert 0 < sum(choice.by == "Ada" for choice in carried.choices) < 20


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
        similarity(mapped, other, ["zug"])


def opinion(*aspects: str | None, by: str = "Ada") -> TopicMap:
    return TopicMap(
        ("Image", "Sound"),
        tuple(Choice(topic, aspect, ("word",), by, AT) for topic, aspect in enumerate(aspects)),
        "print",
    )


def test_kappa_equals_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    one, two = (
        ["Image", "Sound", "Sound", None, "Image", None],
        ["Image", "Image", "Sound", None, "Sound", "Sound"],
    )
    expected = cohen_kappa_score([str(aspect) for aspect in one], [str(aspect) for aspect in two])
    assert kappa(opinion(*one), opinion(*two)) == pytest.approx(expected)


def test_open_topics_do_not_count_for_agreement() -> None:
    assert kappa(opinion("Image", by=SUGGESTION), opinion("Sound")) is None
    assert kappa(opinion("Image"), opinion("Image")) == 1


def test_conflicts_name_who_chose_what_and_the_rest_is_agreed() -> None:
    opinions = {"Ada": opinion("Image", "Sound", None), "Ben": opinion("Image", None, None, by="Ben")}
    found = compare(opinions)
    assert found["conflicts"] == {1: {"Ada": "Sound", "Ben": None}}
    assert (found["pairs"][0]["first"], found["pairs"][0]["n"]) == ("Ada", 3)
    assert [(choice.aspect, choice.by) for choice in agreed(opinions).choices] == [
        ("Image", "Ada + Ben"),
        (None, SUGGESTION),
        (None, "Ada + Ben"),
    ]


def test_opinions_are_kept_side_by_side_and_those_on_other_topics_left_aside(tmp_path: Path) -> None:
    write_map(map_path(tmp_path, "Ada"), opinion("Image"))
    write_map(map_path(tmp_path, "Ben"), opinion("Sound"))
    assert list(read_opinions(tmp_path, "print", but="Ben")) == ["Ada"]
    assert read_opinions(tmp_path, "other print", but=None) == {}


@pytest.mark.parametrize("name", ["", "../Ada", "Ada Lovelace", "a" * 41])
def test_an_annotators_name_must_fit_in_a_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(MapError, match="1 to 40 letters"):
        map_path(tmp_path, name)
