"""Outcomes → figures, each as PNG and SVG: F1 per set, ablations, coverage, attention heat-maps, growth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aspectra.bench import published
from aspectra.bench.ablations import Ablation
from aspectra.bench.growth import STAGES, exponent
from aspectra.bench.runner import Outcome
from aspectra.bench.sets import SETS
from aspectra.bench.systems import SYSTEMS
from aspectra.bench.tables import distinct, marked, seconds_of, spread, test_figure, title, values_of
from aspectra.disk import atomic_path
from aspectra.errors import InputError

COLOURS = ("#0b6e99", "#d1622b", "#4c8c4a", "#8a4f9e", "#b8860b", "#555555", "#c2185b", "#2f4f8f", "#7a6a53")
PAPER = "#222222"
UNSURE = ("majority", "kmeans", "lda", "zero-shot")
"""Systems left out of the coverage figure: their probabilities say little, or the same as another's."""
WIDEST = 24
"""So many points of F1 below the best are shown."""
INSTALL = 'pip install "aspectra[bench]"'


def plotting() -> Any:
    """Import matplotlib without a display, in one style, writing the same bytes every time."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(f"Figures need matplotlib, which is not installed: {INSTALL}") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "figure.dpi": 110, "savefig.dpi": 160, "font.size": 10, "legend.frameon": False,
            "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
            "grid.color": "#e6e6e6", "svg.hashsalt": "aspectra",
        }
    )  # fmt: skip
    return pyplot


def save(figure: Any, folder: Path, name: str) -> str:
    """Write both formats; return the PNG's name."""
    for kind in ("png", "svg"):
        with atomic_path(folder / f"{name}.{kind}") as path:
            figure.savefig(
                path,
                format=kind,
                bbox_inches="tight",
                metadata={"Date": None} if kind == "svg" else {"Software": None},
            )
    plotting().close(figure)
    return f"{name}.png"


