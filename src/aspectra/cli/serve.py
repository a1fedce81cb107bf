"""aspectra serve: label over HTTP."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError


def command(
    run: Annotated[
        Path | None,
        typer.Argument(help="The run's folder, as given to aspectra fit --run; none with --onnx."),
    ] = None,
    model: show.Model = None,
    onnx: show.Onnx = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. Beyond 127.0.0.1, everyone who can reach this machine can send texts, unencrypted: "
            "that needs --token, and a proxy with TLS in front."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="ASPECTRA_TOKEN",
            help="Answer only requests that bear this token. Better set in the environment: others can see a command line.",
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Allow another --host without a token.")] = False,
    workers: Annotated[int, typer.Option(help="Processes, each with a model of its own.", min=1)] = 1,
    queue: Annotated[
        int, typer.Option(help="Texts that may wait in a worker; more are answered with 429.", min=1)
    ] = 4096,
    timeout: Annotated[
        float, typer.Option(help="Seconds until a request is given up with 503.", min=0.1)
    ] = 10.0,
    quiet: show.Quiet = False,
) -> None:
    """Label over HTTP: POST /label, GET /aspects, /healthz, /metrics; /docs describes it."""
    from aspectra.loopback import is_loopback
    from aspectra.serve.batching import Limits
    from aspectra.serve.server import Service, listen, serve

    if (run is None) == (onnx is None):
        raise typer.BadParameter("Give the run's folder, or --onnx.", param_hint="RUN")
    show.check_model(model)
    local = is_loopback(host)
    if not (local or token or open_):
        raise InputError(
            f"{host} can be reached from other machines. Set a token: ASPECTRA_TOKEN=… aspectra serve …, "
            "or let everyone in with --open."
        )
    threads = max(1, (os.cpu_count() or 1) // workers) if workers > 1 else 0
    service = Service(run or Path(), model, onnx, token, local, Limits(queue=queue, timeout=timeout), threads)
    listener = listen(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    show.note("Loading …", quiet)

    def started() -> None:
        typer.echo(address)
        show.note(f"Described at {address}/docs. Stop with Ctrl-C.", quiet)

    with contextlib.suppress(KeyboardInterrupt):
        serve(service, listener, workers, started)
