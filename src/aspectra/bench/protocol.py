"""The protocol in code: what a system may see, what it must return, and a test set that opens once.

A `Task` is one set with one seed: the unlabelled corpus, dev, and the fits that its systems share. A `System`
turns it into a `Frozen`, which gives the A aspects' probabilities for each segment. The `Exam` holds test.
While it is sealed, opening one of its files is an error; it opens once, for a frozen system. Whatever is
scored on test, here and in benchmarks/, goes through it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.bench.processes import peak_gb, reset_peak
from aspectra.bench.sets import BenchmarkSet, Read, Seeds
from aspectra.bench.versions import fit_key
from aspectra.config import FitConfig
from aspectra.detector import AspectDetector
from aspectra.fitting import STAGES, Fitted, Reviews, fit_stages
from aspectra.labelling.evaluate import SegmentLabeller
from aspectra.labelling.several import WordOpinions, add_named, in_parts
from aspectra.progress import Progress, quiet
from aspectra.rundir import RunDir
from aspectra.scores import Gold, Scores, score, score_sets
from aspectra.text.tokens import extract
from aspectra.topicmap.calibrate import SEVERAL_FROM, members
from aspectra.topicmap.gamma import PREFIX

Probabilities = Callable[[Sequence[str]], np.ndarray]

NAMES, SEED_WORDS, MANY_SEEDS = "names", "5 seed words", "30 seed words"
DEV_MAP, LABELS = "dev map", "labels"
"""What a system is told of the aspects. A dev map is made with dev's labels, which it does not learn from."""
FEW_SEEDS = 5
SECONDS = "seconds.json"
WORDS = ("prepare", "vectors")
"""The stages of the shared fit that give segments and word vectors."""


class ProtocolError(Exception):
    """A system did something that makes its score worthless. This is a bug, so it keeps its traceback."""


@dataclass(frozen=True)
class Frozen:
    """A fitted system: a function from N segments to N×A probabilities, in the order of the task's aspects.

    `facts` are worth knowing of the fit; they go into the record.
    """

    probabilities: Probabilities
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """What a system may see of one set, with one seed. `home` is the folder for the fits."""

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
    def weighted_seeds(self) -> Seeds:
        """Return all seed words of the set, 30 for each aspect of a published one, with their weights."""
        return self.bench.read_seeds(self.data)

    @property
    def seed_words(self) -> dict[str, tuple[str, ...]]:
        """Return five words for each aspect."""
        return {aspect: tuple(words)[:FEW_SEEDS] for aspect, words in self.weighted_seeds.items()}

    @property
    def run(self) -> Path:
        """The folder of the fit that the set's systems share."""
        return self.home / "runs" / f"{self.bench.name}-{self.seed}-{fit_key()}"

    @property
    def encoded(self) -> Path:
        """The folder for what an encoder makes of the set's texts: the same for all seeds and systems."""
        return self.home / "encoded" / self.bench.name

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What systems of this task compute once for all of them, by a name."""
        return {}

    @cached_property
    def costs(self) -> Costs:
        return Costs()

    @property
    def teacher(self) -> AspectDetector:
        """The fit with the set's own settings, mapped by dev; fitted once, later read from its folder."""
        self.costs.used.update(STAGES)
        return self.mapped_fit

    @property
    def words(self) -> Fitted:
        """The first half of that fit, for other models: segments, vocabulary and word vectors."""
        self.costs.used.update(WORDS)
        return self.shared_fit.fitted_

    @cached_property
    def shared_fit(self) -> AspectDetector:
        """Fit, and keep how long each stage took; a system pays for the stages that it uses."""
        clock, began, cpu = StageClock(self.progress), time.perf_counter(), time.process_time()
        config = self.bench.config(self.seed)
        fitted = fit_topics(config, self.bench.reviews(self.data), self.run, clock)
        if not (self.run / SECONDS).exists():
            rundir.write_json(self.run / SECONDS, clock.seconds)
        self.costs.stages = dict(rundir.read_json(self.run / SECONDS))
        self.costs.elsewhere += time.perf_counter() - began
        self.costs.elsewhere_cpu += time.process_time() - cpu
        return fitted

    @cached_property
    def mapped_fit(self) -> AspectDetector:
        return self.shared_fit.suggest_map(dev=self.dev)

    def probabilities(self, labeller: SegmentLabeller, texts: Sequence[str]) -> np.ndarray:
        """Label segments and return N×A in the order of the task's aspects, which is not a map's order."""
        return label_probabilities(labeller, self.aspects, texts)

    def exam(self) -> Exam:
        return Exam(self.bench.files(self.data, self.bench.test), self.bench.read_test, self.aspects)

    def variant(self, settings: dict[str, Any]) -> AspectDetector:
        """Fit with other settings, on the stages of the shared fit that stay the same, and map by dev."""
        config = self.bench.config(self.seed, **settings)
        if config == self.bench.config(self.seed):
            return self.teacher
        _ = self.words  # the stages that stay the same
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            run = Path(folder) / "run"
            shutil.copytree(
                self.run, run, copy_function=link_or_copy, ignore=shutil.ignore_patterns(rundir.STUDENT)
            )
            fitted = fit_topics(config, self.bench.reviews(self.data), run, self.progress)
        return fitted.suggest_map(dev=self.dev)


