"""Points of the curve of F1 against the number of labels: one system with so many of dev's labels.

All points of a task share one model that was learnt from names alone, and what it sees of dev and test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aspectra.arrays import normalise
from aspectra.aspects.gaussians import Features
from aspectra.aspects.names import Learned, learn_from_names
from aspectra.aspects.reader import Reader
from aspectra.bench.protocol import LABELS, NAMES, Frozen, Task
from aspectra.bench.systems.labelled import logistic
from aspectra.bench.systems.names import KeptEncoder, LinearSystem, aspects_of, map_by_names
from aspectra.scores import Gold, gold_matrix
from aspectra.student.from_names import answered, learnable
from aspectra.studio.topic_card import next_question
from aspectra.topicmap.by_labels import LabelledSegments, suggest_by_labels
from aspectra.topicmap.gamma import answer_probabilities, entropy

BOTH, LOGISTIC, TEACHER = "names and labels", "logistic", "teacher"
RANDOM, DOUBTFUL = "random", "doubtful"


@dataclass
class NamesModel:
    """What was learnt from names alone, and what it sees of texts, each read once."""

    learned: Learned
    reader: Reader
    aspects: tuple[str, ...]
    seen: dict[tuple[str, ...], Features] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task, settings: dict[str, Any]) -> NamesModel:
        """Learn as `aspectra distill` does; the task keeps the result for its other cells."""
        if "names" not in task.shared:
            config = LinearSystem(settings=settings).student_config()
            fitted, encoder = map_by_names(task), KeptEncoder.of(config.encoder, task)
            sample = fitted.names_sample(encoder, n=config.n_segments)
            wanted, _ = learnable(aspects_of(task, NAMES), sample, fitted.the_map(), None)
            evidence = [sample.evidence(aspect) for aspect in wanted]
            general = sample.general(wanted)
            learned = learn_from_names(sample.features, evidence, general)
            task.shared["names"] = cls(learned, sample.reader, task.aspects)
        model: NamesModel = task.shared["names"]
        return model

    def features(self, texts: Sequence[str]) -> Features:
        if tuple(texts) not in self.seen:
            self.seen[tuple(texts)] = self.reader.features(list(texts))
        return self.seen[tuple(texts)]

    def probabilities(self, texts: Sequence[str], learned: Learned | None = None) -> np.ndarray:
        """Return N×A in the order of the task's aspects, with labels if `learned` knows some."""
        found = (learned or self.learned).probabilities(self.features(texts))
        return answered(found, self.learned.aspects, self.aspects)

    def targets(self, gold: Gold) -> np.ndarray:
        told = dict(zip(self.aspects, gold_matrix(gold.aspects, self.aspects).T.astype(float), strict=True))
        nothing = np.zeros(len(gold.texts))
        return normalise(np.column_stack([told.get(aspect, nothing) for aspect in self.learned.aspects]))


@dataclass(frozen=True)
class LabelsPoint:
    """One of three systems with `number` labels (None: all of dev), drawn at random or the doubtful ones."""

    kind: str = BOTH
    number: int | None = 0
    choice: str = RANDOM
    draw: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    supervision: str = LABELS
    seeded: bool = True

    @property
    def name(self) -> str:
        words = self.kind, "all" if self.number is None else self.number, self.choice, self.draw
        return "-".join(str(word).replace(" ", "-") for word in words)

    @property
    def title(self) -> str:
        return self.kind

    def config(self, task: Task) -> dict[str, Any]:
        point = {"kind": self.kind, "number": self.number, "choice": self.choice, "draw": self.draw}
        return {**LinearSystem(settings=self.settings).config(task), **point}

    def fit(self, task: Task) -> Frozen:
        model = NamesModel.of(task, self.settings)
        rows = self.rows(task, model)
        fit = {BOTH: with_names, LOGISTIC: alone, TEACHER: by_topics}[self.kind]
        return Frozen(fit(task, model, rows), {"labels": len(rows)})

    def rows(self, task: Task, model: NamesModel) -> np.ndarray:
        """Return which segments of dev are labelled."""
        order = np.random.default_rng((task.seed, self.draw)).permutation(len(task.dev.texts))
        if self.choice != DOUBTFUL:
            return np.asarray(order[: self.number])
        doubt, asked = entropy(model.probabilities(task.dev.texts))[order], list[int]()
        while (row := next_question(doubt, asked)) is not None and len(asked) != self.number:
            asked.append(row)
        return np.asarray(order[asked])


def with_names(task: Task, model: NamesModel, rows: np.ndarray) -> Any:
    """Names and labels together, as `aspectra distill --labels` does."""
    if not len(rows):
        return model.probabilities
    dev = model.features(task.dev.texts).select(rows)
    learned = model.learned.with_labels(dev, model.targets(task.dev)[rows])
    return lambda texts: model.probabilities(texts, learned)


def alone(task: Task, model: NamesModel, rows: np.ndarray) -> Any:
    """Logistic regression on the encoder's mean states."""

    def states(texts: Sequence[str]) -> np.ndarray:
        found = model.features(texts)
        return found.words if found.encoder is None else found.encoder[:, 0]

    gold = gold_matrix(task.dev.aspects, task.aspects)
    classifier = logistic(states(task.dev.texts)[rows], gold[rows])
    return lambda texts: classifier(states(texts))


def by_topics(task: Task, model: NamesModel, rows: np.ndarray) -> Any:
    """The teacher, whose topics are mapped by these labels."""
    detector = task.teacher
    beta = detector.topic_probabilities(list(task.dev.texts))
    labelled = LabelledSegments(beta[rows], tuple(task.dev.aspects[row] for row in rows))
    suggestions = suggest_by_labels(labelled, task.aspects, task.seed)
    matrix = np.array([[one.aspect == aspect for aspect in task.aspects] for one in suggestions], float)
    shares = detector.fitted_.shares

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        return answer_probabilities(detector.topic_probabilities(list(texts)), task.aspects, matrix, shares)[
            0
        ]

    return probabilities
