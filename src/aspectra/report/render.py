"""Charts → the specifications that the page draws, and PNG files, both by Vega without a browser or a network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aspectra.report.marks import GREY, INK, Chart, Spec
from aspectra.rundir import write_atomic

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
WIDTH, PANEL = 640, 250
THEME: Spec = {
    "font": FONT,
    "background": "#ffffff",
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "labelFontSize": 12, "titleColor": "#6d6a62", "titleFontSize": 11.5, "titleFontWeight": "normal",
             "gridColor": "#e9e6df", "domainColor": GREY, "tickColor": GREY, "labelPadding": 5},
    "title": {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "subtitleColor": "#6d6a62", "subtitleFontSize": 12,
              "frame": "bounds", "offset": 8},
    "text": {"fontSize": 12},
    "legend": {"labelFontSize": 12, "titleFontSize": 11.5, "titleFontWeight": "normal", "titleColor": "#6d6a62"},
}  # fmt: skip


def page_specs(chart: Chart) -> list[Spec]:
    """Return a specification per panel, as wide as the place where it stands."""
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
    """Return one specification of the whole chart, with its title."""
    title = {
        "text": wrapped(chart.title, 62),
        "subtitle": wrapped(chart.subtitle, 100),
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


def wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)


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
