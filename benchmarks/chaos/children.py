"""`aspectra` in other processes, each under a limit of memory and time, and what may never come of it."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aspectra.bench.processes import ASPECTRA

from .patience import Patience

MEMORY = 8 * 2**30
"""Bytes of addresses for a child. Most are only reserved: torch and its threads need 4 GB to start."""
TRACES = ("Traceback (most recent call last)", "panicked at", "Segmentation fault", "core dumped")


@dataclass(frozen=True)
class Outcome:
    """What a command did; its code is None if it did not end in time."""

    words: tuple[str, ...]
    code: int | None
    out: str = ""
    err: str = ""

    def fault(self) -> str:
        """Return what no user may see: a hang, a traceback, a signal, an error without a sentence."""
        if self.code is None:
            return "no end in time"
        if any(trace in self.err for trace in TRACES):
            return f"traceback: {self.err.strip().splitlines()[-1][:200]}"
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}: {self.err.strip()[-200:]}"
        if self.code == 1 and "aspectra: " not in self.err and self.words[0] != "check":
            return "exit code 1 without a sentence"
        return ""


def limit() -> None:
    """Take the limits of a child; runs in it before the command."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}


@dataclass
class Worker:
    """Runs commands one after the other in one process; starts another if that one dies or hangs."""

    patience: float
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __call__(self, *words: object) -> Outcome:
        said = tuple(map(str, words))
        if self.process is None:
            program = [sys.executable, str(Path(__file__).with_name("worker.py"))]
            self.process = subprocess.Popen(
                program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                preexec_fn=limit, env=environment(),
            )  # fmt: skip
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(said).encode() + b"\n")
        stdin.flush()
        patience = Patience(self.process.pid, self.patience)
        while not select.select([stdout], [], [], patience.step)[0]:
            if patience.ended():
                self.stop()
                return Outcome(said, None)
        line = stdout.readline()
        if not line:
            return Outcome(said, self.stop(), err="the process died")
        return Outcome(said, **json.loads(line))

    def stop(self) -> int:
        """End the process and return its exit code."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
        return code


def start(*words: object, limited: bool = True, **options: Any) -> subprocess.Popen[str]:
    """Start a command as a process of its own, the first of a group of its own."""
    return subprocess.Popen(
        [*ASPECTRA, *map(str, words)], text=True, start_new_session=True, env=environment(),
        stdin=subprocess.DEVNULL, preexec_fn=limit if limited else None,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )  # fmt: skip


def end(process: subprocess.Popen[str], patience: float) -> Outcome:
    """Wait for a command that was started."""
    words = tuple(process.args[len(ASPECTRA) :])  # type: ignore[index]
    left = Patience(process.pid, patience)
    while True:
        try:
            out, err = process.communicate(timeout=left.step)
            return Outcome(words, process.returncode, out or "", err or "")
        except subprocess.TimeoutExpired:
            if left.ended():
                kill(process)
                return Outcome(words, None)


def kill(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started, at once."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@contextlib.contextmanager
def serving(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server while the block lasts; yield its process and the address that it printed."""
    process = start(*words, stderr=subprocess.PIPE)
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        kill(process)
