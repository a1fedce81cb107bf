"""Texts of many requests → batches → labels: a batch takes hardly longer than one text.

One thread labels. What arrives meanwhile waits in a bounded queue and becomes the next batch. All else
happens on the event loop, so there are no locks. A request that has timed out is left out of the next
batch; one that finds the queue full fails at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Limits:
    """How much may be asked at once, and how long it may take."""

    batch: int = 256  # texts
    wait: float = 0.002  # seconds that a batch waits for more texts, if the one before had several jobs
    queue: int = 4096  # texts
    timeout: float = 10.0  # seconds


class QueueFull(Exception):
    """More texts are waiting than the queue holds."""


@dataclass(frozen=True)
class Job:
    """The texts of one request, and the future of their labels."""

    texts: list[str]
    labels: asyncio.Future[list[bytes]]


LabelReviews = Callable[[pl.Series], pl.DataFrame]


def label_batch(label: LabelReviews, requests: list[list[str]]) -> tuple[list[list[bytes]], pl.DataFrame]:
    """Label several requests at once; return each request's rows as JSON, and all labels as a frame."""
    ends = [0, *accumulate(map(len, requests))]
    frame = label(pl.Series("text", [text for texts in requests for text in texts], dtype=pl.String))
    review = frame["review"].to_numpy()
    request = np.searchsorted(ends, review, side="right") - 1
    local = pl.Series("review", review - np.array(ends)[request], dtype=pl.UInt32)
    rows = frame.with_columns(local).write_ndjson().encode().splitlines()
    cuts = np.searchsorted(review, ends)
    return [rows[first:last] for first, last in pairwise(cuts)], frame


class Batcher:
    """Labels texts in batches; `observe` gets the number of texts and the labels of each batch."""

    def __init__(
        self, label: LabelReviews, limits: Limits, observe: Callable[[int, pl.DataFrame], None]
    ) -> None:
        self.label_texts, self.limits, self.observe = label, limits, observe
        self.waiting = 0
        self._jobs: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self._pool = ThreadPoolExecutor(1, "label")
        self._task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self) -> None:
        """Label what is still waiting, then stop."""
        self._closing = True
        self._arrived.set()
        if self._task:
            await self._task
        self._pool.shutdown()

    async def label(self, texts: list[str]) -> list[bytes]:
        """Return one JSON object per segment; raise QueueFull, or TimeoutError after `limits.timeout`."""
        if self.waiting + len(texts) > self.limits.queue:
            raise QueueFull
        job = Job(texts, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self.waiting += len(texts)
        self._arrived.set()
        return await asyncio.wait_for(job.labels, self.limits.timeout)

    async def _work(self) -> None:
        several = False
        while self._jobs or not self._closing:
            await self._arrived.wait()
            if several and self.waiting < self.limits.batch:
                await asyncio.sleep(self.limits.wait)
            jobs = self._take()
            several = len(jobs) > 1
            if jobs:
                await self._label(jobs)

    def _take(self) -> list[Job]:
        """Take at most a batch of texts off the queue, but at least one job; drop jobs that timed out."""
        taken: list[Job] = []
        size = 0
        while self._jobs and (not taken or size + len(self._jobs[0].texts) <= self.limits.batch):
            job = self._jobs.popleft()
            self.waiting -= len(job.texts)
            if not job.labels.done():
                taken.append(job)
                size += len(job.texts)
        if not self._jobs:
            self._arrived.clear()
        return taken

    async def _label(self, jobs: list[Job]) -> None:
        """Label in the other thread and hand out the rows, or the error."""
        work = asyncio.get_running_loop().run_in_executor(
            self._pool, label_batch, self.label_texts, [job.texts for job in jobs]
        )
        await asyncio.wait([work])
        error = work.exception()
        if error is None:
            rows, frame = work.result()
            self.observe(sum(len(job.texts) for job in jobs), frame)
        for place, job in enumerate(jobs):
            if job.labels.done():
                continue
            if error is None:
                job.labels.set_result(rows[place])
            else:
                job.labels.set_exception(error)
