"""Write `Content` and its pictures as one HTML file that needs no other file and no network.

All text that comes from reviews, files or topic maps is escaped.
"""

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
from aspectra.report import wording
from aspectra.report.compare import Difference
from aspectra.report.content import Content, EmergingTopic
from aspectra.report.evidence import Segment
from aspectra.report.pictures.vega import Chart, page_specs, vega_script
from aspectra.report.wording import count, percent
from aspectra.report.workbook import Column, Table, tables, written

if TYPE_CHECKING:
    from aspectra.attention import Pieces

MOST_ROWS = 400
"""Longer tables are only in the workbook."""


def to_html(content: Content, charts: Mapping[str, Chart]) -> str:
    """Write the page; a section without content is left out."""
    made = tables(content)
    sections = {
        "overview": ("Overview", overview(content, charts, made)),
        "sentiment": ("Sentiment", sentiment(content, charts, made)),
        "change": ("Change", change(content, charts, made)),
        "groups": ("Groups", groups(content, charts, made)),
        "comparison": ("Comparison", comparison(content, charts, made)),
        "new": ("New aspects", new_aspects(content, charts, made)),
        "evidence": ("Evidence", evidence_part(content)),
        "quality": ("Quality", quality(content, charts, made)),
    }
    shown = {name: part for name, part in sections.items() if part[1]}
    vega, script = vega_script().replace("</script", "<\\/script"), page_file("report.js")
    return Template(page_file("report.html")).substitute(
        hashes=" ".join(map(script_hash, (vega, script))), version=__version__, title=escape(content.title),
        style=page_file("style.css"), subtitle=subtitle(content), facts=facts(content),
        source=escape(content.source), made=date.today().isoformat(),
        nav="".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in shown.items()),
        sections="\n".join(section(name, *part) for name, part in shown.items()),
        charts=as_json({name: page_specs(chart) for name, chart in charts.items()}),
        evidence=as_json(evidence_data(content)), vega=vega, script=script,
    )  # fmt: skip


def section(name: str, head: str, body: str) -> str:
    return f'<section id="{name}"><h2>{head}</h2>\n{body}</section>'


def page_file(name: str) -> str:
    return resources.files("aspectra.report").joinpath("page", name).read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def as_json(value: Any) -> str:
    """Write JSON for a script element: without <, so no text in it can end the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def items(sentences: Iterable[str], kind: str) -> str:
    lines = "".join(f"<li>{sentence}</li>" for sentence in sentences)
    return f'<ul class="{kind}">{lines}</ul>' if lines else ""


def subtitle(content: Content) -> str:
    columns = {
        "dates": content.columns.date,
        "ratings": content.columns.rating,
        "groups": content.columns.group,
    }
    used = [f"{what} from column <bdi>{escape(name)}</bdi>" for what, name in columns.items() if name]
    return "; ".join(
        [escape(wording.time_span(content.facts)), f"labelled by {content.quality.model}", *used]
    )


def facts(content: Content) -> str:
    known = content.facts
    values = {
        "reviews": count(known.reviews),
        "segments": count(known.segments),
        "about an aspect": percent(known.specific),
        "with known words": percent(known.known),
        "mean confidence": percent(known.confidence),
    }
    if content.quality.grade:  # a mean probability says little if nobody knows how many are right
        values["right, by gold"] = percent(content.quality.grade.scores.accuracy)
    if known.rating is not None:
        values[f"mean {content.columns.rating}"] = f"{known.rating:.2f}"
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in values.items())


def figure(chart: Chart | None, table: Table | None) -> str:
    """Write a picture's title, its place and, folded, its numbers."""
    if chart is None:
        return ""
    panels = "".join(
        f'<div class="panel" data-chart="{chart.name}" data-panel="{at}"></div>'
        for at in range(len(chart.panels))
    )
    kind = "panels many" if len(chart.panels) > 1 else "panels wide" if chart.wide else "panels"
    caption = f"<figcaption><h3>{escape(chart.title)}</h3><p>{escape(chart.subtitle)}</p></figcaption>"
    drawing = f'<div class="{kind}">{panels}</div>'
    return f'<figure id="chart-{chart.name}">{caption}{drawing}{details(table)}</figure>\n'


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
    notes = "".join(map(note, content.notes))
    short = items(map(escape, content.headlines), "short")
    parts = "".join(figure(charts.get(name), made.get(name)) for name in ("shares", "topics", "ratings"))
    said = details(made.get("aspects"), "What the aspects mean")
    terms = f'<p class="soft">{wording.terms(content)}</p>'
    return f'<div class="sheet"><h3>In short</h3>{short}{notes}{terms}{said}</div>\n{parts}'


