"""Calibration: probabilities that are right as often as they say, and from which one on an aspect counts.

With labels, a temperature makes the answers on held-out ones (`folds`) as likely as possible, and with many
labels so does a lead, which multiplies the answer's own odds. Without, the corpus sets the temperature: what
learns from its own answers is too sure of them, so the mean probability of the answer is brought to what is
usual for reviews. The order of the aspects never changes, nor does the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aspectra.arrays import normalise
from aspectra.config import GENERAL
from aspectra.scores import set_f1

USUAL = 0.66
"""How often an answer without labels is right beyond chance: from the dev sets of seven domains."""
LOWEST, HIGHEST = 0.5, 20.0
FOLDS, BLOCKS = 5, 30
"""Labels are held out in so many parts, each of blocks of neighbours, of which there are at least so many."""
LABELS_HALF = 50
"""So many labels count as much as what is known without them."""
LEADS, LEAD_LABELS = np.geomspace(1, 4, 25), 200
"""Leads that are tried, and how many labels it takes: from 20 to 100 of them make it no better (dev)."""
SEVERAL_FROM = 0.3
"""How probable an aspect beside the answer must be, where no labels say it: what products' dev sets
prefer; SemEval 2014 would take 0.2."""


def folds(n: int, seed: int) -> np.ndarray:
    """Return for each of n labelled segments the part, 0 to FOLDS − 1, with which it is held out.

    Neighbours in a file of labels often come from one review, whose words would give the answer away: scores
    were 2 to 3 points too high on boots and bluetooth. So blocks of them are held out together.
    """
    size = max(1, n // BLOCKS)
    parts = np.random.default_rng(seed).permutation(-(-n // size)) % min(FOLDS, max(n, 1))
    return np.repeat(parts, size)[:n]


def soften(probabilities: np.ndarray, temperature: float, lead: float = 1.0) -> np.ndarray:
    """Return p^(1/temperature), normalised, the answer's odds times `lead`; N×A.

    A temperature above 1 makes answers less sure.
    """
    result = probabilities if temperature == 1 else normalise(probabilities ** (1 / temperature))
    if lead == 1:
        return result
    best = result.argmax(1)[:, None] == np.arange(result.shape[1])
    return normalise(np.where(best, lead * result, result))


def corpus_temperature(probabilities: np.ndarray) -> float:
    """Return the temperature, at least 1, at which unlabelled segments are as sure as is usual; N×A.

    Chance is between an answer at random and one as often as each is given: where two aspects are named and
    nine of ten answers are General, more are right by chance.
    """
    n_aspects = probabilities.shape[1]
    shares = np.bincount(probabilities.argmax(1), minlength=n_aspects) / max(len(probabilities), 1)
    chance = (1 / n_aspects + float((shares**2).sum())) / 2
    return temperature_for(probabilities, chance + (1 - chance) * USUAL, lowest=1.0)


def temperature_for(
    probabilities: np.ndarray, goal: float, lead: float = 1.0, lowest: float = LOWEST
) -> float:
    """Return the temperature at which answers (N×A) have the probability `goal` on average, or nearly."""
    low, high = lowest, HIGHEST
    for _ in range(30):
        middle = (low + high) / 2
        sure = soften(probabilities, middle, lead).max(1, initial=0).mean()
        low, high = (middle, high) if sure > goal else (low, middle)
    return low


def label_calibration(probabilities: np.ndarray, gold: np.ndarray, without: float) -> tuple[float, float]:
    """Return temperature and lead for held-out answers (N×A) whose gold aspects are known (N×A booleans).

    Few labels say little: `without` is the temperature without them, and counts as LABELS_HALF of them.
    """
    best = probabilities.argmax(1)[:, None]
    right = np.take_along_axis(gold, best, 1)[:, 0]
    leads = LEADS if len(gold) >= LEAD_LABELS else LEADS[:1]

    def wrong(temperature: float) -> np.ndarray:
        """Return for each lead how unlikely the gold is."""
        top = np.take_along_axis(soften(probabilities, temperature), best, 1)[:, 0]
        sure = (leads[:, None] * top / (1 + (leads[:, None] - 1) * top)).clip(1e-6, 1 - 1e-6)
        return np.asarray(-np.log(np.where(right, sure, 1 - sure)).sum(1))

    steps = np.geomspace(LOWEST, HIGHEST, 120)
    step, which = divmod(int(np.argmin([wrong(float(one)) for one in steps])), len(leads))
    temperature, lead = steps[step], leads[which]
    share = len(gold) / (len(gold) + LABELS_HALF)
    return float(temperature**share * without ** (1 - share)), float(lead**share)


def members(probabilities: np.ndarray, aspects: Sequence[str], several_from: float) -> np.ndarray:
    """Return which aspects each segment has, N×A: the answer, and others that are at least so probable.

    General is no aspect beside others.
    """
    found = probabilities >= several_from
    if GENERAL in aspects:
        found[:, list(aspects).index(GENERAL)] = False
    found[np.arange(len(found)), probabilities.argmax(1)] = True
    return np.asarray(found)


def label_threshold(probabilities: np.ndarray, gold: np.ndarray, aspects: Sequence[str]) -> float:
    """Return `several_from` with the best micro F1 of sets on held-out answers; both are N×A.

    Labels of which none has several aspects say nothing of it.
    """
    if not (gold.sum(1) > 1).any():
        return SEVERAL_FROM
    steps = np.linspace(0.1, 0.6, 26)
    scores = [set_f1(gold, members(probabilities, aspects, float(step)))[0] for step in steps]
    share = len(gold) / (len(gold) + LABELS_HALF)
    return float(share * steps[int(np.argmax(scores))] + (1 - share) * SEVERAL_FROM)
