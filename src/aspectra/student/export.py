"""A run with a student → one ONNX graph of encoder, head and teacher, with tokenizer and vocabulary beside it.

The graph answers student probabilities (B×A) and the teacher's β (B×K); `onnx.OnnxLabeller` turns them into labels without torch.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from aspectra import rundir
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.student.model import Student
from aspectra.student.onnx import FORMAT, INPUTS, OUTPUTS, beside
from aspectra.teacher.model import Teacher

OPSET = 17
INSTALL = 'pip install "aspectra[student]"'


class Both(nn.Module):
    """Student and teacher side by side, as one graph."""

    def __init__(self, student: Student, teacher: Teacher) -> None:
        super().__init__()
        self.student, self.teacher = student, teacher

    def forward(self, pieces: Tensor, piece_mask: Tensor, words: Tensor, word_mask: Tensor) -> tuple[Tensor, Tensor]:
        return torch.softmax(self.student(pieces, piece_mask).logits, 1), self.teacher(words, word_mask).beta


def export_onnx(detector: AspectDetector, student: Student, path: Path, int8: bool = False) -> None:
    """Write the graph and, beside it, what is needed to feed it and to read its answers."""
    if path.suffix != ".onnx":
        raise InputError(f"{path}: the output must end in .onnx.")
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError:
        raise InputError(f"The export needs onnx and onnxruntime, which are not installed: {INSTALL}") from None
    about, tokenizer = beside(path)
    rundir.write_atomic(tokenizer, student.encoder.tokenizer.to_str().encode())
    with rundir.atomic_path(path) as whole:
        write_graph(Both(student.cpu(), detector.teacher_.cpu()).eval(), whole)
        if int8:
            with rundir.atomic_path(path.with_name(f"{path.stem}-int8.onnx")) as small:
                quantize_dynamic(whole, small, weight_type=QuantType.QInt8, reduce_range=True, per_channel=True)
                whole.write_bytes(small.read_bytes())
    rundir.write_json(about, description(detector, student))


def write_graph(both: Both, path: Path) -> None:
    ids, mask = torch.ones(2, 5, dtype=torch.int64), torch.ones(2, 5, dtype=torch.int64)
    words, word_mask = torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 3)
    axes = {name: {0: "B", 1: "L" if "piece" in name else "W"} for name in INPUTS} | {name: {0: "B"} for name in OUTPUTS}
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # the tracer warns of shapes that transformers checks in Python, and of its own age
        torch.onnx.export(
            both, (ids, mask, words, word_mask), path, input_names=list(INPUTS), output_names=list(OUTPUTS), dynamic_axes=axes,
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip


def description(detector: AspectDetector, student: Student) -> dict[str, Any]:
    """Return all that labelling needs besides the graph and the tokenizer."""
    vocabulary = detector.vocabulary_
    return {
        "format": FORMAT,
        "aspects": list(student.card.aspects),
        "teacher_weight": student.card.teacher_weight,
        "longest": student.encoder.longest,
        "padding": student.encoder.padding,
        "max_tokens": detector.max_tokens,
        "segment": detector.segment,
        "language": detector.language,
        "words": list(vocabulary.words),
        "topic_map": detector.topic_map_.to_dict(),
        "shares": [item.share for item in detector.topics_.items],
    }
