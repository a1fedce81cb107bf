"""`Content` and its charts → one HTML file that needs nothing else. Whatever comes from reviews, files or maps is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from aspectra import __version__
from aspectra.report import words
from aspectra.report.render import page_specs, vega_script
from aspectra.report.tables import Column, Table, tables, written
from aspectra.report.words import count, percent

if TYPE_CHECKING:
    from aspectra.attention import Pieces
    from aspectra.report.content import Content
    from aspectra.report.evidence import Segment
    from aspectra.report.marks import Chart

MOST_ROWS = 400
"""Longer tables are in the workbook only."""


def to_html(content: Content, charts: Mapping[str, Chart]) -> str:
    """Write the page."""
    made = tables(content)
    sections = {
        "overview": ("Overview", overview(content, charts, made)),
        "change": ("Change", change(content, charts, made)),
        "comparison": ("Comparison", comparison(content, charts, made)),
        "new": ("New aspects", new_aspects(content, charts, made)),
        "evidence": ("Evidence", evidence_part(content)),
        "quality": ("Quality", quality(content, charts, made)),
    }
    there = {name: part for name, part in sections.items() if part[1]}
    vega, script = vega_script().replace("</script", "<\\/script"), page_file("report.js")
    return Template(page_file("report.html")).substitute(
        hashes=" ".join(map(script_hash, (vega, script))), version=__version__, title=escape(content.title),
        style=page_file("style.css"), subtitle=subtitle(content), facts=facts(content), source=escape(content.source),
        nav="".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in there.items()),
        sections="\n".join(f'<section id="{name}"><h2>{head}</h2>\n{body}</section>' for name, (head, body) in there.items()),
        made=date.today().isoformat(), charts=as_json({name: page_specs(chart) for name, chart in charts.items()}),
        evidence=as_json(evidence_data(content)), vega=vega, script=script,
    )  # fmt: skip


def page_file(name: str) -> str:
    return resources.files("aspectra.report").joinpath("page", name).read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def as_json(value: Any) -> str:
    """Write JSON that can stand in a script element: no < in it can end the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def items(sentences: Iterable[str], kind: str) -> str:
    told = "".join(f"<li>{sentence}</li>" for sentence in sentences)
    return f'<ul class="{kind}">{told}</ul>' if told else ""


def subtitle(content: Content) -> str:
    roles = {"dates": content.roles.date, "ratings": content.roles.rating, "groups": content.roles.group}
    told = [f"{what} from column <bdi>{escape(name)}</bdi>" for what, name in roles.items() if name]
    return f"{escape(words.span(content.facts))}; labelled by {content.quality.model}" + "".join(
        f"; {part}" for part in told
    )


def facts(content: Content) -> str:
    told = content.facts
    values = {
        "reviews": count(told.reviews),
        "segments": count(told.segments),
        "about an aspect": percent(told.specific),
        "with known words": percent(told.known),
        "mean confidence": percent(told.confidence),
        **({f"mean {content.roles.rating}": f"{told.rating:.2f}"} if told.rating is not None else {}),
    }
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in values.items())


def figure(chart: Chart | None, table: Table | None) -> str:
    """Write a chart's place, its title and the numbers behind it."""
    if chart is None:
        return ""
    panels = "".join(
        f'<div class="panel" data-chart="{chart.name}" data-panel="{at}"></div>'
        for at in range(len(chart.panels))
    )
    kind = "panels many" if len(chart.panels) > 1 else "panels wide" if chart.wide else "panels"
    caption = f"<figcaption><h3>{escape(chart.title)}</h3><p>{escape(chart.subtitle)}</p></figcaption>"
    return f'<figure id="chart-{chart.name}">{caption}<div class="{kind}">{panels}</div>{details(table)}</figure>\n'


def details(table: Table | None, name: str = "Numbers") -> str:
    if table is None or len(table.rows) > MOST_ROWS:
        return ""
    return f'<details><summary>{name}</summary><div class="scroll">{grid(table)}</div></details>'


def grid(table: Table) -> str:
    look = [' class="n"' if column.kind != "text" else "" for column in table.columns]
    head = "".join(
        f"<th{mark}>{escape(column.name)}</th>" for column, mark in zip(table.columns, look, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(cell, row, table.columns, look))}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def cell(value: object, column: Column, look: str) -> str:
    text = escape(written(value, column.kind))
    return f"<td{look}><bdi>{text}</bdi></td>" if column.kind == "text" else f"<td{look}>{text}</td>"


def overview(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in content.notes)
    short = items(map(escape, words.headlines(content)), "short")
    parts = "".join(figure(charts.get(name), made.get(name)) for name in ("shares", "topics", "ratings"))
    return f'<div class="sheet"><h3>In short</h3>{short}{notes}</div>\n{parts}'


