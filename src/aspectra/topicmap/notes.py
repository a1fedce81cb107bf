"""What a person should know of a map and its aspects, in sentences: too few topics, or none for an aspect.

aspects/notes.py has those on the aspects' names and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aspectra import rundir
from aspectra.aspects.aspects import Aspect, aspects_of_run
from aspectra.aspects.names import Learned
from aspectra.config import GENERAL
from aspectra.errors import InputError, typed
from aspectra.topicmap.topicmap import Suggestion, TopicMap, read_map

TOPICS_PER_ASPECT = 3
"""With fewer topics than this for each aspect, aspects are hard to tell apart."""


def notes_on_number(aspects: Sequence[Aspect], n_topics: int) -> list[str]:
    """Say whether there are too few topics to tell the aspects apart, or nothing to tell one apart from."""
    if len(aspects) == 1:
        return [
            f"{aspects[0].name} is the only aspect, so segments about other things may be taken for it. "
            "Name what else the reviews speak of."
        ]
    wanted = TOPICS_PER_ASPECT * len(aspects)
    if n_topics >= wanted:
        return []
    return [
        f"{len(aspects)} aspects but only {n_topics} topics, fewer than {TOPICS_PER_ASPECT} per aspect. "
        f"Fit again with --n-topics {wanted}, or name fewer aspects."
    ]


def notes_on_carried(topic_map: TopicMap) -> list[str]:
    """Say which aspects have no topic in a map that was carried over."""
    served = {name for choice in topic_map.choices for name in choice.weights}
    without = [name for name in topic_map.aspects if name not in {*served, GENERAL}]
    if not without:
        return []
    it, name = ("it a topic", "its name") if len(without) == 1 else ("them topics", "their names")
    return [
        f"No topic of this run has {', '.join(without)}. Give {it} on the page; a student learns from "
        f"{name} anyway."
    ]


def notes_on_topics(learned: Learned, suggestions: Sequence[Suggestion]) -> list[str]:
    """Say which aspects no topic has."""
    served = {one.aspect for one in suggestions} | {name for one in suggestions for name, _ in one.shares}
    without = {name: share for name, share in learned.shares.items() if name not in {*served, GENERAL}}
    if not without:
        return []
    names = ", ".join(f"{name} ({100 * share:.1f} % of the segments)" for name, share in without.items())
    it = "it a topic" if len(without) == 1 else "them topics"
    return [
        f"No topic speaks mainly of {names}. Give {it} on the page, or words or examples in {rundir.ASPECTS}."
    ]


def note_on_unused(run: Path) -> str:
    """Say which aspects the run's aspects.toml has that its map has not: nobody answers with them."""
    path = run / rundir.TOPIC_MAP
    if not path.exists():
        return ""
    try:
        said = aspects_of_run(run)
    except InputError:  # what needs the file says so
        return ""
    known = {name.casefold() for name in (*read_map(path).aspects, GENERAL)}
    unused = [one.name for one in said if one.name.casefold() not in known]
    if not unused:
        return ""
    use = f"Use {'it' if len(unused) == 1 else 'them'}: aspectra map {typed(run)} --aspects"
    return (
        f"{rundir.ASPECTS} has {', '.join(unused)}, which the map does not have. "
        f"{use} {typed(run / rundir.ASPECTS)}"
    )
