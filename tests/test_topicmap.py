import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspectra.aspects.aspects import read_aspects
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import MapError
from aspectra.topicmap.topicmap import (
    SUGGESTION,
    Choice,
    TopicMap,
    merge,
    read_map,
    respell,
    write_map,
)

AT = "2024-05-01T10:00:00+00:00"


def make_map(*aspects: str | None, by: str = SUGGESTION, topics: str = "print") -> TopicMap:
    words = (("picture", "color"), ("speaker", "loud"), ("thing", "lot"))
    choices = tuple(
        Choice(number, aspect, words[number], by, AT, "words fit") for number, aspect in enumerate(aspects)
    )
    return TopicMap(("Image", "Sound"), choices, topics)


def history(path: Path) -> list[Path]:
    return sorted((path.parent / "map-history").glob("*.json"))


def test_matrix_has_a_one_per_mapped_topic_and_a_zero_row_for_an_unmapped_one() -> None:
    matrix = make_map("Sound", "Image", None).matrix()
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, [[0, 1], [1, 0], [0, 0]])


def test_general_is_always_allowed_and_stands_last() -> None:
    assert make_map(GENERAL, "Image", None).aspects == ("Image", "Sound", GENERAL)
    assert TopicMap((GENERAL, "Image"), (), "print").aspects == ("Image", GENERAL)


def test_a_map_without_aspects_can_be_saved_but_is_not_mapped() -> None:
    assert not make_map(None, None, None).mapped
    assert make_map(None, GENERAL, None).mapped


def test_a_choice_changes_one_topic_and_leaves_the_map_it_came_from() -> None:
    before = make_map("Image", "Image", None)
    after = before.with_choice(1, "Sound", by="Ada", why="loud")
    assert (after.choices[1].aspect, after.choices[1].by, after.choices[1].why) == ("Sound", "Ada", "loud")
    assert after.choices[1].at > AT
    assert after.choices[::2] == before.choices[::2]
    assert before.choices[1].aspect == "Image"


def test_a_map_survives_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    topic_map = make_map("Image", GENERAL, None)
    write_map(path, topic_map)
    assert read_map(path, expected_topics="print") == topic_map
    assert json.loads(path.read_text(encoding="utf-8"))["choices"][2]["aspect"] is None


def test_replaced_versions_are_kept_even_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    versions = [make_map(aspect, None, None) for aspect in ("Image", "Sound", GENERAL)]
    for version in versions:
        write_map(path, version)
    assert [read_map(old) for old in history(path)] == versions[:2]
    assert read_map(path) == versions[2]


def test_what_a_killed_process_left_among_earlier_versions_goes_with_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "topic_map.json"
    leftover = tmp_path / "map-history" / ".20240501T100000Z-1.json.0.json"
    leftover.parent.mkdir()
    leftover.write_text("{")
    for aspect in ("Image", "Sound"):
        write_map(path, make_map(aspect))
    assert [old.name.startswith(".") for old in history(path)] == [False]


def test_writing_the_same_map_again_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    write_map(path, make_map("Image", None, None))
    before = path.stat().st_mtime_ns
    write_map(path, make_map("Image", None, None))
    assert path.stat().st_mtime_ns == before
    assert not history(path)


def test_what_a_person_chose_outlives_a_new_suggestion() -> None:
    old = make_map("Image", "Image", None).with_choice(1, None, by="Ada")
    merged = merge(old, make_map("Sound", "Sound", "Sound"))
    assert [choice.aspect for choice in merged.choices] == ["Sound", None, "Sound"]
    assert merged.choices[1] == old.choices[1]


def test_a_person_is_replaced_when_told_to() -> None:
    new = make_map("Sound", "Sound", None)
    assert merge(make_map("Image", None, None, by="Ada"), new, replace=True) == new
    assert merge(None, new) == new


def test_merging_keeps_the_time_of_an_unchanged_suggestion() -> None:
    old = make_map("Image", "Sound", None)
    later = replace(
        old, choices=tuple(replace(choice, at="2025-01-01T00:00:00+00:00") for choice in old.choices)
    )
    assert merge(old, later) == old


def test_merging_adds_aspects_that_a_person_used_and_takes_the_new_spelling() -> None:
    old = make_map("Image", "Sound", None, by="Ada")
    new = TopicMap(
        ("SOUND", GENERAL),
        tuple(replace(choice, aspect=None, by=SUGGESTION) for choice in old.choices),
        "print",
    )
    merged = merge(old, new)
    assert merged.aspects == ("SOUND", "Image", GENERAL)
    assert [choice.aspect for choice in merged.choices] == ["Image", "SOUND", None]


def test_merging_maps_of_different_topics_is_refused() -> None:
    with pytest.raises(MapError, match=r"made for other topics\. Map them again"):
        merge(make_map("Image", topics="a"), make_map("Image", topics="b"))


def test_a_map_of_other_topics_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    write_map(path, make_map("Image", topics="old"))
    with pytest.raises(MapError, match=r"made for other topics\. Map them again: aspectra map .* --replace"):
        read_map(path, expected_topics="new")


@pytest.mark.parametrize(
    ("data", "message"), [(b"{", "is not JSON"), (b"\xff", "is not JSON"), (b"[]", "must have exactly")]
)
def test_a_damaged_map_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "map.json"
    path.write_bytes(data)
    with pytest.raises(MapError, match=message):
        read_map(path)


