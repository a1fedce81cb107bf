"""How fast the student is: frozen features against the encoder's bare forward pass, and labelling with torch against ONNX."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import torch

from aspectra.bench.speed import fastest
from aspectra.detector import AspectDetector
from aspectra.encoder.features import BATCH, compute_features
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import StudentLabeller
from aspectra.labelling.onnx import OnnxLabeller
from aspectra.student.model import Student

SEGMENTS = 1024
Line = tuple[str, str]


def lines(detector: AspectDetector, student: Student) -> Iterator[Line]:
    """Measure on segments of the run's corpus; yield names and values."""
    segments = detector.corpus_.segments["text"].sample(SEGMENTS, seed=0)
    yield feature_line(student, segments.to_list())
    yield from labelling_lines(StudentLabeller(detector, student), segments)


def feature_line(student: Student, texts: list[str]) -> Line:
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
    return "frozen features, tokenised, encoded, written", f"{rates}; {forward / features:.0%}"


def labelling_lines(model: StudentLabeller, segments: pl.Series) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.onnx" for name in ("fp32", "int8")}
        for name, path in paths.items():
            export_onnx(model.detector, model.student, path, int8=name == "int8")
        sizes = {name: path.stat().st_size / 1e6 for name, path in paths.items()}
        models = {name: OnnxLabeller(path) for name, path in paths.items()}
        works = [lambda one=one: one.label_segments(segments) for one in (model, *models.values())]
        torch_time, *times = fastest(*works)
        answers = model.label_segments(segments)["aspect"]
        yield "student, labelling segments, torch fp32", f"{len(segments) / torch_time:,.0f} segments/s"
        for (name, one), seconds in zip(models.items(), times, strict=True):
            same = float(np.mean((one.label_segments(segments)["aspect"] == answers).to_numpy()))
            rate = f"{len(segments) / seconds:,.0f} segments/s, {torch_time / seconds:.2f}× torch"
            yield f"the same, ONNX {name}, {sizes[name]:.0f} MB", f"{rate}, {same:.1%} of labels equal"