def draw_quality(outcomes: Sequence[Outcome], folder: Path) -> str:
    """Draw one panel per set: every system's seeds, mean and spread; the paper's best as lines."""
    sets, systems = distinct(one.set for one in outcomes), distinct(one.name for one in outcomes)
    figure, panels = plotting().subplots(
        1,
        len(sets),
        figsize=(2.4 + 2.3 * len(sets), 0.9 + 0.34 * len(systems)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for panel, one in zip(panels[0], sets, strict=True):
        values = [values_of(outcomes, one, name, test_figure(SETS[one].headline)) for name in systems]
        draw_rows(
            panel, values, max(max(map(spread, filter(None, values)), default=(0.0, 0.0))[0] - WIDEST, 0)
        )
        draw_published(panel, one)
        panel.set_title(marked(outcomes, one, SETS[one].title), fontsize=10)
        panel.set_xlabel("weighted F1" if SETS[one].headline == "f1_weighted" else "micro F1")
    panels[0][0].set_yticks(range(len(systems)), [title(name) for name in systems])
    panels[0][0].invert_yaxis()
    add_legend(figure, panels[0], 2)
    return save(figure, folder, "f1-per-set")


def draw_rows(panel: Any, values: Sequence[Sequence[float]], left: float) -> None:
    """Draw a row for each system; what lies left of the panel is written at its edge."""
    for place, found in enumerate(values):
        mean, sd = spread(found) if found else (np.nan, np.nan)
        if mean < left:
            panel.annotate(
                f"◂ {mean:.1f}",
                (left, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=COLOURS[0],
            )
        elif found:
            panel.plot(
                100 * np.array(found), [place] * len(found), "o", color=COLOURS[0], alpha=0.25, markersize=4
            )
            panel.errorbar(
                mean, place, xerr=np.nan_to_num(sd), fmt="o", color=COLOURS[0], markersize=6, capsize=3
            )
    panel.set_xlim(left=left)


def add_legend(figure: Any, panels: Sequence[Any], columns: int) -> None:
    """Put one legend below all panels, with each name once."""
    pairs = (zip(*panel.get_legend_handles_labels(), strict=True) for panel in panels)
    entries = {name: handle for panel_pairs in pairs for handle, name in panel_pairs}
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)


def draw_published(panel: Any, one: str) -> None:
    teacher = published.TABLES[published.TEACHER].get(one)
    if teacher is not None:
        best = max(published.TABLES[name][one] for name in published.STUDENTS)
        panel.axvline(teacher, color=PAPER, linestyle="--", linewidth=1.2, label="published: SSCL (teacher)")
        panel.axvline(
            best, color=PAPER, linestyle=":", linewidth=1.6, label="published: best SSCLS (student)"
        )


def draw_times(outcomes: Sequence[Outcome], folder: Path) -> str:
    """Draw one panel per set: F1 against the seconds of a fit; colours say what a system is told."""
    sets, systems = distinct(one.set for one in outcomes), distinct(one.name for one in outcomes)
    told = distinct(SYSTEMS[name].supervision if name in SYSTEMS else "" for name in systems)
    figure, panels = plotting().subplots(
        1, len(sets), figsize=(1.2 + 5.2 * len(sets), 2 + 0.13 * len(systems)), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for panel, one in zip(panels[0], sets, strict=True):
        dots = []
        for name in systems:
            cells = [
                row.values for row in outcomes if (row.set, row.name) == (one, name) and "cost" in row.values
            ]
            values = values_of(outcomes, one, name, test_figure(SETS[one].headline))
            if cells and values:
                kind = SYSTEMS[name].supervision if name in SYSTEMS else ""
                x, y = max(float(np.median([*map(seconds_of, cells)])), 1.0), spread(values)[0]
                panel.plot(x, y, "o", color=COLOURS[told.index(kind) % len(COLOURS)], label=kind)
                dots.append((y, x, name))
        panel.set_xscale("log")
        name_dots(panel, sorted(dots))
        panel.set_title(marked(outcomes, one, SETS[one].title), fontsize=10)
        panel.set_xlabel("seconds of a fit")
    panels[0][0].set_ylabel("F1 on test, %")
    add_legend(figure, panels[0], len(told))
    return save(figure, folder, "f1-by-seconds")


def name_dots(panel: Any, dots: Sequence[tuple[float, float, str]]) -> None:
    """Write the names of dots (y, x, name), rising, in a column on the right, where none hides another."""
    for (y, x, name), height in zip(dots, np.linspace(0.01, 0.99, len(dots)), strict=True):
        panel.annotate(
            name, (x, y), (1.08, height), xycoords="data", textcoords="axes fraction", va="center",
            fontsize=6.5, arrowprops={"arrowstyle": "-", "color": "0.75", "lw": 0.5, "shrinkA": 0},
        )  # fmt: skip


def draw_coverage(outcomes: Sequence[Outcome], folder: Path) -> str:
    """Draw accuracy when only the surest segments are answered, averaged over seeds."""
    sets = distinct(one.set for one in outcomes)
    systems = [name for name in distinct(one.name for one in outcomes) if name not in UNSURE]
    figure, panels = plotting().subplots(
        1, len(sets), figsize=(1.2 + 2.6 * len(sets), 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    for panel, one in zip(panels[0], sets, strict=True):
        for place, name in enumerate(systems):
            curves = [
                row.values["coverage"]
                for row in outcomes
                if (row.set, row.name) == (one, name) and not row.error
            ]
            if curves:
                share, right = 100 * np.mean(curves, axis=0).T
                panel.plot(share, right, color=COLOURS[place % len(COLOURS)], label=title(name))
        panel.set_title(marked(outcomes, one, SETS[one].title), fontsize=10)
        panel.set_xlabel("answered, % (surest first)")
    panels[0][0].set_ylabel("accuracy on test, %")
    add_legend(figure, panels[0], min(len(systems), 2 + len(sets)))
    return save(figure, folder, "coverage-accuracy")


def draw_ablation(outcomes: Sequence[Outcome], ablation: Ablation, folder: Path) -> str:
    """Draw F1 against the values: lines for numbers, points for kinds; the paper's values dashed."""
    sets, values = distinct(one.set for one in outcomes), list(ablation.values)
    numbers = [float(value) for value in values] if ablation.numbers else list(range(len(values)))
    figure, panels = plotting().subplots(
        1,
        len(sets),
        figsize=(1 + (3.6 if ablation.numbers else 4.6) * len(sets), 3.2),
        squeeze=False,
        layout="constrained",
    )
    for place, (panel, one) in enumerate(zip(panels[0], sets, strict=True)):
        figures = [
            values_of(outcomes, one, f"{ablation.name} {value}", test_figure(SETS[one].headline))
            for value in values
        ]
        there = [number for number, found in zip(numbers, figures, strict=True) if found]
        spreads = np.array([spread(found) for found in figures if found]).reshape(-1, 2)
        line = "-o" if ablation.numbers else "o"
        panel.errorbar(
            there,
            spreads[:, 0],
            yerr=np.nan_to_num(spreads[:, 1]),
            fmt=line,
            color=COLOURS[place],
            capsize=3,
            label="aspectra",
        )
        draw_published_values(panel, ablation, one, dict(zip(values, numbers, strict=True)))
        default = numbers[values.index(ablation.default)]
        panel.axvline(default, color="#cccccc", linewidth=6, alpha=0.5, zorder=0, label="default")
        panel.set_title(marked(outcomes, one, SETS[one].title), fontsize=10)
        panel.set_xlabel(ablation.title)
        panel.set_ylabel("weighted F1" if SETS[one].headline == "f1_weighted" else "micro F1")
        set_scale(panel, ablation, numbers, values)
        panel.legend(fontsize=8)
    return save(figure, folder, f"ablation-{ablation.name}")


def draw_published_values(panel: Any, ablation: Ablation, one: str, number_of: dict[str, float]) -> None:
    paper = published.ABLATIONS.get(ablation.name, {})
    points = [
        (number_of[value], row[one]) for value, row in paper.items() if one in row and value in number_of
    ]
    if points:
        x, y = zip(*points, strict=True)
        panel.plot(
            x, y, "--D" if ablation.numbers else "D", color=PAPER, markerfacecolor="white", label="published"
        )


def set_scale(panel: Any, ablation: Ablation, numbers: Sequence[float], values: Sequence[str]) -> None:
    if ablation.numbers:
        panel.set_xscale("log")
        panel.minorticks_off()
    panel.set_xticks(numbers, [value.replace(", ", "\n") for value in values], fontsize=8)


def draw_attention(outcomes: Sequence[Outcome], folder: Path) -> str | None:
    """Draw how much each word of our own example segments counts, by kind of attention, seed 0."""
    kinds = ("smooth", "regular")
    rows = {
        (one.set, one.name): one.values["facts"]["attention"]
        for one in outcomes
        if one.seed == 0 and not one.error and "attention" in one.values["facts"]
    }
    sets = [
        one
        for one in distinct(one.set for one in outcomes)
        if all((one, f"attention {kind}") in rows for kind in kinds)
    ]
    pairs = [
        (rows[one, "attention smooth"][place], rows[one, "attention regular"][place], one)
        for one in sets
        for place in range(len(SETS[one].examples))
    ]
    if not pairs:
        return None
    figure, panels = plotting().subplots(
        len(pairs), 1, figsize=(9, 1.25 * len(pairs)), squeeze=False, layout="constrained"
    )
    for panel, (smooth, regular, one) in zip(panels[:, 0], pairs, strict=True):
        words = smooth[0]
        shares = np.array([[share or 0.0 for share in smooth[1]], [share or 0.0 for share in regular[1]]])
        panel.imshow(shares, cmap="Oranges", vmin=0, vmax=1, aspect="auto")
        panel.set_xticks(range(len(words)), words, fontsize=9)
        panel.set_yticks([0, 1], kinds, fontsize=9)
        panel.set_title(SETS[one].title, fontsize=8, loc="left", color="#666666", pad=2)
        panel.grid(False)
        panel.tick_params(length=0)
        for (row, place), share in np.ndenumerate(shares):
            if share:
                panel.text(
                    place,
                    row,
                    f"{share:.2f}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if share > 0.6 else "black",
                )
    return save(figure, folder, "attention")


def draw_growth(rows: Sequence[dict[str, Any]], folder: Path) -> str:
    """Draw seconds and peak memory of each stage against the number of segments, with fitted exponents."""
    segments = [row["segments"] for row in rows]
    figure, (left, right) = plotting().subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for place, (stage, name) in enumerate(STAGES.items()):
        seconds = [row["seconds"][stage] for row in rows]
        left.loglog(
            segments,
            seconds,
            "-o",
            color=COLOURS[place],
            label=f"{name}: exponent {exponent(segments, seconds):.2f}",
        )
        memory = [row["peak_gb"][stage] for row in rows]
        right.semilogx(segments, memory, "-o", color=COLOURS[place], label=f"up to {name}")
    left.set_ylabel("seconds")
    right.set_ylabel("peak memory so far, GB")
    right.set_ylim(bottom=0)
    for panel in (left, right):
        panel.set_xlabel("segments")
        panel.legend(fontsize=8)
    return save(figure, folder, "growth")
