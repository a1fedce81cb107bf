"""The protocol in code: what a system may see, what it must give, and a test set that opens once, to a frozen system only.

A `Task` is one set with one seed: the unlabelled corpus and dev, and the fits that its systems share. A `System` makes of it a `Frozen`:
A probabilities a segment. The `Exam` holds test: while it is sealed, even opening one of its files is an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.bench.sets import BenchmarkSet, Seeds
from aspectra.bench.versions import FIT_CODE, code_mark
from aspectra.detector import AspectDetector
from aspectra.evaluate import Gold
from aspectra.progress import Progress, quiet
from aspectra.topicmap.gamma import PREFIX

Probabilities = Callable[[Sequence[str]], np.ndarray]


class Labeller(Protocol):
    """The teacher alone, or with its student."""

    def label_segments(self, segments: Any) -> pl.DataFrame: ...


class ProtocolError(Exception):
    """A system did what would make its score worthless; a bug, so it keeps its traceback."""


@dataclass(frozen=True)
class Frozen:
    """A fitted system: N×A probabilities for N segments, in the order of the task's aspects, and what is worth knowing of the fit."""

    probabilities: Probabilities
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """What a system may see of one set, with one seed; `home` keeps the fits."""

    bench: BenchmarkSet
    data: Path
    home: Path
    seed: int
    progress: Progress = quiet

    @cached_property
    def dev(self) -> Gold:
        return self.bench.read_dev(self.bench.files(self.data, self.bench.dev))

    @property
    def aspects(self) -> tuple[str, ...]:
        return tuple(sorted(set().union(*self.dev.aspects)))

    @cached_property
    def seed_words(self) -> Seeds:
        """Return words with weights for each aspect, for systems that are told some."""
        return self.bench.read_seeds(self.data)

    @property
    def run(self) -> Path:
        """The folder of the fit that the set's systems share."""
        return self.home / "runs" / f"{self.bench.name}-{self.seed}-{code_mark(*FIT_CODE)}"

    @cached_property
    def teacher(self) -> AspectDetector:
        """The fit with the set's own settings, mapped by dev; made once, then read from its folder."""
        config = self.bench.config(self.seed)
        fitted = AspectDetector(**config.to_dict()).fit(
            self.bench.reviews(self.data), run=self.run, progress=self.progress
        )
        return fitted.suggest_map(dev=self.dev)

    def probabilities(self, labeller: Labeller, texts: Sequence[str]) -> np.ndarray:
        """Label segments and return N×A in the order of the task's aspects, which is not a map's order."""
        return (
            labeller.label_segments(list(texts)).select(PREFIX + aspect for aspect in self.aspects).to_numpy()
        )

    def variant(self, settings: dict[str, Any]) -> AspectDetector:
        """Fit with other settings, on the stages of the shared fit that stay the same, and map by dev."""
        config = self.bench.config(self.seed, **settings)
        if config == self.teacher.config:
            return self.teacher
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            run = Path(folder) / "run"
            shutil.copytree(
                self.run, run, copy_function=link_or_copy, ignore=shutil.ignore_patterns(rundir.STUDENT)
            )
            fitted = AspectDetector(**config.to_dict()).fit(
                self.bench.reviews(self.data), run=run, progress=self.progress
            )
        return fitted.suggest_map(dev=self.dev)


def link_or_copy(source: str, target: str) -> None:
    """Give a file a second name; files of a run are replaced, never written into, so the first is safe."""
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


class System(Protocol):
    """One way to detect aspects. `seeded` tells whether its seed matters."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def seeded(self) -> bool: ...
    def config(self, task: Task) -> dict[str, Any]:
        """Return all settings that decide the result, for the cache and the record."""
        ...

    def fit(self, task: Task) -> Frozen: ...


SEALED: set[str] = set()


@cache
def watch_opening() -> None:
    """Let every later opening of a sealed file raise; Python keeps such a hook for good, so there is one."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if (
            event == "open"
            and SEALED
            and isinstance(arguments[0], str | os.PathLike)
            and os.path.realpath(arguments[0]) in SEALED
        ):
            raise ProtocolError(
                f"{arguments[0]} was opened before the system was frozen: test must not be seen by what it scores."
            )

    sys.addaudithook(look)


class Exam:
    """The test set of one system: sealed while it is fitted, read once when it is frozen."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.frozen: Frozen | None = None
        self.opened = False

    @contextlib.contextmanager
    def sealed(self) -> Iterator[None]:
        watch_opening()
        files = {
            os.path.realpath(path) for path in self.task.bench.files(self.task.data, self.task.bench.test)
        }
        SEALED.update(files)
        try:
            yield
        finally:
            SEALED.difference_update(files)

    def freeze(self, frozen: Frozen) -> None:
        if self.frozen is not None:
            raise ProtocolError("The system was frozen already: it cannot be changed after that.")
        self.frozen = frozen

    def answer(self) -> tuple[Gold, np.ndarray]:
        """Open test, once, and return it with the frozen system's probabilities."""
        if self.frozen is None:
            raise ProtocolError("Test was asked for before the system was frozen.")
        if self.opened:
            raise ProtocolError("Test was read already: it is read once.")
        self.opened = True
        bench = self.task.bench
        gold = bench.read_test(bench.files(self.task.data, bench.test))
        answers = np.asarray(self.frozen.probabilities(gold.texts))
        shape = (len(gold.texts), len(self.task.aspects))
        if answers.shape != shape or not np.isfinite(answers).all():
            raise ProtocolError(
                f"A system must give finite probabilities of shape {shape}, got {answers.shape}."
            )
        return gold, answers


def data_mark(task: Task) -> str:
    """Hash the bytes of all files of a set, test included, without parsing any."""
    digest = hashlib.sha256()
    for names in (task.bench.corpus, task.bench.dev, task.bench.test):
        for path in task.bench.files(task.data, names):
            digest.update(file_hash(path, path.stat().st_mtime_ns).encode())
    return digest.hexdigest()[:16]


@cache
def file_hash(path: Path, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
