"""Where labels come from: does this run give them, with its present map, and did the teacher answer alone or with its student?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.report.labels import Labels

CHECKED = 400
SAME_TOPIC = 0.9
"""A run gives its own topics again but for the last digits, and for an export with rounded weights; another run's topics differ."""
SAME_PROBABILITY = 0.02


@dataclass(frozen=True)
class Origin:
    """`model` is None if neither the teacher's present map nor a student explains the labels."""

    model: str | None
    note: str = ""


def check_origin(labels: Labels, detector: AspectDetector, has_student: bool) -> Origin:
    """Label some segments again and compare; refuse labels of another run."""
    names = tuple(detector.classes_)
    if set(labels.aspects) != set(names):
        raise InputError(
            f"{labels.path} was labelled with other aspects ({', '.join(labels.aspects)}) than this run's map has now "
            f"({', '.join(names)}). Label the reviews again with this run, or give the run that made the file."
        )
    known = labels.frame.filter(pl.col("known_words") > 0)["row"]
    rows = known.gather_every(max(1, len(known) // CHECKED))
    told = (
        labels.rows.filter(pl.col("row").is_in(rows.implode()))
        .select("text", "topic", "probability")
        .collect()
    )
    again = detector.label_segments(told["text"])
    same = float((told["topic"] == again["topic"]).to_numpy().mean()) if len(told) else 1.0
    if same < SAME_TOPIC:
        raise InputError(
            f"{labels.path} was not labelled with this run: of {len(told)} segments checked only {same:.0%} have the topic that the run "
            "finds. Give the run that made the file, or label the reviews again."
        )
    close = np.abs(told["probability"].to_numpy() - again["probability"].to_numpy()) < SAME_PROBABILITY
    if close.mean() >= SAME_TOPIC if len(told) else True:
        return Origin("teacher")
    if has_student:
        return Origin("student")
    return Origin(
        None, f"The topic map has changed since {labels.path.name} was labelled. Label the reviews again."
    )
