"""Outcomes → tables of mean ± standard deviation over seeds, with the published values beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aspectra.bench import published
from aspectra.bench.ablations import Ablation
from aspectra.bench.runner import Outcome
from aspectra.bench.sets import SETS, BenchmarkSet
from aspectra.bench.systems import SYSTEMS

FIGURES = {
    "f1_micro": "micro",
    "f1_macro": "macro",
    "f1_weighted": "weighted",
    "f1_micro_without_general": "micro −G",
    "f1_macro_without_general": "macro −G",
    "calibration_error": "ECE",
}
NOTHING, FAILED = "–", "failed"
PUBLISHED = " †"


@dataclass(frozen=True)
class Grid:
    """A table of text: the first column names the row, the others hold figures."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [
            f"### {self.title}",
            "",
            "| " + " | ".join(self.header) + " |",
            "|---" * len(self.header) + "|",
        ]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([*lines, "", *(f"{note}  " for note in self.notes), ""])


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation in percent; a single value has none (NaN)."""
    percent = 100 * np.array(values)
    return float(percent.mean()), float(percent.std(ddof=1)) if len(percent) > 1 else float("nan")


def cell_text(values: Sequence[float]) -> str:
    if not values:
        return NOTHING
    mean, sd = spread(values)
    return f"{mean:.1f}" if np.isnan(sd) else f"{mean:.1f} ±{sd:.1f}"


def values_of(
    outcomes: Iterable[Outcome], set_name: str, name: str, take: Callable[[dict[str, Any]], float]
) -> list[float]:
    return [take(one.values) for one in outcomes if (one.set, one.name) == (set_name, name) and not one.error]


def shown(
    outcomes: Sequence[Outcome], set_name: str, name: str, take: Callable[[dict[str, Any]], float]
) -> str:
    values = values_of(outcomes, set_name, name, take)
    failed = sum(1 for one in outcomes if (one.set, one.name) == (set_name, name) and one.error)
    return (
        FAILED if failed and not values else cell_text(values) + (f" ({failed} {FAILED})" if failed else "")
    )


def test_figure(figure: str) -> Callable[[dict[str, Any]], float]:
    return lambda values: float(values["test"][figure])


def dev_figure(figure: str) -> Callable[[dict[str, Any]], float]:
    """Take the cross-validated estimate where a system gives one, else its score on dev."""
    return lambda values: float((values["facts"].get("dev_estimate") or values["dev"])[figure])


def stand_in(outcomes: Iterable[Outcome], name: str) -> str:
    """Say how the set's corpus differs from the paper's, or nothing."""
    return next((one.values["stand_in"] for one in outcomes if one.set == name), "")


def marked(outcomes: Iterable[Outcome], name: str, text: str) -> str:
    """Put a star behind what is said of a set whose corpus stands in for the paper's; say if it is dev."""
    return text + "*" * bool(stand_in(outcomes, name)) + (" (dev)" if not SETS[name].test else "")


def set_notes(outcomes: Sequence[Outcome], sets: Sequence[str]) -> list[str]:
    seeds = len({one.seed for one in outcomes})
    notes = ["† published by the paper, on its own corpora."]
    notes += [
        f"Test, mean ± sd over {seeds} seed{'s' * (seeds > 1)}; "
        "majority, zero-shot and logistic regression do not depend on the seed.",
        "In brackets what a system is told of the aspects: their names; 5 seed words each, too, or 30, which "
        "their authors took from dev's labels; a topic map made with dev's labels; those labels themselves.",
    ]
    if any(not SETS[name].test for name in sets):
        notes.append("(dev): without a test set; dev, for systems that see none of its labels.")
    said = {name: stand_in(outcomes, name) for name in sets}
    return notes + [
        f"* {name}: low-resource, a stand-in corpus, not comparable with the paper ({why})."
        for name, why in said.items()
        if why
    ]


def failures(outcomes: Iterable[Outcome]) -> list[str]:
    return [f"{one.set}, {one.name}, seed {one.seed} failed: {one.error}" for one in outcomes if one.error]


def quality_grids(outcomes: Sequence[Outcome]) -> list[Grid]:
    """Return the headline figures of all sets, then all figures of each set."""
    sets, systems = distinct(one.set for one in outcomes), distinct(one.name for one in outcomes)
    rows = [
        [title(name), *(shown(outcomes, one, name, test_figure(SETS[one].headline)) for one in sets)]
        for name in systems
    ]  # fmt: skip
    rows += published_rows(sets)
    head = Grid(
        "F1: citysearch weighted, others micro",
        ["system", *(marked(outcomes, one, one) for one in sets)],
        rows,
    )
    head.notes.extend([*set_notes(outcomes, sets), *failures(outcomes)])
    return [head, cost_grid(outcomes), *(set_grid(outcomes, SETS[one], systems) for one in sets)]


def published_rows(sets: Sequence[str]) -> list[list[str]]:
    known = {name: row for name, row in published.TABLES.items() if any(one in row for one in sets)}
    return [
        [published_title(name), *(f"{row[one]:.1f}" if one in row else NOTHING for one in sets)]
        for name, row in known.items()
    ]


def set_grid(outcomes: Sequence[Outcome], bench: BenchmarkSet, systems: Sequence[str]) -> Grid:
    rows = [
        [title(name), *(shown(outcomes, bench.name, name, test_figure(one)) for one in FIGURES)]
        for name in systems
    ]
    for name, values in published.TABLES.items():
        if bench.name in values:
            rows.append(
                [
                    published_title(name),
                    *(f"{values[bench.name]:.1f}" if one == bench.headline else NOTHING for one in FIGURES),
                ]
            )
    return Grid(
        f"{marked(outcomes, bench.name, bench.title)}, F1 and calibration error",
        ["system", *FIGURES.values()],
        rows,
    )


