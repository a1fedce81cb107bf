"""Where results go: JSON with every seed, Markdown tables, figures, and a page that takes the tables."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aspectra.bench import figures, tables
from aspectra.bench.ablations import Ablation
from aspectra.bench.runner import Outcome
from aspectra.bench.sets import SETS
from aspectra.bench.tables import Grid
from aspectra.bench.versions import versions
from aspectra.disk import write_atomic
from aspectra.errors import InputError
from aspectra.rundir import write_json

FIGURES = "figures"


@dataclass(frozen=True)
class Places:
    """`output` takes results and figures; with `markdown`, tables go there too and figures beside it."""

    output: Path
    markdown: Path | None

    @property
    def figures(self) -> Path:
        return (self.markdown.parent if self.markdown else self.output) / FIGURES

    def check(self, part: str) -> None:
        """Raise, before hours of work, if the page has no place for a part."""
        if self.markdown:
            around(self.markdown, part)


def publish(
    part: str,
    command: str,
    grids: Sequence[Grid],
    pictures: dict[str, str],
    outcomes: Sequence[Outcome],
    to: Places,
) -> None:
    """Write everything; `pictures` maps a caption to a figure's file name."""
    drawn = "\n\n".join(f"![{caption}]({FIGURES}/{name})" for caption, name in pictures.items())
    text = "\n".join([stamp(command), "", *(grid.markdown() for grid in grids), drawn, ""])
    cells = [{"name": one.name, **one.values} for one in outcomes]
    write_json(to.output / f"{part}.json", {"command": command, "versions": versions(), "cells": cells})
    write_atomic(to.output / f"{part}.md", text.encode())
    if to.markdown:
        insert(to.markdown, part, text)


def stamp(command: str) -> str:
    """Say when, by what and with which versions."""
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    found = versions()
    libraries = ", ".join(f"{name} {found[name]}" for name in ("torch", "scikit-learn", "numba"))
    return (
        f"`{command}` · {datetime.date.today()} · version {found['aspectra']}"
        f"{f', commit {head}' if head else ''} · {found['machine']}, Python {found['python']}, {libraries}"
    )


def quality_pictures(outcomes: Sequence[Outcome], folder: Path) -> dict[str, str]:
    return {
        "F1 per set: every seed, mean and spread, published values as lines": figures.draw_quality(
            outcomes, folder
        ),
        "F1 against the seconds of a fit, a dot per system": figures.draw_times(outcomes, folder),
        "Accuracy when only the surest segments are answered": figures.draw_coverage(outcomes, folder),
    }


def quality_markdown_grids(outcomes: Sequence[Outcome]) -> list[Grid]:
    """Return the terminal's tables and, for paper alone, those by aspect."""
    sets = [SETS[one] for one in tables.distinct(one.set for one in outcomes)]
    by_aspect = (
        tables.precision_grid(outcomes, one)
        if one.name == "citysearch"
        else tables.aspect_grid(outcomes, one)
        for one in sets
    )
    return [*tables.quality_grids(outcomes), *by_aspect]


def ablation_pictures(
    outcomes: Sequence[Outcome], chosen: Sequence[Ablation], folder: Path
) -> dict[str, str]:
    found = {f"F1 by {one.title}": figures.draw_ablation(outcomes, one, folder) for one in chosen}
    attention = figures.draw_attention(outcomes, folder)
    return {
        **found,
        **({"Smooth and regular attention on segments of our own": attention} if attention else {}),
    }


def rebuild_command(part: str, data: Path | None, **others: str | None) -> str:
    """Write the command that made a result, without paths of this machine."""
    words = ["aspectra bench", part, *(["--data FOLDER"] if data else [])]
    return " ".join([*words, *(f"--{name} {value}" for name, value in others.items() if value)])


def insert(path: Path, part: str, text: str) -> None:
    """Replace what stands between a part's two marks in a Markdown file."""
    before, after = around(path, part)
    write_atomic(path, f"{before}\n\n{text.strip()}\n\n{after}".encode())


def around(path: Path, part: str) -> tuple[str, str]:
    """Return a page up to a part's first mark and from its second on; raise if there is no such place."""
    begin, end = marks(part)
    try:
        page = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"Cannot read {path}: {error.strerror}. Name a Markdown file to insert the tables in."
        ) from None
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise InputError(
            f"{path} has no place for the tables. Put these two lines where they should be: {begin} and {end}"
        )
    return before + begin, end + after


def marks(part: str) -> tuple[str, str]:
    return f"<!-- aspectra bench {part}: begin -->", f"<!-- aspectra bench {part}: end -->"
