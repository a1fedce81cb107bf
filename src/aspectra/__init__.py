"""aspectra: finds out, without labels, what reviews talk about, and labels every segment with the aspects you care about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector as AspectDetector
    from aspectra.errors import AspectraError as AspectraError
    from aspectra.evaluate import read_gold as read_gold
    from aspectra.labelling.labeller import load as load
    from aspectra.student.distill import distill as distill

__version__ = "0.1.0"
__all__ = ["AspectDetector", "AspectraError", "distill", "load", "read_gold"]

_HOMES = {
    "AspectDetector": "aspectra.detector",
    "AspectraError": "aspectra.errors",
    "distill": "aspectra.student.distill",
    "load": "aspectra.labelling.labeller",
    "read_gold": "aspectra.evaluate",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first asked for: `aspectra --help` must not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'aspectra' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
