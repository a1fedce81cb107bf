"""A run with a student → labels of teacher and student together, for segments and for whole reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.detector import AspectDetector, as_series
from aspectra.errors import RunError
from aspectra.labelling.blend import blend, label_reviews
from aspectra.student.card import has_student, map_mark
from aspectra.student.model import Student


class StudentLabeller:
    """Labels like an AspectDetector, with the student's opinion added to its teacher's."""

    def __init__(self, detector: AspectDetector, student: Student) -> None:
        if map_mark(detector.topic_map_) != student.card.topic_map:
            raise RunError(
                "The topic map has changed since the student was made. Distil again: aspectra distill RUN, or label with --model teacher."
            )
        self.detector, self.student = detector, student

    @property
    def classes_(self) -> np.ndarray:
        return self.detector.classes_

    def label_segments(self, segments: Any, only: tuple[str, ...] | None = None) -> pl.DataFrame:
        """Label segments as they are, one row each."""
        texts = as_series(segments)
        labels = self.detector.label_segments(texts, only)
        card = self.student.card
        return blend(
            labels,
            self.student.probabilities(texts.fill_null("").to_list()),
            card.aspects,
            card.teacher_weight,
            only,
        )

    def label(self, reviews: Any) -> pl.DataFrame:
        """Split reviews into segments and label each: a row a segment."""
        detector = self.detector
        return label_reviews(as_series(reviews), detector.segment, detector.language, self.label_segments)


def load_student(run: Path) -> StudentLabeller:
    """Load the teacher with its student."""
    detector = AspectDetector.load(run)
    if not has_student(run):
        raise RunError(f"{run} has no student. Make it first: aspectra distill {run}")
    return StudentLabeller(detector, Student.from_pretrained(run / rundir.STUDENT))


def load_labeller(run: Path, model: str | None = None) -> AspectDetector | StudentLabeller:
    """Load the teacher alone or with its student; by default with the student if there is one."""
    if model == "teacher" or (model is None and not has_student(run)):
        return AspectDetector.load(run)
    return load_student(run)