def fit_topics(config: FitConfig, reviews: Reviews, run: Path, progress: Progress) -> AspectDetector:
    """Fit as `AspectDetector.fit` does, but for sentiment, which no system uses."""
    detector, home = AspectDetector(**config.to_dict()), RunDir(run)
    with home.writing():
        detector.fitted_ = fit_stages(reviews, config, home, progress)
    return detector


def label_probabilities(
    labeller: SegmentLabeller, aspects: Sequence[str], texts: Sequence[str]
) -> np.ndarray:
    """Label segments and return N×A in the order of these aspects."""
    return labeller.label_segments(list(texts)).select(PREFIX + aspect for aspect in aspects).to_numpy()


def link_or_copy(source: str, target: str) -> None:
    """Give a file a second name. Files of a run are replaced, never written into, so the first is safe."""
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


@dataclass
class StageClock:
    """Reports progress on, and keeps the seconds of every stage."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)

    def __call__(self, stage: str, done: float) -> None:
        self.began.setdefault(stage, time.perf_counter())
        self.seconds[stage] = round(time.perf_counter() - self.began[stage], 2)
        self.progress(stage, done)


@dataclass
class Costs:
    """What a system pays for: its own seconds, and those of the shared fit's stages that it uses."""

    stages: dict[str, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    elsewhere: float = 0.0
    """Seconds of this process for the shared fit, which are not the system's own."""
    elsewhere_cpu: float = 0.0
    """The same in seconds of its CPU."""

    def measure(self, fit: Callable[[], Frozen]) -> tuple[Frozen, dict[str, float]]:
        """Fit a system; return it with its seconds and the peak memory in GB of the process meanwhile."""
        self.used.clear()
        reset_peak()
        began, before = time.perf_counter(), self.elsewhere
        frozen = fit()
        own = time.perf_counter() - began - (self.elsewhere - before)
        shared = sum(self.stages.get(stage, 0.0) for stage in self.used)
        return frozen, {
            "fit_seconds": round(own, 2),
            "shared_seconds": round(shared, 2),
            "peak_gb": round(peak_gb(), 3),
        }


class System(Protocol):
    """One way to detect aspects. `supervision` is what it is told; `seeded`, whether its seed matters."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def supervision(self) -> str: ...
    @property
    def seeded(self) -> bool: ...
    def config(self, task: Task) -> dict[str, Any]:
        """Return all settings that decide the result, for the cache and the record."""
        ...

    def fit(self, task: Task) -> Frozen: ...


SEALED: set[str] = set()


@cache
def watch_opening() -> None:
    """Make opening a sealed file an error from now on. Python keeps such a hook for good, so there is one."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if (
            event == "open"
            and SEALED
            and isinstance(arguments[0], str | os.PathLike)
            and os.path.realpath(arguments[0]) in SEALED
        ):
            raise ProtocolError(
                f"{arguments[0]} was opened before the system was frozen: "
                "a system must not see the test set that it is scored on."
            )

    sys.addaudithook(look)


class Exam:
    """The test set of one system: sealed while it is fitted, read once when it is frozen."""

    def __init__(self, paths: Sequence[Path], read: Read, aspects: Sequence[str]) -> None:
        self.paths, self.read, self.aspects = list(paths), read, tuple(aspects)
        self.frozen: Frozen | None = None
        self.opened = False

    @contextlib.contextmanager
    def sealed(self) -> Iterator[None]:
        watch_opening()
        files = {os.path.realpath(path) for path in self.paths}
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
        gold = self.read(self.paths)
        answers = np.asarray(self.frozen.probabilities(gold.texts))
        shape = (len(gold.texts), len(self.aspects))
        if answers.shape != shape or not np.isfinite(answers).all():
            raise ProtocolError(
                f"A system must give finite probabilities of shape {shape}, got {answers.shape}."
            )
        return gold, answers


def score_answers(gold: Gold, answers: np.ndarray, aspects: Sequence[str], frozen: Frozen) -> Scores:
    """Score N×A probabilities by the most probable aspect, and by all aspects as `label` finds them."""
    single = [aspects[place] for place in answers.argmax(1)]
    opinions = WordOpinions(lambda words: np.asarray(frozen.probabilities(words.to_list())))
    texts = pl.Series(gold.texts)
    member = members(answers, aspects, frozen.facts.get("several_from", SEVERAL_FROM))
    words = opinions.strongest(extract(texts))
    member = add_named(
        member, texts, aspects, words, lambda some, named: in_parts(some, named, opinions, "en")
    )
    several = [[aspects[place] for place in np.flatnonzero(row).tolist()] for row in member]
    scores = score(gold.aspects, single, aspects, answers.max(1))
    return replace(scores, sets=score_sets(gold.aspects, several, single, aspects))


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
