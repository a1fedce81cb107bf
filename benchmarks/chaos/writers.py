"""Several writers at once: two pages on one run, killed pages, every command twice, labels beside writers."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from aspectra import rundir

from .children import Outcome, end, kill, serving, start
from .commands import Command, commands, contents, hidden, misfits
from .page import Client
from .place import Place, Trial

PAGES, PAGE_KILLS, TWICE, BESIDE = 6, 12, 3, 8


def attack(place: Place) -> Iterator[Trial]:
    for number in range(place.count(PAGES)):
        yield from two_pages(place, number)
    yield from killed_pages(place)
    for command in commands(place):
        for number in range(place.count(TWICE * command.share)):
            yield from twice(place, command, number)
    yield from labels_beside(place, "export")
    yield from labels_beside(place, "distill")


def page(run: Path) -> tuple[object, ...]:
    return "map", run, "--page", "--no-browser", "--encoder", "none", "-q"


def two_pages(place: Place, number: int) -> Iterator[Trial]:
    """Let two pages assign different topics at the same time."""
    run = without_student(place.copy("pages"))
    with serving(*page(run)) as (_, first), serving(*page(run)) as (_, second):
        clients = Client(first), Client(second)
        topics = range(0, 4), range(4, 8)
        threads = [
            threading.Thread(target=client.work, args=(some, place.random(f"pages {number} {side}")))
            for side, (client, some) in enumerate(zip(clients, topics, strict=True))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
        for side, client in enumerate(clients):
            told = client.lost(run) or ("" if client.acknowledged else "no choice was acknowledged")
            yield f"two pages {number}, side {side}", told
    outcome = place.worker("check", run)
    yield f"two pages {number}, the run", outcome.fault() or (outcome.out if outcome.code else "")


def without_student(run: Path) -> Path:
    """Leave out the student, which a changed map makes stale."""
    shutil.rmtree(run / rundir.STUDENT)
    return run


def killed_pages(place: Place) -> Iterator[Trial]:
    """Kill a page while choices are made: those that it acknowledged are in the map."""
    run, random = without_student(place.copy("pages")), place.random("killed pages")
    for number in range(place.count(PAGE_KILLS)):
        with serving(*page(run)) as (process, address):
            client = Client(address)
            thread = threading.Thread(target=client.work, args=(range(8), random, 10_000))
            thread.start()
            time.sleep(random.uniform(0.1, 3))
            kill(process)
            thread.join(60)
        yield f"killed page {number}", client.lost(run)
    outcome = place.worker("check", run)
    yield "killed pages, the run", outcome.fault() or (outcome.out if outcome.code else "")


def twice(place: Place, command: Command, number: int) -> Iterator[Trial]:
    """Run a command twice at once: each ends well or with a sentence, and the result is whole."""
    alone, folder = place.scratch("twice/alone"), place.scratch("twice/both")
    for one in (alone, folder):
        command.prepare(one)
    ray = "ray" in command.name
    patience = place.worker.patience * (8 if ray else 2)
    outcome = end(start(*command.words(alone), limited=not ray), patience)
    pair = [start(*command.words(folder), limited=not ray) for _ in range(2)]
    done: list[Outcome] = [end(process, patience) for process in pair]
    fault = outcome.fault() or done[0].fault() or done[1].fault()
    if not fault and 0 not in (done[0].code, done[1].code):
        fault = f"both were refused: {done[0].err} {done[1].err}"
    yield (
        f"{command.name} twice, {number}",
        fault or misfits(contents(folder), contents(alone)) or hidden(folder),
    )


def labels_beside(place: Place, writer: str) -> Iterator[Trial]:
    """Label again and again while what labels is replaced: the answers are those of the old or the new."""
    run, folder = place.copy(f"beside/{writer}"), place.scratch("beside/out")
    graph = run.parent / "model.onnx"
    with contextlib.suppress(FileNotFoundError):
        for path in place.onnx.parent.iterdir():
            shutil.copy(path, graph.parent / path.name)
    words: tuple[object, ...] = ("distill", run, "--encoder", place.encoder, "--n-segments", 250, "-q")
    source: tuple[object, ...] = (run,)
    if writer == "export":
        words, source = ("export", run, "-o", graph, "--int8", "-q"), ("--onnx", graph)
    label = ("label", *source, place.reviews, "-q", "-o")
    answers = [place.worker(*label, folder / "old.csv")]
    process, labelled = start(*words), 0
    while process.poll() is None or labelled < 2:
        answers.append(place.worker(*label, folder / f"{labelled}.csv"))
        labelled += 1
    answers += [end(process, place.worker.patience), place.worker(*label, folder / "new.csv")]
    known = {(folder / f"{name}.csv").read_bytes() for name in ("old", "new")}
    for number, outcome in enumerate(answers):
        yield f"label beside {writer}, {number}", outcome.fault() or (outcome.err if outcome.code else "")
    for number in range(labelled):
        same = (folder / f"{number}.csv").read_bytes() in known
        yield f"label beside {writer}, answer {number}", "" if same else "neither the old labels nor the new"