def sentiment(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    felt = content.felt
    if felt is None:
        return ""
    names = ("sentiment", "drivers", "sentiment_groups", "sentiment_trend")
    parts = "".join(figure(charts.get(name), made.get(name)) for name in names)
    told = [
        f"{escape(wording.driver_sentence(one, felt.rating_unit))} "
        f"<small>({one.cost_low:.1f} to {one.cost_high:.1f})</small>"
        for one in felt.drivers
        if one.claimed
    ]
    worse = [
        with_range(wording.worse_sentence(one, content), one) for one in felt.worse[: wording.MOST_CHANGES]
    ]
    changed = wording.specific(felt.changes)[: wording.MOST_CHANGES]
    soured = [with_range(wording.soured_sentence(one, content), one) for one in changed]
    told_changes = sheet("What soured or improved", soured, made.get("sentiment_changes"))
    told_changes += sheet(f"Which {content.columns.group} is judged worse, and on what", worse, None)
    parts += with_note(told_changes)
    parts += sheet("What lowers the rating", told, None)
    return parts + note(f"{wording.FELT_NOTE} {wording.DRIVERS_NOTE if felt.drivers else ''}")


def change(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if content.trend is None:
        return ""
    told = [with_range(wording.change_sentence(one, content), one) for one in listed(content.changes)]
    picture = figure(charts.get("trend"), made.get("trend"))
    return picture + with_note(sheet("The clearest changes", told, made.get("changes")))


def groups(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if content.groups is None:
        return ""
    told = [with_range(wording.contrast_sentence(one, content), one) for one in listed(content.contrasts)]
    picture = figure(charts.get("groups"), made.get("groups"))
    return picture + with_note(sheet("The clearest differences", told, made.get("contrasts")))


def with_note(told: str) -> str:
    """Explain the ranges in brackets, if there are any."""
    return told + note(wording.BRACKETS) if told else ""


def note(text: str) -> str:
    return f'<p class="note">{escape(text.strip())}</p>'


def listed(found: Sequence[Difference]) -> list[Difference]:
    return wording.specific(found)[: wording.MOST_CHANGES]


def with_range(sentence: str, difference: Difference) -> str:
    return f"{escape(sentence)} <small>({wording.points(difference.low, difference.high)})</small>"


def sheet(head: str, lines: list[str], table: Table | None) -> str:
    if not lines:
        return ""
    told = f"<h3>{escape(head)}</h3>{items(lines, 'says')}{details(table, 'All of them')}"
    return f'<div class="sheet">{told}</div>\n'


def comparison(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if content.comparison is None:
        return ""
    agreement = f"<p>{escape(wording.agreement_sentence(content.comparison))}</p>"
    moves = details(made.get("moves"), "Where the labels differ most")
    shares = figure(charts.get("comparison"), made.get("comparison"))
    return f'{shares}<div class="sheet">{agreement}{moves}</div>'


def new_aspects(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    if not content.emerging:
        return '<p class="soft">No coherent topic outside your aspects is large or growing.</p>'
    cards = "".join(card(topic, content) for topic in content.emerging)
    return figure(charts.get("new"), made.get("new")) + f'<div class="cards">{cards}</div>'


def card(topic: EmergingTopic, content: Content) -> str:
    examples = "".join(f"<li>{shaded(pieces)}</li>" for pieces in topic.examples)
    return (
        f'<div class="sheet"><h3>{escape(wording.topic_name(topic))}: {percent(topic.share)} of segments</h3>'
        f'<p class="keywords">{escape(wording.emerging_details(topic, content))}</p>'
        f'<ul class="segments">{examples}</ul></div>'
    )


def shaded(pieces: Pieces) -> str:
    """Write a segment, each known word shaded by the attention it got."""
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
            {"a": aspects.index(s.aspect), "k": kinds.index(s.kind), "t": s.pieces,
             "p": round(s.probability, 3), "d": s.day and s.day.isoformat(), "g": s.group,
             "r": None if s.rating is None else f"{content.columns.rating} {s.rating:g}"}
            for s in in_turn(content.segments)
        ],
    }  # fmt: skip


def in_turn(segments: Sequence[Segment]) -> list[Segment]:
    """Put the first segment of every aspect before the second of any: the top of the list shows them all."""
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
        selects += select("group", str(content.columns.group), "all", groups, groups, None)
    return (
        f'<p class="soft">{wording.KINDS_OF_SEGMENTS}</p>'
        '<div class="filters"><label class="search">Search'
        f'<input id="search" type="search" placeholder="words in these segments"></label>{selects}</div>'
        '<div class="sheet"><p class="soft"><span id="found" role="status"></span> '
        '<bdi id="keywords"></bdi></p>'
        '<ol class="segments" id="segments"></ol><button id="more" hidden>Show more</button></div>'
    )


def select(
    name: str, label: str, every: str, texts: Iterable[str], values: Iterable[object], chosen: object
) -> str:
    options = [f'<option value="">{every}</option>']
    for text, value in zip(texts, values, strict=True):
        mark = " selected" if value == chosen else ""
        options.append(f'<option value="{escape(str(value))}"{mark}>{escape(text)}</option>')
    return f'<label>{escape(label)}<select id="{name}">{"".join(options)}</select></label>'


def quality(content: Content, charts: Mapping[str, Chart], made: Mapping[str, Table]) -> str:
    lines = items(map(escape, wording.quality_lines(content.quality)), "says")
    scores = details(made.get("scores"), "Scores per aspect")
    settings = details(made.get("settings"), "Settings and fingerprints")
    names = ("confusion", "coverage", "coherence")
    parts = "".join(figure(charts.get(name), made.get(name)) for name in names)
    return f'<div class="sheet">{lines}{scores}{settings}</div>\n{parts}'
