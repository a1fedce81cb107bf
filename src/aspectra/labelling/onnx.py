"""An exported student: an .onnx file and the files beside it. Texts in, probabilities out; no torch
and no run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra import disk, rundir
from aspectra.corpus import Ragged, Vocabulary
from aspectra.encoder.pieces import load_tokenizer, tokenise
from aspectra.errors import InputError, NotInstalledError, RunError, typed
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
        felt = sentiment_beside(path)
        files = {"graph": path, "about": about, "tokenizer": tokenizer, "sentiment": felt}
        self.about = read_about(about) if about.is_file() else {}
        for name, file in files.items():
            if not file.is_file() and (name != "sentiment" or "sentiment_sha256" in self.about):
                raise InputError(
                    f"No file {file}. Export it with the others: aspectra export RUN -o {typed(path)}"
                )
        self.session = open_session(path, threads)
        self.sentiment = read_sentiment(felt, self.about["language"])
        self.tokenizer = read_tokenizer(tokenizer, self.about["longest"])
        for name, file in files.items():  # after opening: what is used is checked
            if self.about.get(f"{name}_sha256", "") not in ("", file.exists() and rundir.checksum(file)):
                raise InputError(f"{file} was changed, or is not of the same export as {about}. {AGAIN}")
        words = tuple(self.about["words"])
        self.vocabulary = Vocabulary(words, (0,) * len(words), self.about["language"])
        self._try(path)

    def _try(self, path: Path) -> None:
        """Answer once, so that files which do not fit together are refused here."""
        try:
            beta, known, student = self.probabilities(pl.Series([".", *self.about["words"][:1]]))
        except (ValueError, TypeError, LookupError, OverflowError, MemoryError) as error:
            raise InputError(f"The files of {path} do not fit together ({error}). {AGAIN}") from None
        if not (np.isfinite(student).all() and np.isfinite(beta[known > 0]).all()):
            raise InputError(f"{path} answers with numbers that are not finite. {AGAIN}")

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
            student[rows], beta[rows] = self.answer(self.inputs(pieces, words, rows))
        beta[words.lengths == 0] = np.nan
        return beta, words.lengths, student

    def answer(self, inputs: dict[str, np.ndarray]) -> Any:
        try:
            return self.session.run(list(OUTPUTS), inputs)
        except onnx_errors() as error:
            raise InputError(f"The exported model cannot answer ({error}). {AGAIN}") from None

    def inputs(self, pieces: Ragged, words: Ragged, rows: np.ndarray) -> dict[str, np.ndarray]:
        ids, mask = pieces.padded(rows, self.about["longest"])
        word_ids, word_mask = words.padded(rows, self.about["max_tokens"])
        if self.about["format"] == 1:
            word_mask[:, 0] = True  # the graph needs a word, also where none is known; that β is not used
        values = (np.where(mask, ids, self.about["padding"]).astype(np.int64), mask.astype(np.int64))
        return dict(
            zip(INPUTS, (*values, word_ids.astype(np.int64), word_mask.astype(np.float32)), strict=True)
        )


def read_tokenizer(path: Path, longest: int) -> Any:
    try:
        return load_tokenizer(path.read_bytes().decode(errors="replace"), longest)
    except NotInstalledError:
        raise
    except InputError as error:
        raise InputError(f"{path} is not a usable tokenizer ({error}) {AGAIN}") from None


def read_sentiment(path: Path, language: str) -> SentimentModel:
    try:
        return SentimentModel.load(path) if path.exists() else SentimentModel(language)
    except RunError:
        raise InputError(f"{path} is damaged. {AGAIN}") from None


def onnx_errors() -> tuple[type[Exception], ...]:
    """Return the errors of onnxruntime, which have no common base."""
    import onnxruntime

    named = vars(onnxruntime.capi.onnxruntime_pybind11_state).values()
    return tuple(one for one in named if isinstance(one, type) and issubclass(one, Exception))


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
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except onnx_errors() as error:
        raise InputError(
            f"{path} is not a usable ONNX file ({error}). "
            f"Export it again: aspectra export RUN -o {typed(path)}"
        ) from None
