"""Forged files of a run, a student, an export, labels, gold, maps: refused in a sentence, or the same answer.

A forger may also write the right checksums. Then other numbers of the right shape cannot be told from true
ones, and only a traceback, a hang, or memory beyond the limit counts as fallen.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aspectra import rundir

from .children import Outcome
from .mutator import mutate
from .place import Place, Trial

FORGERIES = 300
RUN_FILES = tuple(name for names in rundir.STAGE_FILES.values() for name in names)
STUDENT = tuple(f"{rundir.STUDENT}/{name}" for name in (rundir.CONFIG, rundir.HEAD, rundir.FAST))
OTHERS = (
    rundir.MANIFEST, rundir.TOPIC_MAP, rundir.INPUTS, rundir.ASPECTS, rundir.SENTIMENT, rundir.RATED,
)  # fmt: skip
EXPORT = ("model.onnx", "model.json", "model.tokenizer.json", "model.sentiment.npz")


@dataclass(frozen=True)
class Case:
    """A file to forge, what makes its checksums right, and the commands that read it."""

    path: Path
    sign: Callable[[], None] | None
    commands: tuple[tuple[object, ...], ...]
    output: Path | None = None
    """Labels that must be as before, unless the forger signed."""


def attack(place: Place) -> Iterator[Trial]:
    random = place.random("forging")
    right = labels_of(place, place.copy("forging"))
    makers = (
        run_file, run_file, student_file, encoder_file, export_file, label_file, gold_file, spreadsheet,
    )  # fmt: skip
    for number in range(place.count(FORGERIES)):
        case = random.choice(makers)(place, random.random())
        done = mutate(case.path, random)
        signed = case.sign is not None and random.random() < 0.5
        if signed and case.sign:
            case.sign()
        outcomes = [place.worker(*words) for words in case.commands]
        what = f"{case.path.name}, {done}{', signed' if signed else ''} ({number})"
        yield what, judge(case, outcomes, signed, right)


def judge(case: Case, outcomes: list[Outcome], signed: bool, right: dict[str, bytes]) -> str:
    for outcome in outcomes:
        if outcome.fault():
            return f"{outcome.words[0]}: {outcome.fault()}"
    if (
        case.output
        and case.output.exists()
        and not signed
        and case.output.read_bytes() != right[case.output.name]
    ):
        return "other labels, and not a word"
    first, last = outcomes[0], outcomes[-1]
    if (first.words[0], last.words[0], last.code) == ("label", "check", 0) and first.code:
        return f"check says that it is whole, label says: {first.err}"
    return ""


def labels_of(place: Place, run: Path) -> dict[str, bytes]:
    """Return the right labels, of teacher, student and export."""
    folder = place.scratch("right")
    place.worker(*teacher(place, run, folder))
    place.worker(*student(place, run, folder))
    place.worker("label", "--onnx", place.onnx, place.reviews, "-q", "-o", folder / "onnx.csv")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def teacher(place: Place, run: Path, folder: Path) -> tuple[object, ...]:
    return "label", run, place.reviews, "--model", "teacher", "-q", "-o", folder / "teacher.csv"


def student(place: Place, run: Path, folder: Path) -> tuple[object, ...]:
    return "label", run, place.reviews, "-q", "-o", folder / "student.csv"


def pick(names: tuple[str, ...], share: float) -> str:
    return names[int(share * len(names))]


def run_file(place: Place, share: float) -> Case:
    run = place.copy("forged")
    name = pick((*RUN_FILES, *OTHERS), share)
    folder = run.parent
    commands = (
        teacher(place, run, folder),
        ("topics", run),
        ("map", run, "--no-page", "-q"),
        *([distil(run, place.encoder)] if name in (rundir.RATED, rundir.ASPECTS) else []),
        ("check", run, "-q"),
    )
    sign = None if name in OTHERS else lambda: sign_run(run)
    output = None if name == rundir.TOPIC_MAP else folder / "teacher.csv"  # a map is made to be edited
    return Case(run / name, sign, commands, output)


def sign_run(run: Path) -> None:
    """Write the checksums of the files as they are."""
    path = run / rundir.MANIFEST
    manifest = json.loads(path.read_text())
    for stage in manifest["stages"].values():
        stage["files"] = {name: rundir.checksum(run / name) for name in stage["files"]}
    path.write_text(json.dumps(manifest))


def student_file(place: Place, share: float) -> Case:
    run = place.copy("forged")
    slow = ("label", run, place.reviews, "--model", "encoder", "-q", "-o", run.parent / "slow.csv")
    commands = (student(place, run, run.parent), slow, ("check", run, "-q"))
    return Case(run / pick(STUDENT, share), lambda: sign_student(run), commands, run.parent / "student.csv")


def sign_student(run: Path) -> None:
    config, head, fast = (run / name for name in STUDENT)
    resign(config, {"weights": rundir.checksum(head), "fast": rundir.checksum(fast)})


def encoder_file(place: Place, share: float) -> Case:
    """Forge a file of the encoder's folder, which has no checksums: who gives it answers for it."""
    folder = place.copy("forged", place.encoder)
    files = tuple(sorted(path.name for path in folder.iterdir()))
    run = place.copy("forged2")
    return Case(folder / pick(files, share), None, (distil(run, folder),))


def distil(run: Path, encoder: Path) -> tuple[object, ...]:
    return "distill", run, "--encoder", encoder, "--n-segments", 250, "-q"


def resign(path: Path, more: dict[str, str]) -> None:
    """Write the checksum of a JSON file's own fields, if it is still an object."""
    try:
        values = json.loads(path.read_bytes())
    except ValueError:
        return
    if isinstance(values, dict):
        values |= more
        path.write_text(json.dumps({**values, rundir.CHECKSUM: rundir.own_checksum(values)}))


def export_file(place: Place, share: float) -> Case:
    folder = place.copy("forged", place.onnx.parent)
    graph = folder / EXPORT[0]
    command = ("label", "--onnx", graph, place.reviews, "-q", "-o", folder.parent / "onnx.csv")
    about, tokenizer, felt = (folder / name for name in EXPORT[1:])

    def sign() -> None:
        files = {"graph": graph, "tokenizer": tokenizer, "sentiment": felt}
        resign(about, {f"{name}_sha256": rundir.checksum(file) for name, file in files.items()})

    return Case(folder / pick(EXPORT, share), sign, (command,), folder.parent / "onnx.csv")


def label_file(place: Place, share: float) -> Case:
    folder = place.scratch("forged")
    path = folder / "labels.parquet"
    shutil.copy(place.labels, path)
    return Case(path, None, (("report", place.run, path, "-o", folder / "r.html", "-q"),))


def gold_file(place: Place, share: float) -> Case:
    run = place.copy("forged")
    path = run / rundir.DEV
    shutil.copy(place.gold, path)
    commands = (
        ("evaluate", run, path, "--model", "teacher", "-q"),
        ("report", run, place.labels, "-o", run.parent / "r.html", "--gold", path, "-q"),
        ("check", run, "-q"),
    )
    return Case(path, None, commands)


def spreadsheet(place: Place, share: float) -> Case:
    run = place.copy("forged")
    path = run.parent / "map.csv"
    place.worker("map", "export", run, path, "-q")
    return Case(path, None, (("map", "import", run, path, "-q"), ("check", run, "-q")))
