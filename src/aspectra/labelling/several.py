"""All aspects of each segment, and how each is spoken of: probabilities in, two columns of lists out.

`aspects` has the answer first, then the other aspects above a threshold, and those that a part of the segment
speaks of: a clause, or a phrase of a single clause, that has a word of theirs. General is added to none.
Where there are two or more besides General, the parts are judged, and an aspect gets the sentiment of those
with its words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.sentiment.learn import CLASSES, probabilities
from aspectra.sentiment.model import SentimentModel
from aspectra.text.segment import split_clauses, split_phrases, split_reviews
from aspectra.text.tokens import Tokens, extract_forms, remembered, words_of
from aspectra.topicmap.calibrate import members
from aspectra.topicmap.gamma import PREFIX

COLUMNS = ("aspects", "aspect_sentiments")
NAMED_FROM, SAID_FROM = 0.6, 0.3
"""A word may name an aspect that has this probability when the word stands alone. It does if this, times the
probability when its part stands alone, is so much: chosen on SemEval's restaurants and the dev sets of
products, where 0.4 does as well. Sentences that all have several aspects (MAMS) would take 0.12."""
SHARPNESS = 4.0
"""A clause counts for an aspect with the probability of its strongest word to this power."""
FLOOR = 0.02
"""Clauses without a word of the aspect count as if they had one with this probability."""
FRAGMENT = 3
"""So few words may be a subject whose verb comes later."""
PLAIN = 0.2
"""A part judges nothing if its chances of praise and complaint differ by no more."""
Members = tuple[np.ndarray, np.ndarray]
"""Rows and aspects' numbers, row by row, in each the most probable first."""
Ask = Callable[[pl.Series], np.ndarray]
Said = Callable[[pl.Series, np.ndarray], np.ndarray]


@dataclass
class WordOpinions:
    """What a model answers for single words. `ask` is its `predict_proba`; it is asked once about each."""

    ask: Ask
    rows: dict[str, np.ndarray] = field(default_factory=dict)

    def strongest(self, words: Tokens) -> np.ndarray:
        """Return for each text and aspect, N×A, the highest probability that a word of it has alone.

        A number is no word: "20" may be minutes or dollars.
        """
        rows = self.rows = remembered(self.rows, words.types)
        new = [word for word in words.types if word not in rows]
        if new or not words.types:
            found = self.ask(pl.Series(new, dtype=pl.String))
            letters = np.array([any(map(str.isalpha, word)) for word in new], bool)
            found = np.where(letters[:, None], found, 0)
            rows.update(zip(new, found, strict=True))
        table = np.stack([rows[word] for word in words.types]) if words.types else found
        result = np.zeros((len(words.lengths), table.shape[1]), table.dtype)
        some = np.flatnonzero(words.lengths)
        if len(some):
            starts = np.cumsum(words.lengths[some]) - words.lengths[some]
            result[some] = np.maximum.reduceat(table[words.codes], starts)
        return result


def find_members(
    labels: pl.DataFrame,
    texts: pl.Series,
    aspects: Sequence[str],
    several_from: float,
    words: np.ndarray,
    said: Said,
) -> np.ndarray:
    """Return the aspects of each row, N×A: its answer, others as probable, and those that it names."""
    member = members(chances_of(labels, aspects), aspects, several_from)
    member = add_named(member, texts, aspects, words, said)
    member[(labels["aspect"] == NOT_REVIEW).to_numpy()] = False
    return member


def add_named(
    member: np.ndarray, texts: pl.Series, aspects: Sequence[str], words: np.ndarray, said: Said
) -> np.ndarray:
    """Add the aspects but General that the texts name; `member` and `words` are N×A.

    `words` is what `WordOpinions.strongest` says of the texts; `said` does what `in_parts` does.
    """
    named = (words >= NAMED_FROM) & ~member & (np.array(aspects, dtype=object) != GENERAL)
    rows = np.flatnonzero(named.any(1))
    if len(rows):
        member[rows] |= said(texts.gather(rows), named[rows]) >= SAID_FROM
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


def aspect_lists(labels: pl.DataFrame, aspects: Sequence[str], member: np.ndarray) -> pl.DataFrame:
    """Return the column `aspects`, without sentiment; `member` is what `find_members` found."""
    rows, which = in_order(member, chances_of(labels, aspects))
    return lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)).to_frame()


