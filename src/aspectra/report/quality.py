"""How far the labels can be trusted: the model that made them, scores on gold segments, the map's authors.

The model is found by labelling some segments of the file again. Labels of another run are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.config import UNMAPPED
from aspectra.errors import InputError, MapError, RunError, typed
from aspectra.labelling.evaluate import Grade, grade
from aspectra.labelling.labeller import BothLabeller, StudentLabeller, TeacherLabeller, open_labeller
from aspectra.report.read import Labels
from aspectra.rundir import checksum, has_fast
from aspectra.scores import read_gold
from aspectra.topicmap.topicmap import TopicMap

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

CHECKED = 400
SAME = 0.9
"""So many of the checked segments must agree; rounding, also of an export's weights, changes a few."""
SAME_PROBABILITY = 0.02
MODELS = {
    "teacher": "the teacher",
    "fast": "the fast student",
    "encoder": "teacher and student together",
    None: "a model or map that this run no longer has",
}
ALONE = "the student"
FOR_THE_MAKER = "Left out of the run's labels"
"""So starts a note that tells the readers of a report nothing."""


@dataclass(frozen=True)
class Origin:
    """`model` is what made the labels, as `load` names it, or None if nothing that the run has now."""

    model: str | None
    note: str = ""


@dataclass(frozen=True)
class Author:
    """Who decided how many topics, from when to when (ISO dates)."""

    name: str
    topics: int
    first: str
    last: str


@dataclass(frozen=True)
class TopicLine:
    """A topic and the aspect that it is mapped to; `share` is its share of the label file's segments."""

    id: int
    keywords: tuple[str, ...]
    aspect: str
    coherence: float
    share: float


@dataclass(frozen=True)
class Quality:
    """`grade` has the scores on the file `gold`; `estimate` are the student's, found by cross-validation.

    `notes` say of which aspects nothing speaks.
    """

    model: str
    grade: Grade | None
    gold: str | None
    estimate: dict[str, float]
    topics: tuple[TopicLine, ...]
    authors: tuple[Author, ...]
    settings: dict[str, object]
    fingerprints: dict[str, str]
    notes: tuple[str, ...] = ()


def find_origin(labels: Labels, detector: AspectDetector, run: Path | None = None) -> Origin:
    """Find the model by labelling some segments again; refuse the labels of another run.

    `run` is the run's folder if it has a student.
    """
    names = detector.fitted_.the_map().aspects
    if set(labels.aspects) != set(names):
        raise InputError(
            f"{labels.path} was labelled with other aspects ({', '.join(labels.aspects)}) than this run's "
            f"map has now ({', '.join(names)}). Label the reviews again, or give the run that made the file."
        )
    known = labels.frame.filter(pl.col("known_words") > 0)["row"]
    rows = known.gather_every(max(1, len(known) // CHECKED))
    chosen = labels.rows.filter(pl.col("row").is_in(rows.implode()))
    there = labels.collect(chosen.select("text", "topic", "probability"))
    if there.is_empty():
        return Origin("teacher")
    again = TeacherLabeller(detector.fitted_).label_segments(there["text"])
    same = float((there["topic"] == again["topic"]).fill_null(False).to_numpy().mean())
    if same < SAME:
        raise InputError(
            f"{labels.path} was not labelled with this run: of {len(there)} segments checked only {same:.0%} "
            "have the topic that the run finds. Give the run that made the file, or label the reviews again."
        )
    if run is not None and has_fast(run):  # asked first: `label` takes it, and on few segments both may agree
        try:
            fast = open_labeller(detector.fitted_, run, "fast")
        except RunError:  # older than the map, or damaged: it did not make these labels
            run = None
        else:
            if as_probable(there, fast.label_segments(there["text"])):
                return Origin("fast")
    if as_probable(there, again):
        return Origin("teacher")
    if run is not None:
        return Origin("encoder")
    changed = f"The topic map has changed since {labels.path.name} was labelled. Label the reviews again."
    return Origin(None, changed)


def as_probable(there: pl.DataFrame, again: pl.DataFrame) -> bool:
    """Tell whether two label tables of the same segments have nearly the same probabilities."""
    apart = np.abs(there["probability"].to_numpy() - again["probability"].to_numpy())
    return bool((apart < SAME_PROBABILITY).mean() >= SAME)


def map_authors(topic_map: TopicMap) -> tuple[Author, ...]:
    """List who made the map, the one with most topics first."""
    times: dict[str, list[str]] = {}
    for choice in topic_map.choices:
        times.setdefault(choice.by, []).append(choice.at[:10])
    found = sorted(times.items(), key=lambda item: -len(item[1]))
    return tuple(Author(name, len(days), min(days), max(days)) for name, days in found)


def topic_lines(detector: AspectDetector, shares: list[float]) -> tuple[TopicLine, ...]:
    aspects = [choice.aspect or UNMAPPED for choice in detector.topic_map_.choices]
    lines = [
        TopicLine(item.id, item.keywords, aspects[item.id], item.coherence, shares[item.id])
        for item in detector.topics_.items
    ]
    return tuple(sorted(lines, key=lambda line: -line.share))


def assess(
    labels: Labels,
    detector: AspectDetector,
    run: Path,
    origin: Origin,
    gold: Path | None,
    shares: list[float],
) -> Quality:
    """Score the model that made the labels on the gold segments, and collect what else is known about it.

    `shares` are the topics' shares of the segments.
    """
    if gold is not None and origin.model is None:
        raise MapError(f"{origin.note} Until then {gold} cannot tell how good these labels are.")
    labeller = open_labeller(detector.fitted_, run, origin.model or "teacher")
    estimate: dict[str, float] = {}
    made_by, notes = MODELS[origin.model], without_topic(detector.topic_map_, run)
    segments = read_gold(gold) if gold else None
    if isinstance(labeller, BothLabeller):
        learnt = labeller.card.note_on(segments.texts) if segments else ""
        kept = (note for note in labeller.notes if not note.startswith(FOR_THE_MAKER))
        notes = (*kept, *([learnt] if learnt else []))
    if isinstance(labeller, StudentLabeller):
        estimate = labeller.card.estimate
        made_by = made_by if labeller.teacher_weight else ALONE
    fingerprints = {
        "reviews and segments": detector.fitted_.fingerprints["prepare"],
        "topics": detector.topics_.fingerprint,
        "label file": checksum(labels.path)[:16],
    }
    return Quality(
        made_by,
        grade(labeller, segments) if segments else None,
        gold.name if gold else None,
        dict(estimate),
        topic_lines(detector, shares),
        map_authors(detector.topic_map_),
        dict(detector.config.to_dict()),
        fingerprints,
        tuple(notes),
    )


def without_topic(topic_map: TopicMap, run: Path) -> tuple[str, ...]:
    """Say which aspects the teacher never answers, because no topic has them."""
    used = {aspect for choice in topic_map.choices for aspect in choice.weights}
    return tuple(
        f"Nothing speaks of {aspect}: no topic has it. Give it one (aspectra map {typed(run)} --page), "
        f"or label with a student (aspectra distill {typed(run)})."
        for aspect in topic_map.aspects
        if aspect not in used
    )
