"""Labels of a person → a better classifier: from the distilled one, move as far as cross-validation on the labels finds good.

Candidates are the teacher's lesson alone, the labels alone, and between them a classifier that is fitted to the labels while an L2
penalty pulls it back to the distilled one (the weaker the pull, the more the labels count). So the result is not worse, as far as
the labels can tell, than the better of the two alone.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from aspectra.config import GENERAL
from aspectra.evaluate import averages, count_confusion
from aspectra.loop import optimise
from aspectra.student.card import Card
from aspectra.student.losses import cross_entropy, falling
from aspectra.teacher.train import torch_threads

FOLDS = 5
STEPS = 200
RATE = 0.02
PULLS = (0.001, 0.003, 0.01, 0.03)


@dataclass(frozen=True)
class Candidate:
    """One way to use labels: `pull` is the L2 weight, None leaves the classifier as it is; `fresh` starts from nothing."""

    name: str
    pull: float | None
    fresh: bool
    teacher_weight: float


@dataclass(frozen=True)
class Adaptation:
    """The classifier to use, and what to write on the card."""

    classify: nn.Linear
    facts: dict[str, Any]


def candidates(teacher_weight: float) -> list[Candidate]:
    """List the ways to use labels, each with the teacher's γ beside it and without."""
    ways = [("teacher", None, False), *(("labels", pull, True) for pull in PULLS), *(("both", pull, False) for pull in PULLS)]
    return [Candidate(*way, weight) for way, weight in itertools.product(ways, sorted({teacher_weight, 0.0}))]


def adapt(start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, gamma: np.ndarray, card: Card) -> Adaptation:
    """Choose a candidate by cross-validation (pooled N×D, gold N×A, teacher's γ N×A) and fit it to all labels."""
    folds = np.random.default_rng(card.config.seed).permutation(len(gold)) % min(FOLDS, len(gold))
    options = candidates(card.teacher_weight)
    answers: dict[tuple[float | None, bool], np.ndarray] = {}
    for option in options:
        key = (option.pull, option.fresh)
        if key not in answers:
            answers[key] = held_out(start, pooled, gold, folds, option)
    scores = [
        scored((1 - option.teacher_weight) * answers[option.pull, option.fresh] + option.teacher_weight * gamma, gold, card)
        for option in options
    ]
    best = int(np.argmax([values["objective"] for values in scores]))
    facts = {
        "choice": options[best].name,
        "teacher_weight": options[best].teacher_weight,
        "n_labels": len(gold),
        "estimate": {name: value for name, value in scores[best].items() if name != "objective"},
    }
    return Adaptation(fit(start, pooled, gold, options[best]), facts)


def held_out(start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, folds: np.ndarray, option: Candidate) -> np.ndarray:
    """Return probabilities (N×A) for each segment from a classifier that has not seen its label."""
    result = np.zeros(gold.shape, dtype=np.float32)
    for fold in np.unique(folds):
        seen = folds != fold
        classify = fit(start, pooled[seen], gold[seen], option)
        with torch.inference_mode():
            result[~seen] = torch.softmax(classify(torch.from_numpy(pooled[~seen])), 1).numpy()
    return result


def fit(start: nn.Linear, pooled: np.ndarray, gold: np.ndarray, option: Candidate) -> nn.Linear:
    """Fit a copy of the classifier to labels, pulled towards where it starts."""
    classify = copy.deepcopy(start)
    if option.pull is None:
        return classify
    if option.fresh:
        nn.init.zeros_(classify.weight)
        nn.init.zeros_(classify.bias)
    origin = classify.weight.detach().clone()
    inputs, targets = torch.from_numpy(pooled), torch.from_numpy((gold / gold.sum(1, keepdims=True)).astype(np.float32))

    def losses(step: int) -> dict[str, Tensor]:
        pull = option.pull / 2 * (classify.weight - origin).square().sum()  # type: ignore[operator]
        return {"cross_entropy": cross_entropy(classify(inputs), targets), "pull": pull}

    with torch_threads(1):
        optimise(classify, range(STEPS), losses, falling(RATE, STEPS), clip=10.0, log=lambda step, parts: None)
    return classify


def scored(probabilities: np.ndarray, gold: np.ndarray, card: Card) -> dict[str, float]:
    """Score answers; the objective is the mean of micro and macro F1 or, without General, weighted F1."""
    values = averages(count_confusion(gold, probabilities.argmax(1)), card.aspects)
    kept = {name: values[name] for name in ("f1_micro", "f1_macro", "f1_weighted")}
    objective = (values["f1_micro"] + values["f1_macro"]) / 2 if GENERAL in card.aspects else values["f1_weighted"]
    return {**kept, "objective": objective}
