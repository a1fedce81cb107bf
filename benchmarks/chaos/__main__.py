"""aspectra under attack, all of it or a part; prints what was tried, what held, and what fell.

    python -m benchmarks.chaos [--seed 0] [--only files,kills] [--scale 0.1] [--home FOLDER] [--markdown PAGE]

The same seed tries the same things; only the moments of kills depend on the machine. Parts that ran in one
--home, also on different days, stand in one table. Exit code 1 if anything fell.
"""

from __future__ import annotations

import datetime
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra.bench.results import insert

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

RESULTS = "results.json"


def main(
    seed: Annotated[int, typer.Option(help="Same seed, same attacks.")] = 0,
    only: Annotated[str, typer.Option(help=f"Some of {','.join(ATTACKS)}.")] = ",".join(ATTACKS),
    scale: Annotated[float, typer.Option(help="This part of the trials.", min=0.0)] = 1.0,
    home: Annotated[Path | None, typer.Option(help="Folder to work in; it is kept.")] = None,
    patience: Annotated[float, typer.Option(help="Seconds until a command counts as stuck.")] = 30.0,
    markdown: Annotated[Path | None, typer.Option(help="Page to put the table in.")] = None,
) -> None:
    """Attack aspectra and print what held."""
    folder = home or Path(tempfile.mkdtemp(prefix="chaos-"))
    place = Place(folder, Worker(10 * patience), seed, scale)
    print(f"seed {seed}, scale {scale:g}, in {folder}", flush=True)
    prepare(place)
    place.worker.patience = patience
    results = kept(folder)
    for kind in only.split(","):
        results[kind] = run(kind, place)
        (folder / RESULTS).write_text(json.dumps(results, indent=1))
        print(table({kind: results[kind]}).splitlines()[-1], flush=True)
    place.worker.stop()
    print(f"\n{table(results)}")
    if markdown:
        insert(markdown, "chaos", table(results))
    fell = any(one["fallen"] for one in results.values())
    if home is None and not fell:
        shutil.rmtree(folder)
    sys.exit(1 if fell else 0)


def kept(folder: Path) -> dict[str, Any]:
    """Return what earlier parts in this folder gave."""
    path = folder / RESULTS
    return dict(json.loads(path.read_text())) if path.exists() else {}


def run(kind: str, place: Place) -> dict[str, Any]:
    """Attack in one way; print what falls."""
    began, tried, fallen = time.monotonic(), 0, []
    for what, fault in ATTACKS[kind][1](place):
        tried += 1
        if fault:
            fallen.append(f"{kind}: {what}: {fault}")
            print(f"FELL {fallen[-1]}", flush=True)
    minutes = (time.monotonic() - began) / 60
    day = datetime.date.today().isoformat()
    return {
        "tried": tried, "fallen": fallen, "seed": place.seed, "scale": place.scale, "day": day,
        "minutes": minutes,
    }  # fmt: skip


def table(results: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    rows = [
        f"| {name} | {one['tried']:,} | {one['tried'] - len(one['fallen']):,} | {one['seed']} "
        f"| {one['scale']:g} | {one['minutes']:.0f} | {one['day']} |"
        for kind, (name, _) in ATTACKS.items()
        if (one := results.get(kind))
    ]
    return "\n".join(
        ["| attack | tried | held | seed | scale | minutes | day |", "|---|---|---|---|---|---|---|", *rows]
    )


if __name__ == "__main__":
    typer.run(main)
