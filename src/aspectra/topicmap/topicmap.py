"""The topic map: which aspect each topic stands for, who chose it, when and why.

The paper calls it high-resolution selective mapping. As JSON: {"version", "topics": fingerprint, "aspects":
[names], "choices": [{topic, aspect or null, keywords, by, at, why}]}, one choice per topic, in order. Version
2 may have `shares` and `labelled` in a suggested choice, and the choice `Not a review`. `General` is always
allowed, and last. What a person chose is overwritten only if told to; map-history/ keeps replaced versions.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from aspectra import rundir
from aspectra.aspects.aspects import check_names
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import MapError, typed

VERSION = 2
"""Version 1 has no shares, labelled, Not a review; a map that needs none is still written as version 1."""
SUGGESTION = "suggestion"
OPTIONAL = {"shares": 1, "labelled": 10**9}
"""What a choice has only if it is suggested: numbers for aspects, and the largest allowed."""


def now() -> str:
    """Return the time in UTC as ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Choice:
    """The aspect of one topic, None if it is unmapped.

    `by` is "suggestion" or a person's name, `at` a time as ISO 8601 in UTC. `shares` are of a suggestion
    only: (aspect, weight) pairs of a topic that speaks of several; the weights sum to 1, or less. `labelled`
    counts the labelled segments of each aspect on this topic, if it was suggested by them.
    """

    topic: int
    aspect: str | None
    keywords: tuple[str, ...]
    by: str
    at: str
    why: str = ""
    shares: tuple[tuple[str, float], ...] = ()
    labelled: tuple[tuple[str, float], ...] = ()

    @property
    def by_person(self) -> bool:
        """Whether a person chose it; otherwise it is only suggested, and open."""
        return self.by != SUGGESTION

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each aspect that the topic speaks of; empty if it speaks of none."""
        if self.aspect is None or self.aspect == NOT_REVIEW:
            return {}
        return dict(self.shares) or {self.aspect: 1.0}

    def to_dict(self) -> dict[str, Any]:
        values = {**dataclasses.asdict(self), "keywords": list(self.keywords)}
        for name in OPTIONAL:
            values[name] = dict(values[name])
        return {name: value for name, value in values.items() if value or name not in OPTIONAL}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        values = {**{name: {} for name in OPTIONAL}, **values} if isinstance(values, dict) else values
        check_keys(values, {spec.name for spec in dataclasses.fields(cls)}, "A choice")
        check_types(
            values,
            {"topic": int, "by": str, "at": str, "why": str, "keywords": list, "aspect": (str, type(None))},
        )
        if not all(isinstance(word, str) for word in values["keywords"]):
            raise MapError(
                f"The keywords of topic {values['topic']} must be words, got {values['keywords']!r}."
            )
        check_time(values["at"])
        numbers = {name: read_numbers(name, values[name], values["topic"]) for name in OPTIONAL}
        return cls(**{**values, "keywords": tuple(values["keywords"]), **numbers})


@dataclass(frozen=True)
class Suggestion:
    """What a topic's aspect could be; None means: leave it unmapped.

    `flag` is clear, general, ambiguous or incoherent; `confidence` lies between 0 and 1; `why` is a sentence.
    `shares` and `labelled` are those of a `Choice`.
    """

    topic: int
    aspect: str | None
    flag: str
    confidence: float
    why: str
    shares: tuple[tuple[str, float], ...] = ()
    labelled: tuple[tuple[str, float], ...] = ()

    def choice(self, keywords: tuple[str, ...], at: str) -> Choice:
        """Return the choice that this is until a person decides."""
        return Choice(self.topic, self.aspect, keywords, SUGGESTION, at, self.why, self.shares, self.labelled)


@dataclass(frozen=True)
class TopicMap:
    """`topics` is the fingerprint of the topics that the map was made for.

    Making one checks it and puts `General` last.
    """

    aspects: tuple[str, ...]
    choices: tuple[Choice, ...]
    topics: str

    def __post_init__(self) -> None:
        chosen = {aspect for choice in self.choices for aspect in choice.weights}
        specific = tuple(name for name in self.aspects if name != GENERAL)
        general = (GENERAL,) if GENERAL in chosen or GENERAL in self.aspects else ()
        object.__setattr__(self, "aspects", specific + general)
        check_names(self.aspects)
        unknown = sorted(chosen - set(self.aspects))
        if unknown:
            raise MapError(
                f"Unknown aspect {', '.join(unknown)}. "
                f"Use one of {', '.join(self.aspects)}, or add it to the aspects."
            )
        numbers = [choice.topic for choice in self.choices]
        if numbers != list(range(len(numbers))):
            raise MapError(
                f"Each topic from 0 on needs one choice, in order: {what_is_wrong(numbers)}. Fix the choices."
            )

    @property
    def mapped(self) -> bool:
        """Whether any topic has an aspect; labelling needs one."""
        return any(choice.weights for choice in self.choices)

    @property
    def fingerprint(self) -> str:
        """A fingerprint of what the map says, not of who said it or when, nor of the aspects' order."""
        return self.fingerprint_of(sorted(self.aspects))

    def fingerprint_of(self, aspects: Sequence[str]) -> str:
        """Return the fingerprint for one order of the aspects."""
        more = [[getattr(choice, name) for choice in self.choices] for name in OPTIONAL]
        return rundir.fingerprint(
            self.topics,
            list(aspects),
            [choice.aspect for choice in self.choices],
            *(column for column in more if any(column)),
        )

    def means(self, mark: str, aspects: Sequence[str]) -> bool:
        """Tell whether a fingerprint is of this map; older versions made it of the aspects in their order."""
        same = set(aspects) == set(self.aspects)
        return same and mark in (self.fingerprint, self.fingerprint_of(aspects))

    def matrix(self) -> np.ndarray:
        """Return K×A, float32, rows that sum to 1 or less; the row of an unmapped topic is all zero."""
        column = {aspect: number for number, aspect in enumerate(self.aspects)}
        result = np.zeros((len(self.choices), len(self.aspects)), dtype=np.float32)
        for choice in self.choices:
            for aspect, weight in choice.weights.items():
                result[choice.topic, column[aspect]] = weight
        return result

    def not_reviews(self) -> np.ndarray:
        """Tell which topics (K) are no reviews: code, spam, other languages."""
        return np.array([choice.aspect == NOT_REVIEW for choice in self.choices], dtype=bool)

    def with_choice(self, topic: int, aspect: str | None, by: str, why: str = "") -> Self:
        """Return a copy in which a person, or the suggestion, has now chosen the aspect of one topic."""
        if not 0 <= topic < len(self.choices):
            raise MapError(f"No topic {topic}: there are topics 0 to {len(self.choices) - 1}.")
        chosen = Choice(topic, aspect, self.choices[topic].keywords, by, now(), why)
        return dataclasses.replace(self, choices=(*self.choices[:topic], chosen, *self.choices[topic + 1 :]))

    def accepted(self, by: str) -> Self:
        """Return a copy in which a person has accepted every aspect that is only suggested."""
        result = self
        for choice in self.choices:
            if choice.aspect is not None and not choice.by_person:
                result = result.with_choice(choice.topic, choice.aspect, by)
        return result

    def to_dict(self) -> dict[str, Any]:
        choices = [choice.to_dict() for choice in self.choices]
        needs_2 = any(one.shares or one.labelled or one.aspect == NOT_REVIEW for one in self.choices)
        version = VERSION if needs_2 else 1
        return {"version": version, "topics": self.topics, "aspects": list(self.aspects), "choices": choices}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        if isinstance(values, dict) and values.get("version", VERSION) not in range(1, VERSION + 1):
            raise MapError(
                f"The topic map has version {values['version']!r}, this program reads 1 to {VERSION}. "
                "Update aspectra."
            )
        check_keys(values, {"version", "topics", "aspects", "choices"}, "A topic map")
        check_types(values, {"topics": str, "aspects": list, "choices": list})
        check_unicode(values)
        choices = tuple(Choice.from_dict(choice) for choice in values["choices"])
        return cls(aspects=tuple(values["aspects"]), choices=choices, topics=values["topics"])


