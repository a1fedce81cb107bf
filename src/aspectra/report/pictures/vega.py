"""Vega-Lite: the parts that the report's pictures are made of, and the drawing of pictures for page and PNG.

Everything is drawn without a browser or a network. The colours are those of Okabe and Ito, which colour-blind
people can tell apart; no picture needs colour alone to be understood.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aspectra.disk import write_atomic

BLUE, ORANGE, GREEN, SKY = "#0072B2", "#D55E00", "#009E73", "#56B4E9"
GREY, INK, SOFT, WHITE = "#8C8C8C", "#22211e", "#6d6a62", "#ffffff"
MOST_ROWS = 40
Spec = dict[str, Any]
BARE: Spec = {"ticks": False, "domain": False}
PERCENT: Spec = {"labelExpr": "format(100 * datum.value, '~r') + '\u202f%'", "tickCount": 5}
OWN_COLOUR: Spec = {"field": "colour", "type": "nominal", "scale": None}
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
WIDTH, PANEL = 640, 250
"""Pixels of a PNG with one panel, and of one panel among several."""
THEME: Spec = {
    "font": FONT,
    "background": WHITE,
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "labelFontSize": 12, "titleColor": SOFT, "titleFontSize": 11.5,
             "titleFontWeight": "normal", "gridColor": "#e9e6df", "domainColor": GREY, "tickColor": GREY,
             "labelPadding": 5},
    "title": {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "subtitleColor": SOFT,
              "subtitleFontSize": 12, "frame": "bounds", "offset": 8},
    "text": {"fontSize": 12},
    "legend": {"labelFontSize": 12, "titleFontSize": 11.5, "titleFontWeight": "normal", "titleColor": SOFT},
}  # fmt: skip


@dataclass(frozen=True)
class Chart:
    """One picture. Its title says what was found; if it has several panels, each has its own title."""

    name: str
    title: str
    subtitle: str
    panels: tuple[Spec, ...]
    wide: bool = False  # on a phone it scrolls sideways


def number(field: str, title: str | None = None, axis: Spec | None = None, **scale: Any) -> Spec:
    """Encode a number."""
    return {"field": field, "type": "quantitative", "title": title, "axis": axis or {}, "scale": scale}


def share(field: str, title: str | None = "share of segments", **scale: Any) -> Spec:
    return number(field, title, PERCENT, **scale)


def word(field: str, order: Sequence[str], **axis: Any) -> Spec:
    """Encode names, in the order given."""
    return {"field": field, "type": "nominal", "sort": list(order), "title": None, "axis": {**BARE, **axis}}


def layer(kind: str, look: Spec, tips: Sequence[str] = (), **encoding: Spec) -> Spec:
    """Make one layer; `tips` are the fields that a tooltip shows."""
    tooltip = {"tooltip": [{"field": tip, "type": "nominal", "title": tip} for tip in tips]} if tips else {}
    return {"mark": {"type": kind, **look}, "encoding": {**encoding, **tooltip}}


def interval(x: Spec, **look: Any) -> Spec:
    """Draw a line from field low to field high."""
    return layer(
        "rule", {"strokeWidth": 1.8, "color": INK, **look}, x={**x, "field": "low"}, x2={"field": "high"}
    )


def label(x: Spec, at: str, **look: Any) -> Spec:
    """Write the field label to the right of field `at`."""
    return layer(
        "text",
        {"align": "left", "dx": 6, "color": INK, **look},
        x={**x, "field": at},
        text={"field": "label"},
    )


def rows_chart(values: list[Spec], layers: list[Spec], step: int = 0) -> Spec:
    """Draw one row per value, in the order given, with its name on the left."""
    y = word("name", [value["name"] for value in values], labelLimit=190)
    rows = [{**one, "encoding": {"y": y, **one["encoding"]}} for one in layers]
    return {
        "data": {"values": values},
        "layer": rows,
        "height": len(values) * (step or (26 if len(values) <= 20 else 19)),
    }


def cells_chart(values: list[Spec], x: Spec, y: Spec, shade: Spec, pale: str, tips: Sequence[str]) -> Spec:
    """Draw shaded cells with the field label in each; `pale` finds the dark cells that need white letters."""
    look = {"orient": "top", "labelAngle": -35, "labelLimit": 120}
    x = {**x, "axis": {**x["axis"], **look}}
    ink = {"condition": {"test": pale, "value": WHITE}, "value": INK}
    layers = [
        layer("rect", {"stroke": WHITE}, tips, x=x, y=y, color={**shade, "legend": None}),
        layer("text", {"fontSize": 11}, x=x, y=y, text={"field": "label"}, color=ink),
    ]
    return {"data": {"values": values}, "layer": layers, "height": 25 * len(y["sort"])}


def share_bars(values: list[Spec], tips: Sequence[str], band: float) -> Spec:
    """Draw one bar per share, with its interval and its label."""
    x = share("share")
    bar = layer("bar", {"height": {"band": band}}, tips, x=x, color=OWN_COLOUR)
    return rows_chart(values, [bar, interval(x), label(x, "high")])


def trend_layers(top: float) -> list[Spec]:
    """Make the interval, the line and the points of a share over time."""
    axis = {"tickCount": 4, "grid": False}
    x = {"field": "day", "type": "temporal", "title": None, "scale": {"type": "utc"}, "axis": axis}
    y = {**share("share", None, domain=[0, min(1, top)]), "axis": {**PERCENT, "tickCount": 3}}
    area, point = {"color": BLUE, "opacity": 0.18, "clip": True}, {"filled": True, "size": 14, "opacity": 1}
    return [
        layer("area", area, x=x, y={**y, "field": "low"}, y2={"field": "high"}),
        layer("line", {"color": BLUE, "strokeWidth": 2}, x=x, y=y),
        layer("point", {**point, "color": BLUE}, ("period", "of segments", "reviews"), x=x, y=y),
    ]


def page_specs(chart: Chart) -> list[Spec]:
    """Return one specification per panel, as wide as its place on the page."""
    return [
        {
            "$schema": SCHEMA,
            "config": THEME,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "width": "container",
            **panel,
        }
        for panel in chart.panels
    ]


def picture_spec(chart: Chart) -> Spec:
    """Return one specification of the whole chart with its title, for a PNG."""
    title = {
        "text": textwrap.wrap(chart.title, 62),
        "subtitle": textwrap.wrap(chart.subtitle, 100),
        "fontSize": 17,
        "subtitleFontSize": 12.5,
        "offset": 14,
    }
    frame: Spec = {"$schema": SCHEMA, "config": THEME, "padding": 18, "title": title}
    if len(chart.panels) == 1:
        panel: Spec = {name: value for name, value in chart.panels[0].items() if name != "title"}
        return {**frame, "width": WIDTH, **panel}
    return {
        **frame,
        "concat": [{"width": PANEL, **panel} for panel in chart.panels],
        "columns": 3,
        "spacing": 28,
    }


def png(chart: Chart) -> bytes:
    import vl_convert

    data: bytes = vl_convert.vegalite_to_png(picture_spec(chart), vl_version=VERSION, scale=2)
    return data


def write_pictures(charts: Mapping[str, Chart], folder: Path) -> list[Path]:
    """Write each chart as NAME.png."""
    paths = [folder / f"{name}.png" for name in charts]
    for path, chart in zip(paths, charts.values(), strict=True):
        write_atomic(path, png(chart))
    return paths


@cache
def vega_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script for the page."""
    import vl_convert

    script: Any = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VERSION)
    return str(script)
