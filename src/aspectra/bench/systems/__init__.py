"""The systems that the benchmark compares.

A new one is a class with the members of `System` in a file here, and a line below.
"""

from __future__ import annotations

from aspectra.bench.protocol import DEV_MAP, LABELS, SEED_WORDS, System
from aspectra.bench.sets import known_names
from aspectra.bench.systems.baselines import KMeansTopics, LdaTopics, Majority
from aspectra.bench.systems.labelled import LogisticOnDev, TeacherWithLabels
from aspectra.bench.systems.names import LinearSystem, ZeroShot
from aspectra.bench.systems.ours import StudentSystem, TeacherSystem

ALL: tuple[System, ...] = (
    ZeroShot(),
    LinearSystem(),
    LinearSystem("names-fast", "aspectra, fast", fast=True),
    LinearSystem("seeds", supervision=SEED_WORDS),
    KMeansTopics(),
    LdaTopics(),
    TeacherSystem(),
    StudentSystem(),
    LinearSystem("student", supervision=DEV_MAP),
    LinearSystem("student-fast", "aspectra, fast", supervision=DEV_MAP, fast=True),
    Majority(),
    LogisticOnDev(),
    TeacherWithLabels(),
    LinearSystem("student+dev", supervision=LABELS),
    LinearSystem("student+dev-fast", "aspectra, fast", supervision=LABELS, fast=True),
)
SYSTEMS = {system.name: system for system in ALL}


def choose_systems(names: str | None) -> list[System]:
    """Return the systems named, with commas between them, or all."""
    return [SYSTEMS[name] for name in (known_names(names, tuple(SYSTEMS), "system") if names else SYSTEMS)]
