"""All aspects of each segment, and how each is spoken of: probabilities in, two columns of lists out.

`aspects` has the answer first, then the other aspects above a threshold; General is added to none. Where
there are several and the segment has clauses that differ in sentiment, each clause is labelled, and an aspect
gets the sentiment of the clauses that speak of it. Only few segments are read a second time for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from aspectra.config import NOT_REVIEW
from aspectra.sentiment.learn import CLASSES, probabilities
from aspectra.sentiment.model import SentimentModel
from aspectra.text.segment import split_reviews
from aspectra.topicmap.calibrate import members
from aspectra.topicmap.gamma import PREFIX

COLUMNS = ("aspects", "aspect_sentiments")
SHARPNESS = 4.0
"""A clause counts for an aspect with its probability to this power."""
Members = tuple[np.ndarray, np.ndarray]
"""Rows and aspects' numbers, row by row, in each the most probable first."""
Ask = Callable[[pl.Series], np.ndarray]


def find_members(labels: pl.DataFrame, aspects: Sequence[str], several_from: float) -> Members:
    """Return the aspects of each row: its answer, and others that are at least so probable."""
    chances = labels.select(PREFIX + aspect for aspect in aspects).to_numpy()
    member = members(chances, aspects, several_from)
    member[(labels["aspect"] == NOT_REVIEW).to_numpy()] = False
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
    rows, which = find_members(labels, aspects, several_from)
    return lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)).to_frame()


def several_columns(
    labels: pl.DataFrame,
    texts: pl.Series,
    aspects: Sequence[str],
    several_from: float,
    sentiment: SentimentModel,
    ask: Ask | None,
) -> pl.DataFrame:
    """Return COLUMNS for labels that have a sentiment; `ask` labels clauses, None if texts have no parts."""
    rows, which = find_members(labels, aspects, several_from)
    felt = labels["sentiment"].gather(rows)
    if ask is not None:
        many = np.flatnonzero(np.bincount(rows, minlength=len(labels)) > 1)
        owners, found = judge_parts(texts, many, sentiment, ask)
        at = np.full(len(labels), -1)
        at[owners] = np.arange(len(owners))
        judged = np.flatnonzero(at[rows] >= 0)
        answers = found[at[rows[judged]], which[judged]]
        felt = felt.scatter(judged, pl.Series(CLASSES).gather(answers))
    return pl.DataFrame([
        lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)),
        lists(felt.alias(COLUMNS[1]), rows, len(labels)),
    ])  # fmt: skip


def judge_parts(
    texts: pl.Series, rows: np.ndarray, sentiment: SentimentModel, ask: Ask
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose clauses differ in sentiment, and for each the class of every aspect, R×A."""
    parts = split_reviews(texts.gather(rows), "clause", sentiment.language)
    owner, chances = parts["review"].to_numpy(), probabilities(sentiment.logits(parts["text"]))
    answer = chances.argmax(1)
    differs = np.bincount(owner, answer != answer[first_of(owner)], len(rows))[owner] > 0
    owner, chances = owner[differs], chances[differs]
    if not len(owner):
        return rows[:0], np.zeros((0, 0), np.int64)
    weights = ask(parts["text"].filter(pl.Series(differs))) ** SHARPNESS  # parts×A
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    sums = np.add.reduceat(weights[:, :, None] * chances[:, None, :], starts)  # rows×A×classes
    return rows[owner[starts]], sums.argmax(2)


def first_of(owner: np.ndarray) -> np.ndarray:
    """Return for each part the place of the first part of the same owner; owners are in order."""
    starts = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
    return np.asarray(np.flatnonzero(starts)[np.cumsum(starts) - 1])
