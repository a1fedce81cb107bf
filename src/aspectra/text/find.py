"""Paths, globs, folders and pipes → the files of reviews to read.

A file is read more than once (to find its columns, to hash it, to learn from it), a pipe can be read only
once: what comes through it is kept in a temporary file until the program ends.
"""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import tempfile
import time
from pathlib import Path

from aspectra.disk import is_utf8
from aspectra.errors import InputError
from aspectra.text.rows import kind

FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt")
KNOWN = f"Known: {', '.join(FORMATS)}, each also with .gz."
PATIENCE = 20.0
"""Wait this many seconds for someone to write into a pipe."""


def find_files(patterns: list[str]) -> list[Path]:
    """Return the files of paths, globs and folders; a folder gives all its files of known formats, sorted."""
    if not patterns:
        raise InputError("Name at least one file of reviews.")
    found: list[Path] = []
    for pattern in patterns:
        matches = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))
        if not matches:
            raise InputError(f"No such file: {pattern}.")
        for path in map(Path, matches):
            found += files_in(path) if path.is_dir() else [path]
    for path in found:
        if not is_utf8(str(path)):
            raise InputError(f"The name of {path} is not UTF-8. Rename the file.")
        if kind(path) not in FORMATS:
            raise InputError(f"The format of {path} is unknown. {KNOWN}")
        if not (path.is_file() or path.is_fifo()):
            raise InputError(f"{path} is not a file. Save the reviews in a file first.")
    once: dict[Path, Path] = {}  # of a folder and a file in it, the file is read once
    for path in found:
        once.setdefault(path.resolve(), path)
    return [kept_pipe(path) if path.is_fifo() else path for path in once.values()]


def files_in(folder: Path) -> list[Path]:
    """Return the files of a known format in a folder and below; names that start with . or _ are left out."""
    below = (path for path in sorted(folder.rglob("*")) if path.is_file() and kind(path) in FORMATS)
    found = [
        path
        for path in below
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise InputError(f"{folder} has no file of a known format. {KNOWN}")
    return found


def kept_pipe(path: Path) -> Path:
    """Read a pipe to its end, once, into a temporary file of the same name."""
    folder = tempfile.mkdtemp(prefix="aspectra-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = Path(folder) / path.name
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(handle, "rb") as pipe, copy.open("wb") as file:
            file.write(first_bytes(handle, path))
            os.set_blocking(handle, True)
            shutil.copyfileobj(pipe, file)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from None
    return copy


def first_bytes(pipe: int, path: Path) -> bytes:
    """Wait until someone has opened the pipe to write, and return what is in it so far."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if data := os.read(pipe, 2**16):
                return data
        except BlockingIOError:  # opened, but nothing is written yet
            return b""
        time.sleep(0.02)
    raise InputError(f"{path} is a pipe, and nobody writes into it. Save the reviews in a file first.")
