"""Labelling files: a source's reviews → labelled rows in order; or many files → one Parquet file each.

Of many files, only those without an output are labelled, and those that have changed since. An output is
complete or not there. `review` is numbered within each input, so files can be labelled alone, on any machine.
`_labelling.json` beside the outputs tells of which inputs, by which model and with which columns they are:
outputs of another model are refused, not mixed in.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from aspectra import rundir
from aspectra.config import NOT_REVIEW
from aspectra.errors import InputError, MapError, RunError, typed
from aspectra.labelling.labeller import Labeller, choose_model, load
from aspectra.labelling.onnx import beside
from aspectra.labelling.places import list_names, local_copy, version_of, whole_file
from aspectra.labelling.unreadable import count_unreadable
from aspectra.progress import Count, count_part, uncounted
from aspectra.rundir import checksum, fingerprint
from aspectra.text.columns import carry, choose_columns
from aspectra.text.read import Source, find_text_column
from aspectra.text.write import write_parquet
from aspectra.topicmap.topicmap import read_map

INPUTS = "inputs"
"""In `_labelling.json`: what each input looked like when it was labelled."""


def label_source(
    labeller: Labeller, source: Source, count: Count, threads: int = 0
) -> Iterator[pl.DataFrame]:
    """Label a source batch by batch on `threads` threads, or the labeller's default.

    The input's other columns come first; one that has the name of a label column becomes input_….
    """
    reviews = 0
    for frame, labels in label_batches(labeller, source, count, threads or labeller.threads):
        yield beside_input(frame, labels, source).with_columns(pl.col("review") + reviews)
        reviews += len(frame)


def label_first(labeller: Labeller, source: Source) -> pl.DataFrame:
    """Label the first review alone, to see which columns there will be."""
    first = next(source.batches(size=1))
    return beside_input(first, labeller.label(first[source.text_column]), source)


def beside_input(frame: pl.DataFrame, labels: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Put the input's other columns before the labels, its id first."""
    carried = frame.drop(source.text_column)
    if source.id_column:
        carried = carried.select(source.id_column, pl.exclude(source.id_column))
    return carry(carried, labels)


