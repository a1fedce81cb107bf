"""What just changed: two label files of the same run → what rose, fell, soured, improved or appeared since.

All comparisons are tested together, as in the report: with 99 % certainty none of them is chance. So a watch
that runs every night, when nothing changes, speaks up falsely at most once in a hundred nights.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import InputError, typed
from aspectra.report.compare import difference_interval
from aspectra.report.evidence import is_readable, read_rows
from aspectra.report.read import Labels, open_labels
from aspectra.report.sentiment import felt_tally, net_interval
from aspectra.report.stats import Tally, tally
from aspectra.report.wording import distinct_names, net, percent
from aspectra.topics import Topics, varied

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

QUOTES = 3
CANDIDATES = 60


@dataclass(frozen=True)
class Change:
    """One change: rose, fell, soured, improved or appeared; `low` and `high` bound after − before."""

    kind: str
    name: str
    before: float
    after: float
    low: float
    high: float
    quotes: tuple[str, ...] = ()

    def line(self) -> str:
        """Say it in one line."""
        if self.kind in ("soured", "improved"):
            return f"{self.name} {self.kind}: net sentiment {net(self.before)} → {net(self.after)}"
        verb = "is new" if self.kind == "appeared" else self.kind
        return f"{self.name} {verb}: {percent(self.before, 1)} → {percent(self.after, 1)} of segments"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "quotes": list(self.quotes)}


def watch(run: Path | str, new: Path | str, against: Path | str) -> list[Change]:
    """Compare two label files of a run; return what changed beyond chance, shares first.

    It warns of files that lack some of their reviews' segments.

    - `run`: the folder of the run that made the labels.
    - `new`: the label file of the latest reviews.
    - `against`: the label file to compare with, of other, usually earlier reviews.
    """
    changes, doubts = compare_files(run, new, against)
    for line in doubts:
        warnings.warn(line, stacklevel=2)
    return changes


def compare_files(
    run: Path | str, new: Path | str, against: Path | str
) -> tuple[list[Change], tuple[str, ...]]:
    """Return what `watch` does, and what speaks against it."""
    from aspectra.detector import AspectDetector

    detector = AspectDetector.load(run)
    topics, topic_map = detector.topics_, detector.fitted_.the_map()
    later, earlier = open_labels(Path(new)), open_labels(Path(against))
    if set(later.aspects) != set(earlier.aspects):
        raise InputError(
            f"{new} and {against} have different aspects. "
            f"Label both with the same run: aspectra label {typed(run)}"
        )
    same_order = earlier.frame.with_columns(pl.col("aspect").cast(pl.String).cast(pl.Enum(later.aspects)))
    earlier = replace(earlier, frame=same_order, aspects=later.aspects)
    for path, labels in ((new, later), (against, earlier)):
        if (labels.frame["topic"] >= len(topics.items)).any():
            raise InputError(
                f"{path} has topics that {run} lacks. Label it with this run: aspectra label {typed(run)}"
            )
    check_same_model(detector, Path(run), later, earlier)
    free = [choice.topic for choice in topic_map.choices if choice.aspect in (None, GENERAL, NOT_REVIEW)]
    changes = list(with_quotes(find_changes(earlier, later, topics, free), later, topics))
    return changes, (*later.warnings, *earlier.warnings)


def check_same_model(detector: AspectDetector, run: Path, later: Labels, earlier: Labels) -> None:
    """Refuse labels of another run, and labels of two models: they differ where the reviews do not."""
    from aspectra.report.quality import find_origin
    from aspectra.rundir import has_student

    home = run if has_student(run) else None
    made_by = [find_origin(labels, detector, home).model for labels in (later, earlier)]
    if made_by[0] != made_by[1]:
        names = " and ".join(f"{model} model" if model else "an earlier map" for model in made_by)
        raise InputError(
            f"{later.path} and {earlier.path} were labelled differently ({names}), so they cannot be "
            f"compared. Label both again: aspectra label {typed(run)}"
        )


def find_changes(earlier: Labels, later: Labels, topics: Topics, free: Sequence[int]) -> list[Change]:
    """Compare shares of aspects, net sentiment, and shares of the topics that belong to no aspect."""
    aspects = later.aspects
    felt = earlier.felt and later.felt
    n = len(aspects) * (1 + felt) + len(topics.items)
    found = compared(
        counts(earlier, "aspect", len(aspects)), counts(later, "aspect", len(aspects)), aspects, n
    )
    changes = [one for one in found if one.name != GENERAL]
    if felt:
        one, two = (
            felt_tally(x.frame, len(aspects), n_groups(x), ()).merge(0).at(0) for x in (earlier, later)
        )
        low, high, claimed = net_interval(one, two, n)
        for at in np.flatnonzero(claimed).tolist():
            before, after = float(one.share[at]), float(two.share[at])
            kind = "soured" if after < before else "improved"
            changes.append(Change(kind, aspects[at], before, after, float(low[at]), float(high[at])))
    names = distinct_names([item.keywords for item in topics.items])
    grown = compared(counts(earlier, "topic", len(names)), counts(later, "topic", len(names)), names, n)
    kept = {names[topic] for topic in free}
    return changes + [
        replace(topic, kind="appeared")
        for topic in grown
        if topic.kind == "rose" and topic.name in kept and topic.after >= 2 * topic.before
    ]


def n_groups(labels: Labels) -> int:
    return max(1, len(labels.groups))


def counts(labels: Labels, column: str, n: int) -> Tally:
    """Count the segments of each aspect or topic over all reviews."""
    code = pl.col("aspect").to_physical() if column == "aspect" else pl.col("topic")
    return tally(labels.frame.with_columns(code=code), "code", n, n_groups(labels), ()).merge(0).at(0)


def compared(before: Tally, after: Tally, names: Sequence[str], comparisons: int) -> list[Change]:
    """Return the shares that differ beyond chance, the largest difference first."""
    low, high, claimed = difference_interval(before, after, comparisons)
    found = [
        Change("rose" if after.share[at] > before.share[at] else "fell", names[at], float(before.share[at]),
             float(after.share[at]), float(low[at]), float(high[at]))
        for at in np.flatnonzero(claimed).tolist()
    ]  # fmt: skip
    return sorted(found, key=lambda one: -abs(one.after - one.before))


def with_quotes(changes: Sequence[Change], labels: Labels, topics: Topics) -> Iterator[Change]:
    """Add segments of the new file: the most negative where something soured, else the most certain.

    Those of one word only if there are no others. Of a topic that appeared, those with most of its keywords.
    """
    names = distinct_names([item.keywords for item in topics.items])
    number = {name: item.id for name, item in zip(names, topics.items, strict=True)}
    for one in changes:
        mine = pl.col("topic") == number[one.name] if one.kind == "appeared" else pl.col("aspect") == one.name
        by = {"soured": pl.col("score"), "improved": -pl.col("score")}.get(one.kind, -pl.col("probability"))
        rows = labels.frame.filter(mine).sort(~is_readable(), by, "row")["row"].head(CANDIDATES).to_list()
        texts = {row: str(facts["text"]) for row, facts in read_rows(labels, rows).items()}
        said = [texts[row] for row in rows if row in texts]
        if one.kind == "appeared":
            words = topics.items[number[one.name]].keywords
            said.sort(key=lambda text: -sum(word in text.lower() for word in words))
        chosen = varied(said, np.arange(len(said)), QUOTES)
        yield replace(one, quotes=tuple(said[place] for place in chosen))
