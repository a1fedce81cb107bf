"""The pictures of sentiment: net sentiment per aspect, what drives the rating, by group, and over time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from aspectra.config import GENERAL
from aspectra.report import wording
from aspectra.report.compare import Difference
from aspectra.report.content import Content
from aspectra.report.pictures import vega
from aspectra.report.pictures.vega import BLUE, GREY, INK, MOST_ROWS, ORANGE, OWN_COLOUR, Chart, Spec
from aspectra.report.sentiment import FeltCells
from aspectra.report.wording import net, percent

MOST_PANELS, MOST_WITHIN = 6, 3
NET = {
    "tickCount": 5,
    "labelExpr": "datum.value == 0 ? '0' : replace(format(100 * datum.value, '+.0f'), '-', '−')",
}


def felt_chart(content: Content) -> Chart | None:
    """Draw each aspect's net sentiment, the worst at the top."""
    felt = content.felt
    if felt is None or not felt.aspects:
        return None
    shown = felt.aspects[:MOST_ROWS]
    values = [
        {
            "name": one.aspect, "net": one.net, "low": one.low, "high": one.high, "label": net(one.net),
            "end": max(one.high, 0.0),
            "positive": percent(one.positive), "negative": percent(one.negative),
            "segments": f"{one.segments:,}",
            "colour": GREY if one.aspect == GENERAL else ORANGE if one.net < 0 else BLUE,
        }
        for one in shown
    ]  # fmt: skip
    reach = [min(-0.05, *(one.low for one in shown)), max(0.05, *(one.high for one in shown)) + 0.2]
    x = vega.number("net", "net sentiment", NET, domain=reach, nice=False)
    tips = ("name", "label", "positive", "negative", "segments")
    bars = vega.layer("bar", {"height": {"band": 0.62}}, tips, x=x, color=OWN_COLOUR)
    spec = vega.rows_chart(values, [bars, vega.interval(x), vega.label(x, "end")])
    subtitle = "Share of positive minus share of negative segments, with 95\u202f% intervals."
    return Chart("sentiment", wording.felt_title(felt), subtitle, (spec,))


def drivers_chart(content: Content) -> Chart | None:
    """Draw what goes wrong (how often) against what it costs: fix the upper right first."""
    felt = content.felt
    if felt is None or not felt.drivers:
        return None
    values = [
        {
            "aspect": one.aspect, "often": one.complaints, "cost": one.cost, "low": one.cost_low,
            "high": one.cost_high, "complaints": percent(one.complaints), "costs": f"{one.cost:.2f}",
            "praise adds": f"{one.gain:.2f}", "colour": ORANGE if one.claimed else GREY,
        }
        for one in felt.drivers[:MOST_ROWS]
    ]  # fmt: skip
    x = vega.number("often", "share of reviews that complain of it", vega.PERCENT, domainMin=0)
    y = vega.number("cost", f"{content.columns.rating} lost when it goes wrong", {"tickCount": 5})
    tips = ("aspect", "complaints", "costs", "praise adds")
    bounds = vega.layer(
        "rule", {"strokeWidth": 1.6, "opacity": 0.6}, x=x, y={**y, "field": "low"}, y2={"field": "high"},
        color=OWN_COLOUR,
    )  # fmt: skip
    points = vega.layer("point", {"filled": True, "size": 80, "opacity": 1}, tips, x=x, y=y, color=OWN_COLOUR)
    names = vega.layer("text", {"align": "left", "dx": 8, "color": INK}, x=x, y=y, text={"field": "aspect"})
    spec = {"data": {"values": values}, "height": 280, "layer": [bounds, points, names]}
    subtitle = (
        "Each point is an aspect, adjusted for the others, with 95\u202f% intervals. Orange: beyond chance. "
        f"The upper right costs most. {wording.COMPLAINS}"
    )
    return Chart("drivers", wording.drivers_title(felt), subtitle, (spec,))


