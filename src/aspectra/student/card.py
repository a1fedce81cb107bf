"""What a student was made from and what it can do: config.json, and a model card (README.md) for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from aspectra import __version__, disk, rundir
from aspectra.aspects.aspects import aspects_of_run, described, fingerprint
from aspectra.config import StudentConfig
from aspectra.errors import ConfigError, MapError, RunError, StaleError, VersionError, quantity, typed
from aspectra.fitting import Fitted
from aspectra.topicmap.calibrate import SEVERAL_FROM
from aspectra.topicmap.topicmap import TopicMap

Made = TypeVar("Made")

FORMAT = 1
FORMER = {
    "encoder": "encoder_fingerprint",
    "reviews": "reviews_fingerprint",
    "topic_map": "topic_map_fingerprint",
    "leaning": "logit_shift",
}
"""Former names of fields: files of older versions can still be read."""
NOT_FIELDS = {"format", "version", "weights", "fast", rundir.CHECKSUM, "labels_fingerprint"}
"""What else is in the file; the last is of older versions."""
FEW_LABELS = 50
"""Scores on fewer labels are mostly chance."""
KINDS = {
    "aspects": [str], "config": {}, "teacher_weight": float, "encoder_fingerprint": str,
    "reviews_fingerprint": str, "topic_map_fingerprint": str, "learnt": {},
}  # fmt: skip
"""What a card must hold; the rest has defaults."""


@dataclass(frozen=True)
class Card:
    """`learnt` counts segments per aspect; `logit_shift` is what dev added to each aspect's logit.

    `choice` and `estimate` tell how labels were used and which scores to expect, `without_labels` what they
    would be without them. `notes` are sentences that whoever labels should know. `aspects_fingerprint` is of
    what aspects.toml said, `label_marks` are of the labelled texts; students of older versions have none.
    An aspect beside the answer counts if it is as probable as `several_from`.
    """

    aspects: tuple[str, ...]
    config: StudentConfig
    teacher_weight: float
    encoder_fingerprint: str
    reviews_fingerprint: str
    topic_map_fingerprint: str
    learnt: dict[str, int]
    logit_shift: dict[str, float] = field(default_factory=dict)
    choice: str = "teacher"
    n_labels: int = 0
    estimate: dict[str, float] = field(default_factory=dict)
    without_labels: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    aspects_fingerprint: str = ""
    several_from: float = SEVERAL_FROM
    label_marks: tuple[str, ...] = ()

    @classmethod
    def new(cls, fitted: Fitted, config: StudentConfig) -> Self:
        """Start a card for a student of this map."""
        topic_map = fitted.the_map()
        if len(topic_map.aspects) < 2:
            raise MapError(
                f"The topic map has the single aspect {topic_map.aspects[0]}: there is nothing to tell "
                "apart. Map another aspect."
            )
        return cls(
            topic_map.aspects,
            config,
            config.teacher_weight if config.head == "attention" else 0.0,
            encoder_fingerprint="",
            reviews_fingerprint=fitted.fingerprints["prepare"],
            topic_map_fingerprint=topic_map.fingerprint,
            learnt={},
        )

    def save(self, home: Path, topic_map: TopicMap) -> None:
        """Write the model card and, as the student is then complete, config.json with checksums."""
        disk.write_atomic(home / rundir.CARD, self.markdown(topic_map).encode())
        values = {**self.to_dict(), "weights": rundir.checksum(home / rundir.HEAD)}
        if (home / rundir.FAST).exists():
            values["fast"] = rundir.checksum(home / rundir.FAST)
        rundir.write_json(home / rundir.CONFIG, {**values, rundir.CHECKSUM: rundir.own_checksum(values)})

    @classmethod
    def load(cls, home: Path) -> Self:
        """Read config.json; refuse it if the head is not the one that it was written for."""
        if not (home / rundir.CONFIG).exists():
            raise RunError(f"No student in {home}. Make it first: aspectra distill {typed(home.parent)}")
        values = rundir.read_json(home / rundir.CONFIG)
        card = cls.from_dict(values, home / rundir.CONFIG)
        head = home / rundir.HEAD
        if not head.is_file() or rundir.checksum(head) != values.get("weights"):
            raise RunError(f"{home / rundir.HEAD} is missing or damaged. {again(home)}")
        return card

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": __version__, **asdict(self), "aspects": list(self.aspects)}

    @classmethod
    def from_dict(cls, values: dict[str, Any], place: Path) -> Self:
        if values.get("format") != FORMAT:
            raise VersionError(
                f"{place} has format {values.get('format')}, this version reads {FORMAT}. "
                f"{again(place.parent)}"
            )
        known = {FORMER.get(name, name): value for name, value in values.items() if name not in NOT_FIELDS}
        fault = rundir.find_fault(known, KINDS)
        if not fault and not 0 <= known["teacher_weight"] <= 1:
            fault = f"teacher_weight is {known['teacher_weight']}, not from 0 to 1"
        own = rundir.own_checksum(values)
        if not fault and values.get(rundir.CHECKSUM, own) != own:
            fault = "it was edited"
        if fault:
            raise RunError(f"{place} is damaged ({fault}). {again(place.parent)}")
        try:
            return cls(
                **{
                    **known,
                    "aspects": tuple(known["aspects"]),
                    "notes": tuple(known.get("notes", ())),
                    "label_marks": tuple(known.get("label_marks", ())),
                    "config": StudentConfig.from_dict(known["config"]),
                }
            )
        except (TypeError, KeyError, ConfigError) as error:
            raise RunError(f"{place} is damaged ({error}). {again(place.parent)}") from None

    def markdown(self, topic_map: TopicMap) -> str:
        """Write the model card."""
        total = max(1, sum(self.learnt.values()))
        rows = "\n".join(
            f"| {aspect} | {self.learnt.get(aspect, 0):,} | {self.learnt.get(aspect, 0) / total:.1%} |"
            for aspect in self.aspects
        )
        topics = "\n".join(
            f"| {choice.topic} | {choice.aspect or 'unmapped'} | {' '.join(choice.keywords)} |"
            for choice in topic_map.choices
        )
        settings = "\n".join(f"| {name} | {value} |" for name, value in asdict(self.config).items())
        return CARD.format(
            version=__version__,
            encoder_fingerprint=self.encoder_fingerprint,
            reviews_fingerprint=self.reviews_fingerprint,
            rows=rows,
            topics=topics,
            settings=settings,
            made=MADE[self.config.head].format(
                encoder=self.config.encoder if self.encoder_fingerprint else "none",
                weight=self.teacher_weight,
            ),
            shifts=self.shifts_text(),
            labels=self.labels_text(),
            notes="".join(f"{note}\n\n" for note in self.notes),
        )

    def shifts_text(self) -> str:
        """Say what labelled segments added to the aspects' scores, if they did."""
        shifts = ", ".join(f"{aspect} {value:+.2f}" for aspect, value in self.logit_shift.items() if value)
        return f"Labelled segments changed the scores (log-odds): {shifts}.\n" if shifts else ""

    def note_on(self, texts: Sequence[str]) -> str:
        """Say so if the student learnt from some of these texts, on which it is to be scored; else ""."""
        marks = set(self.label_marks)
        known = sum(mark(text) in marks for text in texts)
        if not known:
            return ""
        which = "these" if known == len(texts) else f"{known:,} of these"
        learnt = f"The student learnt from {which} gold segments, so its score on them is too high."
        return f"{learnt} {self.labels_text()}"

    def labels_text(self) -> str:
        if not self.n_labels:
            return (
                "No labelled segments were given; the scores are unknown. "
                "Measure them: aspectra evaluate RUN gold.jsonl"
            )
        were = "was" if self.n_labels == 1 else "were"
        given = f"{quantity(self.n_labels, 'labelled segment')} {were} given."
        told = f"{given} {USED[self.choice]}"
        if not self.estimate:
            return f"{told} They are too few to estimate its F1."
        few = f" Fewer than {FEW_LABELS} say little." if self.n_labels < FEW_LABELS else ""
        if written(self.estimate) == written(self.without_labels):
            same = "They changed nothing that can be measured: cross-validated on them, the student has"
            same = f"{same} {written(self.estimate)} with and without them.{few}"
            return f"{given} {same} {USED[self.choice]}"
        without = f" (without them: {written(self.without_labels)})" if self.without_labels else ""
        return (
            f"{told} Cross-validated on these labels: {written(self.estimate)}{without}. "
            f"Expect this on new segments only if the labelled ones were drawn at random.{few}"
        )


