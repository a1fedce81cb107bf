"""The report's pictures."""

import zlib
from collections.abc import Callable

from aspectra.report.content import Content
from aspectra.report.pictures.charts import draw
from aspectra.report.pictures.vega import png
from aspectra.sample import Sample


def test_every_picture_has_a_finding_and_is_not_blank(content: Content) -> None:
    charts = draw(content)
    always = {"shares", "topics", "ratings", "trend", "groups", "confusion", "coverage", "coherence"}
    assert set(charts) >= always
    for chart in charts.values():
        assert len(pixels(png(chart))) > 30, chart.name
        assert chart.title


def pixels(data: bytes) -> set[int]:
    """Return the distinct bytes of a PNG's rows; a blank picture has two or three."""
    assert data.startswith(b"\x89PNG")
    parts, at = b"", 8
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        parts += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return set(zlib.decompress(parts))


def test_a_hundred_aspects_fit(report_of: Callable[..., Content], sample: Sample) -> None:
    aspects = {f"Aspect {number}": [number] if number < 16 else [] for number in range(100)}
    content = report_of(sample.reviews[:80], aspects)
    charts = draw(content)
    assert len(content.shares) == 100
    assert len(charts["shares"].panels[0]["data"]["values"]) == 40
    assert len(charts["topics"].panels) <= 12
