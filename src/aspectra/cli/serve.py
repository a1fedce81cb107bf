"""aspectra serve: label over HTTP."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aspectra.cli import show
from aspectra.cli.settings import with_options
from aspectra.errors import InputError

if TYPE_CHECKING:
    from aspectra.serve.server import Service


@dataclass(frozen=True)
class ServeOptions:
    """The options of `aspectra serve`."""

    model: show.Model = None
    onnx: show.Onnx = None
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. With another than 127.0.0.1, other machines can send texts, "
            "unencrypted: set --token, and put a proxy with TLS in front."
        ),
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one.", min=0, max=65535)] = 8000
    token: Annotated[
        str | None,
        typer.Option(
            envvar="ASPECTRA_TOKEN",
            help="Answer only requests with this token. Better set it in the environment: "
            "other users can see a command line.",
        ),
    ] = None
    open_: Annotated[bool, typer.Option("--open", help="Allow other machines without a token.")] = False
    workers: Annotated[
        int, typer.Option(help="Number of processes; each loads the model.", min=1, max=256)
    ] = 1
    queue: Annotated[
        int,
        typer.Option(
            help="Texts that may wait in one process; more are answered with status 429.",
            min=1,
            max=10_000_000,
        ),
    ] = 4096
    timeout: Annotated[
        float, typer.Option(help="Seconds until a request is answered with status 503.", min=0.1, max=86_400)
    ] = 10.0
    quiet: show.Quiet = False


@with_options(ServeOptions)
def command(
    run: Annotated[
        Path | None,
        typer.Argument(help="The run's folder, as given to aspectra fit --run; or use --onnx."),
    ] = None,
    **given: Any,
) -> None:
    """Label over HTTP.

    POST /label; GET /aspects, /healthz and /metrics. The page /docs describes it.
    """
    from aspectra.serve.server import listen, serve

    options = ServeOptions(**given)
    service = make_service(run, options)
    listener = listen(options.host, options.port)
    name = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{name}:{listener.getsockname()[1]}"
    show.note("Loading …", options.quiet)

    def started() -> None:
        typer.echo(address)
        show.note_model(service.run, options.model, options.quiet)
        show.note(f"Documentation: {address}/docs. Stop with Ctrl-C.", options.quiet)

    with contextlib.suppress(KeyboardInterrupt):
        serve(service, listener, options.workers, started)


def make_service(run: Path | None, options: ServeOptions) -> Service:
    """Check the options and return the service that they ask for."""
    from aspectra.loopback import is_loopback
    from aspectra.serve.batching import Limits
    from aspectra.serve.server import Service

    source = run or options.onnx
    if source is None or (run and options.onnx):
        raise typer.BadParameter("Give the run's folder or --onnx, one of them.", param_hint="RUN")
    show.check_model(options.model)
    if options.token and not options.token.isascii():
        raise InputError("The token must be plain letters, digits and signs (ASCII); HTTP has no others.")
    local = is_loopback(options.host)
    if not (local or options.token or options.open_):
        raise InputError(
            f"{options.host} can be reached from other machines. "
            "Set a token: ASPECTRA_TOKEN=… aspectra serve …, or let everyone in with --open."
        )
    threads = max(1, (os.cpu_count() or 1) // options.workers) if options.workers > 1 else 0
    limits = Limits(queue=options.queue, timeout=options.timeout)
    return Service(source, options.model, options.token, local, limits, threads)
