"""Segments to show: an aspect's typical, recent, least certain and random ones, and a topic's typical ones, with the attended words.

Candidates are chosen on the compact frame; only their texts are read from the file, and of those only the shown get attention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl

from aspectra.attention import Pieces, attended
from aspectra.detector import AspectDetector
from aspectra.report.labels import Labels
from aspectra.topicmap.gamma import even_where_unknown
from aspectra.topics import varied

KINDS = ("typical", "recent", "least certain", "random")
CANDIDATES = 60
SHOWN, SHOWN_OF_MANY, MANY = 10, 4, 30
"""Segments per aspect and kind: SHOWN, but fewer if there are more than MANY aspects."""
READABLE = (4, 30)
LONGEST = 500
"""Characters of a segment that are shown."""


@dataclass(frozen=True)
class Segment:
    """`pieces` are (text, attention times the number of known words); None is what the teacher does not read."""

    aspect: str
    kind: str
    pieces: Pieces
    probability: float
    day: date | None
    rating: float | None
    group: str | None


def candidates(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return aspect and rows (a list, best first) of one kind."""
    known = pl.col("known_words")
    readable = frame.lazy().filter(known.is_between(*READABLE))
    row = pl.col("row")
    order = {
        "typical": (pl.col("probability"), True),
        "recent": (pl.col("day"), True),
        "least certain": (pl.col("margin"), False),
        "random": (row.hash(0), False),
    }
    by, down = order[kind]
    if kind == "recent":
        readable = readable.filter(
            pl.col("day").is_not_null(),
            pl.col("probability") >= pl.col("probability").median().over("aspect"),
        )
    best = row.top_k_by(by, CANDIDATES) if down else row.bottom_k_by(by, CANDIDATES)
    return readable.group_by("aspect").agg(best).collect()


def read_rows(labels: Labels, rows: Sequence[int]) -> dict[int, dict[str, object]]:
    """Read the texts, cut to a length that can be shown, and what else is shown of these rows."""
    group = pl.col(labels.roles.group).cast(pl.String) if labels.roles.group else pl.lit(None, pl.String)
    wanted = pl.Series("row", sorted(set(rows)), dtype=labels.frame["row"].dtype)
    texts = (
        labels.rows.select("row", "text", group=group)
        .filter(pl.col("row").is_in(wanted.implode()))
        .with_columns(pl.col("text").fill_null("").str.slice(0, LONGEST))
        .collect(engine="streaming")
    )
    facts = labels.frame.filter(pl.col("row").is_in(wanted.implode())).select(
        "row", "probability", "day", "rating"
    )
    return {line["row"]: line for line in texts.join(facts, on="row").iter_rows(named=True)}


def gather(labels: Labels, detector: AspectDetector) -> tuple[Segment, ...]:
    """Choose each aspect's segments of every kind; none of a kind stands there twice in nearly the same words."""
    shown = SHOWN if len(labels.aspects) <= MANY else SHOWN_OF_MANY
    found = {
        kind: dict(candidates(labels.frame, kind).iter_rows())
        for kind in KINDS
        if kind != "recent" or labels.dated
    }
    facts = read_rows(labels, [row for lists in found.values() for rows in lists.values() for row in rows])
    chosen: list[tuple[str, str, int]] = []
    for aspect in labels.aspects:
        for kind, lists in found.items():
            rows = lists.get(aspect, [])
            texts = [str(facts[row]["text"]) for row in rows]
            chosen += [(aspect, kind, rows[place]) for place in varied(texts, np.arange(len(texts)), shown)]
    pieces = attended(detector, [str(facts[row]["text"]) for _, _, row in chosen])
    return tuple(
        segment(aspect, kind, cut, facts[row])
        for (aspect, kind, row), cut in zip(chosen, pieces, strict=True)
    )


def segment(aspect: str, kind: str, pieces: Pieces, facts: Mapping[str, object]) -> Segment:
    values = {name: facts[name] for name in ("probability", "day", "rating", "group")}
    return Segment(aspect, kind, pieces, **values)  # type: ignore[arg-type]


def topic_segments(
    labels: Labels, detector: AspectDetector, topics: Sequence[int], shown: int = 4
) -> dict[int, list[Pieces]]:
    """Choose, among random segments of each topic, those of which the teacher is surest."""
    readable = labels.frame.lazy().filter(
        pl.col("known_words").is_between(*READABLE), pl.col("topic").is_in(list(topics))
    )
    lists = dict(
        readable.group_by("topic")
        .agg(pl.col("row").bottom_k_by(pl.col("row").hash(0), 3 * CANDIDATES))
        .collect()
        .iter_rows()
    )
    facts = read_rows(labels, [row for rows in lists.values() for row in rows])
    result = {}
    for topic, rows in lists.items():
        texts = [str(facts[row]["text"]) for row in rows]
        surest = np.argsort(-even_where_unknown(detector.topic_probabilities(texts))[:, topic], kind="stable")
        result[topic] = attended(detector, [texts[place] for place in varied(texts, surest, shown)])
    return result
