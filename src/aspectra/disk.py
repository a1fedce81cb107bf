"""Files that are complete or not there, and work that only one process at a time does in a folder.

A file is written under a hidden name (.name.0.suffix) and then takes its place in one step. Whoever writes it
holds a lock on it; what a killed process left has no lock and is removed by the next who writes that file.
Windows has no `fcntl` and some network drives have no locks: there, processes are not kept apart.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from aspectra.errors import RunError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 30.0
"""Wait at most this many seconds for a short piece of another process's work, such as saving a map."""
TEMPORARY = re.compile(r"\..+?(\.[^.]+|)\.\d+\1")
"""The name of a temporary file, such as .labelled.csv.0.csv."""
TOGETHER = ".together"
"""The folder of complete files that are about to replace others."""
WRITERS = 8
"""Leftovers of at most this many processes that wrote the same file are looked for."""


def is_utf8(text: str) -> bool:
    """Tell whether a word of the command line, or a name on the disk, was valid UTF-8."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


@contextlib.contextmanager
def locked(folder: Path, work: str, wait: float = LONGEST_WAIT) -> Iterator[None]:
    """Let only one process, and one thread of it, do this work in a folder; others wait, or get a RunError.

    The lock is a hidden file. The system frees it when its process ends, however that ends.
    """
    handle = take_lock(folder / f".{work}.lock", work, time.monotonic() + wait)
    try:
        yield
    finally:
        if handle is not None:
            (folder / f".{work}.lock").unlink(missing_ok=True)  # while it is held: nobody else has it
            os.close(handle)


def take_lock(path: Path, work: str, until: float) -> int | None:
    """Return the open lock file once it is locked; None where there are no locks."""
    if fcntl is None:
        return None
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise RunError(f"Cannot write {path}: {error.strerror}. Nothing was changed.") from error
        try:
            if lock_now(handle, path):
                return handle
        except OSError:  # a network drive without locks
            os.close(handle)
            return None
        os.close(handle)
        if time.monotonic() >= until:
            raise RunError(
                f"Another aspectra {work} is writing to {path.parent}. Wait until it has ended, then repeat."
            )
        time.sleep(0.005)


def lock_now(handle: int, path: Path) -> bool:
    """Lock an open file; tell whether nobody else has it and it is still the file of that name."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), path.lstat())
    except (BlockingIOError, FileNotFoundError):
        return False


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds and is removed if it fails.

    A link stays a link: what it leads to is replaced.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = open_temporary(path)
    except OSError as error:
        raise RunError(
            f"Cannot write {path}: {error.strerror or error}. Choose a folder that you may write to."
        ) from error
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise RunError(f"Cannot write {path}: {error.strerror or error}. Nothing was changed.") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), temporary.lstat()):  # not moved, and not another's by now
                temporary.unlink()
        os.close(handle)


def open_temporary(path: Path) -> tuple[int, Path]:
    """Create the hidden file that becomes `path`, locked; remove what killed processes left of it."""
    for number in range(WRITERS):
        remove_leftover(temporary_name(path, number))
    for number in itertools.count():
        temporary = temporary_name(path, number)
        try:
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
        try:
            if fcntl is None or lock_now(handle, temporary):
                return handle, temporary
        except OSError:  # a network drive without locks
            return handle, temporary
        os.close(handle)  # taken for a leftover in this instant
    raise AssertionError("unreachable")


def temporary_name(path: Path, number: int) -> Path:
    return path.with_name(f".{path.name}.{number}{path.suffix}")


def is_leftover(path: Path) -> bool:
    """Tell whether a file has a temporary's name and no living process holds it."""
    if fcntl is None or not TEMPORARY.fullmatch(path.name):
        return False
    with contextlib.suppress(OSError), unheld(path) as free:
        return free
    return False


@contextlib.contextmanager
def unheld(path: Path) -> Iterator[bool]:
    """Open a file and tell whether no process holds it; none can take it during the block."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        yield lock_now(handle, path)
    finally:
        os.close(handle)


def remove_leftover(path: Path) -> None:
    if fcntl is None:
        return
    with contextlib.suppress(OSError), unheld(path) as free:
        if free:
            path.unlink()


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `path` if the block succeeds; only one process may write it."""
    new, old = path.with_name(f".{path.name}.new"), path.with_name(f".{path.name}.old")
    try:
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir(parents=True)
        yield new
        if path.exists():
            path.rename(old)
        new.rename(path)
    except OSError as error:
        raise RunError(f"Cannot write {path}: {error.strerror or error}. Nothing was changed.") from error
    finally:
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)


@contextlib.contextmanager
def replaced_together(folder: Path, last: str) -> Iterator[Path]:
    """Yield an empty folder; the files written there then replace those of `folder`, all of them or none.

    `last` is the file that says which others belong together. Only one process may do this in a folder.
    """
    new = folder / f"{TOGETHER}.new"
    try:
        finish_replacing(folder, last)
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        yield new
        for path in new.iterdir():
            with path.open("rb") as written:
                os.fsync(written.fileno())
        new.rename(folder / TOGETHER)  # from here on, whoever opens the folder goes on if this process ends
        finish_replacing(folder, last)
    except OSError as error:
        raise RunError(f"Cannot write {folder}: {error.strerror or error}. Nothing was changed.") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def finish_replacing(folder: Path, last: str) -> None:
    """Move what a killed process has written together, `last` after all others; several may do so at once."""
    ready = folder / TOGETHER
    if not ready.is_dir():
        return
    for name in sorted(os.listdir(ready), key=lambda name: name == last):
        with contextlib.suppress(FileNotFoundError):  # another process has moved it
            os.replace(ready / name, folder / name)
    with contextlib.suppress(OSError):
        ready.rmdir()
