"""The errors that aspectra raises on purpose: one base and a few named kinds.

Each message says what is wrong, the value found and what to do. The command line prints it on one line and exits with 1.
"""


class AspectraError(Exception):
    """Anything a user can mend; every error of ours derives from it."""


class ConfigError(AspectraError):
    """A setting has a value that cannot work."""


class InputError(AspectraError):
    """A file or a text given to us cannot be used."""


class RunError(AspectraError):
    """A run directory lacks something, is damaged, or is of another version."""


class MapError(AspectraError):
    """A topic map is missing, malformed, or was made for other topics."""
