"""What was asked for on the command line → sets, systems and cells."""

from __future__ import annotations

from pathlib import Path

from aspectra.bench.protocol import System
from aspectra.bench.runner import Cell
from aspectra.bench.sets import PUBLISHED_SETS, SAMPLE, SETS, find_set
from aspectra.bench.systems import SYSTEMS
from aspectra.errors import InputError


def choose_sets(names: str | None, data: Path | None) -> tuple[str, ...]:
    """Return the sets named, else those whose files are all in the data folder, else the sample."""
    if names:
        return known(names, tuple(SETS), "set")
    if data is None:
        return (SAMPLE,)
    found = tuple(name for name in PUBLISHED_SETS if complete(name, data))
    if not found:
        raise InputError(
            f"{data} holds none of the sets {', '.join(PUBLISHED_SETS)} whole. See docs/benchmark.md for the files."
        )
    return found


def complete(name: str, data: Path) -> bool:
    one = find_set(name, data)
    return all((data / file).is_file() for file in (*one.corpus, *one.dev, *one.test))


def choose_systems(names: str | None) -> list[System]:
    return [SYSTEMS[name] for name in (known(names, tuple(SYSTEMS), "system") if names else SYSTEMS)]


def known(names: str, all_names: tuple[str, ...], kind: str) -> tuple[str, ...]:
    wanted = tuple(name.strip() for name in names.split(",") if name.strip())
    unknown = [name for name in wanted if name not in all_names]
    if unknown or not wanted:
        raise InputError(f"No {kind} {', '.join(unknown) or repr(names)}. There are {', '.join(all_names)}.")
    return wanted


def quality_cells(sets: tuple[str, ...], systems: list[System], seeds: int) -> list[Cell]:
    """Return a cell for every set, system and seed; a system without chance has one."""
    return [
        Cell(one, system, seed)
        for one in sets
        for system in systems
        for seed in range(seeds if system.seeded else 1)
    ]


def rebuild_command(part: str, data: Path | None, **others: str | None) -> str:
    """Write the command that made a result, without paths of this machine."""
    words = ["aspectra bench", part, *(["--data FOLDER"] if data else [])]
    return " ".join([*words, *(f"--{name} {value}" for name, value in others.items() if value)])
