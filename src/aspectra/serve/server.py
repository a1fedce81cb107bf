"""The service as processes: one, or several that share a socket and are restarted when they die."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aspectra.errors import InputError
from aspectra.labelling.labeller import load
from aspectra.serve.batching import Limits

if TYPE_CHECKING:
    from fastapi import FastAPI

BACKLOG = 2048
CONNECTIONS = 1024
"""Further connections are answered with 503 before anything is read from them."""


@dataclass(frozen=True)
class Service:
    """What a worker process needs to know; calling it loads the model and returns the application."""

    run: Path  # or an exported .onnx file
    model: str | None = None
    token: str | None = field(default=None, repr=False)
    local: bool = True
    limits: Limits = field(default_factory=Limits)
    threads: int = 0

    def __call__(self) -> FastAPI:
        try:
            from aspectra.serve.app import make_app
        except ImportError as error:
            raise InputError(
                f'The service needs {error.name}, which is not installed: pip install "aspectra[serve]"'
            ) from None
        import polars as pl

        labeller = load(self.run, self.model, self.threads)
        labeller.label(pl.Series(["The first text loads everything that is loaded late."]))
        return make_app(labeller.label, labeller.topic_map, self.limits, self.token, self.local)


def listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise InputError(
            f"Cannot listen on {host} port {port}: {error.strerror}. Choose another --port or --host."
        ) from None
    return listener


def serve(service: Service, listener: socket.socket, workers: int, started: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, then answer open requests; call `started` once the model is loaded."""
    import uvicorn

    app = service()  # also with several workers: problems show once, and before they start
    started()
    options: dict[str, Any] = {
        "log_level": "warning",
        "server_header": False,
        "limit_concurrency": CONNECTIONS,
        "http": "aspectra.connections:ImpatientProtocol",
        "timeout_graceful_shutdown": int(service.limits.timeout) + 5,
    }
    with listener, tempfile.TemporaryDirectory() as folder:
        if workers == 1:
            uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listener])
            return
        from aspectra.connections import Workers
        from aspectra.serve.metrics import METRICS_FOLDER

        os.environ[METRICS_FOLDER] = folder  # before a worker imports prometheus_client
        config = uvicorn.Config(
            service, factory=True, workers=workers, timeout_worker_healthcheck=60, **options
        )
        Workers(config, sockets=[listener]).run()
