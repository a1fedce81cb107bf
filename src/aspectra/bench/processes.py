"""Run `aspectra …` as a process and measure its seconds and its peak memory, alone or with its children.

Memory is read from /proc, so on Linux only; elsewhere it is NaN. What getrusage gives would begin with the
size of the process that started this one.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ASPECTRA = [sys.executable, "-c", "from aspectra.cli import main; main()"]
"""How to start aspectra as a process of its own."""
MEASURED = [
    sys.executable,
    "-c",
    "import sys\nfrom aspectra.bench.processes import peak_gb\nfrom aspectra.cli import main\n"
    "try:\n    main()\nfinally:\n    print(peak_gb(), file=sys.stderr)",
]
"""The same, and the last line of stderr is its peak memory."""
PAUSE = 0.25
"""Seconds between two looks at the memory of a process and its children."""


def peak_gb() -> float:
    """Return the peak memory (RSS) of this process so far in GB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / 1e9


def reset_peak() -> None:
    """Let the peak memory of this process begin anew at what it holds now, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measured(arguments: list[str]) -> tuple[float, float]:
    """Run `aspectra …`; return its seconds and its peak memory in GB."""
    began = time.perf_counter()
    done = subprocess.run([*MEASURED, *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - began, float(done.stderr.strip().rsplit("\n", 1)[-1])


def measured_with_children(arguments: list[str]) -> tuple[float, float]:
    """Run `aspectra …`; return its seconds and the peak memory in GB of it and all it started.

    Pages that several processes share count once.
    """
    began, peak = time.perf_counter(), 0
    with subprocess.Popen([*ASPECTRA, *arguments]) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(memory, family(process.pid))))
            time.sleep(PAUSE)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, ["aspectra", *arguments])
    return time.perf_counter() - began, peak / 1e9 if peak else float("nan")


def family(first: int) -> list[int]:
    """Return a process and all that descend from it."""
    children = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children[parent].append(int(folder.name))
    found = [first]
    for process in found:  # grows meanwhile
        found += children[process]
    return found


def memory(process: int) -> int:
    """Return a process's share of the memory in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
