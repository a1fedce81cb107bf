"""Arguments from Python, checked where they come in: a wrong kind is refused in one sentence.

Each function takes a value and the name under which it was given. It raises InputError, or returns the value
in the form that the code inside works with.
"""

from __future__ import annotations

import errno
import os
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aspectra.errors import InputError


def shown(given: object) -> str:
    """Return a value as Python writes it, cut short and on one line."""
    return " ".join(reprlib.repr(given).split())


def wrong_kind(name: str, wanted: str, given: object) -> InputError:
    """Return the error that says what was wanted and what was given."""
    kind = "" if given is None else f"{type(given).__name__} "
    return InputError(f"{name} must be {wanted}, got {kind}{shown(given)}.")


def as_plain(given: Any) -> Any:
    """Return a single value of numpy as Python's, so that JSON can hold it; others stay as they are."""
    return given.item() if getattr(given, "shape", None) == () else given


def as_path(given: Any, name: str) -> Path:
    """Return a path that the system can look for; nothing need be there."""
    if not isinstance(given, str | os.PathLike):
        raise wrong_kind(name, "a path as str or Path", given)
    try:
        os.stat(given)
    except ValueError:  # a NUL, or half of a character
        raise wrong_kind(name, "a path that a disk can have", given) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise wrong_kind(name, f"shorter than {len(os.fspath(given))} characters", given) from None
    return Path(given)


def check_text(given: Any, name: str, *, optional: bool = False) -> None:
    if not (isinstance(given, str) or (optional and given is None)):
        raise wrong_kind(name, "text or None" if optional else "text", given)


def check_flag(given: Any, name: str) -> None:
    if not isinstance(given, bool):
        raise wrong_kind(name, "True or False", given)


def check_count(given: Any, name: str, least: int = 0) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < least:
        raise wrong_kind(name, f"a whole number, at least {least}", given)


def check_function(given: Any, name: str) -> None:
    if not callable(given):
        raise wrong_kind(name, "a function, or left out", given)


def is_table(given: Any) -> bool:
    """Tell whether something has columns; its kind is asked, because a lazy table would begin to work."""
    return hasattr(type(given), "columns")


def as_list(given: Any, name: str, wanted: str) -> list[Any]:
    """Return the members of a list, an array or a Series; one text, a dictionary or a table is none."""
    if not isinstance(given, str | bytes | Mapping) and not is_table(given):
        try:
            members = iter(given)
        except TypeError:  # also an array without dimensions
            members = None
        if members is not None:
            return list(members)
    raise wrong_kind(name, wanted, given)


def as_names(given: Any, name: str) -> tuple[str, ...]:
    """Return a list of texts."""
    names = as_list(given, name, "a list of texts")
    for one in names:
        check_text(one, f"Each of {name}")
    return tuple(map(str, names))


def as_mapping(given: Any, name: str, example: str) -> dict[Any, Any]:
    if not isinstance(given, Mapping):
        raise wrong_kind(name, f"a dictionary such as {example}", given)
    return dict(given)
