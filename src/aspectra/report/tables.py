"""The report's numbers as tables, for the workbook and behind each picture; made from `Content`, as the pictures are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from aspectra.report.words import percent

if TYPE_CHECKING:
    from aspectra.report.content import Cells, Content

SHARES = "share of segments:share, low:share, high:share"
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
    """Make a table from "aspect, share:share, reviews:count" and rows; text is the kind where none is said."""
    parts = [part.strip().partition(":") for part in columns.split(",")]
    return Table(name, tuple(Column(head, kind or "text") for head, _, kind in parts), tuple(rows))


def written(value: object, kind: str) -> str:
    """Write a value for people."""
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
    """Return all tables that have rows, by the name of the picture they stand behind, or their own."""
    made = [*overview(content), *change(content), *quality(content)]
    return {one.name: one for one in made if one.rows}


def overview(content: Content) -> list[Table]:
    shares = [(s.name, s.share, s.low, s.high, s.segments, s.reviews) for s in content.shares]
    subs = [(s.aspect, s.topic, ", ".join(s.keywords), s.share) for s in content.subs]
    rated = [
        (r.aspect, r.mean, r.low, r.high, r.others, "yes" if r.differs else "no", r.reviews)
        for r in content.ratings
    ]
    new = [
        (", ".join(f.keywords), f.mapped, f.share, f.low, f.high, f.coherence, f.growth.before if f.growth else None,
         f.growth.after if f.growth else None)
        for f in content.fresh
    ]  # fmt: skip
    return [
        table("shares", f"aspect, {SHARES}, segments:count, share of reviews:share", shares),
        table("topics", "aspect, topic:count, keywords, share of segments:share", subs),
        table(
            "ratings",
            "aspect, mean rating:number, low:number, high:number, others:number, clearly different, reviews:count",
            rated,
        ),
        table("new", f"keywords, mapped to, {SHARES}, coherence:number, before:share, since:share", new),
    ]


def change(content: Content) -> list[Table]:
    group_names = content.groups.names if content.groups else ()
    found = [
        (c.name, "all reviews" if c.group is None else group_names[c.group], content.period_names[c.at], c.before, c.after, c.low, c.high)
        for c in content.changes
    ]  # fmt: skip
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


def quality(content: Content) -> list[Table]:
    told = content.quality
    made = [
        table(
            "coherence", "topic:count, keywords, mapped to, coherence:number, share of segments:share",
            [(t.id, ", ".join(t.keywords), t.aspect, t.coherence, t.share) for t in told.topics],
        ),
        table("map", "made by, topics:count, first day, last day", [(a.name, a.topics, a.first, a.last) for a in told.authors]),
        table("settings", "setting, value", [(name, str(value)) for name, value in (*told.settings.items(), *told.fingerprints.items())]),
    ]  # fmt: skip
    if told.grade:
        report = told.grade.scores
        scores = [(s.aspect, s.precision, s.recall, s.f1, s.support, s.predicted) for s in report.per_aspect]
        confusion = [(gold, *row) for gold, row in zip(report.aspects, report.confusion, strict=True)]
        heads = tuple(Column(name, "count") for name in report.aspects)
        curve = [(point.confidence, point.coverage, point.accuracy) for point in told.grade.curve]
        made += [
            table(
                "scores", "aspect, precision:share, recall:share, F1:share, gold:count, answers:count", scores
            ),
            Table("confusion", (Column("gold ↓ answer →", "text"), *heads), tuple(confusion)),
            table("coverage", "confidence from:number, answered:share, right:share", curve),
        ]
    return made


def write_workbook(content: Content, path: Path) -> None:
    """Write a sheet per table, and one of the shown segments; text stays text, whatever it begins with."""
    import xlsxwriter

    from aspectra.rundir import atomic_path

    segments = table(
        "segments", "aspect, kind, text, probability:number, day, rating:number, group",
        [(s.aspect, s.kind, "".join(piece for piece, _ in s.pieces), s.probability, s.day and s.day.isoformat(), s.rating, s.group)
         for s in content.segments],
    )  # fmt: skip
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with atomic_path(path) as temporary, xlsxwriter.Workbook(str(temporary), plain) as book:
        for one in (*tables(content).values(), segments):
            formats: Any = {
                column.name: FORMATS[column.kind] for column in one.columns if column.kind != "text"
            }
            one.frame().write_excel(book, one.name, column_formats=formats, autofit=True, freeze_panes=(1, 0))
