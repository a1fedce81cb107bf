"""What a process of the benchmark does before it loads anything: where progress goes, and when it must end.

Imports little on purpose, as every process begins here.
"""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from typing import Any

_queues: list[Queue[Any]] = []


def begin(queue: Queue[Any], stop: Event, parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it says so or is gone: else two might write one run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with, args=(stop, parent), daemon=True).start()
    _queues.append(queue)


def end_with(stop: Event, parent: int) -> None:
    while os.getppid() == parent and not stop.wait(1):
        pass
    os._exit(1)


def send(progress: Any) -> None:
    _queues[0].put(progress)