def aspect_grid(outcomes: Sequence[Outcome], bench: BenchmarkSet) -> Grid:
    """Return F1 of each aspect: the paper's Table 4 and the same for product sets."""
    own = [one for one in outcomes if one.set == bench.name and not one.error]
    if not own:
        return Grid(f"{bench.title}, F1 by aspect", ["system"], [])
    aspects: list[str] = own[0].values["test"]["aspects"]

    def take(place: int) -> Callable[[dict[str, Any]], float]:
        return lambda values: float(values["test"]["per_aspect"][place]["f1"])

    rows = [
        [title(name), *(shown(outcomes, bench.name, name, take(place)) for place in range(len(aspects)))]
        for name in distinct(one.name for one in own)
    ]
    return Grid(f"{marked(outcomes, bench.name, bench.title)}, F1 by aspect", ["system", *aspects], rows)


PARTS = {"P": "precision", "R": "recall", "F": "f1"}


def precision_grid(outcomes: Sequence[Outcome], bench: BenchmarkSet) -> Grid:
    """Return precision, recall and F1 of each aspect and their weighted means: the paper's Table 4."""
    own = [one for one in outcomes if one.set == bench.name and not one.error]
    aspects: list[str] = own[0].values["test"]["aspects"] if own else []

    def take(place: int, part: str) -> Callable[[dict[str, Any]], float]:
        if place == len(aspects):
            return lambda values: float(values["test"][f"{part}_weighted"])
        return lambda values: float(values["test"]["per_aspect"][place][part])

    columns = [(place, part) for place in range(len(aspects) + 1) for part in PARTS.values()]
    rows = [
        [title(name), *(shown(outcomes, bench.name, name, take(*column)) for column in columns)]
        for name in distinct(one.name for one in own)
    ]
    rows += [
        [
            published_title(name),
            *(f"{value:.1f}" for aspect in [*aspects, published.OVERALL] for value in row[aspect]),
        ]
        for name, row in published.CITYSEARCH_ASPECTS.items()
    ]
    header = [f"{aspect} {letter}" for aspect in [*aspects, published.OVERALL] for letter in PARTS]
    return Grid(f"{bench.title}, precision, recall and F1 by aspect", ["system", *header], rows)


def cost_grid(outcomes: Sequence[Outcome]) -> Grid:
    """Return what a fit costs: seconds, the median of all seeds, and peak memory, the most."""
    sets = distinct(one.set for one in outcomes)

    def cost(set_name: str, name: str) -> str:
        found = [
            one.values for one in outcomes if (one.set, one.name) == (set_name, name) and "cost" in one.values
        ]
        if not found:
            return NOTHING
        most = max(one["cost"]["peak_gb"] for one in found)
        return f"{np.median([*map(seconds_of, found)]):,.0f} s · {most:.1f}"

    rows = [
        [title(name), *(cost(one, name) for one in sets)] for name in distinct(one.name for one in outcomes)
    ]
    notes = [
        "CPU seconds of fitting and of answering for dev and test, on one thread, and the seconds of what a "
        "system uses of the shared fit (segments, word vectors, topics); median of the seeds. The peak "
        "memory of the process. An encoder reads a text once for all systems, and the first that asks "
        "pays: 16,000 segments take about a minute."
    ]
    return Grid("Seconds of a fit, and GB", ["system", *sets], rows, notes)


def seconds_of(cell: dict[str, Any]) -> float:
    """Return the CPU seconds of a cell, and the seconds of the stages that it shares with others."""
    return float(cell["cpu_seconds"] + cell["cost"]["shared_seconds"])


def ablation_grid(outcomes: Sequence[Outcome], ablation: Ablation) -> Grid:
    """Return test and dev for each value and set, the published test value where there is one."""
    sets = distinct(one.set for one in outcomes)
    header, paper = ["value"], published.ABLATIONS.get(ablation.name, {})
    for one in sets:
        header += [marked(outcomes, one, one), "dev"] + (
            ["published"] if one in published.SETS and paper else []
        )
    rows = []
    for value in ablation.values:
        row, name = [value + (" (default)" if value == ablation.default else "")], f"{ablation.name} {value}"
        for one in sets:
            headline = SETS[one].headline
            row += [
                shown(outcomes, one, name, test_figure(headline)),
                shown(outcomes, one, name, dev_figure(headline)),
            ]
            if one in published.SETS and paper:
                found = paper.get(value, {}).get(one)
                row.append(NOTHING if found is None else f"{found:.1f}")
        rows.append(row)
    own = [one for one in outcomes if one.name.startswith(ablation.name + " ")]
    seeds = len({one.seed for one in own})
    dev = "dev scored with the teacher's map" if ablation.student else "dev is cross-validated"
    notes = [
        f"F1 on test ({', '.join(f'{one} {FIGURES[SETS[one].headline]}' for one in sets)}), "
        f"{seeds} seed{'s' * (seeds > 1)}; {dev}."
    ]
    return Grid(ablation.title, header, rows, [*notes, *failures(own)])


def title(name: str) -> str:
    """Name a system with its supervision."""
    return f"{SYSTEMS[name].title} ({SYSTEMS[name].supervision})" if name in SYSTEMS else name


def published_title(name: str) -> str:
    told = published.SUPERVISION.get(name)
    return f"{name}{f' ({told})' if told else ''}{PUBLISHED}"


def distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
