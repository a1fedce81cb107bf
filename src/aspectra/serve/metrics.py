"""The service's metrics for Prometheus; with several workers, the sum over all of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that tells prometheus_client where workers share their metrics."""
SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The metrics of one worker."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "aspectra_requests", "Requests answered.", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "aspectra_request_seconds", "Time to answer.", ["path"], buckets=SECONDS, registry=self.registry
        )
        self.segments = Counter("aspectra_segments", "Segments labelled.", ["aspect"], registry=self.registry)
        self.batches = Histogram(
            "aspectra_batch_texts", "Texts labelled at once.", buckets=TEXTS, registry=self.registry
        )
        self.waiting = Gauge(
            "aspectra_waiting_texts",
            "Texts in the queue.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def watch_queue(self, waiting: Callable[[], int]) -> None:
        self.waiting_now = waiting

    def observe_batch(self, texts: int, labels: pl.DataFrame) -> None:
        self.batches.observe(texts)
        self.waiting.set(self.waiting_now())
        for aspect, count in labels["aspect"].value_counts().iter_rows():
            self.segments.labels(aspect).inc(count)

    def observe_request(self, path: str, status: int, seconds: float) -> None:
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' format."""
        self.waiting.set(self.waiting_now())
        folder = os.environ.get(METRICS_FOLDER)
        if folder is None:
            return generate_latest(self.registry)
        forget_dead(Path(folder))
        together = CollectorRegistry()
        MultiProcessCollector(together, folder)  # type: ignore[no-untyped-call]
        return generate_latest(together)


def forget_dead(folder: Path) -> None:
    """Remove the queues of dead workers from the sum; their counts stay."""
    for file in folder.glob("gauge_live*_*.db"):
        worker = int(file.stem.rpartition("_")[2])
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            with contextlib.suppress(FileNotFoundError):
                mark_process_dead(worker, str(folder))  # type: ignore[no-untyped-call]
