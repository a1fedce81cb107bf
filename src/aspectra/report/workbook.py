"""The report's numbers as tables: below each picture on the page, and as sheets of an Excel workbook."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from aspectra.disk import write_atomic
from aspectra.labelling.evaluate import Grade
from aspectra.report.compare import Difference
from aspectra.report.content import Cells, Content
from aspectra.report.sentiment import FeltCells
from aspectra.report.wording import percent

SHARES = "share of segments:share, low:share, high:share"
RATINGS = (
    "aspect, mean rating:number, low:number, high:number, other reviews:number, clearly different, "
    "reviews:count"
)
FORMATS = {"share": "0.0%", "count": "#,##0", "number": "0.00", "text": "@"}


@dataclass(frozen=True)
class Column:
    """`kind` is one of FORMATS."""

    name: str
    kind: str


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]

    def frame(self) -> pl.DataFrame:
        kinds = {"share": pl.Float64, "number": pl.Float64, "count": pl.Int64, "text": pl.String}
        return pl.DataFrame(
            list(self.rows),
            schema={column.name: kinds[column.kind] for column in self.columns},
            orient="row",
            strict=False,
        )


def table(name: str, columns: str, rows: Sequence[tuple[object, ...]]) -> Table:
    """Make a table from columns such as "aspect, share:share, reviews:count"; the default kind is text."""
    parts = [part.strip().partition(":") for part in columns.split(",")]
    return Table(name, tuple(Column(head, kind or "text") for head, _, kind in parts), tuple(rows))


def written(value: object, kind: str) -> str:
    """Write a value as text."""
    if value is None:
        return ""
    if isinstance(value, float) and kind == "share":
        return percent(value, 1)
    if isinstance(value, float) and kind == "number":
        return f"{value:.2f}"
    return f"{value:,}" if kind == "count" else str(value)


def cell_rows(cells: Cells, aspects: Sequence[str]) -> list[tuple[object, ...]]:
    return [
        (
            name,
            aspect,
            *(float(part[row, at]) for part in (cells.share, cells.low, cells.high)),
            int(cells.reviews[row]),
        )
        for row, name in enumerate(cells.names)
        for at, aspect in enumerate(aspects)
    ]


def tables(content: Content) -> dict[str, Table]:
    """Return all tables that have rows, by name; a picture's table has the name of the picture."""
    made = [
        *overview_tables(content), *felt_tables(content), *change_tables(content), *quality_tables(content)
    ]  # fmt: skip
    return {one.name: one for one in made if one.rows}


def overview_tables(content: Content) -> list[Table]:
    shares = [(s.name, s.share, s.low, s.high, s.segments, s.reviews) for s in content.shares]
    subs = [(s.aspect, s.topic, ", ".join(s.keywords), s.share) for s in content.subs]
    rated = [
        (r.aspect, r.mean, r.low, r.high, r.others, "yes" if r.differs else "no", r.reviews)
        for r in content.ratings
    ]
    new = [
        (", ".join(t.keywords), t.mapped, t.share, t.low, t.high, t.coherence,
         t.growth.before if t.growth else None, t.growth.after if t.growth else None)
        for t in content.emerging
    ]  # fmt: skip
    said = [(a.name, a.about, ", ".join(a.words), " · ".join(a.examples)) for a in content.described]
    return [
        table("aspects", "aspect, about, words, examples", said),
        table("shares", f"aspect, {SHARES}, segments:count, share of reviews:share", shares),
        table("topics", "aspect, topic:count, keywords, share of segments:share", subs),
        table("ratings", RATINGS, rated),
        table("new", f"keywords, mapped to, {SHARES}, coherence:number, before:share, since:share", new),
    ]


def felt_tables(content: Content) -> list[Table]:
    """Make the tables of sentiment: per aspect, by group, over time, and what drives the rating."""
    felt = content.felt
    if felt is None:
        return []
    net = "net sentiment:number, low:number, high:number"
    made = [
        table(
            "sentiment", f"aspect, {net}, positive:share, negative:share, segments:count",
            [(f.aspect, f.net, f.low, f.high, f.positive, f.negative, f.segments) for f in felt.aspects],
        ),
        table(
            "drivers",
            "aspect, lost when it goes wrong:number, low:number, high:number, gained by praise:number, "
            "reviews that complain:share, reviews that praise:share, beyond chance",
            [(d.aspect, d.cost, d.cost_low, d.cost_high, d.gain, d.complaints, d.praises,
              "yes" if d.claimed else "no") for d in felt.drivers],
        ),
        table(
            "sentiment_changes", "aspect, of, since, net before:number, net since:number",
            [(c.name, changed_in(c, content), content.period_names[c.at], c.before, c.after)
             for c in felt.changes],
        ),
    ]  # fmt: skip
    for name, head, cells in (
        ("sentiment_groups", "group", felt.groups),
        ("sentiment_trend", content.unit, felt.trend),
    ):
        if cells is not None:
            rows = felt_rows(cells, content.aspects)
            made.append(table(name, f"{head}, aspect, {net}, reviews:count", rows))
    return made


