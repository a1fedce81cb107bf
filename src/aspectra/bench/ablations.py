"""What each choice is worth: teacher or student with one setting changed at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aspectra.bench.protocol import System
from aspectra.bench.runner import Cell
from aspectra.bench.systems.ours import StudentSystem, TeacherSystem
from aspectra.errors import InputError

ALONE = {"teacher_weight": 0.0}


@dataclass(frozen=True)
class Ablation:
    """Values of one setting, of the student if `student`. The figure marks `default` and joins `numbers`."""

    name: str
    title: str
    values: dict[str, dict[str, Any]]
    default: str
    numbers: bool = False
    student: bool = False

    def system(self, value: str) -> System:
        settings = self.values[value]
        return (
            StudentSystem(settings={**ALONE, **settings}, dev_as="none")
            if self.student
            else TeacherSystem(settings=settings)
        )

    def cells(self, sets: tuple[str, ...], seeds: int) -> list[Cell]:
        return [
            Cell(one, self.system(value), seed, f"{self.name} {value}")
            for one in sets
            for seed in range(seeds)
            for value in self.values
        ]


def each(field: str, *values: float) -> dict[str, dict[str, Any]]:
    return {f"{value:g}": {field: value} for value in values}


def entropies(*pairs: tuple[float, float]) -> dict[str, dict[str, Any]]:
    """Filters for soft targets and, as in the paper, for the teacher's answers alone."""
    soft: dict[str, dict[str, Any]] = {"off": {}} | {
        f"χ_G {general:g}, χ_NG {other:g}": {"general_entropy": general, "aspect_entropy": other}
        for general, other in pairs
    }
    return soft | {
        f"hard labels, {name}": {"sharpness": 1000.0, **settings} for name, settings in soft.items()
    }


ALL = (
    Ablation(
        "attention",
        "Attention",
        {kind: {"attention": kind} for kind in ("smooth", "regular", "mean")},
        "smooth",
    ),
    Ablation("lambda", "Smoothness λ", each("smoothness", 0.1, 0.25, 0.5, 1, 2, 3, 4, 5), "0.5", True),
    Ablation("batch", "Batch size", each("batch_size", 10, 20, 50, 100, 200), "50", True),
    Ablation("topics", "Number of topics", each("n_topics", 10, 20, 30, 60, 100), "60", True),
    Ablation(
        "filter",
        "Entropy filter, shares of log A (student alone)",
        entropies((0.6, 0.6), (0.45, 0.75), (0.3, 0.6)),
        "off",
        student=True,
    ),
    Ablation(
        "segments",
        "Segments to distil (student alone)",
        each("n_segments", 1000, 2000, 4000, 8000, 16000),
        "16000",
        numbers=True,
        student=True,
    ),
)
ABLATIONS = {one.name: one for one in ALL}


def chosen(names: tuple[str, ...] | None) -> list[Ablation]:
    unknown = [name for name in names or () if name not in ABLATIONS]
    if unknown:
        raise InputError(f"No ablation {', '.join(unknown)}. There are {', '.join(ABLATIONS)}.")
    return [ABLATIONS[name] for name in names or ABLATIONS]
