"""Choose the segments that the report shows: typical, worst, best, recent and others of each aspect.

Candidates are chosen without their texts. Only the candidates' texts are read from the file, and the model's
attention to the words is computed only for the segments that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.arrays import even_where_unknown
from aspectra.report.read import Labels

if TYPE_CHECKING:
    from aspectra.attention import Pieces
    from aspectra.detector import AspectDetector

KINDS = ("typical", "worst", "best", "recent", "least certain", "random")
CANDIDATES = 60
FELT_SIGNS = {"worst": -1, "best": 1}
LEAST_SURE = 0.5
"""The worst and the best are chosen among segments whose aspect is at least so probable."""
SHOWN, SHOWN_OF_MANY, MANY = 10, 4, 30
"""Segments per aspect and kind: SHOWN, or SHOWN_OF_MANY if there are more than MANY aspects."""
READABLE = (5, 50)
"""Shown segments have at least and at most so many written words: a run of few reviews knows few of them."""
LONGEST = 500
"""So many characters of a segment are shown."""


@dataclass(frozen=True)
class Segment:
    """One shown segment; `pieces` are its text in parts, known words with the teacher's attention."""

    aspect: str
    kind: str
    pieces: Pieces
    probability: float
    day: date | None
    rating: float | None
    group: str | None


def is_readable() -> pl.Expr:
    """Tell which segments of a label file's frame are neither too short to say something nor too long."""
    return pl.col("words").is_between(*READABLE)


def candidates(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return one row per aspect, with the row numbers of its segments of one kind, best first."""
    readable = frame.lazy().filter(is_readable())
    row = pl.col("row")
    order = {
        "typical": (pl.col("probability"), True),
        "worst": (pl.col("score"), False),
        "best": (pl.col("score"), True),
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
    if kind in FELT_SIGNS:
        readable = readable.filter(pl.col("feeling") == FELT_SIGNS[kind], pl.col("probability") >= LEAST_SURE)
    best = row.top_k_by(by, CANDIDATES) if down else row.bottom_k_by(by, CANDIDATES)
    return readable.group_by("aspect").agg(best).collect()


def read_rows(labels: Labels, rows: Sequence[int]) -> dict[int, dict[str, object]]:
    """Read from the file what is shown of these rows; long texts are cut."""
    column = labels.columns.group
    group = pl.col(column).cast(pl.String) if column else pl.lit(None, pl.String)
    wanted = pl.Series("row", sorted(set(rows)), dtype=labels.frame["row"].dtype)
    texts = labels.collect(
        labels.rows.select("row", "text", group=group)
        .filter(pl.col("row").is_in(wanted.implode()))
        .with_columns(pl.col("text").fill_null("").str.slice(0, LONGEST))
    )
    chosen = labels.frame.filter(pl.col("row").is_in(wanted.implode()))
    facts = chosen.select("row", "probability", "day", "rating")
    return {line["row"]: line for line in texts.join(facts, on="row").iter_rows(named=True)}


def choose_segments(labels: Labels, detector: AspectDetector) -> tuple[Segment, ...]:
    """Choose each aspect's segments of every kind; no two of a kind have nearly the same words."""
    from aspectra.attention import attended
    from aspectra.topics import varied

    shown = SHOWN if len(labels.aspects) <= MANY else SHOWN_OF_MANY
    found = {
        kind: dict(candidates(labels.frame, kind).iter_rows())
        for kind in KINDS
        if (kind != "recent" or labels.dated) and (kind not in FELT_SIGNS or labels.felt)
    }
    facts = read_rows(labels, [row for lists in found.values() for rows in lists.values() for row in rows])
    chosen: list[tuple[str, str, int]] = []
    for aspect in labels.aspects:
        for kind, lists in found.items():
            rows = lists.get(aspect, [])
            texts = [str(facts[row]["text"]) for row in rows]
            chosen += [(aspect, kind, rows[place]) for place in varied(texts, np.arange(len(texts)), shown)]
    pieces = attended(detector.fitted_, [str(facts[row]["text"]) for _, _, row in chosen])
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
    """Choose examples of each topic: of some random segments those where the topic is most probable."""
    from aspectra.attention import attended
    from aspectra.topics import varied

    readable = labels.frame.lazy().filter(is_readable(), pl.col("topic").is_in(list(topics)))
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
        result[topic] = attended(detector.fitted_, [texts[place] for place in varied(texts, surest, shown)])
    return result
