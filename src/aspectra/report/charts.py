"""The report's pictures, made from `Content`: shares, topics, ratings, changes, groups, new aspects. Their titles say what was found."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np

from aspectra.config import GENERAL
from aspectra.report import words
from aspectra.report.marks import (
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
    cells_chart,
    interval,
    label,
    layer,
    number,
    rows_chart,
    share,
    word,
)  # fmt: skip
from aspectra.report.words import percent, percents
from aspectra.topicmap.topicmap import UNMAPPED

if TYPE_CHECKING:
    from aspectra.report.change import Difference
    from aspectra.report.content import Cells, Content, SubAspect

MOST_PANELS, MOST_TOPICS, MOST_WITHIN = 12, 8, 4
INTERVALS = f"95{words.NARROW}% intervals"


def shares_chart(content: Content) -> Chart:
    shown = content.shares[:MOST_ROWS]
    values = [
        {
            "name": one.name, "share": one.share, "low": one.low, "high": one.high, "label": percent(one.share),
            "of segments": f"{percent(one.share, 1)} ({percents(one.low, one.high)})", "of reviews": percent(one.reviews, 1),
            "colour": GREY if one.name == GENERAL else BLUE,
        }
        for one in shown
    ]  # fmt: skip
    x, tips = share("share"), ("name", "of segments", "of reviews")
    layers = [
        layer("bar", {"height": {"band": 0.66}}, tips, x=x, color=OWN_COLOUR),
        interval(x),
        label(x, "high"),
    ]
    left = len(content.shares) - len(shown)
    subtitle = f"Share of segments with {INTERVALS}." + (
        f" The other {left} aspects are in the workbook." if left else ""
    )
    if GENERAL in content.aspects:
        subtitle += f" {GENERAL}: about none of the aspects."
    return Chart("shares", words.shares_title(content.shares), subtitle, (rows_chart(values, layers),))


def topics_chart(content: Content) -> Chart | None:
    """Draw nested bars: a panel per aspect, its topics in it, all on one scale."""
    subs = [sub for sub in content.subs if sub.aspect != GENERAL and sub.share > 0]
    if not subs:
        return None
    order = [one.name for one in content.shares if any(sub.aspect == one.name for sub in subs)][:MOST_PANELS]
    panels = tuple(
        topic_panel(name, [sub for sub in subs if sub.aspect == name][:MOST_TOPICS], subs[0].share)
        for name in order
    )
    keywords = ", ".join(subs[0].keywords[:3])
    title = f"The largest topic is “{keywords}” under {subs[0].aspect}: {percent(subs[0].share)} of segments"
    return Chart(
        "topics",
        title,
        "The topics under each aspect, by their first keywords: share of all segments.",
        panels,
    )


def topic_panel(aspect: str, subs: list[SubAspect], largest: float) -> Spec:
    values = [
        {
            "name": ", ".join(sub.keywords[:3]),
            "share": sub.share,
            "label": percent(sub.share),
            "keywords": ", ".join(sub.keywords),
        }
        for sub in subs
    ]
    x = {**number("share", domain=[0, largest * 1.55]), "axis": None}
    layers = [
        layer("bar", {"height": {"band": 0.6}, "color": SKY}, ("keywords", "label"), x=x),
        label(x, "share"),
    ]
    return {**rows_chart(values, layers, step=21), "title": aspect}


def ratings_chart(content: Content) -> Chart | None:
    if not content.ratings:
        return None
    shown = content.ratings[:MOST_ROWS]
    values = [
        {
            "name": one.aspect, "mean": one.mean, "low": one.low, "high": one.high, "label": f"{one.mean:.2f}",
            "the others": "" if one.others is None else f"{one.others:.2f}", "reviews": f"{one.reviews:,}",
            "colour": ORANGE if one.differs and one.others is not None and one.mean < one.others else BLUE,
        }
        for one in shown
    ]  # fmt: skip
    low, high = min(one.low for one in shown), max(one.high for one in shown)
    reach = max(0.1, 0.12 * (high - low))
    x = number(
        "mean",
        f"mean {content.roles.rating}",
        {"tickCount": 6},
        domain=[low - reach, high + reach],
        zero=False,
        nice=False,
    )
    bounds = interval(x, strokeWidth=2.2)
    bounds["encoding"]["color"] = OWN_COLOUR
    point = {"filled": True, "size": 75, "opacity": 1}
    layers = [
        bounds,
        layer("point", point, ("name", "label", "the others", "reviews"), x=x, color=OWN_COLOUR),
        label(x, "high"),
    ]
    spec = rows_chart(values, layers)
    spec["layer"].insert(
        0, layer("rule", {"strokeDash": [4, 3], "color": GREY}, x={"datum": content.facts.rating})
    )
    subtitle = f"Mean of the reviews that mention an aspect, with {INTERVALS}; dashed: all reviews. Orange: clearly lower than the others."
    return Chart("ratings", words.ratings_title(content.ratings), subtitle, (spec,))


def trend_chart(content: Content) -> Chart | None:
    if content.trend is None:
        return None
    order = [one.name for one in content.shares if one.name != GENERAL] or list(content.aspects)
    changed = {change.name for change in content.changes if change.group is None}
    shown = sorted(order, key=lambda name: name not in changed)[:MOST_PANELS]
    overall = {change.name: change for change in content.changes if change.group is None}
    panels = [trend_panel(content, content.trend, name, overall.get(name)) for name in order if name in shown]
    within = [change for change in words.specific(content.changes) if change.group is not None][:MOST_WITHIN]
    panels += [
        trend_panel(content, content.group_trends[change.group or 0], change.name, change)
        for change in within
    ]
    subtitle = (
        f"Share of segments by {content.unit}; shaded: {INTERVALS}; a dashed line marks a change beyond chance. "
        "Each panel has a scale of its own."
    )
    return Chart("trend", words.changes_title(content), subtitle, tuple(panels))


def moment(day: date) -> int:
    """Return milliseconds since 1970, in UTC as the axis is."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def trend_panel(content: Content, trend: Cells, name: str, change: Difference | None) -> Spec:
    at = content.aspects.index(name)
    parts = zip(
        trend.starts,
        trend.names,
        trend.share[:, at],
        trend.low[:, at],
        trend.high[:, at],
        trend.reviews,
        strict=True,
    )
    values = [
        {
            "day": moment(start), "share": float(part), "low": float(low), "high": float(high), "period": period,
            "of segments": f"{percent(part, 1)} ({percents(low, high)})", "reviews": f"{int(reviews):,}",
        }
        for start, period, part, low, high, reviews in parts
    ]  # fmt: skip
    x = {
        "field": "day",
        "type": "temporal",
        "title": None,
        "scale": {"type": "utc"},
        "axis": {"tickCount": 4, "grid": False},
    }
    top = max(0.002, 1.4 * float(trend.share[:, at].max()))
    y = {**share("share", None, domain=[0, min(1, top)]), "axis": {**PERCENT, "tickCount": 3}}
    layers = [
        layer(
            "area",
            {"color": BLUE, "opacity": 0.18, "clip": True},
            x=x,
            y={**y, "field": "low"},
            y2={"field": "high"},
        ),
        layer("line", {"color": BLUE, "strokeWidth": 2}, x=x, y=y),
        layer(
            "point",
            {"filled": True, "color": BLUE, "size": 14, "opacity": 1},
            ("period", "of segments", "reviews"),
            x=x,
            y=y,
        ),
    ]
    title, subtitle = name, "no clear change"
    if change is not None:
        subtitle = f"{percent(change.before, 1)} → {percent(change.after, 1)} since {content.period_names[change.at]}"
        start = {"datum": moment(content.period_starts[change.at]), "type": "temporal"}
        title += words.where(change, content)
        layers.insert(0, layer("rule", {"strokeDash": [4, 3], "color": ORANGE}, x=start))
    return {
        "data": {"values": values},
        "layer": layers,
        "height": 110,
        "title": {"text": title, "subtitle": subtitle},
    }


