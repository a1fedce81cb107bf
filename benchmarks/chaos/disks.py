"""Full disks: every writing command on a file system with too little room. Needs root, to mount it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .commands import Command, commands, contents, hidden, misfits
from .place import Place, Trial

SIZE = 64 * 2**20
TIMES = 6
"""Different amounts of free room for each command."""


def attack(place: Place) -> Iterator[Trial]:
    random = place.random("disks")
    with small_disk(place.scratch("disk")) as disk:
        if disk is None:
            return
        for command in commands(place):
            if "ray" in command.name:
                continue
            for _ in range(place.count(TIMES)):
                yield from fill(place, command, disk, random.random())


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small file system; yield None, and say so, where that is not allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        print("Full disks are not tried: mounting a small file system needs root.")
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(place: Place, command: Command, disk: Path, share: float) -> Iterator[Trial]:
    """Leave a share of the room that the command needs, then all of it."""
    for old in disk.iterdir():
        shutil.rmtree(old)
    whole, folder, ballast = disk / "whole", disk / "folder", disk / "ballast"
    for one in (whole, folder):
        one.mkdir()
        command.prepare(one)
    before, start = contents(folder), used(disk)
    outcome = place.worker(*command.words(whole))
    after, room = contents(whole), int((used(disk) - start) * share)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free(disk) - room))
    outcome = place.worker(*command.words(folder))
    what = f"{command.name} with {room} bytes free"
    yield what, outcome.fault() or misfits(contents(folder), before, after) or hidden(folder)
    ballast.unlink()
    outcome = place.worker(*command.words(folder))
    fault = outcome.fault() or (outcome.err if outcome.code else misfits(contents(folder), after))
    yield f"{what}, then enough", fault or hidden(folder)


def free(disk: Path) -> int:
    state = os.statvfs(disk)
    return state.f_bavail * state.f_frsize


def used(disk: Path) -> int:
    return SIZE - free(disk)
