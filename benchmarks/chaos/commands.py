"""Every command that writes: what is there before, what to type, and whether what is there later is whole."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aspectra import rundir

from .place import ASPECTS, FIT, Place

Contents = dict[str, set[Any]]
"""What the files of each name hold; earlier maps, named by time, have one name together."""
OLD = b"of yesterday"


@dataclass(frozen=True)
class Command:
    """`prepare` fills an empty folder with what was there before; `words` are what to type then."""

    name: str
    prepare: Callable[[Path], object]
    words: Callable[[Path], tuple[object, ...]]
    share: float = 1.0
    """Of the usual number of kills; Ray takes long."""


def commands(place: Place) -> list[Command]:
    run, reviews = place.run, place.reviews
    table = place.home / "map.csv"
    if not table.exists():
        place.worker("map", "export", run, table, "-q")
        edited = table.read_text(encoding="utf-8-sig").replace(",Taste,", ",Noise,")
        table.write_text(edited, encoding="utf-8")
    inputs = make_inputs(place)

    def copy(folder: Path) -> None:
        shutil.copytree(run, folder / "run")

    def old(*names: str) -> Callable[[Path], None]:
        def write(folder: Path) -> None:
            for name in names:
                (folder / name).write_bytes(OLD)

        return write

    def nothing(folder: Path) -> None: ...

    label = ("label", run, reviews, "--model", "teacher", "-q", "-o")
    some = ("label", run, *inputs, "-q", "-o")
    names = ("--aspects", f"{ASPECTS},Service", "--encoder", "none", "-q")
    learn = ("--encoder", place.encoder, "--n-segments", 250, "-q")
    report = ("report", run, place.labels, "-q", "-o")
    return [
        Command("sample", old("reviews.csv"), lambda to: ("sample", to, "--reviews", 300, "-q")),
        Command("fit", nothing, lambda to: ("fit", reviews, "--run", to / "run", "-q", *FIT)),
        Command("map", copy, lambda to: ("map", to / "run", *names)),
        Command("map import", copy, lambda to: ("map", "import", to / "run", table, "-q", "--by", "Ada")),
        Command("map export", old("m.csv"), lambda to: ("map", "export", run, to / "m.csv", "-q")),
        Command("distill", copy, lambda to: ("distill", to / "run", *learn)),
        Command("update", copy, lambda to: ("update", to / "run", new_reviews(place), "-q")),
        Command("label", old("l.csv"), lambda to: (*label, to / "l.csv")),
        Command("label parquet", old("l.parquet"), lambda to: (*label, to / "l.parquet")),
        Command("label folder", nothing, lambda to: (*some, f"{to}/out/")),
        Command("label ray", nothing, lambda to: (*some, f"{to}/out/", "--engine", "ray"), 0.2),
        Command("export", nothing, lambda to: ("export", run, "-o", to / "m.onnx", "-q")),
        Command("report", old("r.html"), lambda to: (*report, to / "r.html", "--xlsx", to / "r.xlsx")),
    ]  # fmt: skip


def new_reviews(place: Place) -> Path:
    """Write reviews with words that the run lacks."""
    path = place.home / "new.csv"
    if not path.exists():
        lines = (f"The new valve number {number} hisses and leaks on the floor." for number in range(60))
        path.write_text("\n".join(("text", *lines, "")), encoding="utf-8")
    return path


def make_inputs(place: Place) -> list[Path]:
    """Write reviews in several files."""
    folder = place.home / "inputs"
    lines = place.reviews.read_text(encoding="utf-8-sig").split("\nr0")
    if not folder.exists():
        folder.mkdir()
        for number in range(6):
            rows = "\nr0".join([lines[0].split("\n")[0], *lines[1 + number * 30 : 31 + number * 30]])
            (folder / f"part{number}.csv").write_text(rows + "\n", encoding="utf-8")
    return sorted(folder.glob("*.csv"))


def contents(folder: Path) -> Contents:
    """Return what is in a folder; hidden files are not looked at."""
    found: Contents = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            name = re.sub(r"map-history/[^.]*", "map-history/*", name)
            found.setdefault(name, set()).add(content(path))
    return found


def content(path: Path) -> Any:
    """Return what a file holds, without times; of files with times in them only whether they are whole."""
    data = path.read_bytes()
    if data == OLD:
        return OLD
    if path.suffix == ".html":
        return data.rstrip().endswith(b"</html>")
    if path.suffix == ".xlsx":
        return zipfile.is_zipfile(path) and zipfile.ZipFile(path).testzip() is None
    if path.name == rundir.MANIFEST:
        return set(json.loads(data)) == {"format", "stages"}
    if path.suffix == ".json" and b'"choices"' in data and b'"graph_sha256"' not in data:
        return json.dumps([{**one, "at": ""} for one in json.loads(data)["choices"]])
    return data


def misfits(found: Contents, *allowed: Contents) -> str:
    """Name the files that hold something else than before or after."""
    known = {name: set().union(*(one.get(name, set()) for one in allowed)) for name in found}
    wrong = [name for name, held in found.items() if not held <= known[name]]
    return f"neither the old content nor the new: {', '.join(wrong)}" if wrong else ""


def hidden(folder: Path) -> str:
    left = [str(path.relative_to(folder)) for path in folder.rglob(".*")]
    return f"left behind: {', '.join(left)}" if left else ""
