"""One person's work on one map: the present `MapState`, undo and redo, minutes used, a version number.

The map is written in one step after every action; map-history/ keeps the map as it was before the session.
Beside it, studio.json holds what is not part of a map: undo and redo, colours, first names of renamed
aspects, notes, minutes, and the version number by which two tabs notice each other. It also holds a hash of
the map: if something else changed the map, undo starts again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aspectra import disk, rundir
from aspectra.aspects.aspects import described, read_file, to_toml, write_aspects
from aspectra.errors import MapError, RunError
from aspectra.studio.actions import Suggester, apply
from aspectra.studio.state import MapState, difference
from aspectra.topicmap.topicmap import read_map, write_map

FORMAT = 1
DEEPEST = 300
"""At most this many actions can be undone."""
LONGEST_PAUSE = 120.0
"""A pause of at most this many seconds counts as work."""


class Conflict(MapError):
    """The map changed since the sender last saw it."""


class Session:
    """Keeps a `MapState` and its files the same. `version` grows with every change."""

    def __init__(
        self,
        path: Path,
        state: MapState,
        by: str,
        read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path, self.state, self.by, self.read_only, self.clock = path, state, by, read_only, clock
        self.undone: list[dict[str, Any]] = []
        self.done: list[dict[str, Any]] = []
        self.version, self.seconds = 1, 0.0
        self.notice = ""
        self._last = clock()
        self._on_disk, self._said_on_disk = self._read(path), self._read(self.aspects_file)
        self._saved_before = False
        self._resume()

    @property
    def studio_file(self) -> Path:
        """The file beside the map; topic_map.Ada.json has studio.Ada.json."""
        stem = Path(rundir.TOPIC_MAP).stem
        return self.path.with_name(self.path.name.replace(stem, Path(rundir.STUDIO).stem, 1))

    @property
    def aspects_file(self) -> Path:
        """What is said of the aspects, beside the map in use."""
        return self.path.with_name(rundir.ASPECTS)

    @property
    def is_in_use(self) -> bool:
        """Whether this is the map in use, not an annotator's."""
        return self.path.name == rundir.TOPIC_MAP

    def act(self, action: dict[str, Any], version: Any, suggester: Suggester) -> int | None:
        """Do, undo or redo something and save it; return the topic to look at.

        Nothing is changed if it cannot be saved.
        """
        if self.read_only:
            raise MapError("This map is open for reading only.")
        if version != self.version:
            raise Conflict(
                "The map was changed in another tab. Here is the new version; your last step was not applied."
            )
        self.touch()
        with self.locked():
            return self._act(action, suggester)

    def _act(self, action: dict[str, Any], suggester: Suggester) -> int | None:
        self.check_disk()
        if action.get("kind") in ("undo", "redo"):
            return self._step_back() if action["kind"] == "undo" else self._step_forward()
        state, label, topic = apply(self.state, action, self.by, suggester)
        entry = {"label": label, "topic": topic, **difference(self.state, state)}
        self._commit(state, [*self.done, entry][-DEEPEST:], [])
        return topic

    def _step_back(self) -> int | None:
        if not self.done:
            raise MapError("There is nothing to undo.")
        entry = self.done[-1]
        self._commit(self.state.patched(entry["before"]), self.done[:-1], [*self.undone, entry])
        return entry["topic"]  # type: ignore[no-any-return]

    def _step_forward(self) -> int | None:
        if not self.undone:
            raise MapError("There is nothing to redo.")
        entry = self.undone[-1]
        self._commit(self.state.patched(entry["after"]), [*self.done, entry], self.undone[:-1])
        return entry["topic"]  # type: ignore[no-any-return]

    def touch(self) -> None:
        """Count the time since the last request as work, a long pause only in part."""
        at = self.clock()
        self.seconds += min(at - self._last, LONGEST_PAUSE)
        self._last = at

    def _commit(self, state: MapState, done: list[dict[str, Any]], undone: list[dict[str, Any]]) -> None:
        before = self.state, self.done, self.undone, self.version
        self.state, self.done, self.undone, self.version = state, done, undone, self.version + 1
        saved = False
        try:
            self.save()
            saved = True
        finally:
            if not saved:
                self.state, self.done, self.undone, self.version = before

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other programs from changing the run's maps and labels; raise if the run is gone."""
        if not (self.path.parent / rundir.MANIFEST).exists():
            raise RunError(f"{self.path.parent} is gone: the map cannot be saved there.")
        with disk.locked(self.path.parent, "map"):
            yield

    def check_disk(self) -> None:
        """If something else changed the map or aspects.toml, take that over and raise Conflict.

        Call it while `locked`.
        """
        found, said = self._read(self.path), self._read(self.aspects_file)
        new_map = found is not None and found != self._on_disk
        newly_said = self.is_in_use and said is not None and said != self._said_on_disk
        if not (new_map or newly_said):
            return
        now = self.state.topic_map
        found_map = read_map(self.path, now.topics, len(now.choices)) if new_map else now
        told = read_file(self.aspects_file) if newly_said else self.state.aspects()
        self.state = MapState.of(found_map, described(found_map.aspects, told))
        self._on_disk, self._said_on_disk = found, said
        self._saved_before, self.done, self.undone = False, [], []
        self.version += 1
        what = "The map's file" if new_map else rundir.ASPECTS
        raise Conflict(
            f"{what} was changed by another program. Here is the new version; your last step was not applied."
        )

    def _read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes() if path.exists() else None
        except OSError as error:
            raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error

    def save(self) -> None:
        """Write the file beside the map, then the map, each in one step; call it while `locked`."""
        data = (json.dumps(self.state.topic_map.to_dict(), ensure_ascii=False, indent=2) + "\n").encode()
        self._write_studio_file(data)
        if self._saved_before:
            disk.write_atomic(self.path, data)
        else:
            write_map(self.path, self.state.topic_map)  # the version before this session goes to map-history/
        self._save_aspects()
        self._on_disk, self._saved_before = data, True

    def _save_aspects(self) -> None:
        """Write aspects.toml beside the map in use; what it was before this session goes to map-history/."""
        path, aspects = self.aspects_file, self.state.aspects()
        if not self.is_in_use or not aspects:
            return
        if self._saved_before:
            disk.write_atomic(path, to_toml(aspects).encode())
        else:
            write_aspects(path, aspects)
        self._said_on_disk = to_toml(aspects).encode()

    def _write_studio_file(self, data: bytes) -> None:
        values = {
            "format": FORMAT, "map": hashlib.sha256(data).hexdigest(), "version": self.version,
            "minutes": self.minutes, **self.state.beside_map(), "done": self.done, "undone": self.undone,
        }  # fmt: skip
        disk.write_atomic(self.studio_file, (json.dumps(values, ensure_ascii=False) + "\n").encode())

    @property
    def minutes(self) -> float:
        return round(self.seconds / 60, 2)

    def close(self, finished: bool = False) -> None:
        """Save a session that changed something, or that the person finished; its minutes too."""
        if self.read_only or not (self._saved_before or finished):
            return
        self.touch()
        with contextlib.suppress(Conflict), self.locked():  # what another program wrote stands
            self.check_disk()
            self.save()

    def _resume(self) -> None:
        """Continue with what an earlier session left beside the map, if it belongs to this map."""
        before = self.state
        try:
            values = json.loads(self.studio_file.read_bytes())
            belongs = (
                values["format"] == FORMAT
                and values["map"] == hashlib.sha256(self._on_disk or b"").hexdigest()
            )
            self.seconds, self.version = float(values["minutes"]) * 60, int(values["version"]) + (not belongs)
            if belongs:
                names = set(self.state.beside_map()) - {"described"}  # that is in aspects.toml
                self.state = self.state.patched({name: values[name] for name in names})
                check_steps(self.state, values["done"], "before")
                check_steps(self.state, values["undone"], "after")
                self.done, self.undone = list(values["done"]), list(values["undone"])
        except FileNotFoundError:
            return
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, MapError, OSError):
            self.state = before
            self.notice = (
                f"{self.studio_file.name} is damaged: undo, colours and minutes start again. The map is fine."
            )


def check_steps(state: MapState, steps: list[dict[str, Any]], side: str) -> None:
    """Raise unless all steps, last first, can be taken from here."""
    for step in reversed(steps):
        state = state.patched(step[side])
        if not isinstance(step["label"], str) or not isinstance(step["topic"], int | None):
            raise TypeError(f"A step has the label {step['label']!r} and the topic {step['topic']!r}.")
