"""What the report's pictures are made of: Vega-Lite layers, scales, rows with labels, tables of shaded cells.

Colours are those of Okabe and Ito, which the colour-blind can tell apart; no picture needs colour alone to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BLUE, ORANGE, GREEN, SKY, GREY, INK, WHITE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#56B4E9",
    "#8C8C8C",
    "#22211e",
    "#ffffff",
)
MOST_ROWS = 40
Spec = dict[str, Any]
BARE: Spec = {"ticks": False, "domain": False}
PERCENT: Spec = {"labelExpr": "format(100 * datum.value, '~r') + '\u202f%'", "tickCount": 5}
OWN_COLOUR: Spec = {"field": "colour", "type": "nominal", "scale": None}


@dataclass(frozen=True)
class Chart:
    """One picture: its title says the finding; several panels stand side by side, each with a title of its own."""

    name: str
    title: str
    subtitle: str
    panels: tuple[Spec, ...]
    wide: bool = False  # too wide for a phone: it scrolls there


def number(field: str, title: str | None = None, axis: Spec | None = None, **scale: Any) -> Spec:
    """Encode a quantity."""
    return {"field": field, "type": "quantitative", "title": title, "axis": axis or {}, "scale": scale}


def share(field: str, title: str | None = "share of segments", **scale: Any) -> Spec:
    return number(field, title, PERCENT, **scale)


def word(field: str, order: Sequence[str], **axis: Any) -> Spec:
    """Encode names, in the order given."""
    return {"field": field, "type": "nominal", "sort": list(order), "title": None, "axis": {**BARE, **axis}}


def layer(kind: str, look: Spec, tips: Sequence[str] = (), **encoding: Spec) -> Spec:
    """Make one layer; `tips` are the fields that a tooltip tells."""
    told = {"tooltip": [{"field": tip, "type": "nominal", "title": tip} for tip in tips]} if tips else {}
    return {"mark": {"type": kind, **look}, "encoding": {**encoding, **told}}


def interval(x: Spec, **look: Any) -> Spec:
    """A line from field low to field high."""
    return layer(
        "rule", {"strokeWidth": 1.8, "color": INK, **look}, x={**x, "field": "low"}, x2={"field": "high"}
    )


def label(x: Spec, at: str, **look: Any) -> Spec:
    """The field label, written right of a field's place."""
    return layer(
        "text",
        {"align": "left", "dx": 6, "color": INK, **look},
        x={**x, "field": at},
        text={"field": "label"},
    )


def rows_chart(values: list[Spec], layers: list[Spec], step: int = 0) -> Spec:
    """One row per value, in the order given, with its name at the left."""
    y = word("name", [value["name"] for value in values], labelLimit=190)
    rows = [{**one, "encoding": {"y": y, **one["encoding"]}} for one in layers]
    return {
        "data": {"values": values},
        "layer": rows,
        "height": len(values) * (step or (26 if len(values) <= 20 else 19)),
    }


def cells_chart(values: list[Spec], x: Spec, y: Spec, shade: Spec, pale: str, tips: Sequence[str]) -> Spec:
    """Shaded cells with the field label written in each; `pale` tests for cells so dark that they need white letters."""
    look = {"orient": "top", "labelAngle": -35, "labelLimit": 120}
    x = {**x, "axis": {**x["axis"], **look}}
    ink = {"condition": {"test": pale, "value": WHITE}, "value": INK}
    layers = [
        layer("rect", {"stroke": WHITE}, tips, x=x, y=y, color={**shade, "legend": None}),
        layer("text", {"fontSize": 11}, x=x, y=y, text={"field": "label"}, color=ink),
    ]
    return {"data": {"values": values}, "layer": layers, "height": 25 * len(y["sort"])}
