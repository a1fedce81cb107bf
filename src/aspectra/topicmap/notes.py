"""What a person should know of the aspects they named, in sentences: what is missing, and what to do.

`map`, the page, `distill`, `label` and the report show them, so that no aspect is lost in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

import numpy as np

from aspectra import rundir
from aspectra.config import GENERAL
from aspectra.topicmap.aspects import Aspect
from aspectra.topicmap.names import Learned
from aspectra.topicmap.topicmap import Suggestion, TopicMap

SAME = 0.7
"""Aspects whose evidence has a higher cosine than this mean the same."""
TOPICS_PER_ASPECT = 3
ALIKE = 0.8
"""A word at least so much like a name (difflib) may be what was meant."""


def notes_on_words(by_encoder: Sequence[str], unknown: Sequence[str], words: Sequence[str]) -> list[str]:
    """Say which aspects the encoder alone knows, and which nobody; names may be misspelt `words`."""
    notes = []
    if by_encoder:
        it = "it" if len(by_encoder) == 1 else "them"
        notes.append(
            f"The words of {', '.join(by_encoder)} are rare in the reviews: only the encoder knows what "
            f"speaks of {it}. {meant(by_encoder, words)}Words or examples in {rundir.ASPECTS} help."
        )
    if unknown:
        it = "it" if len(unknown) == 1 else "them"
        notes.append(
            f"Nothing speaks of {', '.join(unknown)}: no word of {it} occurs in the reviews. "
            f"{meant(unknown, words)}"
            f"Add words or examples in {rundir.ASPECTS}, in the language of the reviews."
        )
    return notes


def meant(names: Sequence[str], words: Sequence[str]) -> str:
    """Ask whether names are misspelt words; "" if they are like none, or are one."""
    odd = [name.lower() for name in names if name.lower() not in words]
    found = [word for name in odd for word in get_close_matches(name, words, 1, ALIKE)]
    return f"Did you mean {', '.join(found)}? " if found else ""


def notes_on_silence(names: Sequence[str]) -> list[str]:
    """Say which aspects the reviews hardly mention."""
    if not names:
        return []
    it, name = ("it", "this name") if len(names) == 1 else ("them", "these names")
    return [
        f"Nothing speaks of {', '.join(names)}: the reviews hardly mention {it}, or not by {name}. "
        f"Add words or examples in {rundir.ASPECTS}, or label some segments on the page."
    ]


def notes_on_no_answer(names: Sequence[str]) -> list[str]:
    """Say for which aspects labels of others leave hardly an answer."""
    if not names:
        return []
    it = "it" if len(names) == 1 else "them"
    return [f"Hardly any segment is answered with {', '.join(names)}. Label some segments of {it}, too."]


def notes_on_catch_all(names: Sequence[str]) -> list[str]:
    """Say which names mean what General means: they are left out."""
    return [
        f"{name} is left out: segments about none of your aspects are {GENERAL} already. "
        f"If you mean something else, say what in {rundir.ASPECTS}."
        for name in names
    ]


def notes_on_names(aspects: Sequence[Aspect], known: Callable[[str], Aspect]) -> list[str]:
    """Say which aspects have nothing but their name: nothing is given, and the library has nothing."""
    said = [(one, known(one.name)) for one in aspects]
    bare = [one.name for one, found in said if not (one.about or one.words or one.examples or found.examples)]
    if not bare:
        return []
    return [
        f"Nothing but the name is known of {', '.join(bare)}. Words or examples in {rundir.ASPECTS} help."
    ]


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


def notes_on_twins(names: Sequence[str], alike: np.ndarray) -> list[str]:
    """Say which two aspects mean the same: their evidence (cosines, A×A) is much more alike than others'."""
    pairs = [(one, two) for one in range(len(alike)) for two in range(one)]
    return [
        f"{names[two]} and {names[one]} mean nearly the same. Keep one of them, or tell them apart with "
        f"words or examples in {rundir.ASPECTS}."
        for one, two in pairs
        if alike[one, two] > SAME
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
