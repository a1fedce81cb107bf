"""The report's pictures, made from `Content`. Each title says what was found.

First what the reviews say: shares, topics, ratings, changes, groups, emerging topics. Then how far the
labels can be trusted: another label file, confusion, coverage and accuracy, coherence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

import numpy as np

from aspectra.config import GENERAL, UNMAPPED
from aspectra.report import wording
from aspectra.report.compare import Difference
from aspectra.report.content import Cells, Content, SubAspect
from aspectra.report.pictures import felt_charts, vega
from aspectra.report.pictures.vega import (
    BLUE,
    GREEN,
    GREY,
    MOST_ROWS,
    ORANGE,
    OWN_COLOUR,
    PERCENT,
    SKY,
    Chart,
    Spec,
)
from aspectra.report.wording import percent, percents

MOST_PANELS, MOST_TOPICS, MOST_WITHIN = 12, 8, 4
INTERVALS = f"95{wording.NARROW}% intervals"


def draw(content: Content) -> dict[str, Chart]:
    """Return the pictures that there are data for, by name."""
    made = [chart for make in MAKERS if (chart := make(content)) is not None]
    return {chart.name: chart for chart in made}


def shares_chart(content: Content) -> Chart:
    shown = content.shares[:MOST_ROWS]
    values = [
        {
            "name": one.name, "share": one.share, "low": one.low, "high": one.high,
            "label": percent(one.share), "of reviews": percent(one.reviews, 1),
            "of segments": f"{percent(one.share, 1)} ({percents(one.low, one.high)})",
            "colour": GREY if one.name == GENERAL else BLUE,
        }
        for one in shown
    ]  # fmt: skip
    left = len(content.shares) - len(shown)
    subtitle = f"Share of segments, each counted for the aspect that it is most about, with {INTERVALS}."
    subtitle += f" The other {left} aspects are in the workbook." if left else ""
    subtitle += f" {GENERAL}: about none of the aspects." if GENERAL in content.aspects else ""
    spec = vega.share_bars(values, ("name", "of segments", "of reviews"), 0.66)
    return Chart("shares", wording.shares_title(content.shares), subtitle, (spec,))


def topics_chart(content: Content) -> Chart | None:
    """Draw one panel per aspect with its topics, all on one scale."""
    subs = [sub for sub in content.subs if sub.aspect != GENERAL and sub.share > 0]
    if not subs:
        return None
    order = [one.name for one in content.shares if any(sub.aspect == one.name for sub in subs)][:MOST_PANELS]
    panels = tuple(
        topic_panel(name, [sub for sub in subs if sub.aspect == name][:MOST_TOPICS], subs[0].share)
        for name in order
    )
    subtitle = "The topics of each aspect, named by their first keywords: share of all segments."
    if any(sub.aspect == GENERAL for sub in content.subs):
        subtitle += f" Those of {GENERAL} are in the numbers only."
    return Chart("topics", wording.topics_title(content), subtitle, panels)


def topic_panel(aspect: str, subs: list[SubAspect], largest: float) -> Spec:
    names = wording.distinct_names([sub.keywords for sub in subs])
    values = [
        {"name": name, "share": sub.share, "label": percent(sub.share),
         "keywords": ", ".join(sub.keywords)}
        for sub, name in zip(subs, names, strict=True)
    ]  # fmt: skip
    x = {**vega.number("share", domain=[0, largest * 1.55]), "axis": None}
    bar = vega.layer("bar", {"height": {"band": 0.6}, "color": SKY}, ("keywords", "label"), x=x)
    return {**vega.rows_chart(values, [bar, vega.label(x, "share")], step=21), "title": aspect}


def ratings_chart(content: Content) -> Chart | None:
    if not content.ratings:
        return None
    shown = content.ratings[:MOST_ROWS]
    values = [
        {
            "name": one.aspect, "mean": one.mean, "low": one.low, "high": one.high,
            "label": f"{one.mean:.2f}", "reviews": f"{one.reviews:,}",
            "other reviews": "" if one.others is None else f"{one.others:.2f}",
            "colour": ORANGE if one.differs and one.others is not None and one.mean < one.others else BLUE,
        }
        for one in shown
    ]  # fmt: skip
    low, high = min(one.low for one in shown), max(one.high for one in shown)
    reach = max(0.1, 0.12 * (high - low))
    scale = {"domain": [low - reach, high + 2 * reach], "zero": False, "nice": False}
    x = vega.number("mean", f"mean {content.columns.rating}", {"tickCount": 6}, **scale)
    bounds = vega.interval(x, strokeWidth=2.2)
    bounds["encoding"]["color"] = OWN_COLOUR
    point, tips = {"filled": True, "size": 75, "opacity": 1}, ("name", "label", "other reviews", "reviews")
    points = vega.layer("point", point, tips, x=x, color=OWN_COLOUR)
    spec = vega.rows_chart(values, [bounds, points, vega.label(x, "high")])
    mean = vega.layer("rule", {"strokeDash": [4, 3], "color": GREY}, x={"datum": content.facts.rating})
    spec["layer"].insert(0, mean)
    subtitle = (
        f"Mean of the reviews that mention an aspect, with {INTERVALS}. Dashed line: all reviews. "
        "Orange: clearly lower than the other reviews."
    )
    return Chart("ratings", wording.ratings_title(content.ratings), subtitle, (spec,))


def trend_chart(content: Content) -> Chart | None:
    if content.trend is None:
        return None
    order = [one.name for one in content.shares if one.name != GENERAL] or list(content.aspects)
    overall = {change.name: change for change in content.changes if change.group is None}
    shown = sorted(order, key=lambda name: name not in overall)[:MOST_PANELS]
    panels = [trend_panel(content, content.trend, name, overall.get(name)) for name in order if name in shown]
    within = [change for change in wording.specific(content.changes) if change.group is not None][
        :MOST_WITHIN
    ]
    panels += [
        trend_panel(content, content.group_trends[change.group or 0], change.name, change)
        for change in within
    ]
    subtitle = (
        f"Share of segments by {content.unit}; shaded: {INTERVALS}. A dashed line marks a change beyond "
        "chance. Each panel has its own scale."
    )
    return Chart("trend", wording.changes_title(content), subtitle, tuple(panels))


def milliseconds(day: date) -> int:
    """Return milliseconds since 1970 in UTC, as the axis wants them."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def trend_panel(content: Content, trend: Cells, name: str, change: Difference | None) -> Spec:
    at = content.aspects.index(name)
    parts = zip(
        trend.starts, trend.names, trend.share[:, at], trend.low[:, at], trend.high[:, at], trend.reviews,
        strict=True,
    )  # fmt: skip
    values = [
        {
            "day": milliseconds(start), "share": float(part), "low": float(low), "high": float(high),
            "period": period, "of segments": f"{percent(part, 1)} ({percents(low, high)})",
            "reviews": f"{int(reviews):,}",
        }
        for start, period, part, low, high, reviews in parts
    ]  # fmt: skip
    layers = vega.trend_layers(top=max(0.002, 1.4 * float(trend.share[:, at].max())))
    title, subtitle = name, "no clear change"
    if change is not None:
        shares = f"{percent(change.before, 1)} → {percent(change.after, 1)}"
        title += wording.where(change, content)
        subtitle = f"{shares} since {content.period_names[change.at]}"
        start = {"datum": milliseconds(content.period_starts[change.at]), "type": "temporal"}
        layers.insert(0, vega.layer("rule", {"strokeDash": [4, 3], "color": ORANGE}, x=start))
    head = {"text": title, "subtitle": subtitle}
    return {"data": {"values": values}, "layer": layers, "height": 110, "title": head}


