"""Labelling many files: a Parquet file for each input, whole or not there, and only for those that have none yet.

`review` is numbered within each input, so every file can be labelled alone, in any order, anywhere. Beside the outputs,
`_labelling.json` tells which model and columns made them: another model is refused, not mixed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aspectra import rundir
from aspectra.errors import InputError, MapError
from aspectra.labelling.opening import open_labeller
from aspectra.labelling.places import list_names, local_copy, whole_file
from aspectra.labelling.rows import labelled
from aspectra.rundir import checksum, fingerprint
from aspectra.student.card import has_student, map_mark
from aspectra.text.read import Source, find_text_column
from aspectra.text.write import write_parquet
from aspectra.topicmap.topicmap import TopicMap

if TYPE_CHECKING:
    from aspectra.labelling.opening import Labeller


@dataclass(frozen=True)
class Model:
    """Which labeller: a run with its teacher or student, or an ONNX file."""

    run: Path
    model: str | None = None
    onnx: Path | None = None

    def open(self, threads: int = 0) -> Labeller:
        return open_labeller(self.run, self.model, self.onnx, threads)

    def uses_torch_student(self) -> bool:
        return self.onnx is None and self.model != "teacher" and has_student(self.run)

    def mark(self) -> str:
        """Return a fingerprint of all that decides a label."""
        if self.onnx:
            return fingerprint(checksum(self.onnx), checksum(self.onnx.with_suffix(rundir.ONNX_CONFIG)))
        run = rundir.RunDir(self.run)
        run.check("topics")
        names = [rundir.CONFIG, rundir.VOCABULARY, rundir.VECTORS, rundir.TEACHER]
        if self.uses_torch_student():
            names.append(f"{rundir.STUDENT}/{rundir.CONFIG}")
        if not (run / rundir.TOPIC_MAP).exists():
            raise MapError(f"No topic map in {self.run}. Map the topics first: aspectra map {self.run}")
        topic_map = TopicMap.from_dict(rundir.read_json(run / rundir.TOPIC_MAP))
        return fingerprint([checksum(run / name) for name in names], map_mark(topic_map))


@dataclass(frozen=True)
class Done:
    """What became of one input: rows written, rows left out and why; or the problem."""

    place: str
    rows: int = 0
    skipped: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True)
class Plan:
    """What to label with, how to read, and the folder (or URL) to write to."""

    model: Model
    output: str
    text_column: str
    id_column: str | None = None
    encoding: str = "utf-8"

    def output_of(self, place: str) -> str:
        name = place.rpartition("/")[2]
        return f"{self.output}/{name.removesuffix('.parquet')}.parquet"

    def missing(self, places: Iterable[str]) -> list[str]:
        """Return the inputs without an output, after checking that the outputs belong to this plan and do not collide."""
        owner: dict[str, str] = {}
        for place in places:
            other = owner.setdefault(self.output_of(place), place)
            if other != place:
                raise InputError(
                    f"{other} and {place} would both be labelled into {self.output_of(place)}. Use two folders."
                )
            if self.output_of(place) == place:
                raise InputError(f"{place} is also an output. Choose another -o.")
        there = list_names(self.output)
        self._check_about(rundir.LABELLING in there)
        return [place for output, place in owner.items() if output.rpartition("/")[2] not in there]

    def _check_about(self, there: bool) -> None:
        about = {"model": self.model.mark(), "text_column": self.text_column, "id_column": self.id_column}
        place = f"{self.output}/{rundir.LABELLING}"
        if not there:
            with whole_file(place) as path:
                path.write_text(json.dumps(about) + "\n", encoding="utf-8")
            return
        with local_copy(place) as path:
            before = rundir.read_json(path)
        changed = [name for name, value in about.items() if before.get(name) != value]
        if changed:
            raise InputError(
                f"{self.output} holds labels made with another {changed[0].replace('_', ' ')}. Choose another -o, or empty it."
            )

    def label_file(
        self,
        labeller: Labeller,
        place: str,
        threads: int = 0,
        count: Callable[[int], None] = lambda rows: None,
    ) -> Done:
        """Label one input into its output; a problem with the input is returned, not raised, so that the others go on."""
        try:
            with local_copy(place) as path, whole_file(self.output_of(place)) as temporary:
                source = Source([path], self.text_column, self.id_column, self.encoding)
                rows = write_parquet(labelled(labeller, source, count, threads), temporary)
                return Done(place, rows, source.skipped.summary())
        except InputError as error:
            return Done(place, problem=str(error))


def make_plan(
    model: Model, output: str, places: list[str], source: tuple[str | None, str | None, str]
) -> Plan:
    """Plan to label some inputs read with (text column, id column, encoding); the first input tells the text column if that is None."""
    with local_copy(places[0]) as path:
        return Plan(model, output, find_text_column(path, *source), *source[1:])


def label_here(plan: Plan, places: list[str], count: Callable[[int], None]) -> Iterator[Done]:
    """Label the inputs one after the other in this process."""
    labeller = plan.model.open()
    for place in places:
        yield plan.label_file(labeller, place, count=count)
