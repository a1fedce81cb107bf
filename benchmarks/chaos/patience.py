"""How long a command has had a processor or waited for something else: what others on the machine took is not
counted, so a limit of 30 s means the same on a busy machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Patience:
    """Seconds for a process and all that it starts, less those in which a thread waited for a processor."""

    pid: int
    seconds: float
    step: float = 0.25
    """Seconds between two looks."""
    seen: float = field(default_factory=time.monotonic)
    waited: dict[str, float] = field(default_factory=dict)

    def ended(self) -> bool:
        """Tell whether the time is over; to be asked every `step` seconds."""
        now, waited = time.monotonic(), waiting_times(self.pid)
        longest = max((time - self.waited.get(thread, time) for thread, time in waited.items()), default=0.0)
        self.seconds -= now - self.seen - longest  # a wait is known when it is over, so it may be given back
        self.seen, self.waited = now, waited
        return self.seconds <= 0


def waiting_times(pid: int) -> dict[str, float]:
    """Return how long each thread of a process and of its children has waited for a processor."""
    found = {}
    for process in family(pid):
        for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError):  # it has just ended
                found[str(thread)] = int(thread.read_text().split()[1]) / 1e9
    return found


def family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                yield from family(int(child))