def groups_chart(content: Content) -> Chart | None:
    if content.groups is None:
        return None
    names = [one.name for one in content.shares][:MOST_ROWS]
    shade = vega.number("against", scheme="blueorange", domain=[-1.5, 0, 1.5], clamp=True)
    tips = ("group", "aspect", "of segments", "reviews")
    x, y = vega.word("group", content.groups.names), vega.word("aspect", names, labelLimit=150)
    values = list(group_cells(content, content.groups, names))
    spec = vega.cells_chart(values, x, y, shade, "abs(datum.against) > 1.1", tips)
    subtitle = (
        f"Per cent of each {content.columns.group}'s segments. Orange: more than in all reviews, blue: less. "
        "A star: the difference from all other reviews is beyond chance."
    )
    return Chart("groups", wording.groups_title(content), subtitle, (spec,), wide=True)


def group_cells(content: Content, groups: Cells, names: Sequence[str]) -> Iterable[Spec]:
    overall = {one.name: one.share for one in content.shares}
    clear = {(contrast.name, contrast.at) for contrast in content.contrasts}
    for row, group in enumerate(groups.names):
        for name in names:
            part = float(groups.share[row, content.aspects.index(name)])
            yield {
                "aspect": name, "group": group, "label": f"{100 * part:.0f}" + "*" * ((name, row) in clear),
                "against": log_ratio(part, overall[name]), "of segments": percent(part, 1),
                "reviews": f"{int(groups.reviews[row]):,}",
            }  # fmt: skip


