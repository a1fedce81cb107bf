"""What a person should know of the aspects they named, in sentences: what is missing, and what to do.

`map`, the page, `distill`, `label` and the report show them, so that no aspect is lost without a word.
topicmap/notes.py has those on topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

import numpy as np

from aspectra import rundir
from aspectra.aspects.aspects import Aspect
from aspectra.config import GENERAL

SAME = 0.7
"""Aspects whose evidence has a higher cosine than this mean the same."""
ALIKE, SHORTEST = 0.8, 4
"""A name may be a misspelt word if it has SHORTEST letters and is ALIKE (difflib), or one slip away."""


def notes_on_rare(names: Sequence[str], hint: str) -> list[str]:
    """Say which aspects only the encoder knows; `hint` is what may be `meant`."""
    if not names:
        return []
    it = "it" if len(names) == 1 else "them"
    return [
        f"The words of {', '.join(names)} are rare in the reviews: only the encoder knows what "
        f"speaks of {it}. {hint}Words or examples in {rundir.ASPECTS} help."
    ]


def notes_on_unknown(names: Sequence[str], hint: str) -> list[str]:
    """Say which aspects are not known at all; `hint` is what may be `meant`."""
    if not names:
        return []
    it = "it" if len(names) == 1 else "them"
    return [
        f"Nothing speaks of {', '.join(names)}: no word of {it} occurs in the reviews. "
        f"{hint}Add words or examples in {rundir.ASPECTS}, in the language of the reviews."
    ]


def meant(names: Sequence[str], known: Sequence[str], words: Sequence[str] = ()) -> str:
    """Ask whether names are misspelt: names that are `known`, or else words. "" if nothing is similar."""
    found = [most_similar(name.lower(), known) or most_similar(name.lower(), words) for name in names]
    return f"Did you mean {', '.join(filter(None, found))}? " if any(found) else ""


def most_similar(name: str, right: Sequence[str]) -> str:
    """Return which of the right ones a name may have been meant to be; "" if none, or if it is right."""
    same = [one for one in right if one[:1] == name[:1]]
    if name in same or len(name) < SHORTEST:
        return ""
    slips = (one for one in same if one_slip(name, one))
    return next(slips, "") or next(iter(get_close_matches(name, same, 1, ALIKE)), "")


def one_slip(name: str, other: str) -> bool:
    """Tell whether one letter is another, one too many or missing, or two neighbours are interchanged."""
    short, long = sorted((name, other), key=len)
    place = next(
        (at for at, (one, two) in enumerate(zip(short, long, strict=False)) if one != two), len(short)
    )
    short, long = short[place:], long[place:]
    if len(short) < len(long):
        return short == long[1:]
    return short[1:] == long[1:] or (short[1::-1] == long[:2] and short[2:] == long[2:])


def notes_on_silence(names: Sequence[str], hint: str = "") -> list[str]:
    """Say which aspects the reviews hardly mention; `hint` is what may be `meant`."""
    if not names:
        return []
    it, name = ("it", "this name") if len(names) == 1 else ("them", "these names")
    return [
        f"Nothing speaks of {', '.join(names)}: the reviews hardly mention {it}, or not by {name}. "
        f"{hint}Add words or examples in {rundir.ASPECTS}, or label some segments on the page."
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


def notes_on_twins(names: Sequence[str], alike: np.ndarray) -> list[str]:
    """Say which two aspects mean the same: what is said of them is much alike (cosines, A×A)."""
    pairs = [(one, two) for one in range(len(alike)) for two in range(one)]
    return [
        f"{names[two]} and {names[one]} mean nearly the same. Keep one of them, or tell them apart with "
        f"words or examples in {rundir.ASPECTS}."
        for one, two in pairs
        if alike[one, two] > SAME
    ]
