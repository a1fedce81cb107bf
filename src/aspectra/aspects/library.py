"""Aspects that many reviews have: a name in, words and sentences about it out (library_*.toml, English).

"Price", "cost" and "value for money" are one aspect. A name of several meanings ("service") or several parts
("Size/Fit", "Food & drinks") is all of them. What the library does not have counts by its name alone.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import chain

from aspectra.aspects.aspects import Aspect

LANGUAGE = "en"
FILES = tuple(f"library_{kind}.toml" for kind in ("reviews", "travel", "services", "digital", "products"))
"""The first has what reviews of all kinds have."""
PARTS = re.compile(r"\s*(?:[/&+,;]|\band\b)\s*")
"""What stands between parts of a name."""
EITHER = re.compile(r"\s*[/+,;]\s*")
"""Between names of which any may be known: "Size/Fit"."""
BOTH = re.compile(r"\s*(?:&|\band\b)\s*")
"""What may be part of one name, so that all must be known: "Research and Development" is not Development."""
SAYS_LITTLE = {"a", "experience", "feel", "general", "level", "of", "overall", "product", "quality", "the"}
"""Words of a name that may be left out: "overall picture quality" is "picture"."""
EASE = "ease of "
"""Before a name, this may be left out, too: "ease of booking" is "booking"."""

ALIKE = 3
"""So many sentences of each aspect show how differently one thing is said."""


def look_up(name: str, language: str = LANGUAGE) -> Aspect:
    """Return the words and sentences that are known of an aspect; none if the library does not have it."""
    found = dict.fromkeys(find(plain(name))) if language == LANGUAGE else {}
    words, examples = (
        tuple(dict.fromkeys(text for one in found for text in getattr(one, key)))
        for key in ("words", "examples")
    )
    return Aspect(name, words=words, examples=examples)


def known_names(language: str = LANGUAGE) -> list[str]:
    """Return all names that the library knows, in small letters."""
    return list(library()) if language == LANGUAGE else []


def known_titles(language: str = LANGUAGE) -> list[str]:
    """Return the first name of each aspect of the library, in small letters."""
    if language != LANGUAGE:
        return []
    return list(dict.fromkeys(plain(one.name) for some in library().values() for one in some))


def alike_sentences(language: str = LANGUAGE) -> list[str]:
    """Return the first ALIKE sentences of each aspect of the library, one aspect after the other."""
    if language != LANGUAGE:
        return []
    return [text for table in tables().values() for text in table["examples"][:ALIKE]]


def plain(name: str) -> str:
    """Return a name in small letters, without signs and brackets: "💰 Price (EUR)" is price."""
    name = unicodedata.normalize("NFKC", name)
    return " ".join(re.sub(r"\(.*?\)|[^\w\s/&+,;]|_", " ", name).lower().split())


def find(name: str) -> Iterator[Aspect]:
    """Yield the library's aspects of a name in small letters: of the whole, or else of each of its parts.

    Of parts with "and" or "&" between them all must be known.
    """
    for form in (name, *numbers(name)):
        if form in library():
            yield from library()[form]
            return
    for between in (EITHER, BOTH):
        parts = [part for part in between.split(name) if part]
        if parts and parts != [name]:
            found = [list(find(part)) for part in parts]
            if between is EITHER or all(found):
                yield from chain.from_iterable(found)
            return
    words = name.removeprefix(EASE).split()
    shorter = " ".join(word for word in words if word not in SAYS_LITTLE)
    if shorter and shorter != name:
        yield from find(shorter)


def numbers(name: str) -> Iterator[str]:
    """Yield what may be the plural or the singular of a name."""
    yield f"{name}s"
    yield name.removesuffix("s")
    yield f"{name}es"
    yield name.removesuffix("es")
    yield re.sub("y$", "ies", name)
    yield re.sub("ies$", "y", name)


@cache
def library() -> dict[str, list[Aspect]]:
    """Read the library: the aspects of each name, in small letters."""
    found: dict[str, list[Aspect]] = {}
    for title, table in tables().items():
        aspect = Aspect(title, words=tuple(table["words"]), examples=tuple(table["examples"]))
        for name in (title, *table["names"]):
            found.setdefault(plain(name), []).append(aspect)
    return found


def tables() -> dict[str, dict[str, list[str]]]:
    """Return the names, words and examples of each title; several files may say something of one title."""
    found: dict[str, dict[str, list[str]]] = {}
    for file in FILES:
        text = (resources.files("aspectra.aspects") / file).read_text(encoding="utf-8")
        for title, table in tomllib.loads(text).items():
            whole = found.setdefault(title, {"names": [], "words": [], "examples": []})
            for key, some in table.items():
                whole[key] += [one for one in some if one not in whole[key]]
    return found