def log_ratio(part: float, overall: float) -> float:
    """Return log₂ of how many times larger a share is than overall, both kept away from zero."""
    return float(np.log2((part + 0.002) / (overall + 0.002)))


def emerging_chart(content: Content) -> Chart | None:
    if not content.emerging:
        return None
    values = [
        {
            "name": wording.topic_name(one), "share": one.share, "low": one.low, "high": one.high,
            "keywords": ", ".join(one.keywords), "label": percent(one.share) + (" ↑" if one.growth else ""),
            "mapped to": one.mapped, "colour": GREEN if one.growth else GREY,
        }
        for one in content.emerging
    ]  # fmt: skip
    subtitle = (
        f"Coherent topics that are {UNMAPPED} or mapped to {GENERAL}, and large or growing (↑, green). "
        "Those that grew most come first."
    )
    title = wording.emerging_sentence(content.emerging[0], content)
    return Chart("new", title, subtitle, (vega.share_bars(values, ("keywords", "label", "mapped to"), 0.6),))


def comparison_chart(content: Content) -> Chart | None:
    if content.comparison is None:
        return None
    shown = sorted(content.comparison.shifts, key=lambda shift: -max(shift.before, shift.after))[:MOST_ROWS]
    values = [
        {
            "name": one.name, "before": one.before, "after": one.after,
            "there": percent(one.before, 1), "here": percent(one.after, 1),
            "difference": f"{100 * one.low:+.1f} to {100 * one.high:+.1f} points".replace("-", "−"),
            "colour": ORANGE if one.claimed else GREY,
        }
        for one in shown
    ]  # fmt: skip
    x, tips = vega.share("after"), ("name", "there", "here", "difference")
    before = {**x, "field": "before"}
    hollow, filled = (
        {"size": 60, "fill": vega.WHITE, "opacity": 1},
        {"size": 70, "filled": True, "opacity": 1},
    )
    layers = [
        vega.layer("rule", {"strokeWidth": 2.5}, x=before, x2={"field": "after"}, color=OWN_COLOUR),
        vega.layer("point", hollow, tips, x=before, stroke=OWN_COLOUR),
        vega.layer("point", filled, tips, x=x, color=OWN_COLOUR),
    ]
    subtitle = f"Hollow: {content.comparison.name}; filled: {content.source}. Orange: beyond chance."
    spec = vega.rows_chart(values, layers)
    return Chart("comparison", wording.comparison_title(content.comparison), subtitle, (spec,))


