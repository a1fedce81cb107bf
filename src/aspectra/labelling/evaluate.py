"""Score a labeller on gold segments: a run or a labeller, and labelled segments, in; `Scores` out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from aspectra.arguments import as_names, wrong_kind
from aspectra.config import NOT_REVIEW
from aspectra.errors import InputError, typed
from aspectra.labelling.labeller import load
from aspectra.labelling.unreadable import count_unreadable
from aspectra.scores import (
    Coverage,
    Gold,
    Scores,
    coverage_curve,
    gold_matrix,
    keep_only,
    read_gold,
    score,
    score_sets,
    without_not_reviews,
)


class SegmentLabeller(Protocol):
    """What can be scored: anything that labels segments, one row each."""

    @property
    def classes_(self) -> np.ndarray: ...

    def label_segments(self, segments: Any, only: tuple[str, ...] | None = None) -> pl.DataFrame: ...


@dataclass(frozen=True)
class Grade:
    """Scores on gold segments, and how they depend on the confidence that is asked for.

    `unreadable` of them have hardly a known word.
    """

    scores: Scores
    curve: tuple[Coverage, ...]
    unreadable: int = 0


def evaluate(
    run: str | Path | SegmentLabeller,
    gold: str | Path | Gold,
    *,
    only: Sequence[str] | None = None,
    model: str | None = None,
) -> Scores:
    """Score labels against gold segments, as `aspectra evaluate` does.

    - `run`: a run's folder, or anything that labels: what `load` returned, or an `AspectDetector`.
    - `gold`: a file for `read_gold`, or what it returned.
    - `only`: leave out segments without one of these aspects, and answer with these aspects alone.
    - `model`: as for `load`, if `run` is a folder.
    """
    labels = hasattr(run, "label_segments") and not isinstance(run, type)
    if not labels and not isinstance(run, str | PathLike):
        raise wrong_kind("run", "a run's folder, or what labels segments", run)
    if not isinstance(gold, str | PathLike | Gold):
        raise wrong_kind("gold", "a file of labelled segments, or what read_gold returned", gold)
    wanted = None if only is None else as_names(only, "only") or None
    segments = read_gold(gold) if isinstance(gold, str | PathLike) else gold
    return grade_run(run, segments, wanted, model).scores


def grade_run(
    run: str | Path | SegmentLabeller, gold: Gold, only: tuple[str, ...] | None, model: str | None
) -> Grade:
    """Do what `evaluate` does, and return all that it finds."""
    labeller = load(run, model) if isinstance(run, str | PathLike) else run
    return grade(labeller, keep_only(gold, only) if only else gold, only)


def calibration_sentence(scores: Scores) -> str:
    """Say whether probabilities are too high or too low on average; "" if they are unknown."""
    if scores.calibration_error is None or scores.mean_probability is None:
        return ""
    mean, right = round(100 * scores.mean_probability), round(100 * scores.accuracy)
    points = "point" if abs(mean - right) == 1 else "points"
    how = (
        f"{abs(mean - right)} {points} too {'high' if mean > right else 'low'}" if mean != right else "right"
    )
    error = f"(ECE {scores.calibration_error:.2f})"
    return f"Probabilities are {how} on average: their mean is {mean} %, and {right} % are right {error}."


def check_gold(gold: Gold, aspects: Sequence[str]) -> None:
    """Refuse gold aspects that cannot be answered; say how the segments of the others can be scored."""
    shared = [name for name in aspects if any(name in names for names in gold.aspects)]
    try:
        gold_matrix(gold.aspects, aspects)
    except InputError as error:
        if not shared or set().union(*gold.aspects) <= set(aspects):
            raise
        others = f"To score only segments of the others: --only {typed(','.join(shared))}"
        raise InputError(f"{error} {others}") from None


def grade(labeller: SegmentLabeller, gold: Gold, only: tuple[str, ...] | None = None) -> Grade:
    """Label gold segments and score the answers, which are restricted to `only` if given.

    The answers are aspects, never "Not a review", and gold segments that are not reviews are left out.
    """
    aspects = only or tuple(labeller.classes_)
    gold = without_not_reviews(gold)
    if gold.texts and all(names == {NOT_REVIEW} for names in gold.aspects):
        raise InputError(f"Every gold segment is {NOT_REVIEW!r}: none has an aspect to score.")
    check_gold(gold, aspects)
    frame = labeller.label_segments(gold.texts, aspects)
    answers = frame["aspect"].to_list()
    right = [answer in names for answer, names in zip(answers, gold.aspects, strict=True)]
    confidence = frame["probability"].to_numpy()
    scores = score(gold.aspects, answers, aspects, confidence)
    if "aspects" in frame.columns:
        sets = score_sets(gold.aspects, frame["aspects"].to_list(), answers, aspects)
        scores = replace(scores, sets=sets)
    texts, known = pl.Series(gold.texts), frame.get_column("known_words", default=None)
    unreadable = 0 if known is None else count_unreadable(texts, known)
    return Grade(scores, coverage_curve(right, confidence), unreadable)
