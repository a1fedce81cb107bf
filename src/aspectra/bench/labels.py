"""How many labels do I need? Cells, tables and the figure of F1 against the number of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aspectra.bench.figures import COLOURS, add_legend, plotting, save
from aspectra.bench.runner import Cell, Outcome
from aspectra.bench.sets import SAMPLE, SETS
from aspectra.bench.systems.curve import BOTH, DOUBTFUL, LOGISTIC, RANDOM, TEACHER, LabelsPoint
from aspectra.bench.tables import FIGURES, NOTHING, Grid, distinct, failures, marked
from aspectra.errors import InputError

NUMBERS = (10, 20, 50, 100, 200)
ALL = "all"
DRAWS = 3
LEAST = {TEACHER: 20}
"""A map needs some labels of most aspects."""
NAMES_ALONE = "names alone"
Line = tuple[str, str]  # kind, choice
LINES: tuple[Line, ...] = (
    (BOTH, RANDOM),
    (BOTH, DOUBTFUL),
    (LOGISTIC, RANDOM),
    (LOGISTIC, DOUBTFUL),
    (TEACHER, RANDOM),
    (TEACHER, DOUBTFUL),
)
STYLES = {BOTH: COLOURS[0], LOGISTIC: COLOURS[1], TEACHER: COLOURS[2]}


def points(settings: dict[str, Any] | None = None) -> list[LabelsPoint]:
    """Return all points of the curve: no labels, some that are drawn or chosen, all."""
    given = settings or {}
    found = [LabelsPoint(number=0, settings=given)]
    for kind, choice in LINES:
        found += [
            LabelsPoint(kind, number, choice, draw, settings=given)
            for number in NUMBERS
            if number >= LEAST.get(kind, 0)
            for draw in range(DRAWS)
        ]
    return [*found, *(LabelsPoint(kind, None, settings=given) for kind in STYLES)]


def label_cells(sets: Sequence[str], seeds: int, settings: dict[str, Any] | None = None) -> list[Cell]:
    without = [one for one in sets if not SETS[one].test]
    if without:
        raise InputError(f"The set {without[0]} has no test set to draw the curve on. Choose others: --sets")
    return [Cell(one, point, seed) for one in sets for seed in range(seeds) for point in points(settings)]


def values_at(outcomes: Iterable[Outcome], line: Line, number: int | None, figure: str) -> list[float]:
    """Return F1 of one place of a line; all lines of a kind meet where all labels are used."""
    kind, choice = line if number is not None else (line[0], RANDOM)
    wanted = {"kind": kind, "choice": choice, "number": number}
    return [
        float(one.values["test"][figure])
        for one in outcomes
        if not one.error and wanted.items() <= one.values["config"].items()
    ]


def columns(line: Line) -> list[int | None]:
    return [
        *([0] if line[0] == BOTH else []),
        *(one for one in NUMBERS if one >= LEAST.get(line[0], 0)),
        None,
    ]


def start_of(line: Line) -> Line:
    return (BOTH, RANDOM) if line[0] == BOTH else line


def mean_at(outcomes: Sequence[Outcome], line: Line, number: int | None, figure: str) -> float:
    """Return the mean in percent, NaN where nothing was measured."""
    found = values_at(outcomes, start_of(line) if number == 0 else line, number, figure)
    return 100 * float(np.mean(found)) if found else float("nan")


def label_grids(outcomes: Sequence[Outcome]) -> list[Grid]:
    """Return a table for each set, and the mean of the product sets if there are several."""
    sets = distinct(one.set for one in outcomes)
    grids = [
        label_grid([one for one in outcomes if one.set == name], marked(outcomes, name, SETS[name].title))
        for name in sets
    ]
    products = [name for name in sets if SETS[name].headline == "f1_micro" and name != SAMPLE]
    if len(products) > 1:
        own = [one for one in outcomes if one.set in products]
        grids.append(label_grid(own, f"Mean of {', '.join(products)}"))
    return grids


def label_grid(outcomes: Sequence[Outcome], title: str) -> Grid:
    headline = SETS[outcomes[0].set].headline
    rows = []
    for number in (0, *NUMBERS, None):
        cells = [
            pair(outcomes, line, number, headline) if number in columns(line) else NOTHING for line in LINES
        ]
        rows.append([ALL if number is None else str(number), *cells])
    seeds = len({one.seed for one in outcomes})
    notes = [
        f"{FIGURES[headline]} / macro F1 on test by the number of dev labels; mean over {seeds} "
        f"seed{'s' * (seeds > 1)} and {DRAWS} draws each. 0 labels are names alone.",
        *failures(outcomes),
    ]
    return Grid(f"{title}: F1 by labels", ["labels", *map(", ".join, LINES)], rows, notes)


def pair(outcomes: Sequence[Outcome], line: Line, number: int | None, headline: str) -> str:
    found = [mean_at(outcomes, line, number, one) for one in (headline, "f1_macro")]
    return NOTHING if np.isnan(found[0]) else f"{found[0]:.1f}/{found[1]:.1f}"


def draw_labels(outcomes: Sequence[Outcome], folder: Path) -> str:
    """Draw a column of panels for each set: the headline figure above, macro F1 below."""
    sets = distinct(one.set for one in outcomes)
    size = (1.2 + 2.6 * len(sets), 5.6)
    figure, panels = plotting().subplots(
        2, len(sets), figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    for column, name in enumerate(sets):
        own = [one for one in outcomes if one.set == name]
        for panel, metric in zip(panels[:, column], (SETS[name].headline, "f1_macro"), strict=True):
            draw_lines(panel, own, metric)
            panel.set_ylabel(f"{FIGURES[metric]} F1 on test, %" if column == 0 else FIGURES[metric])
        panels[0, column].set_title(marked(outcomes, name, SETS[name].title), fontsize=10)
        panels[1, column].set_xlabel("labelled segments")
    add_legend(figure, panels[:, 0], 4)
    return save(figure, folder, "labels")


def draw_lines(panel: Any, outcomes: Sequence[Outcome], metric: str) -> None:
    places = (0, *NUMBERS, None)
    for line in LINES:
        there = columns(line)
        panel.plot(
            [places.index(one) for one in there],
            [mean_at(outcomes, line, one, metric) for one in there],
            "-o" if line[1] == RANDOM else ":",
            color=STYLES[line[0]],
            markersize=4,
            label=", ".join(line),
        )
    level = mean_at(outcomes, LINES[0], 0, metric)
    panel.axhline(level, color="#555555", linestyle="--", linewidth=1, label=NAMES_ALONE)
    panel.set_xticks(range(len(places)), [ALL if one is None else str(one) for one in places], fontsize=8)
