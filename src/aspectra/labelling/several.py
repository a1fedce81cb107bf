"""All aspects of each segment, and how each is spoken of: probabilities in, two columns of lists out.

`aspects` has the answer first, then the other aspects above a threshold; General is added to none. Where
there are two or more besides General, the segment's clauses are judged. If they differ, they are labelled,
too, and an aspect gets the sentiment of the clauses that speak of it. Few segments are read twice for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.sentiment.learn import CLASSES, probabilities
from aspectra.sentiment.model import SentimentModel
from aspectra.text.segment import split_clauses, split_reviews
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
    ask: Ask,
    segment: str,
) -> pl.DataFrame:
    """Return COLUMNS for labels that have a sentiment; `ask` labels clauses, `segment` is what texts are."""
    rows, which = find_members(labels, aspects, several_from)
    felt = labels["sentiment"].gather(rows)
    if segment != "clause":
        special = rows[pl.Series(aspects).gather(which).ne(GENERAL).to_numpy()]
        many = np.flatnonzero(np.bincount(special, minlength=len(labels)) > 1)
        owners, found = judge_parts(texts, many, sentiment, ask, segment)
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
    texts: pl.Series, rows: np.ndarray, sentiment: SentimentModel, ask: Ask, segment: str = "sentence"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that have clauses, and for each the class of every aspect, R×A."""
    many, language = texts.gather(rows), sentiment.language
    parts = (
        split_clauses(many, language) if segment == "sentence" else split_reviews(many, "clause", language)
    )
    parts = parts.filter(pl.len().over("review") > 1)
    if not len(parts):
        return rows[:0], np.zeros((0, 0), np.int64)
    chances = probabilities(sentiment.logits(parts["text"]))
    owners, starts, at = np.unique(parts["review"].to_numpy(), return_index=True, return_inverse=True)
    answer = chances.argmax(1)
    differ = np.bincount(at, answer != answer[starts][at])[at] > 0
    asked = ask(parts["text"].filter(pl.Series(differ)))
    weights = np.ones((len(parts), asked.shape[1]))  # parts×A; clauses that are judged alike count alike
    weights[differ] = asked**SHARPNESS
    sums = np.add.reduceat(weights[:, :, None] * chances[:, None, :], starts)  # rows×A×classes
    return rows[owners], sums.argmax(2)
