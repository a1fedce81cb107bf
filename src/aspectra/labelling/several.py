"""All aspects of each segment, and how each is spoken of: probabilities in, two columns of lists out.

`aspects` has the answer first, then the other aspects above a threshold; General is added to none. Where
there are two or more besides General, or a word such as "but", the segment's clauses are judged. If they
differ, they are labelled, too: what a clause speaks of is an aspect of the segment, and an aspect gets the
sentiment of the clauses that speak of it. Few segments are read twice for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.sentiment.learn import CLASSES, probabilities
from aspectra.sentiment.model import SentimentModel
from aspectra.text.segment import split_clauses, split_reviews
from aspectra.text.tokens import extract_forms
from aspectra.topicmap.calibrate import members
from aspectra.topicmap.gamma import PREFIX

COLUMNS = ("aspects", "aspect_sentiments")
SHARPNESS = 4.0
"""A clause counts for an aspect with its probability to this power."""
CONTRAST = r"(?i)\b(?:but|although|though|however|while|whereas|yet|except)\b"
"""English words that set one clause against another."""
OWN = 0.5
"""What a clause speaks of counts for its segment from this probability on."""
Members = tuple[np.ndarray, np.ndarray]
"""Rows and aspects' numbers, row by row, in each the most probable first."""
Ask = Callable[[pl.Series], np.ndarray]


def find_members(labels: pl.DataFrame, aspects: Sequence[str], several_from: float) -> np.ndarray:
    """Return the aspects of each row, N×A: its answer, and others that are at least so probable."""
    member = members(chances_of(labels, aspects), aspects, several_from)
    member[(labels["aspect"] == NOT_REVIEW).to_numpy()] = False
    return member


def chances_of(labels: pl.DataFrame, aspects: Sequence[str]) -> np.ndarray:
    return labels.select(PREFIX + aspect for aspect in aspects).to_numpy()


def in_order(member: np.ndarray, chances: np.ndarray) -> Members:
    rows, which = np.nonzero(member)
    order = np.lexsort((-chances[rows, which], rows))
    return rows[order], which[order]


def lists(values: pl.Series, rows: np.ndarray, n: int) -> pl.Series:
    """Return a list for each of n rows; `rows` tells, in order, whose each value is."""
    owned = (
        pl.DataFrame({"row": rows, values.name: values}).group_by("row", maintain_order=True).agg(pl.all())
    )
    whole = pl.DataFrame({"row": np.arange(n)}).join(owned, on="row", how="left", maintain_order="left")
    return whole[values.name].fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def aspect_lists(labels: pl.DataFrame, aspects: Sequence[str], several_from: float) -> pl.DataFrame:
    """Return the column `aspects`, without sentiment."""
    member = find_members(labels, aspects, several_from)
    rows, which = in_order(member, chances_of(labels, aspects))
    return lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)).to_frame()


def several_columns(
    labels: pl.DataFrame,
    texts: pl.Series,
    aspects: Sequence[str],
    several_from: float,
    sentiment: SentimentModel,
    ask: Ask,
    segment: str,
) -> pl.DataFrame:
    """Return COLUMNS for labels that have a sentiment; `ask` labels clauses, `segment` is what texts are."""
    member = find_members(labels, aspects, several_from)
    parts = None
    if segment != "clause":
        special = np.array([aspect != GENERAL for aspect in aspects])
        many = member[:, special].sum(1) > 1
        if sentiment.language == "en":
            many |= member.any(1) & texts.str.contains(CONTRAST).fill_null(False).to_numpy()
        parts = judge_parts(texts, np.flatnonzero(many), sentiment, ask, segment)
        if len(parts.rows):
            member[parts.rows] |= parts.own & special
    rows, which = in_order(member, chances_of(labels, aspects))
    felt = labels["sentiment"].gather(rows)
    if parts is not None:
        at = np.full(len(labels), -1)
        at[parts.rows] = np.arange(len(parts.rows))
        judged = np.flatnonzero((at[rows] >= 0) & (member.sum(1)[rows] > 1))
        answers = parts.classes[at[rows[judged]], which[judged]]
        felt = felt.scatter(judged, pl.Series(CLASSES).gather(answers))
    return pl.DataFrame([
        lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)),
        lists(felt.alias(COLUMNS[1]), rows, len(labels)),
    ])  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """What the clauses of R rows say: the class of every aspect, and which aspects they speak of, R×A."""

    rows: np.ndarray
    classes: np.ndarray
    own: np.ndarray


def judge_parts(
    texts: pl.Series, rows: np.ndarray, sentiment: SentimentModel, ask: Ask, segment: str = "sentence"
) -> Parts:
    """Judge the clauses of these rows; label those that differ in sentiment."""
    many, language = texts.gather(rows), sentiment.language
    parts = (
        split_clauses(many, language) if segment == "sentence" else split_reviews(many, "clause", language)
    )
    parts = parts.filter(pl.len().over("review") > 1)
    if not len(parts):
        return Parts(rows[:0], np.zeros((0, 0), np.int64), np.zeros((0, 0), bool))
    chances = probabilities(sentiment.logits(extract_forms(parts["text"])))
    owners, starts, at = np.unique(parts["review"].to_numpy(), return_index=True, return_inverse=True)
    answer = chances.argmax(1)
    differ = np.bincount(at, answer != answer[starts][at])[at] > 0
    asked = ask(parts["text"].filter(pl.Series(differ)))
    weights = np.ones((len(parts), asked.shape[1]))  # parts×A; clauses that are judged alike count alike
    weights[differ] = asked**SHARPNESS
    sums = np.add.reduceat(weights[:, :, None] * chances[:, None, :], starts)  # rows×A×classes
    named = np.zeros(weights.shape, bool)
    named[differ] = (asked >= OWN) & (asked == asked.max(1, keepdims=True))
    return Parts(rows[owners], sums.argmax(2), np.logical_or.reduceat(named, starts))
