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
ALIKE = 0.8
"""A word may be what was meant by a misspelt name if it is at least so similar (difflib)."""


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


def meant(names: Sequence[str], words: Sequence[str]) -> str:
    """Ask whether names are misspelt words; "" if no word is similar, or all are words."""
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


def notes_on_twins(names: Sequence[str], alike: np.ndarray) -> list[str]:
    """Say which two aspects mean the same: what is said of them is much alike (cosines, A×A)."""
    pairs = [(one, two) for one in range(len(alike)) for two in range(one)]
    return [
        f"{names[two]} and {names[one]} mean nearly the same. Keep one of them, or tell them apart with "
        f"words or examples in {rundir.ASPECTS}."
        for one, two in pairs
        if alike[one, two] > SAME
    ]
