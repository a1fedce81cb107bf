"""The errors that aspectra raises on purpose: one base class and a few named kinds.

A message says what is wrong, the value found and what to do. The command line prints it on one line and
exits with code 1.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path


def typed(path: str | Path) -> str:
    """Return a path as one types it in a command: in quotes if it has spaces, with ./ if it starts with -."""
    word = f"./{path}" if str(path).startswith("-") else str(path)
    return subprocess.list2cmdline([word]) if os.name == "nt" else shlex.quote(word)


def quantity(count: int, what: str) -> str:
    """Write "1 segment" or "1,200 segments"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


class AspectraError(Exception):
    """Anything a user can fix; the base of all our errors."""


class ConfigError(AspectraError):
    """A setting has a value that cannot work."""


class InputError(AspectraError):
    """A file or a text cannot be used."""


class NotInstalledError(InputError):
    """A package that is not always installed is needed; the message has the command that installs it."""


class RunError(AspectraError):
    """A run directory lacks something, is damaged, or is of another version."""


class VersionError(RunError):
    """A run was made by another version of aspectra."""


class StaleError(RunError):
    """A part of a run is older than another part that it was made from."""


class MapError(AspectraError):
    """A topic map is missing, malformed, or was made for other topics."""
