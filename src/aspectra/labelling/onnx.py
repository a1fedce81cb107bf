"""An exported student: an .onnx file and the files beside it. Texts in, probabilities out; no torch
and no run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra import disk, rundir
from aspectra.corpus import Ragged, Vocabulary
from aspectra.encoder.pieces import load_tokenizer, tokenise
from aspectra.errors import InputError, RunError
from aspectra.sentiment.model import SentimentModel
from aspectra.text.tokens import check_language

FORMATS = (1, 2)
"""In format 2 the student reads words, too: a segment without known words must be told from others."""
INPUTS = ("pieces", "piece_mask", "words", "word_mask")
OUTPUTS = ("probabilities", "beta")
BATCH = 64
AGAIN = "Export it again: aspectra export RUN -o FILE.onnx"
KINDS = {
    "aspects": [str], "teacher_weight": float, "longest": int, "padding": int, "max_tokens": int,
    "segment": str, "language": str, "words": [str], "topic_map": {}, "shares": [float],
}  # fmt: skip
"""What the description must hold; files of version 0.1.0 have no checksums."""


def beside(path: Path) -> tuple[Path, Path]:
    """Return the names of the description and the tokenizer that belong to an .onnx file."""
    return path.with_suffix(rundir.ONNX_CONFIG), path.with_suffix(rundir.ONNX_TOKENIZER)


def sentiment_beside(path: Path) -> Path:
    """Return the name of the sentiment model that belongs to an .onnx file; older exports have none."""
    return path.with_suffix(rundir.ONNX_SENTIMENT)


def read_about(path: Path) -> dict[str, Any]:
    """Read the description beside an .onnx file; refuse one that was edited or cannot be right."""
    try:
        about = rundir.read_json(path)
    except RunError:
        raise InputError(f"{path} is not a usable description. {AGAIN}") from None
    found = about.get("format") if isinstance(about, dict) else None
    if found not in FORMATS:
        known = " and ".join(map(str, FORMATS))
        raise InputError(f"{path} has format {found}, this version reads {known}. Export it again.")
    fault = rundir.find_fault(about, KINDS)
    own = rundir.own_checksum(about)
    if not fault and about.get(rundir.CHECKSUM, own) != own:
        fault = "it was edited"
    if not fault and not 0 <= about["teacher_weight"] <= 1:
        fault = f"teacher_weight is {about['teacher_weight']}, not from 0 to 1"
    if fault:
        raise InputError(f"{path} cannot be used: {fault}. {AGAIN}")
    check_language(about["language"])
    return dict(about)


def is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


class OnnxModel:
    """An exported file: `about` tells what its answers mean."""

    def __init__(self, path: Path, threads: int = 0) -> None:
        try:
            self._open(path, threads)
        except InputError:
            if not (path.is_file() and os.access(path.parent, os.W_OK)):
                raise
            with disk.locked(path.parent, "export"):  # an export may just have been replacing the files
                self._open(path, threads)

    def _open(self, path: Path, threads: int) -> None:
        about, tokenizer = beside(path)
        for file in (path, about, tokenizer):
            if not file.is_file():
                raise InputError(f"No file {file}. Export it with the others: aspectra export RUN -o {path}")
        self.about = read_about(about)
        self.session = open_session(path, threads)
        definition = tokenizer.read_bytes()
        for file, name in (
            (path, "graph"),
            (tokenizer, "tokenizer"),
        ):  # after opening: what is used is checked
            if self.about.get(f"{name}_sha256", "") not in ("", rundir.checksum(file)):
                raise InputError(f"{file} was changed, or is not of the same export as {about}. {AGAIN}")
        if not is_json(definition):
            raise InputError(f"{tokenizer} is not a usable tokenizer. {AGAIN}")
        self.tokenizer = load_tokenizer(definition.decode(), self.about["longest"])
        words = tuple(self.about["words"])
        self.vocabulary = Vocabulary(words, (0,) * len(words), self.about["language"])
        felt = sentiment_beside(path)
        language = self.about["language"]
        self.sentiment = SentimentModel.load(felt) if felt.exists() else SentimentModel(language)

    def probabilities(self, texts: pl.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return β (N×K; NaN without known words), the number of known words (N), and the student's
        probabilities (N×A)."""
        words = self.vocabulary.encode(texts)
        pieces = tokenise(self.tokenizer, texts.fill_null("").to_list())
        student = np.empty((len(pieces), len(self.about["aspects"])), dtype=np.float32)
        beta = np.empty((len(pieces), len(self.about["shares"])), dtype=np.float32)
        order = np.argsort(pieces.lengths, kind="stable")
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            student[rows], beta[rows] = self.session.run(list(OUTPUTS), self.inputs(pieces, words, rows))
        beta[words.lengths == 0] = np.nan
        return beta, words.lengths, student

    def inputs(self, pieces: Ragged, words: Ragged, rows: np.ndarray) -> dict[str, np.ndarray]:
        ids, mask = pieces.padded(rows, self.about["longest"])
        word_ids, word_mask = words.padded(rows, self.about["max_tokens"])
        if self.about["format"] == 1:
            word_mask[:, 0] = True  # the graph needs a word, also where none is known; that β is not used
        values = (np.where(mask, ids, self.about["padding"]).astype(np.int64), mask.astype(np.int64))
        return dict(
            zip(INPUTS, (*values, word_ids.astype(np.int64), word_mask.astype(np.float32)), strict=True)
        )


def open_session(path: Path, threads: int = 0) -> Any:
    """Open the model; a batch is computed on `threads` threads, 0 takes all cores."""
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            'Labelling with ONNX needs onnxruntime, which is not installed: pip install "aspectra[student]"'
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    named = vars(onnxruntime.capi.onnxruntime_pybind11_state).values()
    faults = tuple(one for one in named if isinstance(one, type) and issubclass(one, Exception))
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except faults as error:
        raise InputError(
            f"{path} is not a usable ONNX file ({error}). Export it again: aspectra export RUN -o {path}"
        ) from None
