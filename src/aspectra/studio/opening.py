"""Open the studio on a run: find the map to go on from, or start one, and put suggestions, dev set and second opinions beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.evaluate import Gold, read_gold
from aspectra.studio import evidence
from aspectra.studio.actions import Desk, decided, follow
from aspectra.studio.advice import Advisor, from_file
from aspectra.studio.session import Session
from aspectra.studio.studio import OWN_DEV, Studio
from aspectra.topicmap import agree
from aspectra.topicmap.carry import COMMON, carry_over
from aspectra.topicmap.suggest import Suggestion
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now, read_map

ENOUGH_TO_SUGGEST = 50
"""With at least so many of one's own labels, suggestions are made from them."""


@dataclass(frozen=True)
class Opening:
    """How the studio is asked for; `old` is the run to carry choices over from."""

    by: str
    aspects: tuple[str, ...] = ()
    seeds: dict[str, list[str]] | None = None
    dev: Path | None = None
    old: Path | None = None
    annotator: str | None = None
    read_only: bool = False
    replace: bool = False


def open_studio(run: Path, opening: Opening) -> Studio:
    """Load the run and lay out its map."""
    detector = AspectDetector.load(run, with_map=False)
    path = agree.map_path(run, opening.annotator)
    if opening.read_only and not path.exists():
        raise MapError(f"There is no {path} to read. Make one first: aspectra map {run}")
    opinions = agree.read_opinions(run, detector.topics_.fingerprint, opening.annotator)
    gold = read_gold(opening.dev) if opening.dev else None
    topic_map, fixed = first_map(detector, path, opening, opinions, gold)
    advisor = Advisor(detector, opening.seeds, gold or own_gold(run), fixed)
    desk = Desk.of(topic_map)
    fresh = not path.exists() or opening.replace
    session = Session(
        path,
        desk if opening.read_only else follow(desk, advisor),
        opening.annotator or opening.by,
        opening.read_only,
    )
    if fresh and any(decided(choice) for choice in topic_map.choices):
        session.save()  # what was carried over is there even if the page is closed at once
    studio = Studio(detector, session, advisor, opinions)
    if gold:
        studio.use_dev(gold)
    else:
        studio.use_own_labels()
    return studio


def first_map(
    detector: AspectDetector, path: Path, opening: Opening, opinions: dict[str, TopicMap], gold: Gold | None
) -> tuple[TopicMap, Sequence[Suggestion]]:
    """Return the map to begin with and suggestions that stand before those made anew."""
    names = (
        opening.aspects or tuple(opening.seeds or ()) or (sorted(set().union(*gold.aspects)) if gold else ())
    )
    carried, advice = carry(detector, opening.old) if opening.old else (None, [])
    if path.exists() and not opening.replace:
        found = read_map(path, detector.topics_.fingerprint)
        given = bool(names or advice)
        return with_aspects(found, names), advice if given else from_file(found)
    if carried:
        return with_aspects(carried, names), advice
    if len(opinions) > 1 and opening.annotator is None:
        return with_aspects(agree.agreed(opinions), names), []
    at = now()
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, at) for item in detector.topics_.items)
    return TopicMap((*names, *shared_names(opinions, names)), choices, detector.topics_.fingerprint), []


def with_aspects(topic_map: TopicMap, names: Sequence[str]) -> TopicMap:
    """Add the names that a map lacks."""
    known = {name.casefold() for name in topic_map.aspects}
    return dataclasses.replace(
        topic_map, aspects=(*topic_map.aspects, *(name for name in names if name.casefold() not in known))
    )


def shared_names(opinions: dict[str, TopicMap], names: Sequence[str]) -> list[str]:
    """Start a second opinion from the aspects of the others, so that the maps can be compared."""
    if names:
        return []
    return list(
        dict.fromkeys(name for opinion in opinions.values() for name in opinion.aspects if name != GENERAL)
    )


def carry(detector: AspectDetector, old_run: Path) -> tuple[TopicMap, list[Suggestion]]:
    old = AspectDetector.load(old_run)
    if not hasattr(old, "topic_map_"):
        raise MapError(f"No topic map in {old_run} to carry over.")
    return carry_over(old, detector, evidence.draw_sample(detector, COMMON, detector.seed).texts)


def own_gold(run: Path) -> Gold | None:
    """Return the labels given on the page before, once there are enough to suggest from."""
    path = run / OWN_DEV
    gold = read_gold(path) if path.exists() else None
    return gold if gold and len(gold.texts) >= ENOUGH_TO_SUGGEST else None
