"""The paper's two models: the teacher, and the student with an attention head that learns from it (SSCLS).

With PAPER's settings they are as the paper has them: 30 topics that start from word clusters, one pass; the
student learns hard labels behind its entropy filter, in nats. Departures: dev makes the map; MiniLM for BERT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aspectra import rundir
from aspectra.attention import teacher_attention
from aspectra.bench.protocol import DEV_MAP, Frozen, Task
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.labelling.labeller import StudentLabeller
from aspectra.student.distill import train_student

PAPER_TEACHER = {"n_topics": 30, "start": "words"}
PAPER_STUDENT = {
    "teacher_weight": 0.0,
    "sharpness": 1000.0,
    "entropy_unit": "nats",
    "general_entropy": 1.0,
    "aspect_entropy": 1.6,
}


@dataclass(frozen=True)
class TeacherSystem:
    """The contrastive model, its topics mapped by dev; `settings` of the fit replace the set's."""

    name: str = "teacher"
    title: str = "teacher"
    supervision: str = DEV_MAP
    settings: dict[str, Any] = field(default_factory=dict)
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"fit": task.bench.config(task.seed, **self.settings).to_dict()}

    def fit(self, task: Task) -> Frozen:
        detector = task.variant(self.settings)
        attention = [[one.split(), teacher_attention(detector.fitted_, one)] for one in task.bench.examples]
        facts = {"dev_estimate": detector.dev_estimate_, "attention": attention}
        return Frozen(partial(task.probabilities, detector), facts)


@dataclass(frozen=True)
class StudentSystem:
    """The paper's student, which imitates the teacher; with a `teacher_weight`, averaged with it.

    `dev_as` is the option of `aspectra distill` that dev is given as: dev, labels, or none.
    """

    name: str = "sscls"
    title: str = "attention student"
    supervision: str = DEV_MAP
    settings: dict[str, Any] = field(default_factory=lambda: {"teacher_weight": 0.0})
    seeded: bool = True
    dev_as: str = "dev"
    teacher: dict[str, Any] = field(default_factory=dict)
    """Settings of the fit that replace the set's, for another teacher."""

    def student_config(self, task: Task) -> StudentConfig:
        return StudentConfig(**{"seed": task.seed, "head": "attention", **self.settings})

    def config(self, task: Task) -> dict[str, Any]:
        return {
            **TeacherSystem(settings=self.teacher).config(task),
            "student": self.student_config(task).to_dict(),
            "dev": self.dev_as,
        }

    def fit(self, task: Task) -> Frozen:
        detector = task.variant(self.teacher)
        labeller = StudentLabeller(detector.fitted_, self.distilled(detector, task))
        facts = {"learnt": labeller.student.card.learnt, "dev_estimate": labeller.student.card.estimate}
        return Frozen(partial(task.probabilities, labeller), facts)

    def distilled(self, detector: AspectDetector, task: Task) -> Any:
        """Distil; the hidden states of segments that other systems share are kept beside the fit."""
        config = self.student_config(task)
        known: dict[str, Any] = {} if self.dev_as == "none" else {self.dev_as: task.dev}
        if set(self.settings) <= {"teacher_weight", "encoder"} and not self.teacher:
            return train_student(
                detector.fitted_, config, task.run / rundir.STUDENT, **known, progress=task.progress
            )
        with TemporaryDirectory(dir=task.home) as folder:
            return train_student(detector.fitted_, config, Path(folder), **known, progress=task.progress)
