"""The sentiment of segments: −1 to 1, negative, neutral or positive, and how sure that is.

The lexicon's answer, corrected by one weight per hashed word, negated word, pair and triple: no encoder and
no compiler at label time. Without learnt weights the lexicon answers alone. A model is one .npz file.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
import polars as pl

from aspectra import disk, rundir
from aspectra.errors import ConfigError, RunError
from aspectra.rundir import RunDir
from aspectra.sentiment.learn import CLASSES, probabilities
from aspectra.sentiment.lexicon import valences
from aspectra.sentiment.rules import BITS, bounded, features, judge, lexicon_logits, longer
from aspectra.sentiment.words import WordReader
from aspectra.text.tokens import Tokens, check_language, extract_forms

FORMAT = 1
AGAIN = "Repeat the fit: it is made anew."
MOST_BYTES = 64 * 2**BITS
"""That the arrays of a model may need; a small file can say that it holds far more."""
CONTEXT, NEIGHBOURS = 1.2, 0.6
"""How much a segment leans towards what the other segments of its review say, and the two beside it."""
LEXICON_ALONE = 0.8
"""Added to both logits where the lexicon answers alone: from a score of 0.1 on it praises."""
COLUMNS = ("sentiment", "sentiment_score", "sentiment_confidence")


@dataclass(frozen=True)
class SentimentModel:
    """Answers for segments of one language; `about` tells what it was learnt from."""

    language: str
    used: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    bias: np.ndarray = field(default_factory=lambda: np.zeros(2))
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        table = np.zeros((2**BITS if len(self.used) else 0, 2), np.float32)
        table[self.used] = self.weights
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "reader", WordReader(self.language))

    table: np.ndarray = field(init=False, repr=False, compare=False)
    reader: WordReader = field(init=False, repr=False, compare=False)

    def logits(self, forms: Tokens) -> np.ndarray:
        """Return the logits of positive and negative, N×2, for what `extract_forms` found in N segments."""
        words = self.reader.read_forms(forms)
        verdict = judge(words)
        logits = lexicon_logits(verdict.scores)
        if not len(self.used):
            return logits + LEXICON_ALONE
        found = features(words, verdict)
        weights = self.table.take(found.ids, axis=0)
        some = np.flatnonzero(found.counts != 1)
        weights[some] *= found.counts[some, None]
        sums = [np.bincount(found.rows, column, found.n) for column in weights.T]
        logits = bounded(logits + np.stack(sums, 1) + self.bias, verdict)
        return np.asarray(logits + longer(verdict)[:, None])

    def label(self, texts: pl.Series, reviews: np.ndarray | None = None) -> pl.DataFrame:
        """Return COLUMNS for segments; `reviews` tells which belong together, so each is read in context."""
        return answers(self.logits(extract_forms(texts)), reviews)

    def notes(self) -> list[str]:
        """Say what the model was learnt from, where that is not obvious."""
        lines = [str(self.about["note"])] if self.about.get("note") else []
        if not valences(self.language):
            how = (
                "It is learnt from ratings alone."
                if self.about.get("rated")
                else "Sentiment is not reliable here."
            )
            lines.append(f"There is no sentiment lexicon for language {self.language!r}. {how}")
        return lines

    def to_bytes(self) -> bytes:
        """Return the model as a file, with a checksum of all that it holds."""
        arrays = {"used": self.used, "weights": self.weights.astype(np.float16), "bias": self.bias}
        about = {"format": FORMAT, "language": self.language, **self.about}
        about[rundir.CHECKSUM] = contents(arrays, about)
        file = io.BytesIO()
        np.savez_compressed(file, about=json.dumps(about), **arrays)  # type: ignore[arg-type]
        return file.getvalue()

    def save(self, path: Path) -> None:
        disk.write_atomic(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            arrays, about = read_arrays(path)
            check_language(str(about["language"]))
        except FAULTS as error:
            raise RunError(f"{path} cannot be used ({error}). {AGAIN}") from None
        used, weights, bias = (arrays[name] for name in ("used", "weights", "bias"))
        shapes = used.ndim == 1 and weights.shape == (len(used), 2) and bias.shape == (2,)
        kinds = used.dtype.kind in "iu" and weights.dtype.kind == bias.dtype.kind == "f"
        if not (shapes and kinds) or about.pop("format", None) != FORMAT:
            raise RunError(f"{path} is damaged or of another version. {AGAIN}")
        if len(used) and not 0 <= used.min() <= used.max() < 2**BITS:
            raise RunError(f"{path} is damaged: a feature is out of range. {AGAIN}")
        if not np.isfinite(weights).all() or not np.isfinite(bias).all():
            raise RunError(f"{path} has a weight that is not finite. {AGAIN}")
        return cls(str(about.pop("language")), used, weights.astype(np.float32), bias, about)


def load_sentiment(run: RunDir) -> SentimentModel:
    """Read a run's sentiment; refuse that of other reviews. An update keeps what was learnt before it."""
    made = SentimentModel.load(run / rundir.SENTIMENT)
    before = [one["before"] for one in run.manifest().get("updates", [])]
    if made.about.get("reviews") not in (None, run.fingerprint_of("prepare"), *before):
        raise RunError(f"{run / rundir.SENTIMENT} was learnt from other reviews. {AGAIN}")
    return made


