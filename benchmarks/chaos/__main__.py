"""aspectra under attack, all of it or a part; prints what was tried, what held, and what fell.

    python -m benchmarks.chaos [--seed 0] [--only files,kills] [--scale 0.1] [--home FOLDER]

The same seed tries the same things; only the moments of kills depend on the machine. Exit code 1 if anything
fell.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from . import bad_files, disks, forging, hostile, kills, writers
from .children import Worker
from .place import Attack, Place, prepare

ATTACKS: dict[str, tuple[str, Attack]] = {
    "files": ("bad files", bad_files.attack),
    "forging": ("forged artifacts", forging.attack),
    "kills": ("kills with -9", kills.attack),
    "disks": ("full disks", disks.attack),
    "writers": ("concurrent writers", writers.attack),
    "requests": ("hostile requests", hostile.attack),
}


def main(
    seed: Annotated[int, typer.Option(help="Same seed, same attacks.")] = 0,
    only: Annotated[str, typer.Option(help=f"Some of {','.join(ATTACKS)}.")] = ",".join(ATTACKS),
    scale: Annotated[float, typer.Option(help="This part of the trials.", min=0.0)] = 1.0,
    home: Annotated[Path | None, typer.Option(help="Folder to work in; it is kept.")] = None,
    patience: Annotated[float, typer.Option(help="Seconds until a command counts as stuck.")] = 30.0,
) -> None:
    """Attack aspectra and print what held."""
    folder = home or Path(tempfile.mkdtemp(prefix="chaos-"))
    place = Place(folder, Worker(10 * patience), seed, scale)
    print(f"seed {seed}, scale {scale:g}, in {folder}", flush=True)
    prepare(place)
    place.worker.patience = patience
    rows, fallen = [], []
    for kind in only.split(","):
        name, attack = ATTACKS[kind]
        began, tried, fell = time.monotonic(), 0, 0
        for what, fault in attack(place):
            tried += 1
            if fault:
                fell += 1
                fallen.append(f"{kind}: {what}: {fault}")
                print(f"FELL {fallen[-1]}", flush=True)
        rows.append(f"| {name} | {tried:,} | {tried - fell:,} | {(time.monotonic() - began) / 60:.0f} |")
        print(rows[-1], flush=True)
    place.worker.stop()
    print("\n".join(["", "| attack | tried | held | minutes |", "|---|---|---|---|", *rows]))
    if home is None and not fallen:
        shutil.rmtree(folder)
    sys.exit(1 if fallen else 0)


if __name__ == "__main__":
    typer.run(main)