def check_keys(values: Any, expected: set[str], what: str) -> None:
    if not isinstance(values, dict) or set(values) != expected:
        found = sorted(values) if isinstance(values, dict) else type(values).__name__
        raise MapError(f"{what} must have exactly {', '.join(sorted(expected))}; found {found}.")


def check_types(values: dict[str, Any], types: dict[str, Any]) -> None:
    for name, kind in types.items():
        if not isinstance(values[name], kind) or isinstance(values[name], bool):
            raise MapError(f"{name} of a topic map has the wrong type: {values[name]!r}.")


def read_numbers(name: str, values: Any, topic: int) -> tuple[tuple[str, float], ...]:
    """Read {aspect: number}."""
    most = OPTIONAL[name]
    if not isinstance(values, dict) or not all(
        isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= most
        for weight in values.values()
    ):
        raise MapError(
            f"The {name} of topic {topic} must be aspects with numbers above 0, up to {most}, got {values!r}."
        )
    return tuple((aspect, float(weight)) for aspect, weight in values.items())


def check_unicode(values: Any) -> None:
    """Raise MapError if a text has half of a character, which JSON can write but no file can hold."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise MapError(f"A text has half of a character in it: {error.object[error.start]!r}.") from None


def check_time(at: str) -> None:
    try:
        known_zone = datetime.fromisoformat(at).tzinfo is not None
    except ValueError:
        known_zone = False
    if not known_zone:
        raise MapError(f"at must be a time such as {now()}, got {at!r}.")


def what_is_wrong(numbers: list[int]) -> str:
    expected, counts = range(len(numbers)), Counter(numbers)
    twice = sorted(number for number, count in counts.items() if count > 1)
    missing = [number for number in expected if number not in counts]
    beyond = sorted(number for number in counts if number not in expected)
    faults = ("twice", twice), ("missing", missing), ("found", beyond)
    said = [f"{fault} {shorten(topics)}" for fault, topics in faults if topics]
    return "; ".join(said) or f"found {shorten(numbers)}"


def shorten(numbers: list[int]) -> str:
    return ", ".join(str(number)[:20] for number in numbers[:5]) + (", …" if len(numbers) > 5 else "")


def read_map(path: Path, expected_topics: str | None = None, n_topics: int | None = None) -> TopicMap:
    """Read a topic map; refuse one for topics with another fingerprint, or for another number of topics."""
    try:
        values = json.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        raise MapError(
            f"No topic map in {path.parent}. Map the topics first: aspectra map {typed(path.parent)}"
        ) from error
    except OSError as error:
        raise MapError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, or a number of 5,000 digits
        raise MapError(
            f"{path} is not JSON: {error}. Fix it, copy an earlier version from "
            f"{rundir.history_folder(path)}, or start again: aspectra map {typed(path.parent)} --replace"
        ) from error
    try:
        topic_map = TopicMap.from_dict(values)
    except MapError as error:
        raise MapError(f"{path}: {error}") from error
    if expected_topics is not None and topic_map.topics != expected_topics:
        raise MapError(
            f"{path} was made for other topics. Map them again: aspectra map {typed(path.parent)} --replace"
        )
    if n_topics is not None and len(topic_map.choices) != n_topics:
        raise MapError(
            f"{path} has {len(topic_map.choices)} choices, but there are {n_topics} topics. "
            f"Copy an earlier version from {rundir.history_folder(path)}, "
            f"or start again: aspectra map {typed(path.parent)} --replace"
        )
    return topic_map


def write_map(path: Path, topic_map: TopicMap) -> None:
    """Replace the map in one step and keep the version before it in map-history/; skip if nothing changed."""
    data = (json.dumps(topic_map.to_dict(), ensure_ascii=False, indent=2) + "\n").encode()
    rundir.replace_and_keep(path, data)


def merge(old: TopicMap | None, new: TopicMap, replace: bool = False) -> TopicMap:
    """Return the new map with what a person chose in the old one kept, unless told to replace it.

    A choice that is the same as before keeps its time; aspects that only kept choices use are added.
    """
    if old is None or replace:
        return new
    if old.topics != new.topics:
        raise MapError("The topic map was made for other topics. Map them again with --replace.")
    spelling = {name.casefold(): name for name in new.aspects}
    kept = [respell(choice, spelling) for choice in old.choices]
    choices = tuple(
        before if stays(before, after) else after for before, after in zip(kept, new.choices, strict=True)
    )
    used = (aspect for choice in choices for aspect in choice.weights)
    added = {aspect: None for aspect in used if aspect not in new.aspects}
    return TopicMap(aspects=(*new.aspects, *added), choices=choices, topics=new.topics)


def respell(choice: Choice, spelling: dict[str, str]) -> Choice:
    def new(aspect: str) -> str:
        return spelling.get(aspect.casefold(), aspect)

    return dataclasses.replace(
        choice,
        aspect=None if choice.aspect is None else new(choice.aspect),
        shares=tuple((new(aspect), weight) for aspect, weight in choice.shares),
        labelled=tuple((new(aspect), count) for aspect, count in choice.labelled),
    )


def stays(before: Choice, after: Choice) -> bool:
    return before.by_person or dataclasses.replace(before, at=after.at) == after
