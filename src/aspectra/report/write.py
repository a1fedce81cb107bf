"""The report's files: the page, and if asked for its pictures and its tables."""

from __future__ import annotations

from pathlib import Path

from aspectra.errors import InputError
from aspectra.report import charts, checks
from aspectra.report.content import Content
from aspectra.report.marks import Chart
from aspectra.report.page import to_html
from aspectra.report.render import write_pictures
from aspectra.report.tables import write_workbook
from aspectra.rundir import write_atomic

MAKERS = (
    charts.shares_chart, charts.topics_chart, charts.ratings_chart, charts.trend_chart, charts.groups_chart, charts.fresh_chart,
    checks.comparison_chart, checks.confusion_chart, checks.curve_chart, checks.coherence_chart,
)  # fmt: skip


def draw(content: Content) -> dict[str, Chart]:
    """Return the charts that there is something to draw for, by name."""
    made = [chart for make in MAKERS if (chart := make(content)) is not None]
    return {chart.name: chart for chart in made}


def check_outputs(page: Path, pictures: Path | None, workbook: Path | None) -> None:
    """Raise before any work is done if an output has the wrong kind of name."""
    if page.suffix != ".html" or page.is_dir():
        raise InputError(f"{page}: the report must be a file that ends in .html.")
    if workbook is not None and (workbook.suffix != ".xlsx" or workbook.is_dir()):
        raise InputError(f"{workbook}: the workbook must be a file that ends in .xlsx.")
    if pictures is not None and pictures.exists() and not pictures.is_dir():
        raise InputError(f"{pictures} is a file. Name a folder for the pictures.")


def write_report(content: Content, page: Path, pictures: Path | None, workbook: Path | None) -> None:
    made = draw(content)
    write_atomic(page, to_html(content, made).encode())
    if pictures is not None:
        write_pictures(made, pictures)
    if workbook is not None:
        write_workbook(content, workbook)
