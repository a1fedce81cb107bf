"""What differs beyond chance: before and after each moment, between one group and the others, between two label files.

Every difference of a family is tested at once: an interval reaches as far as all of them together need (Bonferroni), and a
difference is claimed only if its interval leaves out zero, both sides have enough reviews, and it is large enough to matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aspectra.report.stats import FEW, Tally, quantile

LEAST_POINTS = 0.01
LEAST_RATIO = 1.25
"""A difference matters if it is at least a point, or a quarter of the smaller share and LEAST_ANY."""
LEAST_ANY = 0.003


@dataclass(frozen=True)
class Difference:
    """`low` and `high` bound after − before; `at` numbers the first period after, or the group; `group` is None for all reviews."""

    name: str
    before: float
    after: float
    low: float
    high: float
    at: int
    group: int | None = None

    @property
    def effect(self) -> float:
        """How telling the difference is at the least: Cohen's h between `before` and the near end of the interval."""
        certain = self.low if self.low > 0 else min(self.high, 0.0)
        return abs(angle(self.before + certain) - angle(self.before))


def angle(share: float) -> float:
    """Stretch shares so that equal distances are equally hard to come by: from 1 to 4 % is as far as from 42 to 50 %."""
    return 2 * math.asin(math.sqrt(min(1.0, max(0.0, share))))


def matters(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    gap = np.abs(after - before)
    ratio = np.maximum(before, after) / np.maximum(np.minimum(before, after), 1e-9)
    return np.asarray((gap >= LEAST_POINTS) | ((gap >= LEAST_ANY) & (ratio >= LEAST_RATIO)))


def gaps(one: Tally, two: Tally, comparisons: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return low and high ends of two − one, and whether it may be claimed; the two have no review in common.

    A side with few mentions underrates its own variance: it is at least that of independent segments at the common share.
    """
    gap = two.share - one.share
    common = (one.mentions + two.mentions) / np.maximum(one.segments + two.segments, 1)
    least = common * (1 - common)
    variance = sum(np.maximum(side.variance, least / np.maximum(side.segments, 1)) for side in (one, two))
    reach = quantile(comparisons) * np.sqrt(variance)
    enough = (one.reviews >= FEW) & (two.reviews >= FEW) & (one.mentions + two.mentions >= FEW)
    claimed = enough & (np.abs(gap) > reach) & (reach > 0) & matters(one.share, two.share)
    return gap - reach, gap + reach, claimed


def changes(counted: Tally, names: Sequence[str], shown: Sequence[int], n_groups: int) -> list[Difference]:
    """Find, for all reviews and within each of the first groups, the moment that parts each class's shares most, if any does.

    `counted` is groups × periods × classes, in order of time; `shown` are the places of the periods that may begin something.
    """
    whole = counted.merge(0)
    parts = [(None, whole), *((group, counted.at(group)) for group in range(n_groups))]
    moments = [place for place in shown if place > 0]
    comparisons = len(parts) * len(moments) * len(names)
    found = []
    for group, part in parts:
        running = part.cumulate(0)
        before = running.at([place - 1 for place in moments])
        after = running.at([-1] * len(moments)).minus(before)
        low, high, claimed = gaps(before, after, comparisons)
        certain = np.where(claimed, np.maximum(low, -high), 0)
        for number, name in enumerate(names):
            best = int(certain[:, number].argmax()) if len(moments) else 0
            if len(moments) and certain[best, number] > 0:
                ends = float(low[best, number]), float(high[best, number])
                shares = float(before.share[best, number]), float(after.share[best, number])
                found.append(Difference(name, *shares, *ends, moments[best], group))
    return sorted(found, key=lambda change: -change.effect)


def contrasts(counted: Tally, names: Sequence[str]) -> list[Difference]:
    """Find where a group's share of a class (groups × classes) differs from that of all other groups together."""
    n_groups = counted.mentions.shape[0]
    if n_groups < 2:
        return []
    others = counted.merge(0).at(np.newaxis).minus(counted)
    low, high, claimed = gaps(others, counted, n_groups * len(names))
    found = [
        Difference(names[number], float(others.share[group, number]), float(counted.share[group, number]),
                   float(low[group, number]), float(high[group, number]), int(group), int(group))
        for group, number in np.argwhere(claimed)
    ]  # fmt: skip
    return sorted(found, key=lambda contrast: -contrast.effect)
