"""The report: what a label file says, as a page, pictures and tables for people."""

from aspectra.report.build import build_report

__all__ = ["build_report"]
