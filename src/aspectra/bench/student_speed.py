"""How fast the student is: frozen features against the encoder's bare forward pass, and labelling with torch against ONNX."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import torch

from aspectra.detector import AspectDetector
from aspectra.student.export import export_onnx
from aspectra.student.features import BATCH, compute_features
from aspectra.student.labelling import StudentLabeller
from aspectra.student.model import Student
from aspectra.student.onnx import OnnxLabeller

SEGMENTS = 1024
ROUNDS = 3


def fastest(*works: Callable[[], object]) -> list[float]:
    """Return the best time of each in seconds, measured in turn so that all meet the same machine."""
    times = [[elapsed(work) for work in works] for _ in range(ROUNDS)]
    return np.min(times, axis=0).tolist()  # type: ignore[no-any-return]


def elapsed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def lines(detector: AspectDetector, student: Student) -> Iterator[str]:
    """Measure on segments of the run's corpus; yield table rows."""
    segments = detector.corpus_.segments["text"].sample(SEGMENTS, seed=0)
    yield feature_line(student, segments.to_list())
    yield from labelling_lines(StudentLabeller(detector, student), segments)


def feature_line(student: Student, texts: list[str]) -> str:
    encoder = student.encoder
    batches = [(ids, mask) for _, ids, mask in encoder.batches(encoder.tokenise(texts), BATCH)]

    def bare() -> None:
        with torch.inference_mode():
            for ids, mask in batches:
                encoder.hidden(ids, mask)

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            compute_features(encoder, texts, Path(folder), lambda done: None)

    forward, features = fastest(bare, whole)
    rates = f"{len(texts) / features:,.0f} segments/s; bare forward {len(texts) / forward:,.0f}/s"
    return f"| frozen features, tokenised, encoded, written | {rates}; {forward / features:.0%} |"


def labelling_lines(model: StudentLabeller, segments: pl.Series) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.onnx" for name in ("fp32", "int8")}
        for name, path in paths.items():
            export_onnx(model.detector, model.student, path, int8=name == "int8")
        sizes = {name: path.stat().st_size / 1e6 for name, path in paths.items()}
        models = {name: OnnxLabeller(path) for name, path in paths.items()}
        works = [lambda one=one: one.label_segments(segments) for one in (model, *models.values())]
        torch_time, *times = fastest(*works)
        answers = model.label_segments(segments)["aspect"]
        yield f"| labelling segments, torch fp32 | {len(segments) / torch_time:,.0f} segments/s |"
        for (name, one), seconds in zip(models.items(), times, strict=True):
            same = float(np.mean((one.label_segments(segments)["aspect"] == answers).to_numpy()))
            rate = f"{len(segments) / seconds:,.0f} segments/s, {torch_time / seconds:.2f}× torch"
            yield f"| the same, ONNX {name}, {sizes[name]:.0f} MB | {rate}, {same:.1%} of labels equal |"
