"""How far work is, on stderr: one line that moves on a terminal, one line every ten seconds in a log.

Time left is calculated from the share that is done, where that is known. Work that will take more than two
minutes says so once, as soon as that can be told.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

REDRAWN, LOGGED = 0.25, 10.0
"""Seconds between two lines, on a terminal and in a log."""
LONG, FIRST_GUESS, FIRST_SHARE = 120.0, 3.0, 0.01
"""Work of more seconds is announced, after so many seconds and so much of it: the first steps are slow."""
TOLD_ONCE = 0.1
"""A share that was told only once, and is smaller, says nothing about the time left."""
BAR = 20


@dataclass
class Work:
    """A piece of work: `share` of it is done, 0…1, and so many segments, if it counts them."""

    label: str
    start: float
    count: int | None = None
    share: float = 0.0
    first: tuple[float, float] | None = None
    """When a share was told for the first time, and which: what comes before is often slower."""
    announced: bool = False

    def left(self, now: float) -> float | None:
        """Return the seconds until it is done, None if they cannot be told."""
        since, before = self.first or (self.start, 0.0)
        if self.share <= before:  # told only once: all the time counts
            since, before = self.start, 0.0
            if self.share < TOLD_ONCE:
                return None
        if now <= since:
            return None
        return (1 - self.share) * (now - since) / (self.share - before)

    def text(self, until: str, now: float, signs: str) -> str:
        """Say how far it is; `until` is a time at the end of the line."""
        if not self.share and not self.count:
            return f"{self.label} … {until}"
        if self.count is None:
            full = round(BAR * self.share)
            bar = signs[0] * full + signs[1] * (BAR - full)
            return f"{self.label:<22} {bar} {100 * self.share:>3.0f} %  {until}"
        of = f" of about {three_digits(self.count / self.share):,}" if 0 < self.share < 1 else ""
        speed = self.count / max(now - self.start, 1e-3)
        return f"{self.label}: {self.count:,}{of} segments, {speed:,.0f}/s, {until}"


class Meter:
    """Shows one piece of work after the other; use it as a context."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.clock = stream, clock
        self.terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.signs = "━─" if "utf" in (stream.encoding or "").lower() else "#-"
        self.work: Work | None = None
        self.logged = 0.0
        self.lock, self.stop = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Meter:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        self.thread.join()
        self.end()

    def begin(self, label: str, count: int | None = None) -> None:
        """Start a piece of work; the one before is over."""
        with self.lock:
            self.end()
            self.logged = self.clock()
            self.work = Work(label, self.logged, count)
            self.draw()

    def update(self, share: float, more: int = 0) -> None:
        """Tell which share of the work is done, and how many segments more."""
        with self.lock:
            if self.work is None:
                return
            self.work.share = max(share, self.work.share)
            if self.work.count is not None:
                self.work.count += more
            if self.work.first is None and share > 0:
                self.work.first = (self.clock(), share)

    def end(self) -> None:
        """Leave the last state of the work on the terminal; a log gets it only if the work was long."""
        with self.lock:
            work, self.work = self.work, None
            if work is None:
                return
            now = self.clock()
            told = bool(work.share or work.count)
            text = work.text(clock_time(now - work.start), now, self.signs)
            if self.terminal:
                self._write(f"\r{text if told else ''}\x1b[K" + "\n" * told)
            elif now - work.start >= LOGGED:
                self._write(f"{text}\n")

    def draw(self) -> None:
        """Write how far the work is, and before that, once, that it will take long."""
        with self.lock:
            work, now = self.work, self.clock()
            if work is None:
                return
            left = work.left(now)
            known = now - work.start >= FIRST_GUESS and work.share >= FIRST_SHARE
            if known and left is not None and left > LONG and not work.announced:
                work.announced = True
                text = f"{work.label}: this will take about {in_words(left)}."
                self._write(f"\r{text}\x1b[K\n" if self.terminal else f"{text}\n")
            until = clock_time(now - work.start) if left is None else f"{clock_time(left)} left"
            line = work.text(until, now, self.signs)
            if self.terminal:
                self._write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            elif now - self.logged >= LOGGED:
                self.logged = now
                self._write(f"{line}\n")

    def _tick(self) -> None:
        while not self.stop.wait(REDRAWN):
            self.draw()

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def three_digits(value: float) -> int:
    """Round to three digits."""
    return int(float(f"{value:.3g}"))


def clock_time(seconds: float) -> str:
    """Write 75 as 1:15, 3675 as 1:01:15."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def in_words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 100 else f"{seconds / 3600:.1f} hours"
