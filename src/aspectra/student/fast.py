"""The fast student: nearly what the student answers, at the teacher's speed and without torch.

Vectors of words and pairs (phrases.py) stand for the encoder's mean states of a segment. From there on it is
the student: its linear models, the mean word vector and √β; words and pairs also have scores for aspects.
Without an encoder there is nothing to imitate: both answer the same. It is one file in the student's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as to_bytes

from aspectra import disk, rundir
from aspectra.arrays import normalise, softmax
from aspectra.aspects.gaussians import Features, logs, with_topics
from aspectra.aspects.reader import segment_features
from aspectra.corpus import Ragged
from aspectra.errors import RunError
from aspectra.fitting import Fitted
from aspectra.student.card import Card, again, check_aspects, read_complete
from aspectra.student.phrases import Phrases
from aspectra.teacher.encode import encode
from aspectra.text.memory import as_series
from aspectra.text.tokens import Tokens, extract
from aspectra.topicmap.calibrate import soften

BLOCK = 2048
"""So many segments are answered at a time: their states stay in the processor's cache."""
INSTEAD = "or label with --model encoder or --model teacher."


@dataclass(frozen=True)
class FastStudent:
    """Phrases and linear models; `head` has the names and meanings of LinearHead, without `origin`."""

    fitted: Fitted
    card: Card
    phrases: Phrases
    head: dict[str, np.ndarray]

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the student's own probabilities, N×A."""
        tokens = extract(as_series(texts))
        words = self.fitted.vocabulary.read(tokens)
        return self.answer(tokens, words, encode(self.fitted.teacher, words, self.fitted.config.max_tokens))

    def answer(self, tokens: Tokens, words: Ragged, beta: np.ndarray) -> np.ndarray:
        """Return N×A for segments whose known words and β (NaN without known words) are there already."""
        found = self.phrases.find(tokens)
        result = np.empty((len(words), len(self.card.aspects)), np.float32)
        for start in range(0, len(words), BLOCK):
            rows = slice(start, start + BLOCK)
            parts = [one.part(start, min(start + BLOCK, len(words))) for one in (words, *found)]
            result[rows] = answer(*self.features(parts, beta[rows]), self.head)
        return result

    def features(self, found: Sequence[Ragged], beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the models see, N×F, and the words' scores for aspects, N×A or N×0.

        `found` are known words, and the phrases' words and pairs.
        """
        known, *phrases = found
        longest = self.fitted.config.max_tokens
        seen = fill(segment_features(known, self.fitted.vectors.matrix, beta, longest=longest), self.head)
        states, scores = self.phrases.read(*phrases)
        return np.hstack([states, seen.words, np.sqrt(seen.beta)]), scores

    def read(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for texts."""
        tokens = extract(as_series(texts))
        words = self.fitted.vocabulary.read(tokens)
        beta = encode(self.fitted.teacher, words, self.fitted.config.max_tokens)
        return self.features([words, *self.phrases.find(tokens)], beta)

    def save(self, folder: Path) -> None:
        """Write the file, vectors in 8 bits; the student's config.json, written later, makes it valid."""
        vectors, scores = np.split(self.phrases.vectors, [len(self.phrases.start)], 1)
        scales = np.maximum(np.abs(vectors).max(1, initial=0), 1e-20) / 127
        arrays = {
            **self.head,
            "types": np.frombuffer("\n".join(self.phrases.types).encode(), np.uint8),
            "pairs": self.phrases.pairs,
            "vectors": np.rint(vectors / scales[:, None]).astype(np.int8),
            "scales": scales.astype(np.float32),
            "leanings": scores.astype(np.float16),
            "start": self.phrases.start,
        }
        whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        disk.write_atomic(folder / rundir.FAST, to_bytes(whole))


def fill(segments: Features, head: dict[str, np.ndarray]) -> Features:
    """Give segments without known words what is usual; heads of older versions do not know it."""
    if "usual_words" not in head:
        return segments
    return segments.filled(Features(head["usual_words"], head["usual_beta"]))


def answer(flat: np.ndarray, scores: np.ndarray, head: dict[str, np.ndarray]) -> np.ndarray:
    """Return probabilities, N×A, for features N×F, as LinearHead does, and words' scores."""
    result = learnt_answer(flat, head)
    if scores.shape[1]:
        result = normalise(result * np.exp(scores))
    if "balance" in head:
        result = normalise(result * np.exp(head["balance"]))
    nothing = np.zeros((len(result), 1), result.dtype)  # an aspect that was not learnt has 0
    kept = normalise(np.hstack([result, nothing])[:, head["kept"]])
    return soften(kept, number(head, "temperature"), number(head, "lead"))


def number(head: dict[str, np.ndarray], name: str) -> float:
    """Return a part of the head that is one number; 1 if it has no such part."""
    return float(np.ravel(head.get(name, 1.0))[0])


def learnt_answer(flat: np.ndarray, head: dict[str, np.ndarray]) -> np.ndarray:
    """Return the models' answers, N×A, in the order in which aspects were learnt."""
    result = before_labels(flat, head)
    if "correction" not in head:
        return result
    return softmax(head["power"] * logs(result) + flat @ head["correction"] + head["correction_bias"])


def before_labels(flat: np.ndarray, head: dict[str, np.ndarray]) -> np.ndarray:
    """Return the same without what labels add."""
    share = softmax(flat @ head["general"] + head["general_bias"])
    aspect = softmax(flat @ head["specific"] + head["specific_bias"])
    result = np.column_stack([share[:, :-1].sum(1, keepdims=True) * aspect, share[:, -1:]])
    if "topics_say" in head:
        beta = flat[:, -len(head["topics_say"]) :] ** 2
        result = with_topics(result, beta, head["topics_say"], head["topics_power"])
    return normalise(result * head["answerable"]) if "answerable" in head else result


def load_fast(folder: Path, fitted: Fitted) -> FastStudent:
    """Read a run's fast student; refuse one that is damaged or does not belong to the student."""
    return read_complete(folder, lambda: read_fast(folder, fitted))


def read_fast(folder: Path, fitted: Fitted) -> FastStudent:
    card, path = Card.load(folder), folder / rundir.FAST
    check_aspects(folder.parent, card)
    if not rundir.has_fast(folder.parent):
        state = "is older than the student" if path.exists() else "is missing"
        raise RunError(f"The fast student {path} {state}. {again(folder)}, {INSTEAD}")
    try:
        if rundir.checksum(path) != rundir.read_json(folder / rundir.CONFIG)["fast"]:
            raise ValueError("it was changed")
        arrays = load_file(path)
        types = tuple(arrays.pop("types").tobytes().decode().split("\n"))
        vectors = arrays.pop("vectors") * arrays.pop("scales")[:, None]
        scores = arrays.pop("leanings", np.zeros((len(vectors), 0)))  # older versions have none
        vectors = np.hstack([vectors, scores.astype(np.float32)])
        phrases = Phrases(types if types != ("",) else (), arrays.pop("pairs"), vectors, arrays.pop("start"))
        phrases.check()
        student = FastStudent(fitted, card, phrases, arrays)
        answers = student.probabilities(["."])
        if answers.shape != (1, len(card.aspects)) or not np.isfinite(answers).all():
            raise ValueError("it does not answer with the student's aspects")
    except (OSError, SafetensorError, ValueError, LookupError) as error:
        raise RunError(
            f"The fast student {path} cannot be used ({error}). {again(folder)}, {INSTEAD}"
        ) from None
    return student