def test_a_missing_map_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(MapError, match=r"Map the topics first: aspectra map"):
        read_map(tmp_path / "map.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "version 3"),
        ({"extra": 1}, "must have exactly aspects, choices, topics, version"),
        ({"aspects": ["Image"]}, r"Unknown aspect Sound\. Use one of Image"),
        ({"aspects": "Image"}, "aspects of a topic map has the wrong type"),
        ({"topics": 3}, "topics of a topic map has the wrong type"),
    ],
)
def test_a_malformed_map_says_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MapError, match=message):
        TopicMap.from_dict({**make_map("Image", "Sound", None).to_dict(), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topic": 1}, "twice 1; missing 0"),
        ({"topic": True}, "topic of a topic map has the wrong type"),
        ({"note": ""}, "A choice must have exactly"),
        ({"keywords": [1]}, "keywords of topic 0 must be words"),
        ({"at": "yesterday"}, "at must be a time such as"),
    ],
)
def test_a_malformed_choice_says_what_is_wrong(change: dict[str, Any], message: str) -> None:
    values = make_map("Image", "Sound", None).to_dict()
    values["choices"][0].update(change)
    with pytest.raises(MapError, match=message):
        TopicMap.from_dict(values)


def test_a_new_name_has_no_semicolon_but_an_old_map_with_one_is_read(tmp_path: Path) -> None:
    write_map(tmp_path / "map.json", TopicMap(("Look; feel",), (), "print"))
    (tmp_path / "new.toml").write_text('["Look; feel"]\n')
    assert read_map(tmp_path / "map.json").aspects == ("Look; feel",)
    for given in ("Sound,Look; feel", tmp_path / "new.toml"):
        with pytest.raises(MapError, match="no ; in it, got 'Look; feel'"):
            read_aspects(given)


def test_a_topic_that_does_not_exist_cannot_be_chosen() -> None:
    with pytest.raises(MapError, match="No topic 3: there are topics 0 to 2"):
        make_map("Image", "Sound", None).with_choice(3, None, by="Ada")


def forged(tmp_path: Path, **changed: Any) -> Path:
    values = make_map("Image", "Sound", None).to_dict()
    path = tmp_path / "topic_map.json"
    path.write_text(json.dumps({**values, **changed}))
    return path


def test_a_huge_topic_number_takes_no_memory(tmp_path: Path) -> None:
    choices = make_map("Image", "Sound", None).to_dict()["choices"]
    choices[0]["topic"] = 10**10
    tracemalloc.start()
    with pytest.raises(MapError, match=r"topic_map\.json: Each topic.* found 10000000000"):
        read_map(forged(tmp_path, choices=choices))
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


@pytest.mark.parametrize("n_topics", [1, 500])
def test_a_map_has_as_many_choices_as_there_are_topics(n_topics: int, tmp_path: Path) -> None:
    with pytest.raises(MapError, match=rf"topic_map\.json has \d choices, but there are {n_topics} topics"):
        read_map(forged(tmp_path), n_topics=n_topics)


def test_half_of_a_character_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MapError, match="half of a character"):
        read_map(forged(tmp_path, aspects=[*make_map("Image", "Sound", None).aspects, "\ud83d"]))
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(MapError, match=r"Cannot read .*folder\.json"):
        read_map(tmp_path / "folder.json")
    (tmp_path / "digits.json").write_text("9" * 5000)
    with pytest.raises(MapError, match=r"digits\.json is not JSON"):
        read_map(tmp_path / "digits.json")


def test_a_shared_topic_counts_in_parts_until_a_person_decides() -> None:
    topic_map = make_map("Sound", "Image", None)
    shared = replace(topic_map.choices[0], by=SUGGESTION, shares=(("Sound", 0.75), ("Image", 0.25)))
    topic_map = replace(topic_map, choices=(shared, *topic_map.choices[1:]))
    again = TopicMap.from_dict(topic_map.to_dict())
    assert (again, topic_map.to_dict()["version"]) == (topic_map, 2)
    row = dict(zip(topic_map.aspects, topic_map.matrix()[0].tolist(), strict=True))
    assert (row["Sound"], row["Image"]) == (0.75, 0.25)
    decided = topic_map.with_choice(0, "Image", "Ada")
    assert decided.choices[0].weights == {"Image": 1.0}
    assert decided.to_dict()["version"] == 1


def test_a_topic_that_is_no_review_has_no_aspect() -> None:
    topic_map = make_map("Sound", "Image", None).with_choice(1, NOT_REVIEW, "Ada")
    assert topic_map.not_reviews().tolist() == [False, True, False]
    assert not topic_map.matrix()[1].any()
    assert NOT_REVIEW not in topic_map.aspects
    assert TopicMap.from_dict(topic_map.to_dict()) == topic_map


@pytest.mark.parametrize("name", ["shares", "labelled"])
@pytest.mark.parametrize("numbers", [[], {"Image": -2}, {"Image": "much"}])
def test_shares_and_counts_that_are_none_are_refused(name: str, numbers: Any) -> None:
    values = make_map("Sound", "Image", None).to_dict()
    values["choices"][0][name] = numbers
    with pytest.raises(MapError, match=f"The {name} of topic 0 must be"):
        TopicMap.from_dict(values)


def test_a_map_keeps_what_labelled_segments_said_until_a_person_decides() -> None:
    plain = make_map("Sound", "Image", None)
    first = replace(plain.choices[0], by=SUGGESTION, labelled=(("Sound", 7.5), ("Image", 2.0)))
    topic_map = replace(plain, choices=(first, *plain.choices[1:]))
    assert TopicMap.from_dict(topic_map.to_dict()) == topic_map
    assert topic_map.fingerprint != plain.fingerprint
    assert respell(first, {"sound": "Noise"}).labelled == (("Noise", 7.5), ("Image", 2.0))
    assert topic_map.with_choice(0, "Image", "Ada").choices[0].labelled == ()
