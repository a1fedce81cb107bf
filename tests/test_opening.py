"""How the studio starts: which map it begins with, and what it suggests for open topics."""

import copy
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from aspectra.aspects.aspects import Aspect
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.scores import Gold, read_gold
from aspectra.studio.actions import add, apply, delete, rename
from aspectra.studio.opening import Opening, open_studio
from aspectra.studio.state import MapState, difference
from aspectra.studio.suggester import PageSuggester, Sample
from aspectra.topicmap.agree import map_path
from aspectra.topicmap.labels import all_labels
from aspectra.topicmap.topicmap import SUGGESTION, Choice, Suggestion, TopicMap, read_map, write_map

AT = "2024-05-01T10:00:00+00:00"


def state_of(detector: AspectDetector, *aspects: str) -> MapState:
    items = detector.topics_.items
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, AT) for item in items)
    return MapState.of(TopicMap(aspects, choices, detector.topics_.fingerprint))


def words_of(detector: AspectDetector) -> Sample:
    """Read the segments without an encoder."""
    return cache(detector.fitted_.names_sample)


def aspects_of(suggestions: list[Suggestion]) -> list[str | None]:
    return [one.aspect for one in suggestions]


@pytest.mark.parametrize("labelled", [False, True])
def test_the_page_suggests_what_the_detector_suggests(
    detector: AspectDetector, gold: Gold, labelled: bool
) -> None:
    names = ("Noise", "Price", "Taste")
    dev = gold if labelled else None
    if labelled:
        names = tuple(sorted(set().union(*gold.aspects) - {GENERAL}))
    shown = PageSuggester(detector, words_of(detector), dev)(state_of(detector, *names))
    made = copy.copy(detector).suggest_map(None if labelled else names, dev=dev, encoder="none").topic_map_
    assert [(one.aspect, one.shares) for one in shown] == [(one.aspect, one.shares) for one in made.choices]


def test_renaming_an_aspect_changes_no_suggestion_but_its_name(detector: AspectDetector) -> None:
    suggester, state = PageSuggester(detector, words_of(detector), None), state_of(detector, "Taste", "Noise")
    renamed, _ = rename(state, {"name": "Taste", "to": "Flavour"})
    before, after = aspects_of(suggester(state)), aspects_of(suggester(renamed))
    assert "Taste" in before
    assert after == [{"Taste": "Flavour"}.get(name or "", name) for name in before]


def test_what_the_file_suggests_is_clear_if_a_new_suggestion_says_so(detector: AspectDetector) -> None:
    plain = PageSuggester(detector, words_of(detector), None)
    state = state_of(detector, "Taste", "Noise")
    new = plain(state)
    kept = [replace(one, flag="ambiguous") for one in new]
    assert any(one.flag == "clear" for one in new)
    assert PageSuggester(detector, words_of(detector), None, kept)(state) == new
    carried = [replace(one, why="like topic 3 before") for one in kept]
    assert PageSuggester(detector, words_of(detector), None, carried)(state) == carried


def test_a_fixed_suggestion_comes_first_as_long_as_its_aspect_is_there(detector: AspectDetector) -> None:
    fixed = [Suggestion(0, "Price", "clear", 0.9, "like topic 3 before")]
    suggester, state = (
        PageSuggester(detector, words_of(detector), None, fixed),
        state_of(detector, "Taste", "Noise"),
    )
    with_price, _ = add(state, {"names": ["Price"]})
    assert suggester(with_price)[0] == fixed[0]
    without, _ = delete(with_price, {"name": "Price"})
    assert suggester(without) == suggester(state)


def test_suggestions_learn_from_choices_when_asked(detector: AspectDetector) -> None:
    suggester, state = PageSuggester(detector, words_of(detector), None), state_of(detector, "Taste", "Noise")
    before = suggester(state)
    topic = next(one.topic for one in before if one.aspect == "Taste")
    decided, *_ = apply(state, {"kind": "assign", "choices": {topic: "Noise"}}, "Ada", suggester)
    assert suggester(decided) == before
    assert suggester.can_learn(decided)
    learnt, said, _ = apply(decided, {"kind": "suggest"}, "Ada", suggester)
    assert "1 choice" in said
    assert not suggester.can_learn(learnt)
    assert (
        suggester(learnt)[topic].confidence < before[topic].confidence
    )  # some of its segments are Noise now
    assert learnt.patched(difference(learnt, decided)["after"]) == decided
    with pytest.raises(MapError, match="Decide some topics first"):
        apply(state, {"kind": "suggest"}, "Ada", suggester)


def test_an_unknown_aspect_gets_no_suggestion_and_a_note(detector: AspectDetector) -> None:
    suggester, state = PageSuggester(detector, words_of(detector), None), state_of(detector, "Qqqq")
    assert {(one.aspect, one.why) for one in suggester(state)} == {(None, "")}
    assert "Nothing speaks of Qqqq" in suggester.notes(state)[0]


def test_a_persons_choices_are_there_again_and_new_aspects_are_added(own_run: Path) -> None:
    studio = open_studio(own_run, Opening(by="Ada", encoder="none", aspects=("taste", "Price")))
    assert studio.topic_map.aspects == ("Taste", "Noise", "Price", GENERAL)
    before = read_map(own_run / "topic_map.json").choices
    assert [choice.aspect for choice in studio.topic_map.choices] == [choice.aspect for choice in before]