def felt_rows(cells: FeltCells, aspects: Sequence[str]) -> list[tuple[object, ...]]:
    return [
        (name, aspect, *(float(part[row, at]) for part in (cells.net, cells.low, cells.high)),
         int(cells.reviews[row, at]))
        for row, name in enumerate(cells.names)
        for at, aspect in enumerate(aspects)
        if not math.isnan(cells.net[row, at])
    ]  # fmt: skip


def changed_in(change: Difference, content: Content) -> str:
    """Name the reviews in which something changed."""
    return "all reviews" if change.group is None or not content.groups else content.groups.names[change.group]


def change_tables(content: Content) -> list[Table]:
    group_names = content.groups.names if content.groups else ()
    found = [
        (c.name, changed_in(c, content), content.period_names[c.at], c.before, c.after, c.low, c.high)
        for c in content.changes
    ]
    contrasts = [(c.name, group_names[c.at], c.after, c.before, c.low, c.high) for c in content.contrasts]
    interval = "difference from:share, difference to:share"
    made = [
        table("changes", f"aspect, of, since, share before:share, share since:share, {interval}", found),
        table("contrasts", f"aspect, group, share:share, all others:share, {interval}", contrasts),
    ]
    cells = f"aspect, {SHARES}, reviews:count"
    if content.trend:
        made.append(table("trend", f"{content.unit}, {cells}", cell_rows(content.trend, content.aspects)))
    if content.groups:
        made.append(table("groups", f"group, {cells}", cell_rows(content.groups, content.aspects)))
    if content.comparison:
        shifts = [
            (s.name, s.before, s.after, s.low, s.high, "yes" if s.claimed else "no")
            for s in content.comparison.shifts
        ]
        made.append(
            table(
                "comparison", f"aspect, other file:share, this file:share, {interval}, beyond chance", shifts
            )
        )
        made.append(table("moves", "other file, this file, segments:count", content.comparison.moves))
    return made


def quality_tables(content: Content) -> list[Table]:
    quality = content.quality
    settings = {**quality.settings, **quality.fingerprints}
    made = [
        table(
            "coherence", "topic:count, keywords, mapped to, coherence:number, share of segments:share",
            [(t.id, ", ".join(t.keywords), t.aspect, t.coherence, t.share) for t in quality.topics],
        ),
        table(
            "map", "made by, topics:count, first day, last day",
            [(a.name, a.topics, a.first, a.last) for a in quality.authors],
        ),
        table("settings", "setting, value", [(name, str(value)) for name, value in settings.items()]),
    ]  # fmt: skip
    return made + (grade_tables(quality.grade) if quality.grade else [])


def grade_tables(grade: Grade) -> list[Table]:
    """Make the tables of scores, confusion and coverage on gold segments."""
    found = grade.scores
    scores = [(s.aspect, s.precision, s.recall, s.f1, s.support, s.predicted) for s in found.per_aspect]
    confusion = [(gold, *row) for gold, row in zip(found.aspects, found.confusion, strict=True)]
    heads = tuple(Column(name, "number" if found.several else "count") for name in found.aspects)
    curve = [(point.confidence, point.coverage, point.accuracy) for point in grade.curve]
    return [
        table(
            "scores",
            "aspect, precision:share, recall:share, F1:share, gold:count, labels given:count",
            scores,
        ),
        Table("confusion", (Column("gold ↓ label given →", "text"), *heads), tuple(confusion)),
        table("coverage", "confidence from:number, labels used:share, right:share", curve),
    ]


def write_workbook(content: Content, path: Path) -> None:
    """Write one sheet per table and one with the shown segments; text stays text, never a formula or link."""
    import xlsxwriter

    segments = table(
        "segments", "aspect, kind, text, probability:number, day, rating:number, group",
        [(s.aspect, s.kind, "".join(piece for piece, _ in s.pieces), s.probability,
          s.day and s.day.isoformat(), s.rating, s.group)
         for s in content.segments],
    )  # fmt: skip
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    data = io.BytesIO()
    with xlsxwriter.Workbook(data, {**plain, "in_memory": True}) as book:
        for one in (*tables(content).values(), segments):
            formats: Any = {
                column.name: FORMATS[column.kind] for column in one.columns if column.kind != "text"
            }
            one.frame().write_excel(book, one.name, column_formats=formats, autofit=True, freeze_panes=(1, 0))
    write_atomic(path, data.getvalue())