def felt_groups_chart(content: Content) -> Chart | None:
    """Draw net sentiment as a heat map of groups and aspects."""
    felt = content.felt
    if felt is None or felt.groups is None:
        return None
    names = [one.aspect for one in felt.aspects if one.aspect != GENERAL][:MOST_ROWS]
    if not names:
        return None
    values = list(heat_cells(content, felt.groups, names))
    x, y = vega.word("group", felt.groups.names), vega.word("aspect", names, labelLimit=150)
    shade = vega.number("net", scheme="blueorange", domain=[1, 0, -1], clamp=True)
    tips = ("group", "aspect", "label", "reviews")
    spec = vega.cells_chart(values, x, y, shade, "abs(datum.net) > 0.75", tips)
    subtitle = (
        "Net sentiment. Orange: more complaints than praise, blue: more praise. "
        "A dot: too few reviews to say."
    )
    return Chart("sentiment_groups", wording.felt_groups_title(content, felt), subtitle, (spec,), wide=True)


def heat_cells(content: Content, cells: FeltCells, names: Iterable[str]) -> Iterable[Spec]:
    for name in names:
        at = content.aspects.index(name)
        for row, group in enumerate(cells.names):
            value = float(cells.net[row, at])
            known = not np.isnan(value)
            yield {
                "group": group, "aspect": name, "net": value if known else 0.0,
                "label": net(value) if known else "·", "reviews": f"{int(cells.reviews[row, at]):,}",
            }  # fmt: skip


def felt_trend_chart(content: Content) -> Chart | None:
    """Draw net sentiment over time of the aspects that changed, or else of the most discussed."""
    felt = content.felt
    if felt is None or felt.trend is None:
        return None
    overall = {change.name: change for change in wording.specific(felt.changes) if change.group is None}
    others = [one.name for one in content.shares if one.name != GENERAL and one.name not in overall]
    shown = [*overall, *others][:MOST_PANELS]
    panels = [felt_panel(content, felt.trend, name, overall.get(name)) for name in shown]
    within = [change for change in wording.specific(felt.changes) if change.group in felt.group_trends]
    panels += [
        felt_panel(content, felt.group_trends[change.group or 0], change.name, change)
        for change in within[:MOST_WITHIN]
    ]
    if not panels:
        return None
    subtitle = (
        f"Net sentiment by {content.unit}; shaded: 95\u202f% intervals. A dashed line marks a change beyond "
        "chance."
    )
    return Chart("sentiment_trend", wording.felt_trend_title(content, felt), subtitle, tuple(panels))


def felt_panel(content: Content, trend: FeltCells, name: str, change: Difference | None) -> Spec:
    """Draw an aspect's net sentiment over time, and its change if there is one."""
    at = content.aspects.index(name)
    rows = [row for row in range(len(trend.names)) if not np.isnan(trend.net[row, at])]
    days = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in trend.starts]
    values = [
        {
            "day": int(days[row].timestamp() * 1000), "share": float(trend.net[row, at]),
            "low": float(trend.low[row, at]), "high": float(trend.high[row, at]),
            "period": trend.names[row], "of segments": net(float(trend.net[row, at])),
            "reviews": f"{int(trend.reviews[row, at]):,}",
        }
        for row in rows
    ]  # fmt: skip
    layers = vega.trend_layers(top=1.0)
    for one in layers:
        one["encoding"]["y"] = {**one["encoding"]["y"], "axis": NET, "scale": {"domain": [-1, 1]}}
    told = "no clear change"
    if change is not None:
        told = f"{net(change.before)} → {net(change.after)} since {content.period_names[change.at]}"
        day = content.period_starts[change.at]
        start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
        rule = vega.layer(
            "rule", {"strokeDash": [4, 3], "color": ORANGE}, x={"datum": start, "type": "temporal"}
        )
        layers.insert(0, rule)
    head = {"text": name + (wording.where(change, content) if change else ""), "subtitle": told}
    return {"data": {"values": values}, "layer": layers, "height": 110, "title": head}


MAKERS = (felt_chart, drivers_chart, felt_groups_chart, felt_trend_chart)
