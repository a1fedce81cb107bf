"""What a process of the benchmark does before it loads anything: where it tells its news, and when it must end. Light on purpose."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from typing import Any

_news: list[Queue[Any]] = []


def begin(news: Queue[Any], stop: Event, parent: int) -> None:
    """Leave Ctrl-C to the process that started this one; end when it says so or is gone: else two might write one run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with, args=(stop, parent), daemon=True).start()
    _news.append(news)


def end_with(stop: Event, parent: int) -> None:
    while os.getppid() == parent and not stop.wait(1):
        pass
    os._exit(1)


def tell(news: Any) -> None:
    _news[0].put(news)