@dataclass
class SegmentCounts:
    """Counts segments while they are labelled: all, no reviews, those with hardly a known word."""

    segments: int = 0
    not_reviews: int = 0
    unreadable: int = 0

    def of(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Pass labels on, and count them."""
        for frame in frames:
            self.segments += len(frame)
            self.not_reviews += int((frame["aspect"] == NOT_REVIEW).sum())
            self.unreadable += count_unreadable(frame["text"], frame["known_words"])
            yield frame

    def add(self, other: SegmentCounts) -> None:
        self.segments += other.segments
        self.not_reviews += other.not_reviews
        self.unreadable += other.unreadable


def label_batches(
    labeller: Labeller, source: Source, count: Count, threads: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield each batch and its labels in order, while the next batches are being labelled."""
    from threadpoolctl import threadpool_limits

    # numpy's own threads and ours would wait for each other
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        under_way: deque[tuple[pl.DataFrame, Future[pl.DataFrame]]] = deque()
        before = 0.0
        for frame in source.batches():
            told = count_part(count, before, source.share)
            before = source.share
            under_way.append((frame, pool.submit(labeller.label, frame[source.text_column], told)))
            if len(under_way) > threads:
                done, labels = under_way.popleft()
                yield done, labels.result()
        yield from ((done, labels.result()) for done, labels in under_way)


@dataclass(frozen=True)
class FileResult:
    """What became of one input: segments written, rows left out and why; or the problem.

    `notes` are what the labeller says of all its labels.
    """

    place: str
    counts: SegmentCounts = field(default_factory=SegmentCounts)
    skipped: list[str] = field(default_factory=list)
    problem: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What to label with (`load`'s run and model), the folder or URL to write to, and how to read."""

    run: Path
    output: str
    text_column: str
    id_column: str | None = None
    encoding: str = "utf-8"
    model: str | None = None
    columns: tuple[str, ...] = ()
    """Which columns to write; all if there are none."""

    def load(self, threads: int = 0) -> Labeller:
        return load(self.run, self.model, threads)

    def output_name(self, place: str) -> str:
        return f"{place.rpartition('/')[2].removesuffix('.parquet')}.parquet"

    def output_of(self, place: str) -> str:
        return f"{self.output}/{self.output_name(place)}"

    def missing(self, places: Iterable[str]) -> list[str]:
        """Return the inputs without an output; refuse another plan's outputs, and inputs that share one."""
        owner: dict[str, str] = {}
        for place in places:
            other = owner.setdefault(self.output_of(place), place)
            if other != place:
                raise InputError(
                    f"{other} and {place} would both be labelled into {self.output_of(place)}. "
                    "Use two folders."
                )
            if self.output_of(place) == place:
                raise InputError(f"{place} is also an output. Choose another -o.")
        there = list_names(self.output)
        outputs = any(name.endswith(".parquet") for name in there)  # without any, nothing can be mixed in
        self._check_about(outputs and rundir.LABELLING in there)
        return [place for place in owner.values() if self.output_name(place) not in there]

    def changed(self, places: Iterable[str], missing: Iterable[str]) -> dict[str, str]:
        """Return the inputs that have changed since they were labelled, and keep what all look like now.

        Those of `missing` have no output yet. One that has changed stays so until `finish` is told of it.
        """
        about, new = self._read_about(), set(missing)
        known = inputs_of(about)
        now = {place: version_of(place) for place in places}
        changed = {
            place: version
            for place, version in now.items()
            if place not in new and known.get(self.output_name(place), version) != version
        }
        seen = {self.output_name(place): "" if place in changed else now[place] for place in now}
        self._write_about({**about, INPUTS: {**known, **seen}})
        return changed

    def finish(self, place: str, version: str) -> None:
        """Keep what an input that had changed looked like before it was labelled again."""
        about = self._read_about()
        known = {**inputs_of(about), self.output_name(place): version}
        self._write_about({**about, INPUTS: known})

    def _read_about(self) -> dict[str, Any]:
        with local_copy(f"{self.output}/{rundir.LABELLING}") as path:
            return read_about(path)

    def _write_about(self, about: dict[str, Any]) -> None:
        with whole_file(f"{self.output}/{rundir.LABELLING}") as path:
            path.write_text(json.dumps(about) + "\n", encoding="utf-8")

    def _check_about(self, there: bool) -> None:
        about = {
            "model": labeller_fingerprint(self.run, self.model),
            "text_column": self.text_column,
            "id_column": self.id_column,
            **({"columns": list(self.columns)} if self.columns else {}),
        }
        if not there:
            self._write_about(about)
            return
        before = {name: value for name, value in self._read_about().items() if name != INPUTS}
        changed = [name for name in {**about, **before} if before.get(name) != about.get(name)]
        if changed:
            raise InputError(
                f"{self.output} holds labels made with another {changed[0].replace('_', ' ')}. "
                "Choose another -o, or empty it."
            )

    def label_file(
        self, labeller: Labeller, place: str, threads: int = 0, count: Count = uncounted
    ) -> FileResult:
        """Label one input into its output; a problem with it is returned, so that the others go on."""
        try:
            with local_copy(place) as path, whole_file(self.output_of(place)) as temporary:
                source = Source([path], self.text_column, self.id_column, self.encoding)
                counts = SegmentCounts()
                frames = counts.of(label_source(labeller, source, count, threads))
                write_parquet((choose_columns(frame, self.columns or ("*",)) for frame in frames), temporary)
                skipped, notes = source.skipped.summary(), list(labeller.notes)
                return FileResult(place, counts, skipped, notes=notes)
        except (InputError, RunError) as error:
            return FileResult(place, problem=str(error))


def inputs_of(about: dict[str, Any]) -> dict[str, str]:
    found = about.get(INPUTS)
    return found if isinstance(found, dict) else {}


def read_about(path: Path) -> dict[str, Any]:
    """Read what the labels of a folder were made with; nothing fits a file that cannot be read."""
    try:
        found = rundir.read_json(path)
    except RunError:
        return {}
    return found if isinstance(found, dict) else {}


def labeller_fingerprint(path: Path, model: str | None) -> str:
    """Return a fingerprint of all that decides a label: of an ONNX file, or of a run's models and map."""
    if path.suffix == ".onnx":
        return fingerprint(checksum(path), checksum(beside(path)[0]))
    run = rundir.RunDir(path)
    run.check("topics")
    names = [rundir.CONFIG, rundir.VOCABULARY, rundir.VECTORS, rundir.TEACHER]
    chosen = choose_model(path, model)[0]
    if chosen != "teacher":
        names.append(f"{rundir.STUDENT}/{rundir.CONFIG}")
    if chosen == "fast":
        names.append(f"{rundir.STUDENT}/{rundir.FAST}")
    if (run / rundir.SENTIMENT).exists():
        names.append(rundir.SENTIMENT)
    if not (run / rundir.TOPIC_MAP).exists():
        raise MapError(f"No topic map in {path}. Map the topics first: aspectra map {typed(path)}")
    topic_map = read_map(run / rundir.TOPIC_MAP)
    return fingerprint([checksum(run / name) for name in names], topic_map.fingerprint)


def make_plan(
    run: Path,
    model: str | None,
    output: str,
    places: list[str],
    reading: tuple[str | None, str | None, str],
    columns: tuple[str, ...] = (),
) -> Plan:
    """Plan to label inputs; `reading` is text column, id column and encoding.

    If the text column is None, the first input tells it.
    """
    with local_copy(places[0]) as path:
        return Plan(run, output, find_text_column(path, *reading), *reading[1:], model, columns)


def label_here(plan: Plan, places: list[str], count: Count) -> Iterator[FileResult]:
    """Label the inputs one after the other in this process."""
    labeller = plan.load()
    for number, place in enumerate(places):
        part = count_part(count, number / len(places), (number + 1) / len(places))
        yield plan.label_file(labeller, place, count=part)
