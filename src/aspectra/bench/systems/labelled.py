"""Systems that learn from dev's labels: logistic regression on the encoder, or averaged with the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.arrays import even_where_unknown
from aspectra.bench.protocol import LABELS, Frozen, Task
from aspectra.bench.systems.names import KeptEncoder
from aspectra.config import StudentConfig
from aspectra.scores import average_scores, gold_matrix
from aspectra.topicmap.calibrate import FOLDS, folds

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class LogisticOnDev:
    """What a user with labels would do instead: logistic regression on the mean of the encoder's states."""

    name: str = "logistic"
    title: str = "logistic regression"
    supervision: str = LABELS
    encoder: str = StudentConfig.encoder
    seeded: bool = False

    def config(self, task: Task) -> dict[str, Any]:
        return {"encoder": self.encoder}

    def fit(self, task: Task) -> Frozen:
        encoder = KeptEncoder.of(self.encoder, task)
        model = logistic(encoder.means(task.dev.texts), gold_matrix(task.dev.aspects, task.aspects))
        return Frozen(lambda texts: model(encoder.means(texts)))


@dataclass(frozen=True)
class TeacherWithLabels:
    """The teacher's γ averaged with a logistic regression on its topic probabilities.

    The weight is chosen by cross-validation on dev.
    """

    name: str = "teacher+dev"
    title: str = "teacher"
    supervision: str = LABELS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"fit": task.bench.config(task.seed).to_dict()}

    def fit(self, task: Task) -> Frozen:
        detector, gold = task.teacher, gold_matrix(task.dev.aspects, task.aspects)

        def logs(texts: Sequence[str]) -> np.ndarray:
            beta = detector.topic_probabilities(list(texts))
            return np.asarray(np.log(even_where_unknown(beta) + 1e-4))

        def features(texts: Sequence[str]) -> np.ndarray:
            return np.asarray((logs(texts) - middle) / width)

        on_dev = logs(task.dev.texts)
        middle, width = on_dev.mean(0), np.maximum(on_dev.std(0), 1e-6)
        seen, gamma = features(task.dev.texts), task.probabilities(detector, task.dev.texts)
        weight = choose_weight(seen, gamma, gold, task)
        model = logistic(seen, gold)
        return Frozen(
            lambda texts: (
                (1 - weight) * task.probabilities(detector, texts) + weight * model(features(texts))
            ),
            {"weight_of_labels": weight},
        )


def choose_weight(features: np.ndarray, gamma: np.ndarray, gold: np.ndarray, task: Task) -> float:
    """Return the weight of the labels' classifier under which held-out parts of dev score best."""
    part, held_out = folds(len(gold), task.seed), np.zeros(gold.shape)
    for fold in range(FOLDS):
        rest, held = part != fold, part == fold
        held_out[held] = logistic(features[rest], gold[rest])(features[held])
    scores = []
    for weight in WEIGHTS:
        answers = ((1 - weight) * gamma + weight * held_out).argmax(1)
        scores.append(average_scores(gold, answers, task.aspects)[task.bench.headline])
    return WEIGHTS[int(np.argmax(scores))]


def logistic(features: np.ndarray, gold: np.ndarray) -> Any:
    """Fit a logistic regression to first gold aspects; return a function from features to N×A."""
    from sklearn.linear_model import LogisticRegression

    if len(set(gold.argmax(1))) == 1:  # a few labels may all be of one aspect
        return lambda others: np.tile(np.eye(gold.shape[1])[gold[0].argmax()], (len(others), 1))
    model = LogisticRegression(max_iter=2000).fit(features, gold.argmax(1))

    def probabilities(others: np.ndarray) -> np.ndarray:
        result = np.zeros((len(others), gold.shape[1]))
        result[:, model.classes_] = model.predict_proba(others)
        return result

    return probabilities