FAULTS = (
    OSError, ValueError, LookupError, EOFError, MemoryError, TypeError, RecursionError, BadZipFile,
    ConfigError, zlib.error,
)  # fmt: skip
"""What reading a file that is no model can raise."""


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a model's file and what is said of it, if both are as they were written."""
    with np.load(path) as file:
        size = sum(one.file_size for one in file.zip.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"it unpacks to {size:,} bytes")
        arrays = {name: file[name] for name in ("used", "weights", "bias")}
        about = json.loads(str(file["about"]))
    if not isinstance(about, dict):
        raise TypeError("what is said of it is no object")
    if about.pop(rundir.CHECKSUM, None) not in (None, contents(arrays, about)):
        raise ValueError("it was changed")
    return arrays, about


def contents(arrays: dict[str, np.ndarray], about: dict[str, Any]) -> str:
    """Return a checksum of arrays and what is said of them."""
    said = [about, *((name, one.dtype.str, one.shape) for name, one in arrays.items())]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for one in arrays.values():
        digest.update(one.tobytes())
    return digest.hexdigest()


def answers(logits: np.ndarray, reviews: np.ndarray | None = None) -> pl.DataFrame:
    """Return COLUMNS for the logits of segments; `reviews` tells which belong together."""
    chances = probabilities(logits if reviews is None or not len(logits) else in_context(logits, reviews))
    best = chances.argmax(1)
    return pl.DataFrame({
        "sentiment": pl.Series(CLASSES).gather(best) if len(best) else pl.Series([], dtype=pl.String),
        "sentiment_score": (chances[:, 2] - chances[:, 0]).astype(np.float32),
        "sentiment_confidence": chances.max(1, initial=0).astype(np.float32),
    })  # fmt: skip


def in_context(logits: np.ndarray, reviews: np.ndarray) -> np.ndarray:
    """Move each segment's logits towards what the other segments of its review say."""
    chances = probabilities(logits)
    net = chances[:, 2] - chances[:, 0]
    _, at = np.unique(reviews, return_inverse=True)
    total, count = np.bincount(at, net)[at], np.bincount(at)[at]
    beside, same = np.zeros(len(net)), at[1:] == at[:-1]
    beside[1:] += np.where(same, net[:-1], 0)
    beside[:-1] += np.where(same, net[1:], 0)
    # the review counts the segment itself as 0: little is known of a review of two segments
    lean = CONTEXT * (total - net) / count + NEIGHBOURS * beside / 2
    return np.asarray(logits + np.stack([lean, -lean], 1))
