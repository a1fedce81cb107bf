"""Kills with -9 at random moments: files hold the old content or the new, and the next command finishes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .children import Outcome, end, kill, start
from .commands import Command, commands, contents, hidden, misfits
from .place import Place, Trial

KILLS = 25
"""For each command."""
LOOK = 0.003
"""Seconds between two looks at a folder."""


def attack(place: Place) -> Iterator[Trial]:
    random = place.random("kills")
    for command in commands(place):
        yield from kill_often(place, command, random, place.count(KILLS * command.share))


def kill_often(place: Place, command: Command, random: Random, kills: int) -> Iterator[Trial]:
    """Kill a command several times in the same folder, then let it finish."""
    done = place.scratch("kills/done")
    command.prepare(done)
    began = time.monotonic()
    outcome = run(place, command, done)
    took, after = time.monotonic() - began, contents(done)
    folder = fresh(place, command)
    before = contents(folder)
    if outcome.fault() or outcome.code:
        yield command.name, outcome.fault() or outcome.err
        return
    for number in range(kills):
        finished = strike(command, folder, random, took)
        yield f"{command.name}, kill {number}", misfits(contents(folder), before, after)
        if finished:
            folder = fresh(place, command)
    outcome = run(place, command, folder)
    fault = outcome.fault() or (outcome.err if outcome.code else misfits(contents(folder), after))
    yield f"{command.name} after {kills} kills", fault or hidden(folder)


def fresh(place: Place, command: Command) -> Path:
    folder = place.scratch("kills/struck")
    command.prepare(folder)
    return folder


def run(place: Place, command: Command, folder: Path) -> Outcome:
    """Run a command to its end."""
    ray = "ray" in command.name
    process = start(*command.words(folder), limited=not ray)
    return end(process, place.worker.patience * (4 if ray else 1))


def strike(command: Command, folder: Path, random: Random, took: float) -> bool:
    """Start a command and kill it: at any moment or, as often, soon after it began to write."""
    process = start(
        *command.words(folder),
        limited="ray" not in command.name,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + random.uniform(0.2, 1.1) * took
    if random.random() < 0.5:
        first, until = names(folder), time.monotonic() + 3 * took
        while process.poll() is None and time.monotonic() < until and names(folder) == first:
            time.sleep(LOOK)
        until = time.monotonic() + random.random() ** 3 * took / 3
    while process.poll() is None and time.monotonic() < until:
        time.sleep(LOOK)
    finished = process.poll() is not None
    kill(process)
    if "ray" in command.name:
        time.sleep(3)  # its workers end when they notice
    return finished


def names(folder: Path) -> set[str]:
    return {os.path.join(at, name) for at, folders, files in os.walk(folder) for name in (*folders, *files)}