def groups_chart(content: Content) -> Chart | None:
    if content.groups is None:
        return None
    names = [one.name for one in content.shares][:MOST_ROWS]
    overall = {one.name: one.share for one in content.shares}
    clear = {(contrast.name, contrast.at) for contrast in content.contrasts}
    values = []
    for row, group in enumerate(content.groups.names):
        for name in names:
            part = float(content.groups.share[row, content.aspects.index(name)])
            values.append({
                "aspect": name, "group": group, "label": f"{100 * part:.0f}" + ("*" if (name, row) in clear else ""),
                "against": ratio(part, overall[name]), "of segments": percent(part, 1), "reviews": f"{int(content.groups.reviews[row]):,}",
            })  # fmt: skip
    shade = number("against", scheme="blueorange", domain=[-1.5, 0, 1.5], clamp=True)
    tips = ("group", "aspect", "of segments", "reviews")
    x, y = word("group", content.groups.names), word("aspect", names, labelLimit=150)
    subtitle = (
        f"Per cent of each {content.roles.group}'s segments; orange: more than in all reviews, blue: less. "
        "A star: beyond chance, against all other reviews."
    )
    spec = cells_chart(values, x, y, shade, "abs(datum.against) > 1.1", tips)
    return Chart("groups", words.groups_title(content), subtitle, (spec,), wide=True)


def ratio(part: float, overall: float) -> float:
    """Return log₂ of how much larger a share is than over all, both kept from zero."""
    return float(np.log2((part + 0.002) / (overall + 0.002)))


def fresh_chart(content: Content) -> Chart | None:
    if not content.fresh:
        return None
    values = [
        {
            "name": words.fresh_name(one), "share": one.share, "low": one.low, "high": one.high, "keywords": ", ".join(one.keywords),
            "label": percent(one.share) + (" ↑" if one.growth else ""), "mapped to": one.mapped, "colour": GREEN if one.growth else GREY,
        }
        for one in content.fresh
    ]  # fmt: skip
    x, tips = share("share"), ("keywords", "label", "mapped to")
    layers = [
        layer("bar", {"height": {"band": 0.6}}, tips, x=x, color=OWN_COLOUR),
        interval(x),
        label(x, "high"),
    ]
    subtitle = f"Coherent topics that are {UNMAPPED} or mapped to {GENERAL}, and large or growing (↑, green); what grew most stands first."
    return Chart(
        "new", words.fresh_sentence(content.fresh[0], content), subtitle, (rows_chart(values, layers),)
    )
