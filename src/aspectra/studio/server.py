"""The studio over HTTP: Starlette on 127.0.0.1, JSON in and out, no logic of its own.

A request must carry the random token of this start (first in the address, then in a cookie), name this
host, and come from this page. The page may load only its own files and run no inline script, so review text
cannot become code.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from aspectra.errors import AspectraError, InputError, RunError, typed
from aspectra.loopback import HOST, names_this_machine
from aspectra.studio.session import Conflict
from aspectra.studio.studio import Studio

if TYPE_CHECKING:
    import uvicorn

PORT = 8765
TRIED = 20
LONGEST_BODY, BODY_WITHIN = 100_000, 10.0
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
Handler = Callable[[Request], Awaitable[Response]]


def make_app(studio: Studio, token: str, port: int, stop: Callable[[], None]) -> Starlette:
    """Build the application; `stop` is called when the person presses Done."""
    cookie = f"aspectra-{port}"  # cookies do not tell ports apart

    async def guard(request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
        response = refuse(request, port) or enter(request, token, cookie)
        response = response or await handle(request)
        response.headers.update(HEADERS)
        return response

    async def start(request: Request) -> Any:
        return studio.start()

    async def state(request: Request) -> Any:
        studio.session.touch()
        return studio.state()

    async def act(request: Request) -> Any:
        sent = await body(request)
        return studio.act(sent.get("action"), sent.get("version"))

    async def card(request: Request) -> Any:
        studio.session.touch()
        return studio.card(studio.check_topic(request.path_params["topic"]))

    async def trials(request: Request) -> Any:
        return studio.trials(studio.check_topic(request.path_params["topic"]))

    async def preview(request: Request) -> Any:
        seed = request.query_params.get("seed", "0")
        return studio.preview(int(seed) if seed.isascii() and seed.isdigit() and len(seed) < 20 else 0)

    async def try_text(request: Request) -> Any:
        return studio.try_text((await body(request)).get("text"))

    async def question(request: Request) -> Any:
        return studio.question(request.query_params.get("drawn", "doubtful"))

    async def answer(request: Request) -> Any:
        sent = await body(request)
        drawn = sent.get("drawn", "doubtful")
        if sent.get("back"):
            return studio.take_back(drawn)
        return studio.answer(sent.get("row"), sent.get("aspect"), drawn)

    async def done(request: Request) -> Any:
        studio.session.close(finished=True)
        stop()
        return {"next": next_command(studio)}

    routes = [
        Route("/api/start", api(start)), Route("/api/state", api(state)),
        Route("/api/card/{topic}", api(card)), Route("/api/trials/{topic}", api(trials)),
        Route("/api/preview", api(preview)), Route("/api/question", api(question)),
        Route("/api/act", api(act), methods=["POST"]), Route("/api/try", api(try_text), methods=["POST"]),
        Route("/api/answer", api(answer), methods=["POST"]), Route("/api/done", api(done), methods=["POST"]),
        Route("/", page), Route("/page/{name}", page),
    ]  # fmt: skip
    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)])


def next_command(studio: Studio) -> str:
    """Return the command that comes after the page; an annotator's map is to be agreed on first."""
    in_use = studio.session.is_in_use
    return f"aspectra distill {typed(studio.run)}" if in_use else f"aspectra map {typed(studio.run)} --page"


def refuse(request: Request, port: int) -> Response | None:
    """Turn away what does not come from this page on this machine."""
    if not names_this_machine(request.headers.get("host"), port):
        return PlainTextResponse("Wrong host.", 403)
    origin = request.headers.get("origin")
    if origin is not None and not names_this_machine(origin.removeprefix("http://"), port):
        return PlainTextResponse("Wrong origin.", 403)
    return None


def enter(request: Request, token: str, cookie: str) -> Response | None:
    """Take the token from the address into a cookie; turn away who has neither."""
    given = request.query_params.get("token")
    if given is not None and hmac.compare_digest(given.encode(), token.encode()) and request.url.path == "/":
        response = RedirectResponse("/", 303)
        response.set_cookie(cookie, token, httponly=True, samesite="strict")
        return response
    if hmac.compare_digest(request.cookies.get(cookie, "").encode(), token.encode()):
        return None
    return PlainTextResponse(
        "Open the address that the command printed: this one has no token, or that of an earlier start.", 403
    )


def api(answer: Callable[[Request], Awaitable[Any]]) -> Handler:
    """Answer in JSON; our errors become {"error": message} with a status that tells the page what to do."""

    async def handle(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request))
        except Conflict as error:
            return JSONResponse({"error": str(error)}, 409)
        except RunError as error:  # the disk is full or the run is gone: nothing was saved
            return JSONResponse({"error": str(error)}, 507)
        except AspectraError as error:
            return JSONResponse({"error": str(error)}, 400)

    return handle


async def body(request: Request) -> dict[str, Any]:
    """Read a JSON object of reasonable size."""
    data = b""
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for chunk in request.stream():
                data += chunk
                if len(data) > LONGEST_BODY:
                    raise InputError(f"A request has at most {LONGEST_BODY} bytes.")
    except (TimeoutError, ClientDisconnect):
        raise InputError(f"The request was not complete within {BODY_WITHIN:g} s.") from None
    try:
        sent = json.loads(data)
        json.dumps(sent, ensure_ascii=False).encode()  # half of an emoji cannot be saved
    except UnicodeEncodeError:
        raise InputError("The request has half of a character in it. Type the text again.") from None
    except (ValueError, RecursionError):
        raise InputError("The request is not JSON.") from None
    if not isinstance(sent, dict):
        raise InputError("The request must be a JSON object.")
    return sent


async def page(request: Request) -> Response:
    """Serve a file of the page."""
    name = request.path_params.get("name", "index.html")
    kind = KINDS.get(name.rpartition(".")[2])
    found = [file for file in (files("aspectra.studio") / "page").iterdir() if file.name == name]
    if kind is None or not found:
        return PlainTextResponse("No such file.", 404)
    return Response(found[0].read_bytes(), media_type=kind)


def free_socket(port: int | None) -> socket.socket:
    """Bind the port asked for, or else the first free one from PORT on."""
    for candidate in (port,) if port is not None else (*range(PORT, PORT + TRIED), 0):
        # asyncio turns off Nagle's delay of 40 ms only where the protocol is named
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen()
        except OSError:
            listener.close()
            continue
        return listener
    raise InputError(f"Port {port} is taken. Choose another --port, or leave it out to take a free one.")


def make_server(studio: Studio, listener: socket.socket) -> tuple[uvicorn.Server, str]:
    """Return a server, not yet running, and the address to open."""
    import uvicorn

    from aspectra.connections import ImpatientProtocol

    token, port = secrets.token_urlsafe(24), listener.getsockname()[1]

    def stop() -> None:
        server.should_exit = True

    app = make_app(studio, token, port, stop)
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        log_level="warning",
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    server = uvicorn.Server(config)
    return server, f"http://{HOST}:{port}/?token={token}"


def serve(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until Done or Ctrl-C, which is raised again as KeyboardInterrupt."""
    with listener:
        server.run(sockets=[listener])