def confusion_chart(content: Content) -> Chart | None:
    if content.quality.grade is None:
        return None
    scores = content.quality.grade.scores
    names = scores.aspects[:MOST_ROWS]
    values = [
        {
            "gold": gold,
            "label given": given,
            "segments": f"{round(n, 1):g}",
            "label": f"{round(n, 1):g}" if n else "·",
            "part": n / max(1, sum(row)),
        }
        for gold, row in zip(names, scores.confusion, strict=False)
        for given, n in zip(names, row, strict=False)
    ]
    x = {**vega.word("label given", names), "title": "label given"}
    y = {**vega.word("gold", names, labelLimit=150), "title": "gold"}
    shade = vega.number("part", range=["#f3f6f9", "#08519c"], domain=[0, 1])
    spec = vega.cells_chart(values, x, y, shade, "datum.part > 0.5", ("gold", "label given", "segments"))
    subtitle = f"Segments of {content.quality.gold} by gold aspect and label given."
    if scores.several:
        parts = (
            "A wrong label of a segment with several gold aspects counts for each of them, in equal parts."
        )
        subtitle = f"{subtitle} {parts} {wording.sets_sentence(scores)}".strip()
    return Chart("confusion", wording.confusion_title(scores), subtitle, (spec,), wide=True)


def coverage_chart(content: Content) -> Chart | None:
    if content.quality.grade is None:
        return None
    curve = content.quality.grade.curve
    values = [
        {
            "coverage": point.coverage, "accuracy": point.accuracy, "labels used": percent(point.coverage, 0),
            "right": percent(point.accuracy, 1), "confidence from": f"{point.confidence:.2f}",
        }
        for point in curve
    ]  # fmt: skip
    least = max(0.0, min(point.accuracy for point in curve) - 0.1)
    x = vega.share("coverage", "share of labels used, the most confident first", domain=[0, 1])
    y = vega.share("accuracy", "of them right", domain=[least, 1], zero=False)
    look = {"color": BLUE, "strokeWidth": 2, "point": {"color": BLUE, "size": 30, "filled": True}}
    line = vega.layer("line", look, ("labels used", "right", "confidence from"), x=x, y=y)
    spec = {"data": {"values": values}, "height": 220, "layer": [line]}
    subtitle = "How many labels are right if only the confident ones are used."
    subtitle += f" {wording.ONE_OF_GOLD}" if content.quality.grade.scores.several else ""
    return Chart("coverage", wording.curve_title(curve), subtitle, (spec,))


def coherence_chart(content: Content) -> Chart:
    kinds = ["an aspect", GENERAL, UNMAPPED]
    values = [
        {
            "coherence": line.coherence, "share": line.share, "keywords": ", ".join(line.keywords[:6]),
            "aspect": line.aspect, "of segments": percent(line.share, 1),
            "topic coherence": wording.signed(line.coherence),
            "kind": line.aspect if line.aspect in kinds else kinds[0],
        }
        for line in content.quality.topics
    ]  # fmt: skip
    kind = {
        "field": "kind",
        "type": "nominal",
        "sort": kinds,
        "legend": {"orient": "top", "title": "mapped to"},
    }
    shape = {**kind, "scale": {"domain": kinds, "range": ["circle", "square", "cross"]}}
    colour = {**kind, "scale": {"domain": kinds, "range": [BLUE, GREY, ORANGE]}}
    x = vega.number("coherence", "coherence: how often keywords occur together", {"tickCount": 6}, zero=False)
    y = {**vega.share("share"), "axis": {**PERCENT, "tickCount": 4}}
    point, tips = (
        {"filled": True, "size": 60, "opacity": 0.85},
        ("keywords", "aspect", "of segments", "topic coherence"),
    )
    layer = vega.layer("point", point, tips, x=x, y=y, shape=shape, color=colour)
    spec = {"data": {"values": values}, "height": 240, "layer": [layer]}
    subtitle = (
        "Each mark is one topic. Coherence runs from −1 to 1: above 0, the topic's keywords occur in the "
        "same segments more often than by chance."
    )
    return Chart("coherence", wording.coherence_title(content.quality), subtitle, (spec,))


MAKERS = (
    shares_chart, topics_chart, ratings_chart, *felt_charts.MAKERS, trend_chart, groups_chart, emerging_chart,
    comparison_chart, confusion_chart, coverage_chart, coherence_chart,
)  # fmt: skip