def change(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if content.trend is None and content.groups is None:
        return ""
    parts = []
    if content.trend is not None:
        told = [
            f"{escape(words.change_sentence(c, content))} <small>({words.points(c.low, c.high)})</small>"
            for c in words.specific(content.changes)[: words.MOST_CHANGES]
        ]
        parts += [
            figure(charts.get("trend"), made.get("trend")),
            sheet("The most certain changes", told, made.get("changes")),
        ]
    if content.groups is not None:
        told = [
            f"{escape(words.contrast_sentence(c, content))} <small>({words.points(c.low, c.high)})</small>"
            for c in words.specific(content.contrasts)[: words.MOST_CHANGES]
        ]
        parts += [
            figure(charts.get("groups"), made.get("groups")),
            sheet("The most certain differences", told, made.get("contrasts")),
        ]
    return "".join(parts) + f'<p class="note">{words.TOGETHER}</p>'


def sheet(head: str, told: list[str], table: Table | None) -> str:
    return (
        f'<div class="sheet"><h3>{head}</h3>{items(told, "says")}{details(table, "All of them")}</div>\n'
        if told
        else ""
    )


def comparison(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if content.comparison is None:
        return ""
    told = f"<p>{escape(words.agreement_sentence(content.comparison))}</p>"
    moves = details(made.get("moves"), "Where labels differ most")
    return (
        figure(charts.get("comparison"), made.get("comparison")) + f'<div class="sheet">{told}{moves}</div>'
    )


def new_aspects(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if not content.fresh:
        return '<p class="soft">No coherent topic outside the aspects is large or growing.</p>'
    cards = "".join(
        f'<div class="sheet"><h3>{escape(words.fresh_name(fresh))}: {percent(fresh.share)} of segments</h3>'
        f'<p class="keywords">{escape(words.fresh_details(fresh, content))}</p>'
        f'<ul class="segments">{"".join(f"<li>{said(pieces)}</li>" for pieces in fresh.examples)}</ul></div>'
        for fresh in content.fresh
    )
    return figure(charts.get("new"), made.get("new")) + f'<div class="cards">{cards}</div>'


def said(pieces: Pieces) -> str:
    """Write a segment with its attended words shaded."""
    largest = max([0.01, *(weight or 0 for _, weight in pieces)])
    parts = (
        escape(text)
        if weight is None
        else f'<mark style="--w: {(weight / largest) ** 3:.2f}">{escape(text)}</mark>'
        for text, weight in pieces
    )
    return f'<p class="said" dir="auto">{"".join(parts)}</p>'


def evidence_data(content: Content) -> dict[str, Any]:
    aspects = [share.name for share in content.shares]
    kinds = list(dict.fromkeys(segment.kind for segment in content.segments))
    return {
        "aspects": aspects,
        "keywords": [content.keywords.get(aspect, ()) for aspect in aspects],
        "kinds": kinds,
        "segments": [
            {"a": aspects.index(s.aspect), "k": kinds.index(s.kind), "t": s.pieces, "p": round(s.probability, 3),
             "d": s.day and s.day.isoformat(), "r": None if s.rating is None else f"{content.roles.rating} {s.rating:g}", "g": s.group}
            for s in in_turn(content.segments)
        ],
    }  # fmt: skip


def in_turn(segments: Sequence[Segment]) -> list[Segment]:
    """Put the first segment of every aspect before the second of any, so that a look at the top sees them all."""
    seen: Counter[tuple[str, str]] = Counter()
    places = []
    for segment in segments:
        places.append(seen[segment.aspect, segment.kind])
        seen[segment.aspect, segment.kind] += 1
    return [segment for _, segment in sorted(zip(places, segments, strict=True), key=lambda pair: pair[0])]


def evidence_part(content: Content) -> str:
    data = evidence_data(content)
    groups = sorted({segment.group for segment in content.segments if segment.group is not None})
    selects = select("aspect", "Aspect", "all aspects", data["aspects"], range(len(data["aspects"])), None)
    selects += select("kind", "Kind", "all kinds", data["kinds"], range(len(data["kinds"])), 0)
    if groups:
        selects += select("group", str(content.roles.group), "all", groups, groups, None)
    return (
        '<p class="soft">Typical: the most probable. Least certain: nearly another aspect, worth a check. Random: as they come. '
        "Shaded words drew the model's attention.</p>"
        '<div class="filters"><label class="search">Search'
        f'<input id="search" type="search" placeholder="words in these segments"></label>{selects}</div>'
        '<div class="sheet"><p class="soft"><span id="found" role="status"></span> <bdi id="keywords"></bdi></p>'
        '<ol class="segments" id="segments"></ol><button id="more" hidden>Show more</button></div>'
    )


def select(
    name: str, label: str, every: str, texts: Iterable[str], values: Iterable[object], chosen: object
) -> str:
    options = "".join(
        f'<option value="{escape(str(value))}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for text, value in zip(texts, values, strict=True)
    )
    return f'<label>{escape(label)}<select id="{name}"><option value="">{every}</option>{options}</select></label>'


def quality(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    told = content.quality
    lines = [f"The labels were made by {told.model}."]
    if told.grade:
        report = told.grade.scores
        lines.append(
            f"On {report.n:,} gold segments of {told.gold}: micro F1 {percent(report.f1_micro, 1)}, macro F1 "
            f"{percent(report.f1_macro, 1)}; always answering {report.majority_aspect} would get "
            f"{percent(report.majority_f1_micro, 1)} and {percent(report.majority_f1_macro, 1)}."
        )
    else:
        lines.append("No gold segments were given; with --gold the report says how many labels are right.")
    if told.estimate:
        figures = ", ".join(f"{name} {percent(value, 1)}" for name, value in told.estimate.items())
        lines.append(
            f"Expected of the student on new segments, cross-validated on the labels it learnt from: {figures}."
        )
    authors = [
        f"{a.topics} topics by {a.name}, {a.first if a.first == a.last else f'{a.first} to {a.last}'}"
        for a in told.authors
    ]
    lines.append(f"The topic map: {'; '.join(authors)}.")
    body = items(map(escape, lines), "says")
    more = details(made.get("scores"), "Scores per aspect") + details(
        made.get("settings"), "Settings and fingerprints"
    )
    parts = "".join(
        figure(charts.get(name), made.get(name)) for name in ("confusion", "coverage", "coherence")
    )
    return f'<div class="sheet">{body}{more}</div>\n{parts}'
