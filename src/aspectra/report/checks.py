"""The pictures that tell how far the labels can be trusted: confusion, coverage and accuracy, coherence, and another label file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aspectra.config import GENERAL
from aspectra.report import words
from aspectra.report.marks import (
    BLUE,
    GREY,
    MOST_ROWS,
    ORANGE,
    OWN_COLOUR,
    PERCENT,
    WHITE,
    Chart,
    cells_chart,
    layer,
    number,
    rows_chart,
    share,
    word,
)  # fmt: skip
from aspectra.report.words import percent, signed
from aspectra.topicmap.topicmap import UNMAPPED

if TYPE_CHECKING:
    from aspectra.report.content import Content


def confusion_chart(content: Content) -> Chart | None:
    grade = content.quality.grade
    if grade is None:
        return None
    names = grade.scores.aspects[:MOST_ROWS]
    values = [
        {"gold": gold, "answer": answer, "segments": n, "label": str(n or "·"), "part": n / max(1, sum(row))}
        for gold, row in zip(names, grade.scores.confusion, strict=False)
        for answer, n in zip(names, row, strict=False)
    ]
    x, y = (
        {**word("answer", names), "title": "answer"},
        {**word("gold", names, labelLimit=150), "title": "gold"},
    )
    shade = number("part", range=["#f3f6f9", "#08519c"], domain=[0, 1])
    spec = cells_chart(values, x, y, shade, "datum.part > 0.5", ("gold", "answer", "segments"))
    title = f"{percent(grade.scores.accuracy)} of {grade.scores.n:,} gold segments are answered rightly"
    return Chart(
        "confusion",
        title,
        f"Segments of {content.quality.gold} by gold aspect and answer.",
        (spec,),
        wide=True,
    )


def curve_chart(content: Content) -> Chart | None:
    grade = content.quality.grade
    if grade is None:
        return None
    values = [
        {
            "coverage": point.coverage, "accuracy": point.accuracy, "answered": percent(point.coverage, 0),
            "right": percent(point.accuracy, 1), "confidence from": f"{point.confidence:.2f}",
        }
        for point in grade.curve
    ]  # fmt: skip
    least = max(0.0, min(point.accuracy for point in grade.curve) - 0.1)
    x = share("coverage", "share of segments answered, the surest first", domain=[0, 1])
    y = share("accuracy", "of them right", domain=[least, 1], zero=False)
    look = {"color": BLUE, "strokeWidth": 2, "point": {"color": BLUE, "size": 30, "filled": True}}
    spec = {
        "data": {"values": values}, "height": 220,
        "layer": [layer("line", look, ("answered", "right", "confidence from"), x=x, y=y)],
    }  # fmt: skip
    return Chart(
        "coverage",
        words.curve_title(grade.curve),
        "What is gained by trusting confident answers only.",
        (spec,),
    )


def coherence_chart(content: Content) -> Chart:
    kinds = ["an aspect", GENERAL, UNMAPPED]
    values = [
        {
            "coherence": line.coherence, "share": line.share, "keywords": ", ".join(line.keywords[:6]), "aspect": line.aspect,
            "of segments": percent(line.share, 1), "npmi": signed(line.coherence),
            "kind": line.aspect if line.aspect in kinds else kinds[0],
        }
        for line in content.quality.topics
    ]  # fmt: skip
    legend = {"orient": "top", "title": "mapped to"}
    shape = {
        **word("kind", kinds),
        "scale": {"domain": kinds, "range": ["circle", "square", "cross"]},
        "legend": legend,
    }
    hue = {**shape, "scale": {"domain": kinds, "range": [BLUE, GREY, ORANGE]}}
    for encoding in (shape, hue):
        del encoding["axis"], encoding["title"]
    x = number("coherence", "coherence (mean NPMI of pairs of keywords)", {"tickCount": 6}, zero=False)
    y = {**share("share"), "axis": {**PERCENT, "tickCount": 4}}
    point = {"filled": True, "size": 60, "opacity": 0.85}
    tips = ("keywords", "aspect", "of segments", "npmi")
    spec = {
        "data": {"values": values},
        "height": 240,
        "layer": [layer("point", point, tips, x=x, y=y, shape=shape, color=hue)],
    }
    return Chart(
        "coherence",
        coherence_title(content),
        "Each mark is a topic; keywords that keep company have a high coherence.",
        (spec,),
    )


def coherence_title(content: Content) -> str:
    mapped = [line.coherence for line in content.quality.topics if line.aspect not in (GENERAL, UNMAPPED)]
    rest = [line.coherence for line in content.quality.topics if line.aspect in (GENERAL, UNMAPPED)]
    if not mapped:
        return "No topic belongs to a specific aspect"
    others = f", the others of {signed(float(np.median(rest)))}" if rest else ""
    return f"Topics of aspects have a median coherence of {signed(float(np.median(mapped)))}{others}"


def comparison_chart(content: Content) -> Chart | None:
    if content.comparison is None:
        return None
    shown = sorted(content.comparison.shifts, key=lambda shift: -max(shift.before, shift.after))[:MOST_ROWS]
    values = [
        {
            "name": one.name, "before": one.before, "after": one.after, "there": percent(one.before, 1), "here": percent(one.after, 1),
            "difference": f"{100 * one.low:+.1f} to {100 * one.high:+.1f} points".replace("-", "−"),
            "colour": ORANGE if one.claimed else GREY,
        }
        for one in shown
    ]  # fmt: skip
    x, tips = share("after"), ("name", "there", "here", "difference")
    layers = [
        layer(
            "rule", {"strokeWidth": 2.5}, x={**x, "field": "before"}, x2={"field": "after"}, color=OWN_COLOUR
        ),
        layer(
            "point",
            {"size": 60, "fill": WHITE, "opacity": 1},
            tips,
            x={**x, "field": "before"},
            stroke=OWN_COLOUR,
        ),
        layer("point", {"size": 70, "filled": True, "opacity": 1}, tips, x=x, color=OWN_COLOUR),
    ]
    subtitle = f"Hollow: {content.comparison.name}; filled: {content.source}. Orange: beyond chance."
    return Chart(
        "comparison", words.comparison_title(content.comparison), subtitle, (rows_chart(values, layers),)
    )
