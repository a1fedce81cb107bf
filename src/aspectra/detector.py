"""AspectDetector: connects the stages, in memory or in a run directory, with scikit-learn's contract. It holds no logic of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from aspectra import rundir
from aspectra.config import FitConfig
from aspectra.corpus import Corpus, load_vocabulary
from aspectra.errors import InputError, MapError, RunError
from aspectra.evaluate import Gold, read_gold
from aspectra.fitting import (
    STAGES,
    Fitted,
    Reviews,
    fit_stages,
    load_topics,
    load_trained,
    load_vectors,
    save_fitted,
)
from aspectra.progress import Progress, quiet
from aspectra.rundir import RunDir
from aspectra.teacher.encode import encode
from aspectra.text.segment import split_reviews
from aspectra.text.tokens import check_language
from aspectra.topicmap import topicmap
from aspectra.topicmap.by_labels import LabelledSegments, expected_scores
from aspectra.topicmap.gamma import PREFIX, label_beta
from aspectra.topicmap.suggest import suggest
from aspectra.topicmap.topicmap import Choice, TopicMap

DEFAULT = FitConfig()
CHUNK = 20_000
MISSING = ("None", "nan", "<NA>")
"""How None, NaN and the NA of pandas are written; NA cannot be compared, even with itself."""


def as_series(texts: Any) -> pl.Series:
    """Take a list of str, a polars or a pandas Series, or an array; None is allowed among them."""
    if isinstance(texts, str):
        raise InputError("Give a list of texts, not one text: [text].")
    if hasattr(texts, "columns"):
        raise InputError(f"Give one column of texts, not a table: table[{texts.columns[0]!r}].")
    if isinstance(texts, pl.Series):
        if texts.dtype not in (pl.String, pl.Null):
            raise InputError(f"The texts must be str, got {texts.dtype}.")
        return texts.cast(pl.String)
    return pl.Series("text", [as_text(value) for value in texts], dtype=pl.String)


def as_text(value: Any) -> str | None:
    """Return a text, or None for what stands for a missing one."""
    if isinstance(value, str):
        return value
    if str(value) in MISSING:
        return None
    raise InputError(f"The texts must be str, got {value!r}.")


class Texts:
    """Reviews in memory."""

    def __init__(self, texts: Any) -> None:
        self.series = as_series(texts)

    def texts(self) -> Iterator[pl.Series]:
        yield from (self.series[start : start + CHUNK] for start in range(0, len(self.series), CHUNK))

    def fingerprint(self) -> list[str]:
        digest = hashlib.sha256()
        for text in self.series:
            digest.update(b"\0" if text is None else b"\1" + text.encode() + b"\0")
        return ["texts", digest.hexdigest()]


class AspectDetector(BaseEstimator):
    """Discovers topics in reviews and, once they are mapped to aspects, labels segments. Parameters are those of `FitConfig`."""

    label_threads = 2
    """How many batches may be labelled at the same time with profit, each on one torch thread."""

    def __init__(
        self,
        n_topics: int = DEFAULT.n_topics,
        segment: str = DEFAULT.segment,
        language: str = DEFAULT.language,
        min_count: int = DEFAULT.min_count,
        min_tokens: int = DEFAULT.min_tokens,
        max_tokens: int = DEFAULT.max_tokens,
        keep_junk: bool = DEFAULT.keep_junk,
        max_segments: int = DEFAULT.max_segments,
        vector_size: int = DEFAULT.vector_size,
        window: int = DEFAULT.window,
        negative: int = DEFAULT.negative,
        vector_epochs: int = DEFAULT.vector_epochs,
        workers: int = DEFAULT.workers,
        start: str = DEFAULT.start,
        attention: str = DEFAULT.attention,
        smoothness: float = DEFAULT.smoothness,
        temperature: float = DEFAULT.temperature,
        penalty_weight: float = DEFAULT.penalty_weight,
        batch_size: int = DEFAULT.batch_size,
        steps: int = DEFAULT.steps,
        learning_factor: float = DEFAULT.learning_factor,
        warmup: int = DEFAULT.warmup,
        clip: float = DEFAULT.clip,
        seed: int = DEFAULT.seed,
    ) -> None:
        given = locals()
        for spec in fields(FitConfig):
            setattr(self, spec.name, given[spec.name])

    @property
    def config(self) -> FitConfig:
        """The parameters as a checked FitConfig."""
        return FitConfig(**self.get_params())

    def fit(
        self, X: Any, y: object = None, *, run: Path | str | None = None, progress: Progress = quiet
    ) -> Self:
        """Discover topics in reviews: texts, or a `Source` of files. With `run`, every stage is kept there and resumed from there."""
        check_language(self.config.language)
        source: Reviews = X if hasattr(X, "texts") else Texts(X)
        home = RunDir(run) if run is not None else None
        if home:
            home.create()
        fitted = fit_stages(source, self.config, home, progress)
        self.corpus_, self.vectors_, self.trained_ = fitted.corpus, fitted.vectors, fitted.trained
        self.topics_, self.marks_ = fitted.topics, fitted.marks
        self.vocabulary_, self.teacher_ = fitted.corpus.vocabulary, fitted.trained.teacher
        for name in ("topic_map_", "dev_estimate_"):  # they were for other topics
            self.__dict__.pop(name, None)
        return self

    def map_topics(self, mapping: Mapping[str, Iterable[int]], by: str = "person") -> Self:
        """Map topics to aspects by hand: {"Image": [3, 7], "General": [0]}; topics not named stay unmapped."""
        aspect_of: dict[int, str] = {}
        for aspect, numbers in mapping.items():
            for topic in numbers:
                if not 0 <= topic < len(self.topics_.items):
                    raise MapError(f"No topic {topic}: there are topics 0 to {len(self.topics_.items) - 1}.")
                if topic in aspect_of:
                    raise MapError(
                        f"Topic {topic} is mapped to both {aspect_of[topic]} and {aspect}. Choose one."
                    )
                aspect_of[topic] = aspect
        at = topicmap.now()
        choices = [
            Choice(item.id, aspect_of.get(item.id), item.keywords, by, at) for item in self.topics_.items
        ]
        self.topic_map_ = TopicMap(tuple(mapping), tuple(choices), self.topics_.fingerprint)
        return self

    def suggest_map(
        self,
        aspects: Sequence[str] | None = None,
        *,
        seeds: Mapping[str, Sequence[str]] | None = None,
        dev: Gold | Path | str | None = None,
    ) -> Self:
        """Map topics by a suggestion: from aspect names, better with seed words, best with labelled segments."""
        dev = read_gold(dev) if isinstance(dev, str | Path) else dev
        names = tuple(aspects or seeds or (sorted(set().union(*dev.aspects)) if dev else ()))
        if not names:
            raise MapError("Nothing to map to: give aspects, seeds or dev.")
        labelled = (
            LabelledSegments(self.topic_probabilities(pl.Series(dev.texts)), dev.aspects) if dev else None
        )
        suggestions = suggest(self.topics_, self.vectors_, names, seeds, labelled, self.seed)
        if labelled:
            self.dev_estimate_ = expected_scores(labelled, names, self.seed)
        at = topicmap.now()
        choices = [
            Choice(item.id, advice.aspect, item.keywords, topicmap.SUGGESTION, at, advice.why)
            for item, advice in zip(self.topics_.items, suggestions, strict=True)
        ]
        self.topic_map_ = TopicMap(names, tuple(choices), self.topics_.fingerprint)
        return self

    def topic_probabilities(self, segments: Any) -> np.ndarray:
        """Return β for segments, N×K; NaN where no word is known."""
        return encode(self.teacher_, self.vocabulary_.encode(as_series(segments)), self.max_tokens)

    def label_segments(self, segments: Any, only: tuple[str, ...] | None = None) -> pl.DataFrame:
        """Label segments as they are, one row each."""
        tokens = self.vocabulary_.encode(as_series(segments))
        shares = np.array([item.share for item in self.topics_.items])
        return label_beta(
            encode(self.teacher_, tokens, self.max_tokens), tokens.lengths, self._map(), shares, only
        )

    def label(self, X: Any) -> pl.DataFrame:
        """Split reviews into segments and label each: a row a segment."""
        segments = split_reviews(as_series(X), self.segment, self.language)
        place = pl.int_range(pl.len(), dtype=pl.UInt32).over("review").alias("segment")
        return segments.select("review", place, "text").hstack(self.label_segments(segments["text"]))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return γ for segments, N×A, in the order of `classes_`."""
        return self.label_segments(X).select(pl.col(PREFIX + aspect) for aspect in self.classes_).to_numpy()

    def predict(self, X: Any) -> np.ndarray:
        """Return the aspect of each segment."""
        return np.asarray(self.label_segments(X)["aspect"].to_numpy())

    def __getattr__(self, name: str) -> Any:
        if (
            name == "corpus_" and "_run" in self.__dict__
        ):  # a loaded detector reads it only when it is asked for
            self.corpus_ = Corpus.load(self._run)
            return self.corpus_
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}; the names that end in _ are there after fit."
        )

    @property
    def classes_(self) -> np.ndarray:
        return np.array(self._map().aspects, dtype=object)

    def _map(self) -> TopicMap:
        if not hasattr(self, "topic_map_"):
            raise MapError(
                "No topic map yet. Map the topics first: detector.suggest_map([…]) or aspectra map RUN --aspects …"
            )
        return self.topic_map_

    def save(self, path: Path | str) -> None:
        """Write the run directory, topic map included."""
        if not hasattr(self, "topics_"):
            raise RunError("There is nothing to save yet. Fit the detector first.")
        run = RunDir(path)
        run.create()
        save_fitted(
            Fitted(self.corpus_, self.vectors_, self.trained_, self.topics_, self.marks_), run, self.config
        )
        if hasattr(self, "topic_map_"):
            topicmap.write_map(run / rundir.TOPIC_MAP, self.topic_map_)

    @classmethod
    def load(cls, path: Path | str, with_map: bool = True) -> Self:
        """Read a run directory; the topic map too, if there is one and it is wanted."""
        run = RunDir(path)
        run.check(*STAGES)
        detector = cls(**FitConfig.from_dict(run.config()).to_dict())
        detector.vocabulary_ = load_vocabulary(run / rundir.VOCABULARY)
        detector.vectors_ = load_vectors(run, detector.vocabulary_)
        detector.trained_ = load_trained(run, detector.vectors_, detector.config)
        detector.teacher_ = detector.trained_.teacher
        detector.topics_ = load_topics(run)
        detector.marks_ = {stage: run.mark(stage) for stage in STAGES}
        detector._run = run
        if with_map and (run / rundir.TOPIC_MAP).exists():
            detector.topic_map_ = topicmap.read_map(run / rundir.TOPIC_MAP, detector.topics_.fingerprint)
        return detector
