"""One person's work on one map: the present `Desk`, undo and redo, minutes used, a version number; saved after every action.

The map is written in one step after each action; map-history/ keeps the map as it was before the session. Beside it, studio.json holds what
is not part of a map: undo and redo, colours, first names of renamed aspects, notes, minutes and the version by which
two tabs notice each other. It carries a hash of the map; if the map was changed by something else, undo begins anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aspectra import rundir
from aspectra.errors import MapError, RunError
from aspectra.studio.actions import Advise, Desk, apply
from aspectra.topicmap.topicmap import Choice, read_map, write_map

FORMAT = 1
DEEPEST = 300
"""So many actions can be undone."""
LONGEST_PAUSE = 120.0
"""Seconds without a sign of life that still count as work."""


class Conflict(MapError):
    """The map changed since the sender last saw it."""


class Session:
    """Keeps a desk and its file in step. `version` grows with every change."""

    def __init__(
        self,
        path: Path,
        desk: Desk,
        by: str,
        read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path, self.desk, self.by, self.read_only, self.clock = path, desk, by, read_only, clock
        self.undone: list[dict[str, Any]] = []
        self.done: list[dict[str, Any]] = []
        self.version, self.seconds = 1, 0.0
        self.notice = ""
        self._last = clock()
        self._bytes = self._read()
        self._kept = False
        self._resume()

    @property
    def beside(self) -> Path:
        return self.path.with_name(self.path.name.replace("topic_map", "studio", 1))

    def act(self, action: dict[str, Any], version: Any, advise: Advise) -> int | None:
        """Do, undo or redo something and save; nothing is changed if it cannot be saved. Return the topic to look at."""
        if self.read_only:
            raise MapError("This map is open for reading only.")
        if version != self.version:
            raise Conflict(
                "The map was changed in another tab. Here is the present one; your last step was not applied."
            )
        self.check_disk()
        self.touch()
        if action.get("kind") in ("undo", "redo"):
            return self._step_back() if action["kind"] == "undo" else self._step_forward()
        desk, label, topic = apply(self.desk, action, self.by, advise)
        entry = {"label": label, "topic": topic, **difference(self.desk, desk)}
        self._commit(desk, [*self.done, entry][-DEEPEST:], [])
        return topic

    def _step_back(self) -> int | None:
        if not self.done:
            raise MapError("There is nothing to undo.")
        entry = self.done[-1]
        self._commit(patched(self.desk, entry["before"]), self.done[:-1], [*self.undone, entry])
        return entry["topic"]  # type: ignore[no-any-return]

    def _step_forward(self) -> int | None:
        if not self.undone:
            raise MapError("There is nothing to redo.")
        entry = self.undone[-1]
        self._commit(patched(self.desk, entry["after"]), [*self.done, entry], self.undone[:-1])
        return entry["topic"]  # type: ignore[no-any-return]

    def touch(self) -> None:
        """Count the time since the last sign of life as work, unless it was a long pause."""
        at = self.clock()
        self.seconds += min(at - self._last, LONGEST_PAUSE)
        self._last = at

    def _commit(self, desk: Desk, done: list[dict[str, Any]], undone: list[dict[str, Any]]) -> None:
        before = self.desk, self.done, self.undone, self.version
        self.desk, self.done, self.undone, self.version = desk, done, undone, self.version + 1
        try:
            self.save()
        except (MapError, RunError):
            self.desk, self.done, self.undone, self.version = before
            raise

    def check_disk(self) -> None:
        """Raise if the run is gone; if something else changed the map, take that over and raise Conflict."""
        if not (self.path.parent / rundir.MANIFEST).exists():
            raise RunError(f"{self.path.parent} is gone: the map cannot be saved there.")
        found = self._read()
        if found is not None and found != self._bytes:
            self.desk = Desk.of(read_map(self.path, self.desk.topic_map.topics))
            self._bytes, self._kept, self.done, self.undone = found, False, [], []
            self.version += 1
            raise Conflict(
                "The map's file was changed by another program. Here is the present one; your last step was not applied."
            )

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes() if self.path.exists() else None
        except OSError as error:
            raise RunError(f"Cannot read {self.path}: {error.strerror or error}.") from error

    def save(self) -> None:
        """Write what stands beside the map, then the map, each in one step."""
        data = (json.dumps(self.desk.topic_map.to_dict(), ensure_ascii=False, indent=2) + "\n").encode()
        self._write_beside(data)
        if self._kept:
            rundir.write_atomic(self.path, data)
        else:
            write_map(self.path, self.desk.topic_map)  # the version before this session goes to map-history/
        self._bytes, self._kept = data, True

    def _write_beside(self, data: bytes) -> None:
        values = {
            "format": FORMAT, "map": hashlib.sha256(data).hexdigest(), "version": self.version, "minutes": self.minutes,
            **header(self.desk), "done": self.done, "undone": self.undone,
        }  # fmt: skip
        rundir.write_atomic(self.beside, (json.dumps(values, ensure_ascii=False) + "\n").encode())

    @property
    def minutes(self) -> float:
        return round(self.seconds / 60, 2)

    def close(self, finished: bool = False) -> None:
        """Keep the minutes of a session that changed something; one finished by the person keeps its map in any case."""
        if self.read_only or not (self._kept or finished):
            return
        self.touch()
        with contextlib.suppress(Conflict):  # what another program wrote stands
            self.check_disk()
            self.save()

    def _resume(self) -> None:
        """Take up what an earlier session left beside the map, as far as it belongs to the map."""
        try:
            values = json.loads(self.beside.read_bytes())
            belongs = (
                values["format"] == FORMAT and values["map"] == hashlib.sha256(self._bytes or b"").hexdigest()
            )
            self.seconds, self.version = float(values["minutes"]) * 60, int(values["version"]) + (not belongs)
            if belongs:
                self.desk = patched(self.desk, {name: values[name] for name in header(self.desk)})
                self.done, self.undone = list(values["done"]), list(values["undone"])
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError):
            self.notice = f"{self.beside.name} is damaged: undo, colours and minutes begin anew. The map itself is whole."


def header(desk: Desk) -> dict[str, Any]:
    """Return what stands beside the map, as JSON values."""
    return {
        "hues": desk.hues,
        "aliases": desk.aliases,
        "notes": {str(topic): text for topic, text in desk.notes.items()},
    }


def difference(before: Desk, after: Desk) -> dict[str, Any]:
    """Return what turns one desk into the other and back: {"before": parts, "after": parts}."""
    pairs = zip(before.topic_map.choices, after.topic_map.choices, strict=True)
    changed = [old.topic for old, new in pairs if old != new]
    old, new = ({**header(desk), "aspects": list(desk.topic_map.aspects)} for desk in (before, after))
    names = [name for name in old if old[name] != new[name]]
    return {
        side: {
            "choices": [desk.topic_map.choices[topic].to_dict() for topic in changed],
            **{name: parts[name] for name in names},
        }
        for side, desk, parts in (("before", before, old), ("after", after, new))
    }


def patched(desk: Desk, parts: dict[str, Any]) -> Desk:
    """Return the desk with some parts put in place."""
    choices = list(desk.topic_map.choices)
    for values in parts.get("choices", ()):
        choices[values["topic"]] = Choice.from_dict(values)
    aspects = tuple(parts.get("aspects", desk.topic_map.aspects))
    notes = {int(topic): text for topic, text in parts["notes"].items()} if "notes" in parts else desk.notes
    topic_map = dataclasses.replace(desk.topic_map, aspects=aspects, choices=tuple(choices))
    return Desk(
        topic_map, dict(parts.get("hues", desk.hues)), dict(parts.get("aliases", desk.aliases)), notes
    )
