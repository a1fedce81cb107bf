"""The aspects a person wants: names, and if they like a sentence, words and examples for each (aspects.toml).

In: "Image,Sound,Price" or a TOML file with one table per aspect. Out: a tuple of `Aspect`. A run keeps its
own copy, so that the page, the student and the report work with the same descriptions.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aspectra import rundir
from aspectra.arguments import as_list, as_names, wrong_kind
from aspectra.config import GENERAL, NOT_REVIEW, UNMAPPED
from aspectra.errors import InputError, MapError

RESERVED = (UNMAPPED, NOT_REVIEW.casefold())
"""In small letters, the names that no aspect may have."""
LONGEST_NAME = 60
"""Characters."""
KEYS = ("about", "words", "examples")
LONGEST_EXAMPLE, LONGEST_PHRASE = 60, 10
"""Words of an example or of a sentence about an aspect, both are segments; of a phrase that speaks of it."""
COMMA = re.compile("[,，、]")
"""Between names in one text; the full-width ones, too."""
MOST_TEXTS = 1_000
"""Words or examples of one aspect; each costs time."""


@dataclass(frozen=True)
class Aspect:
    """A name; all else is optional: a sentence about it, words that speak of it, segments that do."""

    name: str
    about: str = ""
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def read_aspects(given: str | Path | Sequence[str | Aspect]) -> tuple[Aspect, ...]:
    """Read names separated by commas, a list of names or aspects, or the path of a TOML file."""
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        aspects = read_file(Path(given))
    else:
        if isinstance(given, Mapping):
            raise wrong_kind("aspects", "a list of names; give the words of each as seeds", given)
        if isinstance(given, str) and Path(given).suffix and Path(given).is_file():
            raise InputError(f"{given} is a file, but not .toml. Name aspects as Image,Sound or rename it.")
        names = COMMA.split(given) if isinstance(given, str) else as_list(given, "aspects", "a list of names")
        aspects = checked([aspect for aspect in map(as_aspect, names) if aspect.name], "--aspects")
    check_new_names([aspect.name for aspect in aspects])
    return aspects


def as_aspect(given: Any) -> Aspect:
    """Return an aspect, its words and examples checked, or one that has only this name."""
    if isinstance(given, Aspect):
        check_names([given.name])
        return read_table(given.name, {key: getattr(given, key) for key in KEYS}, "aspects")
    if not isinstance(given, str):
        raise wrong_kind("Each of aspects", "a name or an Aspect", given)
    return Aspect(given.strip())


def check_names(aspects: Sequence[str]) -> None:
    """Raise MapError unless all names are printable, 1 to 60 characters, not reserved and there once."""
    seen: set[str] = set()
    for name in aspects:
        if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
            raise MapError(f"An aspect's name must be printable text without spaces around it, got {name!r}.")
        if len(name) > LONGEST_NAME:
            raise MapError(
                f"An aspect's name has at most {LONGEST_NAME} characters, got {len(name)}: {name!r}."
            )
        if name.casefold() in RESERVED or (name.casefold() == GENERAL.casefold() and name != GENERAL):
            raise MapError(
                f"{name!r} cannot name an aspect: {UNMAPPED!r} and {NOT_REVIEW!r} are reserved, "
                f"General is spelled {GENERAL!r}."
            )
        if name.casefold() in seen:
            raise MapError(
                f"The aspect {name!r} is there twice (upper or lower case is the same). Remove one."
            )
        seen.add(name.casefold())


def check_new_names(names: Sequence[str]) -> None:
    """Check names that a person gives now; older maps may have ; which separates aspects in CSV and Excel."""
    check_names(names)
    for name in names:
        if ";" in name:
            raise MapError(
                f"An aspect's name has no ; in it, got {name!r}: label files put it between aspects."
            )


def read_file(path: Path) -> tuple[Aspect, ...]:
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")
        tables = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"No such file: {path}. Name aspects as Image,Sound or give a TOML file.") from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
        raise InputError(f"{path} is not TOML ({error}). {toml_hint(text)}") from None
    return checked([read_table(name, table, path) for name, table in tables.items()], str(path))


def toml_hint(text: str) -> str:
    """Say which name needs quotes: TOML has none with spaces or letters such as ö without them."""
    named = [found[1].strip() for found in re.finditer(r"^[ \t]*\[([^\[\]\"'\n]+)\]", text, re.MULTILINE)]
    odd = next((name for name in named if not re.fullmatch(r"[A-Za-z0-9_-]+", name)), None)
    return f"Put the name in quotes: [{quoted(odd)}]" if odd else "Write one table per aspect: [Image]"


def read_table(name: str, table: Any, path: Path | str) -> Aspect:
    """Check one aspect's table; `path` is where it stands, for messages."""
    if not isinstance(table, dict):
        raise InputError(f"{path}: {name} must be a table. Write [{name}] on a line of its own.")
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise InputError(f"{path}: [{name}] has an unknown key {unknown[0]!r}. Known: {', '.join(KEYS)}.")
    about = table.get("about", "")
    if not isinstance(about, str):
        raise InputError(f"{path}: about of [{name}] must be a sentence in quotes, got {str(about)[:80]}.")
    words, examples = (read_list(table.get(key, []), f"{path}: {key} of [{name}]") for key in KEYS[1:])
    for what, texts, most in (
        ("a sentence about", [about], LONGEST_EXAMPLE),
        ("a phrase in words of", words, LONGEST_PHRASE),
        ("an example of", examples, LONGEST_EXAMPLE),
    ):
        for text in texts:
            if len(text.split()) > most:
                raise InputError(
                    f"{path}: {what} [{name}] has {len(text.split()):,} words, at most {most} are possible: "
                    f"{text[:40]!r}…"
                )
    if name == GENERAL and (about or words or examples):
        raise InputError(f"{path}: {GENERAL} is what speaks of none of your aspects. Leave [{GENERAL}] out.")
    return Aspect(name.strip(), about.strip(), words, examples)


