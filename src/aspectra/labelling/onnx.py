"""Labelling with an exported student: an .onnx file and the two files beside it in, labels out. Needs no torch and no run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.corpus import Ragged, Vocabulary
from aspectra.encoder.pieces import load_tokenizer, tokenise
from aspectra.errors import InputError
from aspectra.labelling.blend import blend, label_reviews
from aspectra.rundir import ONNX_CONFIG, ONNX_TOKENIZER
from aspectra.topicmap.gamma import label_beta
from aspectra.topicmap.topicmap import TopicMap

FORMAT = 1
INPUTS = ("pieces", "piece_mask", "words", "word_mask")
OUTPUTS = ("probabilities", "beta")
BATCH = 64


def beside(path: Path) -> tuple[Path, Path]:
    """Return the names of the description and the tokenizer that belong to an .onnx file."""
    return path.with_suffix(ONNX_CONFIG), path.with_suffix(ONNX_TOKENIZER)


class OnnxLabeller:
    """Labels like an AspectDetector with a student."""

    def __init__(self, path: Path, threads: int = 0) -> None:
        about, tokenizer = beside(path)
        for file in (path, about, tokenizer):
            if not file.is_file():
                raise InputError(f"No file {file}. Export it with the others: aspectra export RUN -o {path}")
        self.about = rundir.read_json(about)
        if self.about.get("format") != FORMAT:
            raise InputError(
                f"{about} has format {self.about.get('format')}, this version reads {FORMAT}. Export it again."
            )
        self.session = open_session(path, threads)
        self.tokenizer = load_tokenizer(tokenizer.read_text(encoding="utf-8"), self.about["longest"])
        words = tuple(self.about["words"])
        self.vocabulary = Vocabulary(words, (0,) * len(words), self.about["language"])
        self.topic_map = TopicMap.from_dict(self.about["topic_map"])

    @property
    def classes_(self) -> np.ndarray:
        return np.array(self.about["aspects"], dtype=object)

    def label(self, reviews: pl.Series) -> pl.DataFrame:
        """Split reviews into segments and label each: a row a segment."""
        return label_reviews(reviews, self.about["segment"], self.about["language"], self.label_segments)

    def label_segments(self, texts: pl.Series, only: tuple[str, ...] | None = None) -> pl.DataFrame:
        """Label segments as they are, one row each."""
        words = self.vocabulary.encode(texts)
        probabilities, beta = self.answers(tokenise(self.tokenizer, texts.fill_null("").to_list()), words)
        labels = label_beta(beta, words.lengths, self.topic_map, np.array(self.about["shares"]), only)
        return blend(labels, probabilities, tuple(self.about["aspects"]), self.about["teacher_weight"], only)

    def answers(self, pieces: Ragged, words: Ragged) -> tuple[np.ndarray, np.ndarray]:
        """Return the student's probabilities (N×A) and the teacher's β (N×K), in batches of like length."""
        probabilities = np.empty((len(pieces), len(self.about["aspects"])), dtype=np.float32)
        beta = np.empty((len(pieces), len(self.topic_map.choices)), dtype=np.float32)
        order = np.argsort(pieces.lengths, kind="stable")
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            probabilities[rows], beta[rows] = self.session.run(
                list(OUTPUTS), self.inputs(pieces, words, rows)
            )
        beta[words.lengths == 0] = np.nan
        return probabilities, beta

    def inputs(self, pieces: Ragged, words: Ragged, rows: np.ndarray) -> dict[str, np.ndarray]:
        ids, mask = pieces.padded(rows, self.about["longest"])
        word_ids, word_mask = words.padded(rows, self.about["max_tokens"])
        word_mask[:, 0] = True  # the graph needs a word, also where none is known; that β is not used
        values = (np.where(mask, ids, self.about["padding"]).astype(np.int64), mask.astype(np.int64))
        return dict(
            zip(INPUTS, (*values, word_ids.astype(np.int64), word_mask.astype(np.float32)), strict=True)
        )


def open_session(path: Path, threads: int = 0) -> Any:
    """Open the model on so many threads; 0 takes all cores."""
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            'Labelling with ONNX needs onnxruntime, which is not installed: pip install "aspectra[student]"'
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (
        onnxruntime.capi.onnxruntime_pybind11_state.InvalidProtobuf,
        onnxruntime.capi.onnxruntime_pybind11_state.Fail,
    ) as error:
        raise InputError(
            f"{path} is not a usable ONNX file ({error}). Export it again: aspectra export RUN -o {path}"
        ) from None
