"""How long work reports how far it is, for a progress bar or for nobody."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Is told the name of a stage and the share of it that is done, 0…1."""
StageProgress = Callable[[float], None]
"""The same for work that is one stage."""


def quiet(stage: str, done: float) -> None:
    """Report progress to nobody."""


def unseen(done: float) -> None:
    """Report the progress of one stage to nobody."""


def progress_of(stage: str, progress: Progress) -> StageProgress:
    """Return the progress of one stage."""
    return lambda done: progress(stage, done)