def read_list(values: Any, place: str) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(
        isinstance(value, str) and value.strip() for value in values
    ):
        raise InputError(f'{place} must be a list of texts, such as ["one", "two"], got {str(values)[:80]}.')
    if len(values) > MOST_TEXTS:
        raise InputError(f"{place} are at most {MOST_TEXTS:,}, got {len(values):,}. Keep the best of them.")
    return tuple(dict.fromkeys(value.strip() for value in values))


def checked(aspects: list[Aspect], place: str) -> tuple[Aspect, ...]:
    if not [aspect for aspect in aspects if aspect.name != GENERAL]:
        raise InputError(f"{place} names no aspect besides {GENERAL}. Give at least one.")
    check_names([aspect.name for aspect in aspects])
    return tuple(aspects)


def to_toml(aspects: Iterable[Aspect]) -> str:
    """Write aspects as `read_aspects` reads them."""
    blocks = []
    for aspect in aspects:
        lines = [f"[{quoted(aspect.name)}]"]
        if aspect.about:
            lines.append(f"about = {quoted(aspect.about)}")
        for key in KEYS[1:]:
            values = getattr(aspect, key)
            if values:
                lines.append(f"{key} = [{', '.join(map(quoted, values))}]")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def quoted(text: str) -> str:
    """Write a text as a basic TOML string: JSON's escapes are TOML's, too, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def write_aspects(path: Path, aspects: Iterable[Aspect]) -> None:
    """Replace the file in one step, if anything changed; the version before goes to map-history/."""
    rundir.replace_and_keep(path, to_toml(aspects).encode())


def aspects_of_run(run: Path) -> tuple[Aspect, ...]:
    """Read the aspects that a run keeps; none if it has no such file yet."""
    path = run / rundir.ASPECTS
    return read_file(path) if path.exists() else ()


def keep_aspects(run: Path, names: Sequence[str], given: Iterable[Aspect]) -> str:
    """Write aspects.toml into the run: each of these names, with what is said of it now or was before.

    Return a note on aspects that were described before and are not among these.
    """
    before = aspects_of_run(run)
    known = {aspect.name.casefold(): aspect for aspect in (*before, *given)}
    write_aspects(run / rundir.ASPECTS, described(names, known.values()))
    kept = {name.casefold() for name in names}
    gone = [one.name for one in before if one.name.casefold() not in kept and one != Aspect(one.name)]
    there = f"{run / rundir.MAP_HISTORY} still has what was said of"
    return f"{there} {', '.join(gone)}, which the map no longer has." if gone else ""


def described(names: Iterable[str], known: Iterable[Aspect]) -> tuple[Aspect, ...]:
    """Return an aspect for each name, with what is known of it already; General is left out."""
    found = {aspect.name.casefold(): aspect for aspect in known}
    return tuple(
        replace(found.get(name.casefold(), Aspect(name)), name=name) for name in names if name != GENERAL
    )


def fingerprint(aspects: Iterable[Aspect]) -> str:
    """Return a fingerprint of what is said of aspects, whatever the order of tables, words and examples."""
    said = [(one.name, one.about, sorted(one.words), sorted(one.examples)) for one in aspects]
    return rundir.fingerprint(sorted(said))


def of_words(words: Mapping[str, Sequence[str]]) -> tuple[Aspect, ...]:
    """Return aspects from {name: words}."""
    check_new_names(list(words))
    said = {name: as_names(given, f"The words of {name!r}") for name, given in words.items()}
    return checked([Aspect(name, words=given) for name, given in said.items()], "The words")
