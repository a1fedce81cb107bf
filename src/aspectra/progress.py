"""How long work reports how far it is, for a progress bar or for nobody."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Is told the name of a stage and the share of it that is done, 0…1."""
StageProgress = Callable[[float], None]
"""The same for work that is one stage."""
Count = Callable[[int, float], None]
"""Is told how many segments more are done, and the share of all that is done now, 0…1."""


def quiet(stage: str, done: float) -> None:
    """Report progress to nobody."""


def unseen(done: float) -> None:
    """Report the progress of one stage to nobody."""


def uncounted(more: int, share: float) -> None:
    """Count for nobody."""


def count_part(count: Count, start: float, end: float) -> Count:
    """Return the count of a part of the work, which goes from one share of the whole to another."""
    return lambda more, share: count(more, start + share * (end - start))


def progress_of(stage: str, progress: Progress) -> StageProgress:
    """Return the progress of one stage."""
    return lambda done: progress(stage, done)
