"""aspectra finds out, without labels, what reviews talk about, and labels every segment with your aspects.

These are the names for Python; docs/python.md describes them. Each is imported when it is first used, so that
`import aspectra` and `aspectra --help` need not wait for torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aspectra.config import StudentConfig as StudentConfig
    from aspectra.detector import AspectDetector as AspectDetector
    from aspectra.errors import AspectraError as AspectraError
    from aspectra.labelling.evaluate import evaluate as evaluate
    from aspectra.labelling.labeller import load as load
    from aspectra.report.build import build_report as build_report
    from aspectra.scores import read_gold as read_gold
    from aspectra.student.distill import distill as distill
    from aspectra.text.read import read_reviews as read_reviews
    from aspectra.updating import update as update

__version__ = "0.2.0"

_HOMES = {
    "read_reviews": "aspectra.text.read",
    "read_gold": "aspectra.scores",
    "AspectDetector": "aspectra.detector",
    "distill": "aspectra.student.distill",
    "StudentConfig": "aspectra.config",
    "load": "aspectra.labelling.labeller",
    "evaluate": "aspectra.labelling.evaluate",
    "build_report": "aspectra.report.build",
    "update": "aspectra.updating",
    "AspectraError": "aspectra.errors",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'aspectra' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
