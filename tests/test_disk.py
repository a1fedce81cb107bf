"""Files are complete or not there, whoever is killed when; one process at a time does what is locked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aspectra import disk
from aspectra.disk import atomic_folder, atomic_path, write_atomic
from aspectra.errors import RunError

KILLED = """
import os, sys
from pathlib import Path
from aspectra import disk
with disk.{}: os.kill(os.getpid(), 9)
"""


def killed_in(block: str, folder: Path) -> None:
    """Run a block of disk.… on `folder` in another process that is killed in the middle of it."""
    code = KILLED.format(block.format(folder=f"Path({str(folder)!r})"))
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9


def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "elsewhere.txt")
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "elsewhere.txt").read_bytes() == b"new"


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_atomic(path, b"old")
    with pytest.raises(ZeroDivisionError), atomic_path(path) as temporary:
        temporary.write_bytes(b"half" * (1 // 0))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_written_atomically_has_usual_permissions(tmp_path: Path) -> None:
    write_atomic(tmp_path / "atomic", b"")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_what_a_killed_process_left_is_removed_by_the_next_who_writes_that_file(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.csv", b"old")
    killed_in("atomic_path({folder} / 'a.csv')", tmp_path)
    (leftover,) = tmp_path.glob(".*")
    assert disk.is_leftover(leftover)
    (tmp_path / ".a.csv.txt").write_text("of somebody else")
    write_atomic(tmp_path / "a.csv", b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a.csv": b"new", ".a.csv.txt": b"of somebody else"
    }  # fmt: skip


def test_what_a_living_process_writes_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with atomic_path(path) as first:
        first.write_bytes(b"first")
        assert not disk.is_leftover(first)
        write_atomic(path, b"second")
        assert (path.read_bytes(), first.read_bytes()) == (b"second", b"first")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_or_a_pipe_in_the_way_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".a.csv.0.csv").symlink_to(tmp_path / "precious")
    os.mkfifo(tmp_path / ".a.csv.1.csv")
    write_atomic(tmp_path / "a.csv", b"new")
    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "a.csv").read_bytes() == b"new"
    assert not (tmp_path / "a.csv").is_symlink()


def test_a_folder_is_replaced_as_a_whole_or_stays(tmp_path: Path) -> None:
    home = tmp_path / "encoder"
    for content in ("old", "new"):
        with atomic_folder(home) as folder:
            (folder / content).write_text(content)
    assert [path.name for path in tmp_path.rglob("*")] == ["encoder", "new"]
    with pytest.raises(RunError, match=r"Cannot write .*encoder: No such"), atomic_folder(home) as folder:
        (folder / "nowhere" / "half").write_text("half")
    killed_in("atomic_folder({folder} / 'encoder')", tmp_path)
    assert [path.name for path in home.iterdir()] == ["new"]
    with atomic_folder(home):
        pass
    assert list(tmp_path.iterdir()) == [home]


def test_work_that_another_does_in_the_folder_waits_or_is_refused(tmp_path: Path) -> None:
    with disk.locked(tmp_path, "map"):
        with disk.locked(tmp_path, "fit", wait=0):  # other work is free
            pass
        with pytest.raises(RunError, match="Another aspectra map"), disk.locked(tmp_path, "map", wait=0.02):
            pass
    with disk.locked(tmp_path, "map", wait=0):
        assert [path.name for path in tmp_path.iterdir()] == [".map.lock"]
    assert not list(tmp_path.iterdir())


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    killed_in("locked({folder}, 'fit')", tmp_path)
    with disk.locked(tmp_path, "fit", wait=0):
        assert (tmp_path / ".fit.lock").exists()
