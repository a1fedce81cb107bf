"""AspectDetector: connects the stages, in memory or in a run directory, with scikit-learn's contract."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from aspectra import rundir
from aspectra.arguments import as_list, as_mapping, check_flag, check_function, check_text, wrong_kind
from aspectra.aspects.aspects import Aspect, check_new_names, of_words, read_aspects
from aspectra.aspects.names_sample import find_encoder
from aspectra.config import BUNDLED, GENERAL, NOT_REVIEW, FitConfig
from aspectra.corpus import Corpus, Vocabulary
from aspectra.errors import MapError, RunError
from aspectra.fitting import Fitted, Reviews, fit_sentiment, fit_stages
from aspectra.labelling.labeller import Labeller, TeacherLabeller, choose_model, open_labeller
from aspectra.progress import Progress, progress_of, quiet
from aspectra.rundir import RunDir
from aspectra.scores import Gold
from aspectra.sentiment.rated import given_ratings
from aspectra.teacher.encode import TrainedTeacher
from aspectra.text.memory import Texts
from aspectra.text.tokens import check_language
from aspectra.topicmap import topicmap
from aspectra.topicmap.by_labels import LabelledSegments, expected_scores
from aspectra.topicmap.labels import given_labels
from aspectra.topicmap.suggest import suggest
from aspectra.topicmap.topicmap import Choice, Suggestion, TopicMap
from aspectra.topics import Topics
from aspectra.vectors import WordVectors

DEFAULT = FitConfig()
PERSON = "person"
"""Who made a map by hand, if no name is given."""


class AspectDetector(BaseEstimator):
    """Discovers topics in reviews and, once they are mapped to aspects, labels segments.

    It follows scikit-learn: `fit` returns itself, `predict` and `predict_proba` take segments, `get_params`
    and `clone` work. Fitted in memory, it labels with its teacher. Loaded from a run that has a student, it
    labels as `aspectra.load(run)` does, until another topic map is given.
    """

    student_folder_: Path | None = None
    """Where the student is that labels, if one does."""

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
        keywords: str = DEFAULT.keywords,
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
        self,
        X: Any,
        y: object = None,
        *,
        run: Path | str | None = None,
        ratings: Any = None,
        progress: Progress = quiet,
    ) -> Self:
        """Discover topics in reviews, and learn how reviews praise and complain.

        - `X`: the reviews: a list of str, a polars or pandas Series, or a `Source` of files.
        - `y`: not used.
        - `run`: a folder that keeps every finished stage; a later fit with the same reviews resumes there.
        - `ratings`: each review's rating, to learn sentiment from. For a `Source`: the name of its column, by
          default one with a usual name.
        - `progress`: called as `progress(stage, done)`, where `done` goes from 0 to 1 in each stage.
        """
        check_language(self.config.language)
        check_function(progress, "progress")
        source: Reviews = X if isinstance(X, Reviews) else Texts(X)
        ratings = given_ratings(source, ratings)
        home = RunDir(run) if run is not None else None
        with home.writing() if home else contextlib.nullcontext():
            self.fitted_ = fit_stages(source, self.config, home, progress)
            self.fitted_ = fit_sentiment(self.fitted_, source, ratings, home, progress)
        made_for_other_topics = ("dev_estimate_", "suggested_", "student_folder_", "labeller_")
        for name in made_for_other_topics:
            self.__dict__.pop(name, None)
        return self

    @property
    def topics_(self) -> Topics:
        return self.fitted_.topics

    @property
    def vocabulary_(self) -> Vocabulary:
        return self.fitted_.vocabulary

    @property
    def vectors_(self) -> WordVectors:
        return self.fitted_.vectors

    @property
    def teacher_(self) -> TrainedTeacher:
        return self.fitted_.teacher

    @property
    def corpus_(self) -> Corpus:
        return self.fitted_.corpus

    @property
    def topic_map_(self) -> TopicMap:
        if self.fitted_.topic_map is None:
            raise AttributeError("There is no topic map yet.")
        return self.fitted_.topic_map

    @topic_map_.setter
    def topic_map_(self, topic_map: TopicMap) -> None:
        self.fitted_ = self.fitted_.with_map(topic_map)
        self.student_folder_ = None  # its student was made for the other map

    def map_topics(self, mapping: Mapping[str, Iterable[int]], by: str = PERSON) -> Self:
        """Map topics to aspects by hand.

        - `mapping`: the topics of each aspect: `{"Image": [3, 7], "General": [0]}`. Others are unmapped.
        - `by`: who made the choices; kept with them.
        """
        given = as_mapping(mapping, "mapping", '{"Image": [3, 7]}')
        check_text(by, "by")
        topicmap.check_unicode(by)
        check_new_names(list(given))
        aspect_of: dict[int, str] = {}
        for aspect, numbers in given.items():
            for topic in self._known_topics(numbers):
                if topic in aspect_of:
                    raise MapError(
                        f"Topic {topic} is mapped to both {aspect_of[topic]} and {aspect}. Choose one."
                    )
                aspect_of[topic] = aspect
        at = topicmap.now()
        choices = [
            Choice(item.id, aspect_of.get(item.id), item.keywords, by, at) for item in self.topics_.items
        ]
        self.topic_map_ = TopicMap(tuple(given), tuple(choices), self.topics_.fingerprint)
        return self

    def _known_topics(self, numbers: Any) -> list[int]:
        """Return the numbers of topics, or of one; raise an error of ours if there is no such topic."""
        alone = isinstance(numbers, Integral)
        given = [numbers] if alone else as_list(numbers, "Topics of an aspect", "a list of numbers")
        known = range(len(self.topics_.items))
        for topic in given:
            if not isinstance(topic, Integral) or isinstance(topic, bool):
                raise wrong_kind("A topic", "a whole number", topic)
            if topic not in known:
                raise MapError(f"No topic {topic}: there are topics 0 to {len(known) - 1}.")
        return [int(topic) for topic in given]

    def _decided(
        self, choices: Mapping[int, str | None] | None, names: Sequence[str]
    ) -> dict[int, str | None]:
        """Return a person's choices; those of these aspects in their spelling."""
        given = {} if choices is None else as_mapping(choices, "choices", '{3: "Image", 7: None}')
        spelling = {name.casefold(): name for name in (*names, GENERAL, NOT_REVIEW)}
        decided: dict[int, str | None] = {}
        for topic, aspect in zip(self._known_topics(list(given)), given.values(), strict=True):
            check_text(aspect, f"The choice for topic {topic}", optional=True)
            decided[topic] = None if aspect is None else spelling.get(aspect.casefold(), aspect)
        return decided

    def suggest_map(
        self,
        aspects: Sequence[str | Aspect] | Path | str | None = None,
        *,
        seeds: Mapping[str, Sequence[str]] | None = None,
        dev: Gold | Path | str | None = None,
        encoder: str | Path = BUNDLED,
        choices: Mapping[int, str | None] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Map topics by a suggestion: from the aspects' names, or from labelled segments.

        - `aspects`: names, `Aspect`s, or the path of an aspects.toml; by default the aspects of `dev`.
        - `seeds`: words for each aspect, instead of `aspects`: `{"Image": ["picture", "color"]}`.
        - `dev`: labelled segments: a file for `read_gold`, or what it returned.
        - `encoder`: compares names and segments; "none" compares words alone.
        - `choices`: what a person decided, topic → aspect, or None to leave it unmapped. They stay as they
          are, and what is learnt from names respects them.

        `suggested_` then has the suggestions with their flags, and notes on aspects that nothing speaks of.
        """
        check_function(progress, "progress")
        check_text(str(encoder) if isinstance(encoder, Path) else encoder, "encoder")
        dev = given_labels(dev)
        wanted = find_aspects(aspects, seeds, dev)
        if dev and GENERAL in set().union(*dev.aspects) - {aspect.name for aspect in wanted}:
            wanted = (*wanted, Aspect(GENERAL))  # it is always there, and no one has to name it
        names = tuple(aspect.name for aspect in wanted)
        decided = self._decided(choices, names)
        labelled = sample = None
        note = ""
        if dev:
            labelled = LabelledSegments(self.topic_probabilities(pl.Series(dev.texts)), dev.aspects)
        else:
            loaded, note = find_encoder(str(encoder), self.language)
            sample = self.fitted_.names_sample(loaded, progress_of("features", progress))
        found = suggest(self.topics_, wanted, sample, labelled, self.seed, choices=decided)
        self.suggested_ = found if not note else replace(found, notes=(note, *found.notes))
        if labelled:
            self.dev_estimate_ = expected_scores(labelled, names, self.seed)
        self.topic_map_ = self._map_of(names, found.suggestions, decided)
        return self

    def _map_of(
        self, names: Sequence[str], suggestions: Sequence[Suggestion], decided: Mapping[int, str | None]
    ) -> TopicMap:
        """Return a map of suggestions and a person's choices; aspects that only these use are added."""
        at = topicmap.now()
        made = tuple(
            Choice(item.id, decided[item.id], item.keywords, PERSON, at)
            if item.id in decided
            else advice.choice(item.keywords, at)
            for item, advice in zip(self.topics_.items, suggestions, strict=True)
        )
        used = (aspect for choice in made for aspect in choice.weights)
        more = {aspect: None for aspect in used if aspect not in names}
        return TopicMap((*names, *more), made, self.topics_.fingerprint)

    def topic_probabilities(self, segments: Any) -> np.ndarray:
        """Return the probability of each topic (β) for each segment, N×K; NaN if no word is known."""
        return self.fitted_.topic_probabilities(segments)

    def labeller(self) -> Labeller:
        """Return what labels: the teacher, or what `load` takes of the run that this was loaded from."""
        if self.student_folder_ is None:
            return TeacherLabeller(self.fitted_)
        if "labeller_" not in self.__dict__:  # read only now: mapping does not need it
            run = self.student_folder_.parent
            self.labeller_ = open_labeller(self.fitted_, run, choose_model(run)[0])
        return self.labeller_

    @property
    def classes_(self) -> np.ndarray:
        """The aspects, in the order of `predict_proba`'s columns."""
        return np.array(self.topic_map_.aspects, dtype=object)

    def label(self, X: Any, text_column: str | None = None) -> Any:
        """Split reviews, or those of a table, into segments and label each: one row per segment."""
        return self.labeller().label(X, text_column=text_column)

    def label_segments(self, segments: Any, only: tuple[str, ...] | None = None) -> Any:
        """Label segments as they are, one row each; with `only`, answer with these aspects alone."""
        return self.labeller().label_segments(segments, only)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each aspect for each segment, N×A, in the order of `classes_`."""
        return self.labeller().predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the aspect of each segment."""
        return self.labeller().predict(X)

    def __getattr__(self, name: str) -> Any:
        when = "once topics are mapped" if name in ("classes_", "topic_map_") else "after fit"
        message = f"{type(self).__name__} has no attribute {name!r}; it is there {when}."
        learnt = name.endswith("_") and not name.startswith("_")
        raise NotFittedError(message) if learnt else AttributeError(message)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that `fit` and `predict` take texts, not numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string, tags.no_validation = False, True, True
        return tags

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the topics in a notebook, with their aspects if they are mapped."""
        if "fitted_" not in self.__dict__:
            return dict(super()._repr_mimebundle_(**kwargs))
        mapped = self.fitted_.topic_map
        aspects = [choice.aspect or "" for choice in mapped.choices] if mapped else ()
        return {"text/plain": repr(self), "text/html": self.topics_.to_html(aspects)}

    def save(self, path: Path | str, *, replace: bool = False) -> None:
        """Write the run directory, topic map included; a student is not written.

        - `replace`: suggestions may overwrite what a person chose in the map that is there.
        """
        check_flag(replace, "replace")
        if "fitted_" not in self.__dict__:
            raise RunError("There is nothing to save yet. Fit the detector first.")
        self.fitted_.save(path, replace)

    @classmethod
    def load(cls, path: Path | str, with_map: bool = True) -> Self:
        """Read a run directory; topic map and student too, if they are there and the map is wanted."""
        check_flag(with_map, "with_map")
        fitted = Fitted.load(path, with_map)
        detector = cls(**fitted.config.to_dict())
        detector.fitted_ = fitted
        if fitted.topic_map is not None and rundir.has_student(Path(path)):
            detector.student_folder_ = Path(path) / rundir.STUDENT
        return detector


def find_aspects(
    aspects: Sequence[str | Aspect] | Path | str | None,
    seeds: Mapping[str, Sequence[str]] | None,
    dev: Gold | None,
) -> tuple[Aspect, ...]:
    """Return the aspects to map to: as given, or else those of the labelled segments."""
    words = {} if seeds is None else as_mapping(seeds, "seeds", '{"Image": ["picture"]}')
    if words:
        return of_words(words)
    if aspects is None and dev:
        names = sorted(set().union(*dev.aspects))
        check_new_names(names)
        return tuple(Aspect(name) for name in names)
    if aspects is None or (isinstance(aspects, list | tuple | str) and not aspects):
        raise MapError("Nothing to map to: give aspects or dev.")
    return read_aspects(aspects)
