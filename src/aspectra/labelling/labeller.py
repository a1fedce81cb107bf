"""Labellers: reviews or segments in, one labelled row per segment out. `load` opens a run or an exported
ONNX file.

Every labeller is a `Labeller`; a subclass only says which probabilities its models give. Only a run's
student imports torch: the teacher and ONNX answer without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.arguments import as_names, as_path, check_count, check_function, check_text
from aspectra.config import NOT_REVIEW
from aspectra.errors import InputError, MapError, RunError, StaleError, typed
from aspectra.labelling.blend import blend
from aspectra.labelling.onnx import OnnxModel
from aspectra.labelling.several import (
    WordOpinions,
    aspect_lists,
    find_members,
    in_parts,
    judge_parts,
    several_columns,
)
from aspectra.progress import Count, uncounted
from aspectra.rundir import RunDir
from aspectra.sentiment.model import COLUMNS, SentimentModel, answers
from aspectra.teacher.encode import encode
from aspectra.text.code import is_code
from aspectra.text.columns import carry
from aspectra.text.memory import as_series, as_table, like
from aspectra.text.segment import split_reviews
from aspectra.text.tokens import Tokens, extract_forms, words_of
from aspectra.topicmap.calibrate import SEVERAL_FROM
from aspectra.topicmap.gamma import PREFIX, label_beta, mark_not_reviews
from aspectra.topicmap.topicmap import TopicMap

if TYPE_CHECKING:
    from aspectra.fitting import Fitted
    from aspectra.student.card import Card
    from aspectra.student.fast import FastStudent
    from aspectra.student.linear import LinearStudent
    from aspectra.student.paper.model import Student

MODELS = {
    "fast": "fast student",
    "encoder": "student with its encoder",
    "teacher": "teacher alone",
}
"""What may label, as users name it and as it is told; "auto" chooses."""


class Labeller(ABC):
    """What `load` returns: labels reviews or segments with the aspects of a topic map.

    Reviews and segments are a list of str, or a polars or pandas Series. Labels are a polars DataFrame, or a
    pandas one if pandas was given. The guide explains its columns: review, segment and text (from `label`
    only), aspect, probability, sentiment, sentiment_score, sentiment_confidence, aspects, aspect_sentiments,
    entropy, margin, unmapped, topic, known_words, and p_… for each aspect.
    """

    threads = 1
    """How many batches to label at the same time; more than one only where that is faster."""
    teacher_weight = 1.0
    """How much the teacher's probabilities count beside the student's, 0 to 1."""
    notes: tuple[str, ...] = ()
    """What whoever uses the labels should know, such as an aspect that nothing speaks of."""
    several_from = SEVERAL_FROM
    """How probable an aspect beside the answer must be to be in `aspects`."""
    keep_junk = False
    """Whether pasted code gets an aspect, too."""
    at_once = 1_000_000
    """How many segments to label before counting them; few where labelling takes long."""

    def __init__(
        self, topic_map: TopicMap, shares: np.ndarray | Sequence[float], segment: str, language: str
    ) -> None:
        """Take the map, each topic's share of the corpus, and how reviews are split."""
        self.topic_map, self.shares = topic_map, np.asarray(shares)
        self.segment, self.language = segment, language
        self.sentiment, self.opinions = SentimentModel(language), WordOpinions(self.predict_proba)

    @abstractmethod
    def probabilities(
        self, texts: pl.Series, forms: Tokens
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return what the models answer, for subclasses: topic probabilities, known words, student or None.

        `forms` are what `extract_forms` found in the texts: models and sentiment need not read them twice.
        Topic probabilities are N×K, NaN where no word is known; known words are counts, N; the student's
        probabilities of the aspects are N×A.
        """

    @property
    def classes_(self) -> np.ndarray:
        """The aspects, in the order of `predict_proba`'s columns."""
        return np.array(self.topic_map.aspects, dtype=object)

    def label(self, reviews: Any, count: Count = uncounted, *, text_column: str | None = None) -> Any:
        """Split reviews into segments and label each: one row per segment.

        Of a table (polars, pandas or Arrow), `text_column` is read, or the column with a usual name; the
        others come first in the answer. Who gives pandas gets pandas. `count` is called as
        count(more, share): so many segments more are labelled, and this share of all.
        """
        check_function(count, "count")
        others, texts = as_table(reviews, text_column)
        segments = split_reviews(texts, self.segment, self.language)
        place = pl.int_range(pl.len(), dtype=pl.UInt32).over("review").alias("segment")
        parts, words, logits = [], [], []
        for start in range(0, max(1, len(segments)), self.at_once):
            some = segments["text"][start : start + self.at_once]
            forms = extract_forms(some)
            parts.append(self.aspects_of(some, forms))
            words.append(self.opinions.strongest(words_of(forms)))
            logits.append(self.sentiment.logits(forms))
            count(len(parts[-1]), min(1.0, (start + self.at_once) / max(1, len(segments))))
        felt = answers(np.vstack(logits), segments["review"].to_numpy())
        found = self.with_sentiment(pl.concat(parts), felt, segments["text"], np.vstack(words))
        labels = segments.select("review", place, "text").hstack(found)
        return like(labels if others is None else carry(others, labels), reviews)

    def label_segments(self, segments: Any, only: tuple[str, ...] | None = None) -> Any:
        """Label segments as they are, one row each; with `only`, answer with these aspects alone.

        Without `only`, pasted code and topics that are so mapped are answered "Not a review". A segment is
        judged alone; `label` also looks at the rest of its review.
        """
        only = None if only is None else as_names(only, "only")
        texts = as_series(segments)
        forms = extract_forms(texts)
        labels = self.aspects_of(texts, forms, only)
        words = self.opinions.strongest(words_of(forms))
        if only is not None:
            member = self.members(labels, texts, words, only)
            return like(labels.hstack(aspect_lists(labels, only, member)), segments)
        felt = answers(self.sentiment.logits(forms))
        return like(self.with_sentiment(labels, felt, texts, words), segments)

    def with_sentiment(
        self, labels: pl.DataFrame, felt: pl.DataFrame, texts: pl.Series, words: np.ndarray
    ) -> pl.DataFrame:
        """Add each segment's sentiment after its aspect, then all its aspects; none for what is no review."""
        felt = felt.hstack(labels.select("aspect"))
        judged = pl.when(pl.col("aspect") != NOT_REVIEW).then(pl.col(COLUMNS)).otherwise(None)
        felt = labels.select("aspect", "probability").hstack(felt.select(judged.name.keep()))
        found = felt.hstack(labels.drop("aspect", "probability"))
        aspects = self.topic_map.aspects
        several = several_columns(
            found, texts, aspects, self.members(labels, texts, words, aspects),
            lambda some: judge_parts(some, self.sentiment, self.opinions, self.segment),
        )  # fmt: skip
        return felt.hstack(several).hstack(labels.drop("aspect", "probability"))

    def members(
        self, labels: pl.DataFrame, texts: pl.Series, words: np.ndarray, aspects: tuple[str, ...]
    ) -> np.ndarray:
        """Return which of these aspects each segment has, N×A; `words` is of all aspects."""
        wanted = columns(aspects, self.topic_map.aspects)
        return find_members(
            labels, texts, aspects, self.several_from, words[:, wanted],
            lambda some, named: in_parts(some, named, self.opinions, self.language, self.segment, wanted),
        )  # fmt: skip

    def aspects_of(
        self, texts: pl.Series, forms: Tokens, only: tuple[str, ...] | None = None
    ) -> pl.DataFrame:
        """Return the aspect of each segment and what belongs to it, without sentiment."""
        beta, known_words, student = self.probabilities(texts, forms)
        labels = label_beta(beta, known_words, self.topic_map, self.shares, only)
        if student is not None:
            labels = blend(labels, student, self.topic_map.aspects, self.teacher_weight, only)
        if only is not None:
            return labels
        code = np.zeros(len(texts), bool) if self.keep_junk else is_code(texts).to_numpy()
        return mark_not_reviews(labels, beta, self.topic_map, code)

    def predict_proba(self, segments: Any) -> np.ndarray:
        """Return the probability of each aspect for each segment, N×A, in the order of `classes_`."""
        names = [PREFIX + aspect for aspect in self.topic_map.aspects]
        texts = as_series(segments)
        return self.aspects_of(texts, extract_forms(texts)).select(names).to_numpy()

    def predict(self, segments: Any) -> np.ndarray:
        """Return the aspect of each segment, one of `classes_`."""
        return np.asarray(
            self.label_segments(as_series(segments), self.topic_map.aspects)["aspect"].to_numpy()
        )


class TeacherLabeller(Labeller):
    """The teacher alone."""

    threads = 2

    def __init__(self, fitted: Fitted) -> None:
        super().__init__(fitted.the_map(), fitted.shares, fitted.config.segment, fitted.config.language)
        self.fitted, self.keep_junk, self.sentiment = fitted, fitted.config.keep_junk, fitted.felt()

    def probabilities(self, texts: pl.Series, forms: Tokens) -> tuple[np.ndarray, np.ndarray, None]:
        words = self.fitted.vocabulary.read(words_of(forms))
        return encode(self.fitted.teacher, words, self.fitted.config.max_tokens), words.lengths, None


class BothLabeller(Labeller):
    """A student, of which this is the card, together with its teacher."""

    def __init__(self, fitted: Fitted, card: Card) -> None:
        super().__init__(fitted.the_map(), fitted.shares, fitted.config.segment, fitted.config.language)
        if not self.topic_map.means(card.topic_map_fingerprint, card.aspects):
            run = typed(fitted.segments.path) if isinstance(fitted.segments, RunDir) else "RUN"
            raise StaleError(
                "The topic map has changed since the student was made. "
                f"Distil again: aspectra distill {run}, or label with --model teacher."
            )
        self.fitted, self.card, self.keep_junk = fitted, card, fitted.config.keep_junk
        self.sentiment = fitted.felt()
        self.teacher_weight, self.notes = card.teacher_weight, card.notes
        self.several_from = card.several_from
        self.columns = columns(self.topic_map.aspects, card.aspects)


class StudentLabeller(BothLabeller):
    """The student with its encoder, together with its teacher."""

    at_once = 256

    def __init__(self, fitted: Fitted, student: Student | LinearStudent) -> None:
        super().__init__(fitted, student.card)
        self.student = student

    def probabilities(self, texts: pl.Series, forms: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        words = self.fitted.vocabulary.read(words_of(forms))
        beta = encode(self.fitted.teacher, words, self.fitted.config.max_tokens)
        own = self.student.answer(texts.fill_null("").to_list(), words, beta)
        return beta, words.lengths, own[:, self.columns]


class FastLabeller(BothLabeller):
    """The fast student together with its teacher; both read the same tokens."""

    threads = 2

    def __init__(self, fitted: Fitted, student: FastStudent) -> None:
        super().__init__(fitted, student.card)
        self.student = student

    def probabilities(self, texts: pl.Series, forms: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tokens = words_of(forms)
        words = self.fitted.vocabulary.read(tokens)
        beta = encode(self.fitted.teacher, words, self.fitted.config.max_tokens)
        return beta, words.lengths, self.student.answer(tokens, words, beta)[:, self.columns]


RunLabeller = TeacherLabeller | StudentLabeller | FastLabeller


class OnnxLabeller(Labeller):
    """Teacher and student from an exported file, without torch."""

    at_once = 256

    def __init__(self, path: Path | str, threads: int = 0) -> None:
        """Open the file; a batch is computed on `threads` threads, 0 takes all cores."""
        self.model = OnnxModel(Path(path), threads)
        about = self.model.about
        topic_map = TopicMap.from_dict(about["topic_map"])
        fits = set(topic_map.aspects) <= set(about["aspects"])
        if not fits or len(topic_map.choices) != len(about["shares"]):
            raise InputError(f"The files of {path} do not fit together. Export again: aspectra export RUN")
        super().__init__(topic_map, about["shares"], about["segment"], about["language"])
        self.teacher_weight, self.notes = about["teacher_weight"], tuple(about.get("notes", ()))
        self.several_from = about.get("several_from", SEVERAL_FROM)
        self.columns = columns(topic_map.aspects, about["aspects"])
        self.keep_junk, self.sentiment = about.get("keep_junk", False), self.model.sentiment

    def probabilities(self, texts: pl.Series, forms: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        beta, known_words, own = self.model.probabilities(texts)
        return beta, known_words, own[:, self.columns]


def columns(wanted: Sequence[str], there: Sequence[str]) -> list[int]:
    """Return where each aspect of the map is in the student's answer: the map may have another order now."""
    return [list(there).index(aspect) for aspect in wanted]


def load(run: Path | str, model: str | None = None, threads: int = 0) -> Labeller:
    """Open a labeller: a run's folder, or a file exported with `aspectra export`.

    It labels as `aspectra label` does with the same run.

    - `run`: a run's folder, or the .onnx file.
    - `model`: "fast" is the fast student, "encoder" the student with its encoder: slow, up to 3 points more
      F1; "teacher" the teacher alone. By default, or with "auto", the first of them that the run has.
    - `threads`: at most this many threads for one batch, in this process; 0 leaves them as they are.
    """
    check_text(model, "model", optional=True)
    check_count(threads, "threads")
    path, wanted = as_path(run, "run"), model or "auto"
    if wanted not in ("auto", *MODELS):
        raise InputError(f"model must be one of auto, {', '.join(MODELS)}, got {model!r}.")
    if path.suffix == ".onnx":
        if wanted in ("teacher", "fast"):
            raise InputError(f"{path} answers with teacher and student together. Load the run instead.")
        return OnnxLabeller(path, threads)
    return load_run(path, wanted, threads)


def load_run(run: Path, model: str | None = None, threads: int = 0) -> RunLabeller:
    """Load a run's teacher, and the student that is asked for or there."""
    chosen = choose_model(run, model)[0]
    if threads and chosen == "encoder":
        import torch

        torch.set_num_threads(threads)
    while True:
        before = version_of(run / rundir.SENTIMENT)
        labeller = open_labeller(load_fitted(run), run, chosen)
        if version_of(run / rundir.SENTIMENT) == before:  # else a distillation has just replaced both
            return labeller


def version_of(path: Path) -> tuple[int, int] | None:
    """Return what changes whenever a file is replaced; None if there is none."""
    if not path.exists():
        return None
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def load_student(run: Path) -> StudentLabeller:
    """Load a run's teacher and its student with the encoder."""
    labeller = load_run(run, "encoder")
    assert isinstance(labeller, StudentLabeller)
    return labeller


def open_labeller(fitted: Fitted, run: Path, model: str) -> RunLabeller:
    """Return what labels with this model of the run."""
    home = run / rundir.STUDENT
    if model == "teacher":
        return TeacherLabeller(fitted)
    if not rundir.has_student(run):
        raise RunError(f"{run} has no student. Make it first: aspectra distill {typed(run)}")
    if model == "fast":
        from aspectra.student.fast import load_fast

        return FastLabeller(fitted, load_fast(home, fitted))
    from aspectra.student.linear import read_student

    return StudentLabeller(fitted, read_student(home, fitted))


def load_fitted(run: Path) -> Fitted:
    from aspectra.fitting import Fitted

    fitted = Fitted.load(run)
    if fitted.topic_map is None:
        raise MapError(f"No topic map in {run}. Map the topics first: aspectra map {typed(run)}")
    return fitted


def choose_model(run: Path, model: str | None = None) -> tuple[str, str]:
    """Return which model of a run answers if this one is asked for, and why if none is asked for by name."""
    if model in MODELS:
        return model, ""
    again = f"Make one: aspectra distill {typed(run)}"
    if not rundir.has_student(run):
        return "teacher", f"the run has no student. {again}"
    if rundir.has_fast(run):
        return "fast", "the run has one."
    card = rundir.read_json(run / rundir.STUDENT / rundir.CONFIG)
    settings = card.get("config")
    if isinstance(settings, dict) and settings.get("head") != "linear":
        return "encoder", "an attention head has no fast form."
    stale = (run / rundir.STUDENT / rundir.FAST).exists()
    return "encoder", f"{'the fast student is out of date' if stale else 'there is no fast student'}. {again}"