def several_columns(
    labels: pl.DataFrame,
    texts: pl.Series,
    aspects: Sequence[str],
    member: np.ndarray,
    judge: Callable[[pl.Series], Parts],
) -> pl.DataFrame:
    """Return COLUMNS for labels that have a sentiment; `member` is what `find_members` found."""
    rows, which = in_order(member, chances_of(labels, aspects))
    felt = labels["sentiment"].gather(rows)
    special = np.array([aspect != GENERAL for aspect in aspects])
    many = np.flatnonzero(member[:, special].sum(1) > 1)
    parts = judge(texts.gather(many))
    at = np.full(len(labels), -1)
    at[many[parts.rows]] = np.arange(len(parts.rows))
    judged = np.flatnonzero(at[rows] >= 0)
    if len(judged):
        answers = parts.classes[at[rows[judged]], which[judged]]
        felt = felt.scatter(judged, pl.Series(CLASSES).gather(answers))
    return pl.DataFrame([
        lists(pl.Series(COLUMNS[0], aspects).gather(which), rows, len(labels)),
        lists(felt.alias(COLUMNS[1]), rows, len(labels)),
    ])  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """What the parts of R texts say: the texts' places, and the class of every aspect, R×A."""

    rows: np.ndarray
    classes: np.ndarray


def split_parts(texts: pl.Series, language: str, segment: str = "sentence") -> pl.DataFrame:
    """Split texts into clauses, and a single clause into phrases: review (its place), text, clause or not."""
    clauses = (
        split_reviews(texts, "clause", language) if segment == "none" else split_clauses(texts, language)
    ).select("review", "text", clause=pl.len().over("review") > 1)
    single = clauses.filter(~pl.col("clause"))
    phrases = split_phrases(single["text"], language)
    phrases = phrases.select(single["review"].gather(phrases["review"]), "text", clause=False)
    return pl.concat([clauses.filter("clause"), phrases]).sort("review", maintain_order=True)


def in_parts(
    texts: pl.Series,
    named: np.ndarray,
    opinions: WordOpinions,
    language: str,
    segment: str = "sentence",
    wanted: Sequence[int] | slice = slice(None),
) -> np.ndarray:
    """Return how much texts speak of the aspects that their words name, in one part; both are N×A.

    That is the part's probability times that of its word; only parts with such a word are asked about. The
    A aspects are those of `opinions`, or of them the `wanted`.
    """
    parts = split_parts(texts, language, segment)
    words = opinions.strongest(words_of(extract_forms(parts["text"])))[:, wanted]
    rows = parts["review"].to_numpy()
    words[(words < NAMED_FROM) | ~named[rows]] = 0
    some = np.flatnonzero(words.any(1))
    result = np.zeros(named.shape)
    chances = opinions.ask(parts["text"].gather(some))[:, wanted]
    np.maximum.at(result, rows[some], words[some] * chances)
    return result


def judge_parts(
    texts: pl.Series, sentiment: SentimentModel, opinions: WordOpinions, segment: str = "sentence"
) -> Parts:
    """Judge the clauses of texts; of a single clause its phrases, if one is praise and another a complaint.

    Texts that have no such parts are left out.
    """
    parts = split_parts(texts, sentiment.language, segment).filter(pl.len().over("review") > 1)
    if not len(parts):
        return Parts(np.zeros(0, np.int64), np.zeros((0, 0), np.int64))
    forms = extract_forms(parts["text"])
    words, chances = words_of(forms), probabilities(sentiment.logits(forms))  # parts×classes
    rows, starts = np.unique(parts["review"].to_numpy(), return_index=True)
    chances = chances[judged_with(words.lengths, chances, np.append(starts[1:], len(parts)) - 1)]
    weights = np.maximum(opinions.strongest(words), FLOOR) ** SHARPNESS  # parts×A
    classes = np.add.reduceat(weights[:, :, None] * chances[:, None, :], starts).argmax(2)
    net = chances[:, -1] - chances[:, 0]
    opposite = (np.minimum.reduceat(net, starts) < -PLAIN) & (np.maximum.reduceat(net, starts) > PLAIN)
    wanted = opposite | parts["clause"].to_numpy()[starts]
    return Parts(rows[wanted], classes[wanted])


def judged_with(lengths: np.ndarray, chances: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return for each part the one that judges it: the next, for a few words without a judgement.

    "The picture" waits for "and the sound are great." `lengths` are in words, `last` ends each text.
    """
    waits = (lengths <= FRAGMENT) & (np.abs(chances[:, -1] - chances[:, 0]) <= PLAIN)
    waits[last] = False
    places = np.where(waits, len(lengths), np.arange(len(lengths)))
    return np.asarray(np.minimum.accumulate(places[::-1])[::-1])
