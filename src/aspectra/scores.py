"""Score predicted aspects against gold aspects: gold and answers in, `Scores` with exactly named metrics out.

A segment with several gold aspects counts as right if the prediction is any of them: its gold is then the
predicted one. Else it is missed by all of them, in equal parts: of two aspects half each. Scores are from 0
to 1, macro F1 averages over aspects in gold or prediction, and `majority_` is what always answering
the most frequent aspect would get. Every F1, coverage curve, calibration error and kappa is computed here.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aspectra.arguments import as_path
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import InputError

BINS = 10
"""Of confidence, for the calibration error."""


@dataclass(frozen=True)
class Gold:
    texts: tuple[str, ...]
    aspects: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class AspectScore:
    """`support` counts the aspect in gold, `predicted` in the predictions; for F1, see the module's rule."""

    aspect: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True)
class SetScores:
    """All aspects of each segment against all gold aspects; `single_` is what one answer each would get.

    `exact_match` is the share of segments whose sets are equal, `jaccard` the mean of shared / all aspects.
    """

    f1_micro: float
    f1_macro: float
    exact_match: float
    jaccard: float
    single_f1_micro: float
    single_f1_macro: float


@dataclass(frozen=True)
class Scores:
    """`confusion` has gold in rows, predictions in columns, in parts of segments if gold has several aspects.

    `accuracy` equals `f1_micro`, as every segment gets one answer. `mean_probability` is that of the answers,
    `calibration_error` how far probabilities are from how often they are right. `sets`: if gold has several.
    """

    n: int
    aspects: tuple[str, ...]
    per_aspect: tuple[AspectScore, ...]
    accuracy: float
    f1_micro: float
    f1_macro: float
    precision_weighted: float
    recall_weighted: float
    f1_weighted: float
    f1_micro_without_general: float
    f1_macro_without_general: float
    majority_aspect: str
    majority_f1_micro: float
    majority_f1_macro: float
    majority_f1_weighted: float
    confusion: list[list[float]]
    calibration_error: float | None = None
    mean_probability: float | None = None
    sets: SetScores | None = None

    @property
    def several(self) -> bool:
        """Whether some gold segment has several aspects."""
        return sum(row.support for row in self.per_aspect) > self.n

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def read_gold(path: str | Path) -> Gold:
    """Read labelled segments from a file with lines such as `{"text": "Great sound.", "aspects": ["Sound"]}`.

    - `path`: the file, plain or gzipped. An unreadable line is an error that names it.
    """
    lines = enumerate(read_bytes(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    rows = [read_gold_line(line, f"{path}, line {number}") for number, line in lines if line.strip()]
    if not rows:
        raise InputError(f'{path} has no segments. Write one per line: {{"text": "…", "aspects": ["…"]}}.')
    return Gold(texts=tuple(text for text, _ in rows), aspects=tuple(aspects for _, aspects in rows))


def join_gold(*given: Gold | None) -> Gold | None:
    """Return all labelled segments; what was given later of a text replaces what was given before."""
    rows: list[tuple[str, frozenset[str]]] = []
    for gold in filter(None, given):
        new = set(gold.texts)
        rows = [row for row in rows if row[0] not in new] + list(zip(gold.texts, gold.aspects, strict=True))
    return Gold(*zip(*rows, strict=True)) if rows else None


def read_bytes(path: str | Path) -> bytes:
    path = as_path(path, "path")
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"Cannot read {path}: {error}. Give a file of JSON lines, plain or .gz.") from error


def read_gold_line(line: bytes, place: str) -> tuple[str, frozenset[str]]:
    try:
        row = json.loads(line.decode())
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8. Save the file as UTF-8.") from error
    except UnicodeEncodeError:
        raise InputError(f"{place} has half of a character in it. Write the text again.") from None
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
        raise InputError(f"{place} is not JSON: {error}.") from error
    text = row.get("text") if isinstance(row, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{place} has no text. Write {{"text": "…", "aspects": ["…"]}}.')
    aspects = row.get("aspects")
    named = isinstance(aspects, list) and all(isinstance(name, str) and name.strip() for name in aspects)
    if not (aspects and named):
        raise InputError(
            f'{place} has no aspects. Write a list of one or more names, such as "aspects": ["{GENERAL}"].'
        )
    return text, frozenset(name.strip() for name in aspects)


def keep_only(gold: Gold, aspects: Sequence[str]) -> Gold:
    """Return the segments with a gold aspect among these, without their other gold aspects."""
    pairs = [(text, names & set(aspects)) for text, names in zip(gold.texts, gold.aspects, strict=True)]
    kept = [(text, names) for text, names in pairs if names]
    if not kept:
        raise InputError(
            f"No gold segment has one of the aspects {', '.join(aspects)}. Check their spelling."
        )
    return Gold(texts=tuple(text for text, _ in kept), aspects=tuple(names for _, names in kept))


def without_not_reviews(gold: Gold) -> Gold:
    """Return the gold segments that are reviews: "Not a review" is no aspect and is not scored."""
    names = sorted(set().union(*gold.aspects) - {NOT_REVIEW})
    return keep_only(gold, names) if names and any(NOT_REVIEW in one for one in gold.aspects) else gold


def score(
    gold: Sequence[frozenset[str]],
    predicted: Sequence[str],
    aspects: Sequence[str],
    confidence: np.ndarray | None = None,
) -> Scores:
    """Score one answer for each segment; `confidence` are the answers' probabilities, if known."""
    member = gold_matrix(gold, aspects)
    answers = answer_numbers(predicted, aspects)
    if len(member) != len(answers):
        raise InputError(f"{len(member)} gold segments but {len(answers)} predictions: give as many.")
    confusion = count_confusion(member, answers)
    most_frequent = int(member.sum(axis=0).argmax())
    majority = averages(count_confusion(member, np.full_like(answers, most_frequent)), aspects)
    averaged = averages(confusion, aspects)
    columns = (*rates(confusion), member.sum(axis=0), np.bincount(answers, minlength=len(aspects)))
    rows = zip(aspects, *(column.tolist() for column in columns), strict=True)
    right = member[np.arange(len(answers)), answers]
    return Scores(
        n=len(member),
        aspects=tuple(aspects),
        per_aspect=tuple(AspectScore(*row) for row in rows),
        accuracy=averaged["f1_micro"],
        **averaged,
        majority_aspect=aspects[most_frequent],
        **{f"majority_{name}": majority[name] for name in ("f1_micro", "f1_macro", "f1_weighted")},
        confusion=confusion.tolist(),
        calibration_error=None if confidence is None else calibration_error(right, confidence),
        mean_probability=None if confidence is None else float(np.mean(confidence)),
        sets=None,
    )


def gold_matrix(gold: Sequence[frozenset[str]], aspects: Sequence[str]) -> np.ndarray:
    """Return N×A booleans: which aspects are gold for which segment."""
    known = set(aspects)
    unknown = sorted({name for names in gold for name in names if name not in known})
    if unknown:
        aspect, be, it = ("aspect", "is", "it") if len(unknown) == 1 else ("aspects", "are", "them")
        raise InputError(
            f"Gold {aspect} {', '.join(unknown)} {be} not among the aspects {', '.join(aspects)}. "
            f"Add {it} to the topic map, or rename or remove {it} in the gold file."
        )
    if not gold or not all(gold):
        raise InputError("Every gold segment needs an aspect, and at least one segment is needed to score.")
    return np.array([[aspect in names for aspect in aspects] for names in gold])


def answer_numbers(predicted: Sequence[str], aspects: Sequence[str]) -> np.ndarray:
    number = {aspect: index for index, aspect in enumerate(aspects)}
    unknown = sorted(set(predicted) - set(number))
    if unknown:
        raise InputError(f"Predicted aspect {', '.join(unknown)} is not among {', '.join(aspects)}.")
    return np.array([number[name] for name in predicted], dtype=np.int64)


def equal_parts(member: np.ndarray) -> tuple[np.ndarray, float]:
    """Return what a missed segment counts for each gold aspect (N×A) and in all; whole numbers are exact."""
    sizes = member.sum(axis=1, keepdims=True)
    unit = float(math.lcm(*np.unique(sizes).tolist()))
    return member * (unit / sizes), unit


def gold_parts(member: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the same for segments with N answers; one that is right counts for its answer alone."""
    parts, unit = equal_parts(member)
    right = np.take_along_axis(member, answers[:, None], axis=1)
    return np.where(right, unit * np.eye(member.shape[1])[answers], parts), unit


def count_confusion(member: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Count gold × predicted from N×A gold memberships and N answers."""
    parts, unit = gold_parts(member, answers)
    counts = parts.T @ np.eye(member.shape[1])[answers]
    return np.asarray(counts.astype(np.int64) if unit == 1 else counts / unit)


def f1_from_counts(hits: np.ndarray, support: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return F1 per aspect, 0 for an aspect in neither gold nor predictions."""
    return np.asarray(2 * hits / np.maximum(support + predicted, 1))


def rates(confusion: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, recall and F1 per aspect, 0 where undefined."""
    hits, support, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    precision, recall = hits / np.maximum(predicted, 1), hits / np.maximum(support, 1)
    return precision, recall, f1_from_counts(hits, support, predicted)


def averages(confusion: np.ndarray, aspects: Sequence[str]) -> dict[str, float]:
    precision, recall, f1 = rates(confusion)
    support, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    occurs = support + predicted > 0
    counted = occurs & np.array([aspect != GENERAL for aspect in aspects])
    hits_counted = np.diag(confusion)[counted].sum()
    values = {
        "f1_micro": np.trace(confusion) / round(float(confusion.sum())),
        "f1_macro": f1[occurs].mean(),
        "precision_weighted": np.average(precision, weights=support),
        "recall_weighted": np.average(recall, weights=support),
        "f1_weighted": np.average(f1, weights=support),
        "f1_micro_without_general": 2 * hits_counted / max((support + predicted)[counted].sum(), 1),
        "f1_macro_without_general": f1[counted].mean() if counted.any() else 0.0,
    }
    return {name: float(value) for name, value in values.items()}


def average_scores(member: np.ndarray, answers: np.ndarray, aspects: Sequence[str]) -> dict[str, float]:
    """Return the averaged metrics of N answers to segments whose gold is `member`, N×A."""
    return averages(count_confusion(member, answers), aspects)


def objective(answers: np.ndarray, member: np.ndarray, general: bool) -> np.ndarray:
    """Score O alternative answers to each segment at once; answers N×O, member N×A, result O.

    This is what every choice on labelled segments maximises: the mean of micro and macro F1 or, if General
    is not among the aspects, weighted F1.
    """
    (n_segments, n_options), n_aspects = answers.shape, member.shape[1]
    right = np.take_along_axis(member, answers, axis=1)
    parts, unit = equal_parts(member)

    def count(numbers: np.ndarray, where: np.ndarray) -> np.ndarray:
        flat = (numbers + n_aspects * np.arange(n_options))[where]
        return np.bincount(flat, minlength=n_options * n_aspects).reshape(n_options, n_aspects)

    hits, predicted = count(answers, right), count(answers, np.ones_like(right))
    support = hits + (~right).T @ parts / unit
    f1 = f1_from_counts(hits, support, predicted)
    if not general:
        return np.asarray((f1 * support).sum(axis=1) / n_segments)
    occurring = (support + predicted > 0).sum(axis=1)
    return np.asarray((hits.sum(axis=1) / n_segments + f1.sum(axis=1) / occurring) / 2)


def score_sets(
    gold: Sequence[frozenset[str]],
    sets: Sequence[Sequence[str]],
    single: Sequence[str],
    aspects: Sequence[str],
) -> SetScores | None:
    """Score all aspects of each segment beside its single answer; None if no gold segment has several."""
    if all(len(names) == 1 for names in gold):
        return None
    member = gold_matrix(gold, aspects)
    several, one = (
        np.array([[aspect in names for aspect in aspects] for names in given])
        for given in (sets, [{name} for name in single])
    )
    shared, either = (member & several).sum(1), (member | several).sum(1)
    micro, macro = set_f1(member, several)
    return SetScores(
        micro,
        macro,
        exact_match=float((member == several).all(1).mean()),
        jaccard=float((shared / np.maximum(either, 1)).mean()),
        **dict(zip(("single_f1_micro", "single_f1_macro"), set_f1(member, one), strict=True)),
    )


def set_f1(gold: np.ndarray, answers: np.ndarray) -> tuple[float, float]:
    """Return micro and macro F1 of sets, both N×A booleans."""
    hits, support, predicted = (gold & answers).sum(0), gold.sum(0), answers.sum(0)
    occurs = support + predicted > 0
    micro = f1_from_counts(hits.sum(), support.sum(), predicted.sum())
    return float(micro), float(f1_from_counts(hits, support, predicted)[occurs].mean())


def calibration_error(right: Sequence[bool] | np.ndarray, confidence: np.ndarray) -> float:
    """Return the expected calibration error (ECE): |mean confidence − share right| over ten equal bins."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    apart = np.bincount(bins, np.asarray(right, dtype=float) - confidence, BINS)
    return float(np.abs(apart).sum() / max(1, len(confidence)))


def cohens_kappa(pairs: Mapping[tuple[str | None, str | None], int]) -> float | None:
    """Return Cohen's kappa: agreement beyond chance, 1 if all agree and 0 for what chance would give.

    `pairs` counts how often one annotator said the first and the other the second. None without any pair.
    """
    n = sum(pairs.values())
    if not n:
        return None
    first, second = Counter[str | None](), Counter[str | None]()
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    observed = sum(count for (one, other), count in pairs.items() if one == other) / n
    by_chance = sum(first[name] * second[name] for name in first) / n**2
    return 1.0 if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


@dataclass(frozen=True)
class Coverage:
    """Of the answers at least this confident: their share of all, and how many of them are right."""

    confidence: float
    coverage: float
    accuracy: float


def accuracy_of_surest(
    right: Sequence[bool] | np.ndarray, confidence: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers' places, the surest first, and the accuracy of the surest 1, 2, … N."""
    order = np.argsort(-confidence, kind="stable")
    return order, np.cumsum(np.asarray(right, dtype=float)[order]) / np.arange(1, len(order) + 1)


def accuracy_at_shares(
    right: Sequence[bool] | np.ndarray, confidence: np.ndarray, shares: np.ndarray
) -> list[list[float]]:
    """Return [share answered, accuracy on it] for given shares, for curves to be averaged over seeds."""
    accuracy = accuracy_of_surest(right, confidence)[1]
    counts = np.maximum(1, np.round(shares * len(accuracy)).astype(int))
    return [[float(share), float(accuracy[count - 1])] for share, count in zip(shares, counts, strict=True)]


def coverage_curve(right: Sequence[bool], confidence: np.ndarray, points: int = 20) -> tuple[Coverage, ...]:
    """Ask for ever less confidence until all answers count; equally confident ones come together."""
    order, accuracy = accuracy_of_surest(right, confidence)
    sure = confidence[order]
    last = np.flatnonzero(np.append(sure[1:] < sure[:-1], True))  # the last of each equal run
    wanted = np.linspace(1 / points, 1, points) * len(sure)
    found = last[np.searchsorted(last + 1, wanted - 1e-9).clip(0, len(last) - 1)]
    return tuple(
        Coverage(float(sure[at]), (at + 1) / len(sure), float(accuracy[at]))
        for at in sorted(set(found.tolist()))
    )
