"""Open the studio on a run: find the map to continue with, or start one, and suggest its open topics.

A choice carried over from another run, or suggested in the map's file, comes before a new suggestion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aspectra import disk
from aspectra.aspects.aspects import Aspect, aspects_of_run, check_new_names, described
from aspectra.aspects.names_sample import NamesSample, find_encoder
from aspectra.config import BUNDLED, GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import MapError, typed
from aspectra.progress import StageProgress, unseen
from aspectra.scores import Gold
from aspectra.studio.actions import follow
from aspectra.studio.session import Session
from aspectra.studio.state import MapState
from aspectra.studio.studio import Studio
from aspectra.studio.suggester import PageSuggester
from aspectra.studio.topic_card import draw_sample
from aspectra.topicmap import agree
from aspectra.topicmap.carry import N_SEGMENTS, RunTopics, carry_over
from aspectra.topicmap.labels import all_labels, given_labels, keep_labels, take_over
from aspectra.topicmap.notes import notes_on_carried
from aspectra.topicmap.topicmap import SUGGESTION, Choice, Suggestion, TopicMap, now, read_map

LABELS_TO_SUGGEST = 50
"""From this many labels in the run on, suggestions are made from them."""


@dataclass(frozen=True)
class Opening:
    """How the studio is asked for; `old` is the run to carry choices over from."""

    by: str
    aspects: Sequence[str | Aspect] = ()
    dev: Path | None = None
    old: Path | None = None
    annotator: str | None = None
    read_only: bool = False
    replace: bool = False
    encoder: str = BUNDLED


def open_studio(run: Path, opening: Opening, progress: StageProgress = unseen) -> Studio:
    """Load the run and its map, or start a map."""
    detector = AspectDetector.load(run, with_map=False)
    path = agree.map_path(run, opening.annotator)
    if opening.read_only and not path.exists():
        raise MapError(f"There is no {path} to read. Make one first: aspectra map {typed(run)}")
    others = agree.read_other_maps(
        run, detector.topics_.fingerprint, opening.annotator, len(detector.topics_.items)
    )
    gold = given_labels(opening.dev)
    topic_map, fixed = first_map(detector, path, opening, others, gold)
    if not opening.read_only:
        keep_told(run, opening, gold)
    learnt_from = gold or own_gold(run)
    note = ""

    @lru_cache(1)
    def sample() -> NamesSample:
        nonlocal note
        encoder, note = find_encoder(opening.encoder, detector.language)
        return detector.fitted_.names_sample(encoder, progress)

    if not (learnt_from or opening.read_only):
        sample()  # now, while a progress bar can be seen
    made_for = None if opening.old else {*topic_map.aspects, GENERAL}
    if learnt_from and not opening.old:
        fixed = ()  # labels say more than what the file suggests
    suggester = PageSuggester(detector, sample, learnt_from, fixed, made_for)
    state = MapState.of(topic_map, wanted_aspects(run, topic_map, opening))
    if not opening.read_only:
        state = follow(state, suggester)
    is_new = not path.exists() or opening.replace
    session = Session(path, state, opening.annotator or opening.by, opening.read_only)
    if is_new and any(choice.by_person for choice in topic_map.choices):
        with session.locked():
            session.save()  # what was carried over is there even if the page is closed at once
    lost = notes_on_carried(topic_map) if opening.old else []
    session.notice = session.notice or " ".join(filter(None, [note, *lost]))
    studio = Studio(detector, session, suggester, others)
    if gold:
        studio.use_dev(gold)
    else:
        studio.use_own_labels()
    return studio


def keep_told(run: Path, opening: Opening, gold: Gold | None) -> None:
    """Keep in the run what it takes over from another, and labels; an annotator's are not the run's."""
    with disk.locked(run, "map"):
        if opening.old:
            take_over(opening.old, run)
        if gold and opening.annotator is None:
            keep_labels(run, gold)


def first_map(
    detector: AspectDetector, path: Path, opening: Opening, others: dict[str, TopicMap], gold: Gold | None
) -> tuple[TopicMap, Sequence[Suggestion]]:
    """Return the map to begin with, and suggestions that come before new ones."""
    names = tuple(one if isinstance(one, str) else one.name for one in opening.aspects)
    if not names and gold:
        names = tuple(sorted(set().union(*gold.aspects)))
        check_new_names(names)
    carried, suggestions = carry(detector, opening.old) if opening.old else (None, [])
    if path.exists() and not opening.replace:
        found = read_map(path, detector.topics_.fingerprint, len(detector.topics_.items))
        return with_aspects(found, names), suggestions if names or suggestions else suggested_in(found)
    if carried:
        return with_aspects(carried, names), suggestions
    if len(others) > 1 and opening.annotator is None:
        return with_aspects(agree.agreed(others), names), []
    at = now()
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, at) for item in detector.topics_.items)
    aspects = names or aspects_of(others)
    return TopicMap(tuple(aspects), choices, detector.topics_.fingerprint), []


def wanted_aspects(run: Path, topic_map: TopicMap, opening: Opening) -> tuple[Aspect, ...]:
    """Return what is said of the map's aspects: as asked for, or else in the run's aspects.toml."""
    asked = (one for one in opening.aspects if isinstance(one, Aspect))
    return described(topic_map.aspects, (*aspects_of_run(run), *asked))


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
        Suggestion(choice.topic, choice.aspect, "ambiguous", 0.5, choice.why, choice.shares, choice.labelled)
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
    matrix = detector.teacher_.topics
    beta = detector.topic_probabilities(list(texts))
    return RunTopics(detector.topics_, detector.vectors_, matrix, beta)


def own_gold(run: Path) -> Gold | None:
    """Return the labels that the run keeps, once there are enough to suggest from."""
    labels = all_labels(run)
    return labels if labels and len(labels.texts) >= LABELS_TO_SUGGEST else None
