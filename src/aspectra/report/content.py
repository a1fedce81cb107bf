"""`Content`: every number, the ground of every sentence, and every segment of the report, before anything is drawn.

Page, pictures and workbook are all made from this, so that they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from aspectra.report.labels import NO_ROLES, Roles

if TYPE_CHECKING:
    import numpy as np

    from aspectra.attention import Pieces
    from aspectra.report.change import Difference
    from aspectra.report.compare import Comparison
    from aspectra.report.evidence import Segment
    from aspectra.report.quality import Quality
    from aspectra.report.stats import Rating


@dataclass(frozen=True)
class Facts:
    """`known` is the share of segments with a known word, `specific` of those with an aspect other than General."""

    reviews: int
    segments: int
    first: date | None
    last: date | None
    known: float
    specific: float
    confidence: float
    rating: float | None


@dataclass(frozen=True)
class Share:
    """Of the segments, with its interval; `reviews` is the share of reviews that mention it at least once."""

    name: str
    segments: int
    share: float
    low: float
    high: float
    reviews: float


@dataclass(frozen=True)
class Cells:
    """Shares in periods or groups × aspects, with intervals; `reviews` counts those of each period or group."""

    names: tuple[str, ...]
    starts: tuple[date, ...]  # of periods; empty for groups
    reviews: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SubAspect:
    """A topic under its aspect: the share of all segments that it leads and that got the aspect."""

    aspect: str
    topic: int
    keywords: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Fresh:
    """A coherent topic that is on nobody's list, large or growing."""

    topic: int
    keywords: tuple[str, ...]
    mapped: str
    share: float
    low: float
    high: float
    coherence: float
    growth: Difference | None
    examples: list[Pieces]


@dataclass(frozen=True)
class Content:
    title: str
    source: str
    roles: Roles
    aspects: tuple[str, ...]  # in the order of the cells' columns
    unit: str
    period_names: tuple[str, ...]
    period_starts: tuple[date, ...]
    notes: tuple[str, ...]
    facts: Facts
    shares: tuple[Share, ...]
    subs: tuple[SubAspect, ...]
    ratings: tuple[Rating, ...]
    trend: Cells | None
    changes: tuple[Difference, ...]
    group_trends: dict[int, Cells]  # of groups with a change
    groups: Cells | None
    contrasts: tuple[Difference, ...]
    fresh: tuple[Fresh, ...]
    keywords: dict[str, tuple[str, ...]]
    segments: tuple[Segment, ...]
    quality: Quality
    comparison: Comparison | None


@dataclass(frozen=True)
class Request:
    """What the report is asked to hold beside the labels."""

    roles: Roles = NO_ROLES
    title: str | None = None
    gold: Path | None = None
    against: Path | None = None
