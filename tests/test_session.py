import json
import multiprocessing
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aspectra import disk, rundir
from aspectra.aspects.aspects import Aspect, read_file
from aspectra.config import GENERAL
from aspectra.errors import MapError, RunError
from aspectra.studio.session import Conflict, Session
from aspectra.studio.state import MapState
from aspectra.topicmap.topicmap import SUGGESTION, Choice, Suggestion, TopicMap, read_map, write_map

AT = "2024-05-01T10:00:00+00:00"


def suggester(state: MapState) -> Sequence[Suggestion]:
    first = state.topic_map.aspects[0]
    return [
        Suggestion(choice.topic, first, "clear", 0.9, f"near {first}") for choice in state.topic_map.choices
    ]


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


class Studio:
    """A session in a folder, opened anew when asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / rundir.TOPIC_MAP
        (folder / rundir.MANIFEST).write_text("{}")
        choices = tuple(Choice(topic, None, (f"word{topic}",), SUGGESTION, AT) for topic in range(4))
        self.start = TopicMap(("Image", "Sound"), choices, "print")
        self.clock = Clock()
        self.open()

    def open(self) -> Session:
        topic_map = read_map(self.path) if self.path.exists() else self.start
        self.session = Session(self.path, MapState.of(topic_map), "Ada", clock=self.clock)
        return self.session

    def act(self, kind: str, **values: Any) -> int | None:
        return self.session.act({"kind": kind, **values}, self.session.version, suggester)

    def aspects(self) -> list[str | None]:
        return [choice.aspect for choice in read_map(self.path).choices]


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path)


def test_the_file_is_right_after_every_choice(studio: Studio) -> None:
    studio.act("assign", choices={"1": "Sound"})
    assert studio.aspects() == [None, "Sound", None, None]
    studio.act("assign", choices={"1": None, "2": GENERAL})
    assert studio.aspects() == [None, None, GENERAL, None]
    assert [choice.by for choice in read_map(studio.path).choices] == [SUGGESTION, "Ada", "Ada", SUGGESTION]


def test_undo_and_redo_go_back_and_forth_and_name_the_topic(studio: Studio) -> None:
    studio.act("assign", choices={"1": "Sound"})
    studio.act("assign", choices={"3": "Image"})
    assert studio.act("undo") == 3
    assert studio.aspects() == [None, "Sound", None, None]
    assert studio.act("redo") == 3
    assert studio.aspects() == [None, "Sound", None, "Image"]


def test_undo_restores_choices_exactly_through_all_kinds_of_actions(studio: Studio) -> None:
    before = studio.session.state
    studio.act("assign", choices={"0": "Image"})
    studio.act("note", topic=0, text=" blurry ")
    studio.act("rename", name="Image", to="Picture")
    studio.act("add", names=["Price"])
    studio.act("move", name="Price", place=0)
    studio.act("colour", name="Price", hue=7)
    studio.act("delete", name="Picture")
    for _ in range(7):
        studio.act("undo")
    assert studio.session.state == before


def test_undo_survives_a_restart(studio: Studio) -> None:
    studio.act("assign", choices={"1": "Sound"})
    studio.act("colour", name="Sound", hue=9)
    session = studio.open()
    assert session.state.hues["Sound"] == 9
    studio.act("undo")
    studio.act("undo")
    assert studio.aspects() == [None, None, None, None]


def test_a_session_keeps_one_version_in_the_history_not_one_per_key(studio: Studio) -> None:
    write_map(studio.path, studio.start)
    studio.open()
    for topic in range(4):
        studio.act("assign", choices={topic: "Image"})
    assert len(list((studio.path.parent / "map-history").glob("*.json"))) == 1


def test_renaming_takes_topics_notes_and_first_name_along(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    studio.act("rename", name="Image", to="Picture")
    studio.act("rename", name="Picture", to="Screen")
    assert studio.aspects()[0] == "Screen"
    assert studio.session.state.aliases == {"Image": "Screen"}
    studio.act("rename", name="Screen", to="Image")
    assert studio.session.state.aliases == {}


def test_a_name_with_a_semicolon_is_refused(studio: Studio) -> None:
    for kind, values in (("add", {"names": ["a;b"]}), ("rename", {"name": "Image", "to": "a;b"})):
        with pytest.raises(MapError, match="no ; in it"):
            studio.act(kind, **values)
    assert studio.session.state.topic_map.aspects[:2] == ("Image", "Sound")


def test_deleting_an_aspect_opens_its_topics_and_they_follow_the_suggestion(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image", "1": "Sound"})
    studio.act("delete", name="Image")
    choices = read_map(studio.path).choices
    assert [choice.aspect for choice in choices] == ["Sound"] * 4
    assert [choice.by_person for choice in choices] == [False, True, False, False]


def test_a_note_on_an_open_topic_waits_for_its_choice(studio: Studio) -> None:
    studio.act("note", topic=2, text="is it sound?")
    assert read_map(studio.path).choices[2].why == ""
    studio.act("assign", choices={"2": "Sound"})
    assert read_map(studio.path).choices[2].why == "is it sound?"


def test_minutes_add_up_over_sessions_without_long_pauses(studio: Studio) -> None:
    for pause in (30, 30, 3600):
        studio.clock.time += pause
        studio.act("assign", choices={"0": "Image"})
    assert studio.session.minutes == 3.0
    assert studio.open().minutes == 3.0


def test_an_older_version_is_a_conflict_and_changes_nothing(studio: Studio) -> None:
    seen = studio.session.version
    studio.act("assign", choices={"0": "Image"})
    with pytest.raises(Conflict, match="changed in another tab"):
        studio.session.act({"kind": "assign", "choices": {"0": "Sound"}}, seen, suggester)
    assert studio.aspects()[0] == "Image"


def test_a_file_changed_by_another_program_is_taken_over_not_overwritten(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    write_map(studio.path, studio.start.with_choice(3, "Sound", "Ben"))
    with pytest.raises(Conflict, match="changed by another program"):
        studio.act("assign", choices={"1": "Image"})
    assert studio.session.state.topic_map.choices[3].by == "Ben"
    studio.act("assign", choices={"1": "Image"})
    assert studio.aspects() == [None, "Image", None, "Sound"]


def test_what_another_program_says_of_an_aspect_is_taken_over_not_overwritten(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    said = studio.path.with_name(rundir.ASPECTS)
    said.write_text('[image]\nwords = ["hue"]\n')
    with pytest.raises(Conflict, match=r"aspects.toml was changed by another program"):
        studio.act("assign", choices={"1": "Image"})
    assert studio.session.state.described == {"Image": {"words": ["hue"]}}
    studio.act("assign", choices={"1": "Image"})
    assert read_file(said)[0] == Aspect("Image", words=("hue",))
    assert studio.aspects()[:2] == ["Image", "Image"]


def test_a_deleted_run_is_reported_and_the_map_stays_as_it_was(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    before, version = studio.session.state, studio.session.version
    shutil.rmtree(studio.path.parent)
    with pytest.raises(RunError, match="is gone"):
        studio.act("assign", choices={"1": "Image"})
    assert (studio.session.state, studio.session.version) == (before, version)


def test_a_full_disk_changes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.act("assign", choices={"0": "Image"})

    def full(path: Path, data: bytes) -> None:
        raise RunError(f"Cannot write {path}: No space left on device. Nothing was changed.")

    monkeypatch.setattr(disk, "write_atomic", full)
    with pytest.raises(RunError, match="No space left"):
        studio.act("assign", choices={"1": "Image"})
    assert (
        [choice.aspect for choice in studio.session.state.topic_map.choices]
        == studio.aspects()
        == ["Image", None, None, None]
    )


def test_a_damaged_file_beside_the_map_costs_only_the_undo(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    studio.session.studio_file.write_text('{"format": 1, "map"')
    session = studio.open()
    assert "studio.json is damaged" in session.notice
    assert session.done == []
    assert studio.aspects()[0] == "Image"


def test_undo_belongs_to_the_map_that_it_was_made_for(studio: Studio) -> None:
    studio.act("assign", choices={"0": "Image"})
    studio.path.write_text(json.dumps(studio.start.to_dict()))
    assert studio.open().done == []


def test_a_read_only_session_refuses_to_act(studio: Studio) -> None:
    session = Session(studio.path, studio.session.state, "Ada", read_only=True)
    with pytest.raises(MapError, match="reading only"):
        session.act({"kind": "assign", "choices": {"0": "Image"}}, session.version, suggester)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "rename", "name": "Image", "to": "Sound"}, "There is an aspect 'Sound' already"),
    ({"kind": "rename", "name": "Image", "to": "sound"}, "is there twice"),
    ({"kind": "rename", "name": GENERAL, "to": "Other"}, "General is always there"),
    ({"kind": "rename", "name": "Image", "to": " "}, "must be printable text"),
    ({"kind": "delete", "name": "Nothing"}, "There is no aspect 'Nothing'"),
    ({"kind": "add", "names": ["unmapped"]}, "cannot name an aspect"),
    ({"kind": "add", "names": "Price"}, "Name the aspects to add"),
    ({"kind": "move", "name": "Image", "place": 2}, "place 0 to 1, got 2"),
    ({"kind": "colour", "name": "Image", "hue": 12}, "number from 0 to 11, got 12"),
    ({"kind": "assign", "choices": {"4": "Image"}}, "there are topics 0 to 3"),
    ({"kind": "assign", "choices": {"0": "Price"}}, "There is no aspect 'Price'"),
    ({"kind": "note", "topic": 0, "text": "x" * 501}, "at most 500 characters"),
    ({"kind": "undo"}, "nothing to undo"),
    ({"kind": "shout"}, "Unknown action 'shout'"),
]


@pytest.mark.parametrize(("action", "message"), BAD)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    studio: Studio, action: dict[str, Any], message: str
) -> None:
    with pytest.raises(MapError, match=message):
        studio.session.act(action, studio.session.version, suggester)
    assert not studio.path.exists()


@pytest.mark.parametrize("at", ["os.fsync", "os.replace"])
def test_killed_while_saving_the_map_is_old_or_new(
    studio: Studio, at: str, kill_at: Callable[[str, Path], None]
) -> None:
    studio.act("assign", choices={"0": "Image"})
    kill_at(at, studio.path)
    assert studio.aspects() in (["Image", None, None, None], ["Sound", None, None, None])


@pytest.fixture
def kill_at() -> Callable[[str, Path], None]:
    """Change topic 0 to Sound in another process that dies with -9 in the middle of its second file."""
    import os
    import subprocess
    import sys

    code = """
