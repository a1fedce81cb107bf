"""Sets × systems × seeds → outcomes, each computed once: its file's name is a key of all that decides it.

Cells of one set and seed run one after another in one process, so that they share its fit; `jobs` such groups
run at the same time, each on one thread. Finished cells are kept at once, so a benchmark can be interrupted.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aspectra.bench import worker
from aspectra.bench.protocol import DEV_MAP, LABELS, System, Task, data_mark, score_answers
from aspectra.bench.sets import SETS, find_set, prepare_folders
from aspectra.bench.versions import cell_key, versions
from aspectra.errors import AspectraError
from aspectra.loop import torch_threads
from aspectra.rundir import fingerprint, read_json, write_json
from aspectra.scores import accuracy_at_shares, average_scores, gold_matrix

COVERAGES = np.linspace(0.05, 1, 20)
FINISHED = "finished"


@dataclass(frozen=True)
class Cell:
    """One system on one set with one seed; `label` names a variant in tables."""

    set: str
    system: System
    seed: int
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or self.system.name


@dataclass(frozen=True)
class Outcome:
    """The result of a cell; `error` says why there is none."""

    set: str
    name: str
    seed: int
    values: dict[str, Any]

    @property
    def error(self) -> str | None:
        found: str | None = self.values.get("error")
        return found


class CellProgress(NamedTuple):
    """What a group of cells does now; stage FINISHED ends a cell."""

    group: str
    cell: str
    stage: str
    done: float


Notify = Callable[[CellProgress], None]
Group = tuple[Path, Path, list[Cell]]  # data, home, cells


def quality_cells(sets: Sequence[str], systems: Sequence[System], seeds: int) -> list[Cell]:
    """Return a cell for every set, system and seed; a system that ignores its seed has one.

    A set without test is scored on dev, so only for systems that do not see dev's labels.
    """
    return [
        Cell(one, system, seed)
        for one in sets
        for system in systems
        if SETS[one].test or system.supervision not in (DEV_MAP, LABELS)
        for seed in range(seeds if system.seeded else 1)
    ]


def run_cells(
    wanted: Sequence[Cell], data: Path | None, home: Path, jobs: int, notify: Notify
) -> list[Outcome]:
    """Run all cells, or read what an earlier run has left; return outcomes in the order of the cells."""
    folders = prepare_folders(tuple(dict.fromkeys(cell.set for cell in wanted)), data, home)
    order = sorted(wanted, key=lambda cell: (-corpus_size(cell, folders), cell.set, cell.seed))
    groups = [
        (folders[key[0]], home, list(members))
        for key, members in groupby(order, key=lambda cell: (cell.set, cell.seed))
    ]
    results = in_turn(groups, notify) if jobs == 1 else side_by_side(groups, jobs, notify)
    found = {(one.set, one.name, one.seed): one for one in results}
    return [found[cell.set, cell.name, cell.seed] for cell in wanted]


def corpus_size(cell: Cell, folders: dict[str, Path]) -> int:
    """Return the bytes of a set's corpus: the longest groups start first."""
    bench = find_set(cell.set, folders[cell.set])
    return sum(path.stat().st_size for path in bench.files(folders[cell.set], bench.corpus))


def in_turn(groups: list[Group], notify: Notify) -> Iterator[Outcome]:
    for group in groups:
        yield from run_group(group, notify)


def side_by_side(groups: list[Group], jobs: int, notify: Notify) -> Iterator[Outcome]:
    """Run groups in processes of their own; an error in one ends all."""
    os.environ["OMP_NUM_THREADS"] = "1"  # before the processes load their libraries
    context = multiprocessing.get_context("spawn")
    progress, stop = context.Queue(), context.Event()
    pool = ProcessPoolExecutor(jobs, context, worker.begin, (progress, stop, os.getpid()))
    waiting: set[Future[list[Outcome]]] = {pool.submit(run_in_worker, group) for group in groups}
    try:
        while waiting:
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            with contextlib.suppress(queue.Empty):
                while True:
                    notify(progress.get_nowait())
            for future in done:
                yield from future.result()
    finally:
        if waiting:  # an error, or Ctrl-C
            stop.set()
        pool.shutdown(cancel_futures=True)


def run_in_worker(group: Group) -> list[Outcome]:
    return list(run_group(group, worker.send))


def run_group(group: Group, notify: Notify) -> Iterator[Outcome]:
    """Run the cells of one set and seed, which share a task."""
    data, home, cells = group
    name = f"{cells[0].set} {cells[0].seed}"
    current = cells[0]
    task = Task(
        find_set(current.set, data),
        data,
        home,
        current.seed,
        lambda stage, done: notify(CellProgress(name, current.name, stage, done)),
    )
    with torch_threads(1):  # so that a cell gives the same numbers however many run beside it
        for current in cells:
            notify(CellProgress(name, current.name, "", 0.0))
            yield Outcome(current.set, current.name, current.seed, run_cell(current, task))
            notify(CellProgress(name, current.name, FINISHED, 1.0))


def run_cell(cell: Cell, task: Task) -> dict[str, Any]:
    """Return a cell's record. An error that a user could fix is a result too, but is not kept."""
    config, code = cell.system.config(task), cell_key(cell.system)
    mark = fingerprint(data_mark(task), cell.system.name, config, cell.seed, code)
    path = task.home / "cells" / f"{cell.set}-{cell.seed}-{cell.system.name}-{mark}.json"
    if path.exists():
        return dict(read_json(path))
    began, elsewhere = time.process_time(), task.costs.elsewhere_cpu
    record = {
        "set": cell.set,
        "system": cell.system.name,
        "seed": cell.seed,
        "config": config,
        "versions": {**versions(), "code": code},
        "stand_in": task.bench.stand_in,
    }
    try:
        record |= examine(cell.system, task)
    except AspectraError as error:
        return {**record, "error": str(error)}
    shared = task.costs.elsewhere_cpu - elsewhere  # of the fit that all systems share: counted by itself
    record["cpu_seconds"] = round(time.process_time() - began - shared, 1)
    write_json(path, record)
    return dict(read_json(path))  # as it will be read next time


def examine(system: System, task: Task) -> dict[str, Any]:
    """Fit with test sealed, freeze, then open test and score; without a test set, score on dev."""
    exam = task.exam()
    with exam.sealed():
        frozen, cost = task.costs.measure(lambda: system.fit(task))
        on_dev = np.asarray(frozen.probabilities(task.dev.texts))
        dev = average_scores(gold_matrix(task.dev.aspects, task.aspects), on_dev.argmax(1), task.aspects)
    exam.freeze(frozen)
    gold, answers = exam.answer() if task.bench.test else (task.dev, on_dev)
    chosen = answers.argmax(1)
    right = gold_matrix(gold.aspects, task.aspects)[np.arange(len(chosen)), chosen]
    return {
        "test": score_answers(gold, answers, task.aspects, frozen).to_dict(),
        "dev": dev,
        "coverage": accuracy_at_shares(right, answers.max(1), COVERAGES),
        "facts": frozen.facts,
        "cost": cost,
    }
