"""The run directory: the name of every artifact, atomic writes, checksums and fingerprints.

A stage is finished when `manifest.json` has its fingerprint (a hash of its settings and its input) and
the checksums of its files. `fit` runs only the stages that are not finished, so an interrupted fit
continues where it stopped. A file that was changed afterwards is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import stat
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aspectra.arguments import as_path
from aspectra.disk import finish_replacing, is_leftover, locked, write_atomic
from aspectra.errors import InputError, RunError, VersionError, typed

FORMAT = 1
MANIFEST = "manifest.json"
CONFIG = "config.json"
SEGMENTS = "segments.parquet"
TOKENS = "tokens.npz"
VOCABULARY = "vocabulary.json"
VECTORS = "vectors.npy"
TEACHER = "teacher.safetensors"
HISTORY = "history.jsonl"
TOPICS = "topics.json"
INPUTS = "inputs.json"
"""The files of reviews as they were given, to name them in what to do next."""

# What a person makes, and the studio around it.
TOPIC_MAP = "topic_map.json"
MAP_HISTORY = "map-history"
STUDIO = "studio.json"
DEV = "dev.jsonl"
LABELS = "labels.jsonl"
ASPECTS = "aspects.toml"

# Sentiment: what was learnt, and the rated reviews that it is learnt from.
SENTIMENT = "sentiment.npz"
RATED = "rated.parquet"

# The student, in a folder of the run; its config.json is its own. CARD is the model card, for people.
STUDENT = "student"
HEAD = "head.safetensors"
FAST = "fast.safetensors"
ENCODER = "encoder"
FEATURES = "features"
CARD = "README.md"

# Outside the run: the files beside an exported model.onnx, by suffix; what a folder of labels was made with.
ONNX_CONFIG = ".json"
ONNX_TOKENIZER = ".tokenizer.json"
ONNX_SENTIMENT = ".sentiment.npz"
LABELLING = "_labelling.json"
CHECKSUM = "checksum"
"""The field with a JSON file's own checksum."""
AGAIN = "Repeat the fit: damaged files are rebuilt."

STAGE_FILES = {
    "prepare": (SEGMENTS, TOKENS, VOCABULARY),
    "vectors": (VECTORS,),
    "teacher": (TEACHER, HISTORY),
    "topics": (TOPICS, CONFIG),
}


ARTIFACTS = frozenset(
    itertools.chain(*STAGE_FILES.values(), (MANIFEST, INPUTS, DEV, LABELS, ASPECTS, SENTIMENT, RATED))
)
"""The files of a run; also every topic_map*.json and studio*.json, one per annotator."""
FOLDERS = (STUDENT, MAP_HISTORY, FEATURES)
UPDATE = {"before": str, "fingerprint": str, "files": [str], "reviews": int, "segments": int, "words": [str]}
"""What the manifest keeps of an update: fingerprints of `prepare` before it and of its reviews, and so on."""
SCHEMAS: dict[str, Any] = {
    CONFIG: {},
    VOCABULARY: {"words": [str], "counts": [int], "language": str},
    TOPICS: {
        "items": [
            {"id": int, "keywords": [str], "weights": [float], "share": float, "coherence": Any}
            | {"typical": [str]}
        ],
        "diversity": float,
        "fingerprint": str,
    },
}
"""What a JSON artifact must hold; more is allowed."""


def to_json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, to_json(value))


