"""Systems that learn from the aspects' names: ten lines without a fit, and aspectra's student.

The student is what `aspectra distill` makes and `aspectra label` answers with. It may be told more than
names: five seed words for each aspect, a topic map made with dev, dev's labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from aspectra import rundir
from aspectra.arrays import unit
from aspectra.aspects.aspects import Aspect
from aspectra.bench.protocol import DEV_MAP, LABELS, NAMES, SEED_WORDS, Frozen, Task
from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.features import compute_states
from aspectra.encoder.pretrained import Encoder, load_encoder
from aspectra.fitting import Fitted
from aspectra.progress import StageProgress
from aspectra.rundir import RunDir
from aspectra.student.distill import train_student
from aspectra.student.fast import FastStudent
from aspectra.student.linear import LinearStudent
from aspectra.student.teach_fast import teach_fast
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now

GENERAL_HALF = 0.5


@dataclass(frozen=True)
class KeptEncoder(Encoder):
    """An encoder whose mean states are kept in a folder: no text of a set is encoded twice."""

    folder: Path = Path()

    @classmethod
    def of(cls, name: str, task: Task) -> Self:
        parts = {spec.name: getattr(load_once(name), spec.name) for spec in fields(Encoder)}
        return cls(**parts, folder=task.encoded / rundir.FEATURES)

    def states(self, texts: Sequence[str], progress: StageProgress = lambda done: None) -> np.ndarray:
        plain = Encoder(**{spec.name: getattr(self, spec.name) for spec in fields(Encoder)})
        return compute_states(plain, list(texts), self.folder, progress)


@cache
def load_once(name: str) -> Encoder:
    return load_encoder(name, StudentConfig.longest)


@dataclass(frozen=True)
class ZeroShot:
    """The ten lines: cosines of a segment and "The <name>."; the less similar half of all is General."""

    name: str = "zero-shot"
    title: str = "zero-shot cosine"
    supervision: str = NAMES
    encoder: str = StudentConfig.encoder
    seeded: bool = False

    def config(self, task: Task) -> dict[str, Any]:
        return {"encoder": self.encoder}

    def fit(self, task: Task) -> Frozen:
        encoder = KeptEncoder.of(self.encoder, task)
        named = [aspect for aspect in task.aspects if aspect != GENERAL]
        names = unit(encoder.means([f"The {name.lower()}." for name in named]))
        columns = [task.aspects.index(aspect) for aspect in named]

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            cosines = unit(encoder.means(texts)) @ names.T
            result = np.zeros((len(texts), len(task.aspects)))
            result[:, columns] = np.maximum(cosines, 0)
            if GENERAL in task.aspects:
                best = result[:, columns].max(1)
                result[:, task.aspects.index(GENERAL)] = np.quantile(best, GENERAL_HALF)
            return np.asarray(result / np.maximum(result.sum(1, keepdims=True), 1e-9))

        return Frozen(probabilities)


@dataclass(frozen=True)
class LinearSystem:
    """aspectra's default student. `supervision` is all that it is told, each with what stands before it:

    names; 5 seed words; dev map; labels (and the dev map). If `fast`, the fast student answers.
    """

    name: str = "names"
    title: str = "aspectra"
    supervision: str = NAMES
    settings: dict[str, Any] = field(default_factory=dict)
    seeded: bool = True
    fast: bool = False

    def student_config(self) -> StudentConfig:
        """Return the student's settings: the same segments for every seed, so they are encoded once."""
        return StudentConfig(**self.settings)

    def config(self, task: Task) -> dict[str, Any]:
        fit = task.bench.config(task.seed).to_dict()
        fast = {"fast": True} if self.fast else {}
        return {"fit": fit, "student": self.student_config().to_dict(), "told": self.supervision, **fast}

    def fit(self, task: Task) -> Frozen:
        fitted = one_draw(task) if self.supervision in (DEV_MAP, LABELS) else map_by_names(task)
        config = self.student_config()
        # fills the run's own folder from what other seeds have encoded already
        fitted.names_sample(KeptEncoder.of(config.encoder, task), n=config.n_segments)
        labels = task.dev if self.supervision == LABELS else None
        student = train_student(
            fitted,
            config,
            task.encoded,
            labels=labels,
            progress=task.progress,
            aspects=aspects_of(task, self.supervision),
        )
        assert isinstance(student, LinearStudent)
        facts = {
            "learnt": student.card.learnt,
            "notes": list(student.card.notes),
            "dev_estimate": student.card.estimate,
            "several_from": student.card.several_from,
        }
        if self.fast:
            return Frozen(answers_of(teach_fast(student, labels), task), facts)
        if student.encoder:
            student = replace(student, encoder=KeptEncoder.of(config.encoder, task))
        return Frozen(answers_of(student, task), facts)


def answers_of(student: LinearStudent | FastStudent, task: Task) -> Any:
    """Return what gives the student's probabilities in the task's order; labelling adds nothing to them."""
    columns = [student.card.aspects.index(aspect) for aspect in task.aspects]
    return lambda texts: student.probabilities(list(texts))[:, columns]


def aspects_of(task: Task, supervision: str) -> list[Aspect]:
    """Return the task's aspects as they are described to the student."""
    words = task.seed_words if supervision == SEED_WORDS else {}
    return [Aspect(name, words=words.get(name, ())) for name in task.aspects if name != GENERAL]


def map_by_names(task: Task) -> Fitted:
    """Return the fit with a map in which nothing is decided: suggestions do not count for the student."""
    fitted = one_draw(task)
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, now()) for item in fitted.topics.items)
    return fitted.with_map(TopicMap(task.aspects, choices, fitted.topics.fingerprint))


def one_draw(task: Task) -> Fitted:
    """Return the fit, mapped by dev; every seed draws the same segments to learn from: encoded once."""
    fitted = task.teacher.fitted_
    return replace(fitted, config=replace(fitted.config, seed=0), segments=RunDir(task.run))
