"""Is a run whole? Each of its files is read by the code that uses it; nothing is changed.

In: a run's folder. Out: one `Finding` per file, which says what is wrong with it and what to type. What an
encoder computed (features/) is not looked at: it is made again where it cannot be used.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aspectra import disk, rundir
from aspectra.aspects.aspects import read_file
from aspectra.config import FitConfig
from aspectra.errors import (
    AspectraError,
    ConfigError,
    NotInstalledError,
    RunError,
    StaleError,
    VersionError,
    typed,
)
from aspectra.fitting import Fitted
from aspectra.rundir import RunDir
from aspectra.scores import read_gold
from aspectra.sentiment.model import load_sentiment
from aspectra.sentiment.rated import load_rated
from aspectra.student.fast import load_fast
from aspectra.student.linear import read_student
from aspectra.studio.session import Session
from aspectra.studio.state import MapState
from aspectra.studio.studio import read_labels
from aspectra.topicmap.notes import note_on_unused
from aspectra.topicmap.topicmap import read_map

OK, MISSING, DAMAGED, STALE, FOREIGN = "ok", "missing", "damaged", "stale", "foreign"
NOT_YET, LEFTOVER, UNKNOWN = "not yet", "leftover", "unknown"
WRONG = (MISSING, DAMAGED, STALE, FOREIGN)
"""A run with such a finding is not whole; the other states are only told."""


@dataclass(frozen=True)
class Finding:
    """`name` is relative to the run; `message` says what is wrong and what to do."""

    name: str
    state: str = OK
    message: str = ""

    @property
    def wrong(self) -> bool:
        return self.state in WRONG


def check_run(run: Path | str) -> list[Finding]:
    """Check all files of a run; raise RunError if the folder is none."""
    home = RunDir(run)
    if not (home / rundir.MANIFEST).exists():
        home.check()  # raises: there is no run
    fitted, found = None, [*check_stages(home), *check_sentiment(home)]
    if not any(one.wrong for one in found):
        fitted, found = check_fitted(home.path, found)
    found += check_made_by_people(home.path, fitted)
    if fitted:
        found += check_student(home.path, fitted)
    return [*found, *check_rest(home.path)]


def check_stages(run: RunDir) -> Iterator[Finding]:
    """Compare the files of each stage with the checksums in the manifest."""
    try:
        done = run.manifest()["stages"]
    except RunError as error:
        yield found_wrong(rundir.MANIFEST, error)
        return
    yield Finding(rundir.MANIFEST)
    again = f"Repeat the fit; it makes only what is missing: {fit_command(run)}"
    for one in run.manifest().get("updates", []):
        again += f" Then: aspectra update {' '.join(map(typed, [run.path, *one['files']]))}"
    for stage, names in rundir.STAGE_FILES.items():
        if stage not in done:
            yield Finding(", ".join(names), MISSING, f"The fit was not finished. {again}")
            continue
        for name in names:
            if not (run / name).is_file():
                yield Finding(name, MISSING, f"It is not there. {again}")
            elif rundir.checksum(run / name) != done[stage]["files"].get(name):
                yield Finding(name, DAMAGED, f"It is not the file that the fit wrote. {again}")
            else:
                yield Finding(name)


def check_sentiment(run: RunDir) -> Iterator[Finding]:
    """Check what was learnt of sentiment, and the reviews that it was learnt from."""
    path, known = run / rundir.SENTIMENT, None
    if path.exists():
        try:
            known = load_sentiment(run)
            yield Finding(path.name)
        except RunError as error:
            yield found_wrong(path.name, error)
    else:
        yield Finding(path.name, NOT_YET, "Sentiment comes from a lexicon alone. Repeat the fit to learn it.")
    if (run / rundir.RATED).exists() or (known and known.about.get("rated")):
        yield attempt(rundir.RATED, lambda: load_rated(run, known))


def fit_command(run: RunDir) -> str:
    """Return the command that fits the same reviews with the same settings, as far as they are known."""
    files = map(typed, rundir.inputs_of(run.path) or ["reviews.csv"])
    words = ["aspectra", "fit", *files, "--run", typed(run.path)]
    with contextlib.suppress(RunError, ConfigError):
        options = FitConfig.from_dict(rundir.read_json(run / rundir.CONFIG)).changed_options()
        words += map(shlex.quote, options)
    return " ".join(words)


def check_fitted(run: Path, found: list[Finding]) -> tuple[Fitted | None, list[Finding]]:
    """Load what the fit made; if that fails, the file that the error names is damaged."""
    try:
        fitted = Fitted.load(run, with_map=False)
        return (fitted, found) if len(fitted.corpus.segments) else (None, found)
    except RunError as error:
        named = next((one.name for one in found if one.name in str(error)), rundir.MANIFEST)
        bad = Finding(named, DAMAGED, str(error))
        return None, [bad if one.name == named else one for one in found]


def check_made_by_people(run: Path, fitted: Fitted | None) -> Iterator[Finding]:
    """Check maps, labels, descriptions of aspects, and their earlier versions."""
    maps = sorted(run.glob(f"{Path(rundir.TOPIC_MAP).stem}*.json"))
    if run / rundir.TOPIC_MAP not in maps:
        yield Finding(
            rundir.TOPIC_MAP, NOT_YET, f"The topics are not mapped. Next: aspectra map {typed(run)}"
        )
    for path in maps:
        yield from check_map(path, fitted)
    if (run / rundir.DEV).exists():
        yield attempt(rundir.DEV, lambda: read_labels(run))
    if (run / rundir.LABELS).exists():
        yield attempt(rundir.LABELS, lambda: read_gold(run / rundir.LABELS))
    described = [path for path in (run / rundir.ASPECTS,) if path.exists()]
    for path in (*described, *sorted((run / rundir.MAP_HISTORY).glob("[!.]*"))):
        yield attempt(str(path.relative_to(run)), partial(read_earlier, path))
    with contextlib.suppress(AspectraError):  # a map that cannot be read is told above
        if unused := note_on_unused(run):
            yield Finding(rundir.ASPECTS, NOT_YET, unused)


def read_earlier(path: Path) -> object:
    return read_map(path) if path.suffix == ".json" else read_file(path)


def attempt(name: str, read: Callable[[], Any]) -> Finding:
    """Read a file; an error of ours becomes a finding."""
    try:
        read()
    except AspectraError as error:
        return found_wrong(name, error)
    return Finding(name)


def found_wrong(name: str, error: AspectraError) -> Finding:
    states = {NotInstalledError: MISSING, VersionError: FOREIGN, StaleError: STALE}
    return Finding(name, states.get(type(error), DAMAGED), str(error))


def check_map(path: Path, fitted: Fitted | None) -> Iterator[Finding]:
    """Check a map and, beside it, the file with undo and colours."""
    readable = attempt(path.name, lambda: read_map(path))
    if readable.wrong or fitted is None:
        yield readable
        return
    expected = fitted.topics.fingerprint, len(fitted.topics.items)
    found = attempt(path.name, lambda: read_map(path, *expected))
    yield Finding(path.name, FOREIGN, found.message) if found.wrong else found
    session = Session(path, MapState.of(read_map(path)), by="", read_only=True)
    if session.studio_file.exists():
        yield Finding(session.studio_file.name, DAMAGED if session.notice else OK, session.notice)


def check_student(run: Path, fitted: Fitted) -> Iterator[Finding]:
    """Check the student as labelling does: its files, its encoder, and that it was made for this map."""
    home, again = run / rundir.STUDENT, f"Distil again: aspectra distill {typed(run)}"
    try:
        if not rundir.has_student(run):
            yield Finding(
                rundir.STUDENT, NOT_YET, f"The teacher labels alone. Next: aspectra distill {typed(run)}"
            )
            return
        card = read_student(home, fitted).card
    except AspectraError as error:
        yield found_wrong(rundir.STUDENT, error)
        return
    path = run / rundir.TOPIC_MAP
    usable = path.exists() and not attempt(path.name, lambda: read_map(path)).wrong
    changed = usable and not read_map(path).means(card.topic_map_fingerprint, card.aspects)
    message = f"The topic map has changed since. {again}" if changed else ""
    yield Finding(rundir.STUDENT, STALE if changed else OK, message)
    fast = f"{rundir.STUDENT}/{rundir.FAST}"
    if rundir.has_fast(run):
        yield attempt(fast, lambda: load_fast(home, fitted))
    elif (run / fast).exists():
        yield Finding(fast, STALE, f"It is older than the student. {again}")


def check_rest(run: Path) -> Iterator[Finding]:
    """Tell what killed commands left, and what is not of the run."""
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if disk.is_leftover(path):
            yield Finding(name, LEFTOVER, "A command was killed; the next that writes this file removes it.")
        elif path.parent == run and not (rundir.is_artifact(name) or name.startswith(".")):
            yield Finding(name, UNKNOWN, "It is no file of the run, and is left alone.")
