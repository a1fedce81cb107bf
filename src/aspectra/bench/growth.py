"""How time and memory of each stage grow with the number of segments.

Each size runs in a process of its own; stages are timed by their progress reports. The process is
`python -m aspectra.bench.growth REVIEWS.parquet SEGMENTS`, which prints seconds and peak memory as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra.bench.processes import peak_gb
from aspectra.config import FitConfig
from aspectra.corpus import Corpus
from aspectra.progress import StageProgress

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
STAGES = {"prepare": "preparing", "vectors": "word vectors", "teacher": "training", "label": "labelling"}
CHUNK = 20_000
WARM_UP = 300


def measure_growth(corpus: Corpus, largest: int, progress: StageProgress) -> list[dict[str, Any]]:
    """Return for each size up to the largest its segments, and seconds and peak memory of each stage."""
    sizes = [size for size in SIZES if size <= largest]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.parquet"
            first_reviews(corpus.segments, size).write_parquet(path)
            command = [sys.executable, "-m", "aspectra.bench.growth", str(path), str(size)]
            rows.append(
                json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            )
            progress(sum(sizes[: len(rows)]) / sum(sizes))
    return rows


def first_reviews(segments: pl.DataFrame, size: int) -> pl.DataFrame:
    """Return about so many segments, joined to reviews again; a corpus that is too small is repeated."""
    again = -(-size // len(segments))
    many = pl.concat(
        [segments.select(pl.col("review").cast(pl.Int64) + turn * 10**9, "text") for turn in range(again)]
    )[:size]
    return many.group_by("review", maintain_order=True).agg(pl.col("text").str.join(" ")).select("text")


def exponent(segments: Sequence[float], values: Sequence[float]) -> float:
    """Return the power with which values grow: 1 is in proportion to the segments."""
    return float(np.polyfit(np.log(segments), np.log(values), 1)[0])


def measure(path: Path, size: int) -> dict[str, Any]:
    """Fit and label one file of reviews, with one pass in each stage, so that sizes can be compared."""
    from aspectra.detector import AspectDetector

    texts = pl.read_parquet(path)["text"]
    starts: dict[str, float] = {}
    seconds: dict[str, float] = {}
    peaks: dict[str, float] = {}

    def note(stage: str, done: float) -> None:
        starts.setdefault(stage, time.perf_counter())
        if done == 1.0:
            seconds[stage], peaks[stage] = time.perf_counter() - starts[stage], peak_gb()

    config = FitConfig(segment="clause", min_count=5, vector_epochs=1, steps=size // FitConfig.batch_size)
    AspectDetector(**{**config.to_dict(), "min_count": 1, "steps": 2}).fit(
        texts[:WARM_UP]
    )  # loads and compiles what is used
    detector = AspectDetector(**config.to_dict()).fit(texts, progress=note)
    detector.map_topics({"General": range(detector.n_topics)})
    segments = detector.corpus_.segments["text"]
    note("label", 0.0)
    for start in range(0, len(segments), CHUNK):
        detector.label_segments(segments[start : start + CHUNK])
    note("label", 1.0)
    return {"segments": len(segments), "seconds": seconds, "peak_gb": peaks}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