def read_json(path: Path) -> Any:
    """Read an artifact and check it against its schema, if it has one."""
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RunError(f"{path} is missing. Fit the reviews again into a new --run.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, error) from None
    fault = find_fault(values, SCHEMAS.get(path.name, Any))
    if fault:
        raise damaged(path, fault)
    return values


def damaged(path: Path, why: object) -> RunError:
    return RunError(f"{path} is damaged ({why}). Fit the reviews again into a new --run.")


def find_fault(value: Any, kind: Any, name: str = "it") -> str:
    """Return what a JSON value lacks, or nothing. An object's kind is a dictionary, a list's [kind]."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return f"{name} is not a list"
        if kind[0] in (str, int) and set(map(type, value)) == {kind[0]}:
            return ""  # the usual case of a long list, quickly
        faults = (find_fault(one, kind[0], f"{name}[{place}]") for place, one in enumerate(value))
        return next(filter(None, faults), "")
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return f"{name} is not an object"
        missing = [field for field in kind if field not in value]
        if missing:
            return f"{name} has no {missing[0]!r}"
        faults = (find_fault(value[field], of, field) for field, of in kind.items())
        return next(filter(None, faults), "")
    if kind is Any or type(value) is kind:
        fits = kind is not float or math.isfinite(value)
    else:
        fits = kind is float and type(value) is int
    return "" if fits else f"{name} is {str(value)[:40]!r}, not {kind.__name__}"


def fingerprint(*parts: Any) -> str:
    """Hash JSON-able values into 16 hex digits; equal values give equal digits on every machine."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:16]


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_student(run: Path) -> bool:
    """Tell whether a run has a student; one without its config.json is an error, not no student."""
    home = run / STUDENT
    if not (home / CONFIG).exists() and (home / HEAD).exists():
        raise RunError(
            f"{home / CONFIG} is missing, so the student there cannot be used. "
            f"Distil again: aspectra distill {typed(run)}, or label with --model teacher."
        )
    return (home / CONFIG).exists()


def has_fast(run: Path) -> bool:
    """Tell whether a run's student has a fast form that was made together with it."""
    return has_student(run) and "fast" in read_json(run / STUDENT / CONFIG)


def is_artifact(name: str) -> bool:
    """Tell whether a run keeps a file or folder of this name."""
    per_person = any(Path(name).match(f"{Path(one).stem}*.json") for one in (TOPIC_MAP, STUDIO))
    return name in ARTIFACTS or name in FOLDERS or per_person


def refuse_own_file(path: Path) -> None:
    """Raise InputError if an output would be a run's folder, a file of it, or in a folder that it keeps."""
    place = Path(os.path.realpath(path))
    for depth, run in enumerate((place, *place.parents[:3])):
        manifest = run / MANIFEST
        owned = depth == 0 or is_artifact(place.parts[-depth])
        if owned and manifest.is_file() and b'"stages"' in manifest.read_bytes():
            raise InputError(f"{path} belongs to the run {run}. Choose another place to write to.")


def history_folder(path: Path) -> Path:
    """Return where earlier versions of a file that a person made are kept."""
    return path.parent / MAP_HISTORY


def replace_and_keep(path: Path, data: bytes) -> None:
    """Replace a file in one step, if anything changed; the version before it goes to map-history/."""
    previous = path.read_bytes() if path.exists() else None
    if data == previous:
        return
    if previous is not None:
        keep_earlier(path, previous)
    write_atomic(path, data)


def keep_earlier(path: Path, previous: bytes) -> None:
    """Keep what a file held before in map-history/, under the time of now."""
    folder = history_folder(path)
    for leftover in filter(is_leftover, folder.glob(".*")):  # its name, a time, is never written again
        leftover.unlink(missing_ok=True)
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    number = 1
    while (name := folder / f"{time}-{number}{path.suffix}").exists():
        number += 1
    write_atomic(name, previous)


def inputs_of(run: Path) -> list[str]:
    """Return the files of reviews as they were given to fit; none if that is not known."""
    try:
        files = read_json(run / INPUTS)
    except RunError:
        return []
    return [] if find_fault(files, [str]) else list(files)


def own_checksum(values: dict[str, Any]) -> str:
    """Return the checksum that a JSON file keeps of its other fields: an edit of what it says is noticed."""
    return fingerprint({name: value for name, value in values.items() if name != CHECKSUM})


class RunDir:
    """One run directory on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = as_path(path, "run")

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def create(self) -> None:
        """Make the directory, or continue an existing run; refuse a folder that holds something else."""
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file, not a folder. Choose another --run.")
        if (self / MANIFEST).exists():
            self.manifest()
            self._sweep()
            return
        if self.path.is_dir() and any(not path.name.startswith(".") for path in self.path.iterdir()):
            raise RunError(
                f"{self.path} is not empty and not a run of aspectra. "
                "Choose another --run, or empty it first."
            )
        write_json(self / MANIFEST, {"format": FORMAT, "stages": {}})

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Create the run, or continue it, and keep every other fit out of it meanwhile."""
        if not self.path.is_dir():
            self.create()
        with locked(self.path, "fit", wait=0):
            self.create()
            yield

    def _sweep(self) -> None:
        """Remove the temporary files of a process that was killed."""
        for name in (MANIFEST, *itertools.chain(*STAGE_FILES.values())):
            for leftover in self.path.glob(f".{name}.*"):
                leftover.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # a folder that may not be written to
            finish_replacing(self.path, MANIFEST)
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file. Name the folder given to aspectra fit --run.")
        if not self.path.is_dir():
            raise RunError(
                f"There is no folder {self.path}. "
                f"Make it first: aspectra fit reviews.csv --run {typed(self.path)}"
            )
        if not (self / MANIFEST).exists():
            raise RunError(
                f"{self.path} is not a run of aspectra: it has no {MANIFEST}. "
                "Name the folder given to aspectra fit --run."
            )
        self._refuse_pipes()
        manifest: dict[str, Any] = read_json(self / MANIFEST)
        found = manifest.get("format") if isinstance(manifest, dict) else None
        if found != FORMAT:
            raise VersionError(
                f"{self.path} has format {found}, this version reads format {FORMAT}. "
                "Update aspectra, or fit the reviews again into a new --run."
            )
        stages = manifest.get("stages")
        known = isinstance(stages, dict) and set(stages) <= set(STAGE_FILES)
        fault = "" if known else f"its stages are not {', '.join(STAGE_FILES)}"
        for entry in stages.values() if isinstance(stages, dict) and known else ():
            fault = fault or find_fault(entry, {"fingerprint": str, "files": {}}, "a stage")
            fault = fault or find_fault(list(entry["files"].values()), [str], "files")
        fault = fault or find_fault(manifest.get("updates", []), [UPDATE], "updates")
        if fault:
            raise damaged(self / MANIFEST, fault)
        return manifest

    def _refuse_pipes(self) -> None:
        """Raise RunError if a pipe or a device is in place of a file: reading it would never end."""
        for path in (*self.path.iterdir(), *(self / STUDENT).glob("*")):
            try:
                mode = path.stat().st_mode
            except OSError:  # a link that leads nowhere, or what another process has just replaced
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise RunError(f"{path} is a pipe or a device, not a file. Remove it from the run.")

    def config(self) -> dict[str, Any]:
        """Return the settings of a finished run."""
        self.check("topics")
        return dict(read_json(self / CONFIG))

    def finished(self, stage: str, mark: str) -> bool:
        """Tell whether a stage was completed with this fingerprint and its files are unchanged."""
        entry = self.manifest()["stages"].get(stage)
        return (
            bool(entry)
            and entry["fingerprint"] == mark
            and all(self._unchanged(name, digest) for name, digest in entry["files"].items())
        )

    def _unchanged(self, name: str, digest: str) -> bool:
        return (self / name).is_file() and checksum(self / name) == digest

    def finish(self, stage: str, mark: str) -> None:
        """Record a stage as finished and forget the stages after it, because their input has changed."""
        order, before = list(STAGE_FILES), self.manifest()
        kept = {
            name: entry for name, entry in before["stages"].items() if order.index(name) < order.index(stage)
        }
        kept[stage] = {
            "fingerprint": mark,
            "files": {name: checksum(self / name) for name in STAGE_FILES[stage]},
        }
        same = before["stages"].get("prepare", {}).get("fingerprint") == kept["prepare"]["fingerprint"]
        updates = {"updates": before["updates"]} if same and "updates" in before else {}
        write_json(self / MANIFEST, {"format": FORMAT, "stages": kept, **updates})

    def replaced(self, new: Path, marks: dict[str, str], update: dict[str, Any]) -> dict[str, Any]:
        """Return the manifest for the files in `new`, which replace those of the stages in `marks`."""
        before = self.manifest()
        stages = {
            stage: {"fingerprint": mark, "files": {name: checksum(new / name) for name in STAGE_FILES[stage]}}
            for stage, mark in marks.items()
        }
        updates = [*before.get("updates", []), update]
        return {"format": FORMAT, "stages": {**before["stages"], **stages}, "updates": updates}

    def check(self, *stages: str, unread: Collection[str] = ()) -> None:
        """Raise RunError unless the stages are finished and their files unchanged.

        Files that are not read now, and may be large, need only be there.
        """
        done = self.manifest()["stages"]
        for stage in stages:
            if stage not in done:
                raise RunError(
                    f"{self.path} is not finished: its stage '{stage}' is missing. "
                    "Repeat the fit: it continues where it stopped."
                )
            for name, digest in done[stage]["files"].items():
                if (self / name).is_file() if name in unread else self._unchanged(name, digest):
                    continue
                if self.manifest()["stages"] != done:  # an update came between
                    return self.check(*stages, unread=unread)
                raise RunError(
                    f"{self / name} is missing or damaged. Repeat the fit: damaged files are rebuilt."
                )
        return None

    def fingerprint_of(self, stage: str) -> str:
        """Return the fingerprint under which a stage was finished."""
        self.check(stage, unread=STAGE_FILES[stage])
        return str(self.manifest()["stages"][stage]["fingerprint"])