import os, signal, sys
from pathlib import Path
from aspectra.studio.state import MapState
from aspectra.studio.session import Session
from aspectra.topicmap.topicmap import read_map
path, name = Path(sys.argv[1]), sys.argv[2]
session, calls, real = Session(path, MapState.of(read_map(path)), "Ada"), [], getattr(os, name)
def die(*given):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given)
setattr(os, name, die)
session.act({"kind": "assign", "choices": {"0": "Sound"}}, session.version, lambda state: [])
"""

    def run(at: str, path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-c", code, str(path), at.removeprefix("os.")], env=dict(os.environ), check=False
        )
        assert done.returncode == -9

    return run


def decide(path: Path, topics: range, name: str) -> None:
    """Assign topics as a page of its own would: after a conflict, send the choice again."""
    session = Session(path, MapState.of(read_map(path)), name)
    for topic in topics:
        while True:
            try:
                action = {"kind": "assign", "choices": {topic: "Sound"}}
                session.act(action, session.version, suggester)
                break
            except Conflict:
                continue


def test_two_processes_lose_no_choice(tmp_path: Path) -> None:
    n = 100
    path = Studio(tmp_path).path
    choices = tuple(Choice(topic, None, ("word",), SUGGESTION, AT) for topic in range(n))
    write_map(path, TopicMap(("Image", "Sound"), choices, "print"))
    context = multiprocessing.get_context("spawn")
    half = ((range(0, n, 2), "Ada"), (range(1, n, 2), "Ben"))
    people = [context.Process(target=decide, args=(path, topics, name)) for topics, name in half]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
    assert [choice.by for choice in read_map(path).choices] == ["Ada", "Ben"] * (n // 2)
    assert not list(tmp_path.glob(".*"))


def test_any_failure_to_save_changes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.act("assign", choices={"0": "Image"})
    before, version = studio.session.state, studio.session.version
    with pytest.raises(UnicodeEncodeError):
        studio.act("note", topic=0, text="\ud83d")
    assert (studio.session.state, studio.session.version) == (before, version)
    studio.act("assign", choices={"1": "Image"})
    assert studio.aspects()[:2] == ["Image", "Image"]


@pytest.mark.parametrize(
    "change",
    [{"done": [{}]}, {"done": [5]}, {"undone": 7}, {"notes": {"x": 1}}, {"hues": 5}, {"minutes": None}],
)
def test_a_forged_file_beside_the_map_is_not_used(studio: Studio, change: dict[str, Any]) -> None:
    studio.act("assign", choices={"0": "Image"})
    file = studio.session.studio_file
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert "is damaged" in studio.open().notice
    studio.act("assign", choices={"1": "Image"})
    assert studio.aspects()[:2] == ["Image", "Image"]
