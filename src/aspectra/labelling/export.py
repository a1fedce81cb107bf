"""A run with a student → one ONNX graph of encoder, head and teacher, with tokenizer and vocabulary
beside it.

The graph answers the student's probabilities (B×A) and the teacher's β (B×K); `OnnxLabeller` turns them
into labels without torch.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from aspectra import disk, rundir
from aspectra.encoder.pretrained import Encoder
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.labelling.onnx import INPUTS, OUTPUTS, beside, sentiment_beside
from aspectra.student.card import Card
from aspectra.student.linear import LinearStudent
from aspectra.student.paper.model import Student
from aspectra.teacher.model import Teacher

OPSET = 17
INSTALL = 'pip install "aspectra[student]"'


class Both(nn.Module):
    """Student and teacher side by side, as one graph."""

    def __init__(self, student: Student, teacher: Teacher) -> None:
        super().__init__()
        self.student, self.teacher = student, teacher

    def forward(
        self, pieces: Tensor, piece_mask: Tensor, words: Tensor, word_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        return torch.softmax(self.student(pieces, piece_mask).logits, 1), self.teacher(words, word_mask).beta


class LinearGraph(nn.Module):
    """The encoder and the head of a linear student."""

    def __init__(self, student: LinearStudent, encoder: Encoder) -> None:
        super().__init__()
        self.network, self.head, self.encoder = encoder.model, student.head, encoder

    def forward(self, pieces: Tensor, piece_mask: Tensor, words: Tensor, beta: Tensor) -> Tensor:
        answer: Tensor = self.head(words, beta, self.encoder.mean_layers(pieces, piece_mask))
        return answer


class LinearBoth(nn.Module):
    """A linear student, which reads what the teacher reads, and the teacher, as one graph."""

    def __init__(self, student: LinearStudent, encoder: Encoder, teacher: Teacher) -> None:
        super().__init__()
        self.student, self.teacher = LinearGraph(student, encoder), teacher

    def forward(
        self, pieces: Tensor, piece_mask: Tensor, words: Tensor, word_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        count = word_mask.sum(1, keepdim=True)  # B×1
        first = torch.cat(
            [torch.ones_like(word_mask[:, :1]), word_mask[:, 1:]], 1
        )  # the teacher needs a word
        beta = self.teacher(words, first).beta  # B×K
        even = torch.full_like(beta, 1 / beta.shape[1])
        vectors = functional.embedding(words, self.teacher.vectors) * word_mask.unsqueeze(2)  # B×W×D
        mean = vectors.sum(1) / count.clamp(min=1)  # B×D
        return self.student(pieces, piece_mask, mean, torch.where(count > 0, beta, even)), beta


def make_graph(fitted: Fitted, student: Student | LinearStudent) -> tuple[nn.Module, Encoder]:
    """Return student and teacher as one network, and the encoder that is in it."""
    teacher = Teacher.of(fitted.teacher)
    if isinstance(student, Student):
        return Both(student.cpu(), teacher).eval(), student.encoder
    if student.encoder is None:
        raise InputError(
            "This student was made without an encoder, so there is nothing to export. "
            f"Install one and distil again: {INSTALL}"
        )
    return LinearBoth(student, student.encoder, teacher).eval(), student.encoder


def export_onnx(fitted: Fitted, student: Student | LinearStudent, path: Path, int8: bool = False) -> None:
    """Write the graph and, beside it, what is needed to feed it and to read its answers."""
    if path.suffix != ".onnx":
        raise InputError(f"{path}: the output must end in .onnx.")
    missing = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
    if missing:
        raise InputError(f"The export needs {' and '.join(missing)}, which is not installed: {INSTALL}")
    files = (*beside(path), sentiment_beside(path), path)
    for file in files:
        rundir.refuse_own_file(file)
    network, encoder = make_graph(fitted, student)
    with disk.locked(path.parent, "export", wait=0), contextlib.ExitStack() as together:
        # at the end all take their places, the graph first, the description last
        about, tokenizer, felt, graph = (together.enter_context(disk.atomic_path(file)) for file in files)
        write_graph(network, graph)
        if int8:
            quantise(graph)
        tokenizer.write_bytes(encoder.tokenizer.to_str().encode())
        felt.write_bytes(fitted.felt().to_bytes())
        values = description(fitted, student.card, encoder)
        for name, file in (("graph", graph), ("tokenizer", tokenizer), ("sentiment", felt)):
            values[f"{name}_sha256"] = rundir.checksum(file)
        about.write_bytes(rundir.to_json({**values, rundir.CHECKSUM: rundir.own_checksum(values)}))


def export_folder(fitted: Fitted, student: Student | LinearStudent, folder: Path, int8: bool = False) -> Path:
    """Write a folder as the Hugging Face Hub has them, model.onnx and the files beside it among them.

    `AutoConfig` and `AutoTokenizer` of transformers open it; config.json names the aspects.
    """
    for name in (rundir.CONFIG, rundir.CARD):
        rundir.refuse_own_file(folder / name)
    graph = folder / "model.onnx"
    export_onnx(fitted, student, graph, int8)
    encoder, aspects = student.encoder, student.card.aspects
    assert encoder is not None  # or the export would have been refused
    labels = {
        "id2label": {str(number): aspect for number, aspect in enumerate(aspects)},
        "label2id": {aspect: number for number, aspect in enumerate(aspects)},
        "problem_type": "single_label_classification",
    }
    encoder.save_tokenizer(folder)
    disk.write_atomic(folder / rundir.CARD, student.card.markdown(fitted.the_map()).encode())
    rundir.write_json(folder / rundir.CONFIG, {**encoder.model.config.to_dict(), **labels})
    return graph


def write_graph(both: nn.Module, path: Path) -> None:
    ids, mask = torch.ones(2, 5, dtype=torch.int64), torch.ones(2, 5, dtype=torch.int64)
    words, word_mask = torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 3)
    axes = {name: {0: "B", 1: "L" if "piece" in name else "W"} for name in INPUTS} | {
        name: {0: "B"} for name in OUTPUTS
    }
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter(
            "ignore"
        )  # of shapes that transformers checks in Python, and of the tracer's age
        torch.onnx.export(
            both,
            (ids, mask, words, word_mask),
            path,
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def quantise(graph: Path) -> None:
    """Round the encoder's weights to 8 bits; head and teacher are small and stay as they are."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = [
        node.name
        for node in onnx.load(str(graph)).graph.node
        if node.name.startswith(("/student/head", "/teacher"))
    ]
    logging.disable(logging.WARNING)  # it advises an example on the web
    try:
        quantize_dynamic(
            graph,
            graph,
            weight_type=QuantType.QInt8,
            reduce_range=True,
            per_channel=True,
            nodes_to_exclude=small,
        )
    finally:
        logging.disable(logging.NOTSET)


def description(fitted: Fitted, card: Card, encoder: Encoder) -> dict[str, Any]:
    """Return all that labelling needs besides the graph and the tokenizer."""
    return {
        "format": 2 if card.config.head == "linear" else 1,
        "aspects": list(card.aspects),
        "teacher_weight": card.teacher_weight,
        "notes": list(card.notes),
        "several_from": card.several_from,
        "longest": encoder.longest,
        "padding": encoder.padding,
        "max_tokens": fitted.config.max_tokens,
        "segment": fitted.config.segment,
        "language": fitted.config.language,
        "keep_junk": fitted.config.keep_junk,
        "words": list(fitted.vocabulary.words),
        "topic_map": fitted.the_map().to_dict(),
        "shares": fitted.shares.tolist(),
    }