def again(home: Path) -> str:
    """Say what makes the student of this folder anew."""
    return f"Distil again: aspectra distill {typed(home.parent)}"


def mark(text: str) -> str:
    """Return what tells a labelled text from others."""
    return rundir.fingerprint(text)[:12]


def check_aspects(run: Path, card: Card) -> None:
    """Refuse a student if aspects.toml now says something else of its aspects."""
    now = fingerprint(described(card.aspects, aspects_of_run(run)))
    if card.aspects_fingerprint not in ("", now):
        raise StaleError(
            f"{run / rundir.ASPECTS} has changed since the student was made. "
            f"{again(run / rundir.STUDENT)}, or label with --model teacher."
        )


def read_complete(home: Path, read: Callable[[], Made]) -> Made:
    """Read a student; if its files do not fit together, once more when no distill is replacing them."""
    try:
        return read()
    except RunError:
        if not os.access(home, os.W_OK):
            raise
        with disk.locked(home, "distill"):
            return read()


def written(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1%}" for name, value in scores.items())


USED = {
    "both": "The classifier learnt from the teacher and from them.",
    "names": "The classifier learnt from the aspects' names, the map and them.",
    "page": "They were labelled on the mapping page. The classifier learnt from the names, the map and them.",
    "run": "They are the run's: given to map --dev, or labelled on its page. The classifier learnt from the "
    "names, the map and them.",
    "teacher": "They changed nothing: what was learnt from the teacher alone scored as well.",
    "labels": "The classifier learnt from them alone, which scored clearly better than with the teacher.",
}
"""What a card's `choice` means."""

MADE = {
    "attention": "distilled from a contrastive topic model into the encoder `{encoder}`. When it labels, the "
    "teacher's probabilities have the weight {weight:g}.",
    "linear": "learnt from the names of the aspects, what a person decided about topics, and unlabelled "
    "segments; a linear classifier on the encoder `{encoder}`, word vectors and topic probabilities.",
}
"""How a student of each kind of head was made."""

CARD = """---
library_name: aspectra
pipeline_tag: text-classification
tags: [aspect-detection, reviews]
---

# Aspect student

Labels segments of reviews with an aspect. Made by aspectra {version}: {made}

Reviews: fingerprint `{reviews_fingerprint}`. Encoder: weights `{encoder_fingerprint}`.

| aspect | segments learnt from | share |
|---|---|---|
{rows}

{shifts}{notes}## Scores

{labels}

## Limits

It is for texts of the language and kind it was made from. It repeats the errors
of its teacher and of the topic map. What only unmapped topics are about has no aspect. Fairness was not
checked.

## Topic map

| topic | aspect | keywords |
|---|---|---|
{topics}

## Settings

| setting | value |
|---|---|
{settings}
"""
