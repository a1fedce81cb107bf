"""Open the studio on a run: find the map to continue with, or start one, and suggest its open topics.

A choice carried over from another run, or suggested in the map's file, comes before a new suggestion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.scores import Gold, read_gold
from aspectra.studio.actions import follow
from aspectra.studio.evidence import draw_sample
from aspectra.studio.session import Session
from aspectra.studio.state import MapState
from aspectra.studio.studio import Studio, read_labels
from aspectra.topicmap import agree
from aspectra.topicmap.by_labels import LabelledSegments
from aspectra.topicmap.carry import N_SEGMENTS, RunTopics, carry_over
from aspectra.topicmap.suggest import suggest
from aspectra.topicmap.topicmap import SUGGESTION, Choice, Suggestion, TopicMap, now, read_map

LABELS_TO_SUGGEST = 50
"""From this many labels given on the page on, suggestions are made from them."""


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


class PageSuggester:
    """Suggests an aspect per topic for a `MapState`, under the aspects' present names.

    Suggestions are made for the aspects' first names, so renaming an aspect changes none. Those for the last
    sets of aspects are kept. `fixed` ones come before those made here.
    """

    def __init__(
        self,
        detector: AspectDetector,
        seeds: dict[str, list[str]] | None,
        gold: Gold | None,
        fixed: Iterable[Suggestion] = (),
    ) -> None:
        labelled = None
        if gold:
            labelled = LabelledSegments(detector.topic_probabilities(list(gold.texts)), gold.aspects)
        self.fixed = {one.topic: one for one in fixed}

        @lru_cache(16)
        def suggest_for(names: tuple[str, ...]) -> list[Suggestion]:
            return suggest(
                detector.topics_, detector.vectors_, names, seeds, labelled, detector.seed, strict=False
            )

        self.suggest_for = suggest_for

    def __call__(self, state: MapState) -> list[Suggestion]:
        first = state.first_names()
        present = {name: now for now, name in first.items()}
        made = self.suggest_for(tuple(first[name] for name in state.topic_map.aspects if name != GENERAL))
        result = []
        for new in made:
            one = self.fixed.get(new.topic, new)
            if one.aspect is not None and one.aspect not in present:  # the aspect was deleted
                one = new
            aspect = None if one.aspect is None else present.get(one.aspect)
            result.append(dataclasses.replace(one, aspect=aspect))
        return result


def open_studio(run: Path, opening: Opening) -> Studio:
    """Load the run and its map, or start a map."""
    detector = AspectDetector.load(run, with_map=False)
    path = agree.map_path(run, opening.annotator)
    if opening.read_only and not path.exists():
        raise MapError(f"There is no {path} to read. Make one first: aspectra map {run}")
    others = agree.read_other_maps(run, detector.topics_.fingerprint, opening.annotator)
    gold = read_gold(opening.dev) if opening.dev else None
    topic_map, fixed = first_map(detector, path, opening, others, gold)
    suggester = PageSuggester(detector, opening.seeds, gold or own_gold(run), fixed)
    state = MapState.of(topic_map)
    if not opening.read_only:
        state = follow(state, suggester)
    is_new = not path.exists() or opening.replace
    session = Session(path, state, opening.annotator or opening.by, opening.read_only)
    if is_new and any(choice.by_person for choice in topic_map.choices):
        with session.locked():
            session.save()  # what was carried over is there even if the page is closed at once
    studio = Studio(detector, session, suggester, others)
    if gold:
        studio.use_dev(gold)
    else:
        studio.use_own_labels()
    return studio


def first_map(
    detector: AspectDetector, path: Path, opening: Opening, others: dict[str, TopicMap], gold: Gold | None
) -> tuple[TopicMap, Sequence[Suggestion]]:
    """Return the map to begin with, and suggestions that come before new ones."""
    names = opening.aspects or tuple(opening.seeds or ())
    if not names and gold:
        names = tuple(sorted(set().union(*gold.aspects)))
    carried, suggestions = carry(detector, opening.old) if opening.old else (None, [])
    if path.exists() and not opening.replace:
        found = read_map(path, detector.topics_.fingerprint)
        return with_aspects(found, names), suggestions if names or suggestions else suggested_in(found)
    if carried:
        return with_aspects(carried, names), suggestions
    if len(others) > 1 and opening.annotator is None:
        return with_aspects(agree.agreed(others), names), []
    at = now()
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, at) for item in detector.topics_.items)
    aspects = names or aspects_of(others)
    return TopicMap(tuple(aspects), choices, detector.topics_.fingerprint), []


def with_aspects(topic_map: TopicMap, names: Sequence[str]) -> TopicMap:
    """Add the names that a map lacks."""
    known = {name.casefold() for name in topic_map.aspects}
    added = (name for name in names if name.casefold() not in known)
    return dataclasses.replace(topic_map, aspects=(*topic_map.aspects, *added))


def aspects_of(others: dict[str, TopicMap]) -> list[str]:
    """Return the aspects in other people's maps, so that a new map can be compared with them."""
    names = (name for topic_map in others.values() for name in topic_map.aspects)
    return list(dict.fromkeys(name for name in names if name != GENERAL))


def suggested_in(topic_map: TopicMap) -> list[Suggestion]:
    """Return what the map's file suggests for its open topics."""
    return [
        Suggestion(choice.topic, choice.aspect, "clear" if choice.aspect else "ambiguous", 0.5, choice.why)
        for choice in topic_map.choices
        if not choice.by_person and choice.why
    ]


def carry(detector: AspectDetector, old_run: Path) -> tuple[TopicMap, list[Suggestion]]:
    """Carry the map of another run over to the topics of this one."""
    old = AspectDetector.load(old_run)
    if old.fitted_.topic_map is None:
        raise MapError(f"No topic map in {old_run} to carry over.")
    texts = draw_sample(detector, N_SEGMENTS, detector.seed).texts
    return carry_over(old.topic_map_, run_topics(old, texts), run_topics(detector, texts))


def run_topics(detector: AspectDetector, texts: Sequence[str]) -> RunTopics:
    matrix = detector.teacher_.topics.detach().numpy()
    beta = detector.topic_probabilities(list(texts))
    return RunTopics(detector.topics_, detector.vectors_, matrix, beta)


def own_gold(run: Path) -> Gold | None:
    """Return the labels given on the page before, once there are enough to suggest from."""
    labels = read_labels(run)
    if len(labels) < LABELS_TO_SUGGEST:
        return None
    texts, names = zip(*labels, strict=True)
    return Gold(texts, tuple(frozenset([name]) for name in names))
