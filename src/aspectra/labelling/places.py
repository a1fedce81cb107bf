"""Where files are: local paths, or URLs that fsspec knows (s3://, gs://, …), read and written as if they
were local.

A remote file is fetched before it is read and sent when it is complete, so it appears at once or not at
all, and every format is read by the same code.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aspectra import rundir
from aspectra.disk import atomic_path
from aspectra.errors import InputError
from aspectra.text.find import FORMATS, KNOWN, find_files
from aspectra.text.rows import kind


def is_url(place: str) -> bool:
    return "://" in place


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system for a URL and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise InputError(f'{url} needs fsspec, which is not installed: pip install "aspectra[ray]"') from None
    try:
        found: tuple[Any, str] = fsspec.core.url_to_fs(url)
        return found
    except (ImportError, ValueError) as error:
        raise InputError(f"Cannot reach {url}: {error}.") from None


def list_inputs(patterns: list[str]) -> list[str]:
    """Return the files that paths, folders, globs and URLs stand for, in order."""
    found: list[str] = []
    for pattern in patterns:
        if not is_url(pattern):
            found += [str(path.absolute()) for path in find_files([pattern])]
            continue
        system, path = file_system(pattern)
        matches = sorted(system.glob(path))
        if not matches:
            raise InputError(f"No such file: {pattern}.")
        found += [system.unstrip_protocol(match) for match in matches]
    for place in found:
        if kind(Path(place)) not in FORMATS:
            raise InputError(f"The format of {place} is unknown. {KNOWN}")
    return found


def output_folder(place: str) -> str:
    """Return the folder to write to, as every node of a cluster can name it."""
    if is_url(place):
        return place.rstrip("/")
    if Path(place).suffix in (".parquet", ".csv", ".jsonl"):
        raise InputError(
            f"{place}: a file is written for each input. "
            f"Name a folder, with / at its end: -o {Path(place).stem}/"
        )
    rundir.refuse_own_file(Path(place))
    return str(Path(place).absolute())


def list_names(folder: str) -> set[str]:
    """Return the names of the files in a folder; none if it is not there."""
    if not is_url(folder):
        return {path.name for path in Path(folder).glob("*")}
    system, path = file_system(folder)
    return (
        {name.rpartition("/")[2] for name in system.ls(path, detail=False)} if system.exists(path) else set()
    )


def version_of(place: str) -> str:
    """Return what changes when a file is written again: its size and time, or what the store says of it."""
    if is_url(place):
        system, path = file_system(place)
        return str(system.checksum(path))
    found = Path(place).stat()
    return f"{found.st_size} {found.st_mtime_ns}"


@contextlib.contextmanager
def local_copy(place: str) -> Iterator[Path]:
    """Give a local path with the file's content and name."""
    if not is_url(place):
        yield Path(place)
        return
    system, path = file_system(place)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / path.rpartition("/")[2]
        try:
            system.get_file(path, str(local))
        except OSError as error:
            raise InputError(f"Cannot read {place}: {error}.") from None
        yield local


@contextlib.contextmanager
def whole_file(place: str) -> Iterator[Path]:
    """Give a local path to write to; when the block ends well the file is at `place`, else nothing is."""
    if not is_url(place):
        with atomic_path(Path(place)) as temporary:
            yield temporary
        return
    system, path = file_system(place)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / path.rpartition("/")[2]
        yield local
        try:
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            system.put_file(str(local), f"{path}.part")
            system.mv(f"{path}.part", path)
        except OSError as error:
            raise InputError(f"Cannot write {place}: {error}.") from None