def test_a_second_annotator_starts_with_the_aspects_of_the_first(own_run: Path) -> None:
    write_map(map_path(own_run, "Ada"), read_map(own_run / "topic_map.json"))
    studio = open_studio(own_run, Opening(by="me", encoder="none", annotator="Ben"))
    assert studio.topic_map.aspects == ("Taste", "Noise", GENERAL)
    assert not any(choice.by_person for choice in studio.topic_map.choices)


def test_there_must_be_a_map_to_read_and_one_to_carry_over(own_run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    with pytest.raises(MapError, match="Make one first: aspectra map"):
        open_studio(own_run, Opening(by="Ada", encoder="none", read_only=True))
    with pytest.raises(MapError, match="to carry over"):
        open_studio(own_run, Opening(by="Ada", encoder="none", old=own_run))


def test_a_corrupted_map_is_refused_with_a_way_out(own_run: Path) -> None:
    (own_run / "topic_map.json").write_text('{"version": 1, "topics"')
    with pytest.raises(MapError, match=r"is not JSON: .* --replace"):
        open_studio(own_run, Opening(by="Ada", encoder="none"))
    assert len(open_studio(own_run, Opening(by="Ada", encoder="none", replace=True)).topic_map.choices) == 16


def test_from_fifty_labels_on_the_page_suggests_by_them(own_run: Path, gold: Gold) -> None:
    rows = [text for text, names in zip(gold.texts, gold.aspects, strict=True) if names == {"Taste"}]
    given = [{"text": f"{text} {at}", "aspects": ["Taste"]} for at, text in enumerate(rows * 50)]
    (own_run / "topic_map.json").unlink()
    for n in (49, 50):
        (own_run / "dev.jsonl").write_text("\n".join(map(json.dumps, given[:n])))
        studio = open_studio(own_run, Opening(by="Ada", encoder="none", aspects=("Taste", "Noise")))
        assert any(choice.labelled for choice in studio.topic_map.choices) == (n == 50)


def test_what_is_said_of_an_aspect_counts_in_any_spelling_of_its_name(own_run: Path) -> None:
    said = (Aspect("taste", words=("bitter",)),)
    studio = open_studio(own_run, Opening(by="Ada", encoder="none", aspects=said))
    assert studio.session.state.described == {"Taste": {"words": ["bitter"]}}


def test_labels_are_kept_in_the_run_but_not_an_annotators(own_run: Path, sample_files: Path) -> None:
    told = {"encoder": "none", "dev": sample_files / "dev.jsonl"}
    open_studio(own_run, Opening(by="Ada", annotator="Ada", **told))
    assert not (own_run / "labels.jsonl").exists()
    open_studio(own_run, Opening(by="Ada", **told))
    assert read_gold(own_run / "labels.jsonl") == read_gold(sample_files / "dev.jsonl")


def test_a_sentence_of_topics_that_are_no_reviews_is_no_review(own_run: Path) -> None:
    studio = open_studio(own_run, Opening(by="Ada", encoder="none"))
    choices = {str(topic): NOT_REVIEW for topic in range(16)}
    studio.act({"kind": "assign", "choices": choices}, studio.session.version)
    tried = studio.try_text("The coffee tastes bitter.")
    assert (tried["aspect"], tried["probability"]) == (NOT_REVIEW, pytest.approx(1))


def test_a_renamed_aspect_keeps_its_suggestions_in_the_next_session(own_run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    first = open_studio(own_run, Opening(by="Ada", encoder="none", aspects=("Taste", "Noise")))
    first.act({"kind": "rename", "name": "Taste", "to": "Flavour"}, first.session.version)
    mine = [one.topic for one in first.topic_map.choices if one.aspect == "Flavour"]
    again = open_studio(own_run, Opening(by="Ada", encoder="none"))
    again.act({"kind": "add", "names": ["Parking"]}, again.session.version)
    assert mine
    assert [one.topic for one in again.topic_map.choices if one.aspect == "Flavour"] == mine


def test_labels_follow_every_rename_and_undo_takes_back_the_last_answer_only(own_run: Path) -> None:
    studio = open_studio(own_run, Opening(by="Ada", encoder="none"))
    for name, to in (("Taste", "Flavour"), ("Flavour", "Aroma")):
        studio.act({"kind": "rename", "name": name, "to": to}, studio.session.version)
        studio.answer(len(to), to)
    studio.answer(0, None)
    studio.take_back()
    found = all_labels(own_run)
    assert found
    assert found.aspects == (frozenset(["Aroma"]),) * 2
    studio.answer(5, "Noise")
    assert [name for _, name, _ in studio.own or ()] == ["Taste", "Noise"]  # one label per segment


def test_what_the_file_suggests_lapses_when_aspects_are_added(own_run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    first = open_studio(own_run, Opening(by="Ada", encoder="none", aspects=("Taste", "Noise")))
    first.act({"kind": "assign", "choices": {"0": "Taste"}}, first.session.version)
    again = open_studio(own_run, Opening(by="Ada", encoder="none"))
    again.act({"kind": "add", "names": ["Price"]}, again.session.version)
    fresh = PageSuggester(again.detector, words_of(again.detector), None)(again.session.state)
    assert [one.flag for one in again.suggester(again.session.state)] == [one.flag for one in fresh]
