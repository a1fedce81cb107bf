"""How far the labels can be trusted: scores on gold segments, coherence of the topics, who made the map, settings, fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.evaluate import Grade, SegmentLabeller, grade, read_gold
from aspectra.report.labels import Labels
from aspectra.report.origin import Origin
from aspectra.rundir import checksum
from aspectra.topicmap.topicmap import UNMAPPED, TopicMap

MODELS = {
    "teacher": "the teacher",
    "student": "teacher and student together",
    None: "a model or map that this run no longer has",
}


@dataclass(frozen=True)
class Author:
    """Who decided how many topics, from when to when (ISO dates)."""

    name: str
    topics: int
    first: str
    last: str


@dataclass(frozen=True)
class TopicLine:
    """`share` is of the segments in the label file."""

    id: int
    keywords: tuple[str, ...]
    aspect: str
    coherence: float
    share: float


@dataclass(frozen=True)
class Quality:
    """`grade` is on the file `gold`; `estimate` is the student's own, cross-validated on the labels it learnt from."""

    model: str
    grade: Grade | None
    gold: str | None
    estimate: dict[str, float]
    topics: tuple[TopicLine, ...]
    authors: tuple[Author, ...]
    settings: dict[str, object]
    fingerprints: dict[str, str]


def authors(topic_map: TopicMap) -> tuple[Author, ...]:
    names = dict.fromkeys(choice.by for choice in topic_map.choices)
    times = {
        name: sorted(choice.at[:10] for choice in topic_map.choices if choice.by == name) for name in names
    }
    return tuple(
        Author(name, len(at), at[0], at[-1])
        for name, at in sorted(times.items(), key=lambda item: -len(item[1]))
    )


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
    topic_shares: list[float],
) -> Quality:
    """Gather what is known; gold segments are labelled by the model that made the labels."""
    labeller: SegmentLabeller = detector
    estimate: dict[str, float] = {}
    if origin.model == "student":
        from aspectra.labelling.labeller import load_student

        both = load_student(run)
        labeller, estimate = both, both.student.card.estimate
    if gold is not None and origin.model is None:
        raise MapError(f"{origin.note} Otherwise {gold} would tell about other labels than these.")
    prints = {
        "reviews and segments": detector.marks_["prepare"],
        "topics": detector.topics_.fingerprint,
        "label file": checksum(labels.path)[:16],
    }
    return Quality(
        MODELS[origin.model],
        grade(labeller, read_gold(gold)) if gold else None,
        gold.name if gold else None,
        dict(estimate),
        topic_lines(detector, topic_shares),
        authors(detector.topic_map_),
        dict(detector.config.to_dict()),
        prints,
    )
