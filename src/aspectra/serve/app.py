"""The service over HTTP: texts in, the rows of `aspectra label` out; also aspects, health and metrics.

Every problem with a request has a status and one sentence: 401, 408, 413, 415, 422; also 429 when the
queue is full and 503 when labelling takes too long, both with Retry-After. The pages load nothing from
elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aspectra import __version__
from aspectra.loopback import names_this_machine
from aspectra.serve.batching import Batcher, LabelReviews, Limits, QueueFull
from aspectra.serve.metrics import Metrics
from aspectra.topicmap.topicmap import TopicMap

MOST_TEXTS = 256
LONGEST_TEXT = 10_000
LARGEST_BODY = 4 * 2**20
RETRY = {"Retry-After": "1"}
KINDS = {
    "docs.html": "text/html; charset=utf-8",
    "docs.css": "text/css; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
}
HEADERS = {
    b"content-security-policy": b"default-src 'none'; script-src 'self'; style-src 'self'; "
    b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


class Texts(BaseModel):
    """Reviews to label; one is a list of one."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"texts": ["Sharp picture. The sound is thin."]}]}
    )
    texts: list[Annotated[str, Field(max_length=LONGEST_TEXT)]] = Field(min_length=1, max_length=MOST_TEXTS)


class Segment(BaseModel):
    """One row of `aspectra label`; `review` is the text's place in the request, `p_…` are probabilities."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]
    review: int
    segment: int
    text: str
    aspect: str
    probability: float
    sentiment: str | None
    sentiment_score: float | None
    sentiment_confidence: float | None
    aspects: list[str]
    aspect_sentiments: list[str]
    entropy: float
    margin: float
    unmapped: float
    topic: int | None
    known_words: int


class Labels(BaseModel):
    """One row per segment of each text, in order; a blank text has none."""

    segments: list[Segment]


class Topic(BaseModel):
    topic: int
    keywords: list[str]


class Aspect(BaseModel):
    name: str
    topics: list[Topic]


class Aspects(BaseModel):
    """The aspects that can be answered, and the topics mapped to each."""

    aspects: list[Aspect]


class Problem(BaseModel):
    """What is wrong, in one sentence."""

    detail: str


class Health(BaseModel):
    status: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem} for status in statuses}


@dataclass(frozen=True)
class Guard:
    """What a route needs in addition if there is a token."""

    options: dict[str, Any] = field(default_factory=dict)
    statuses: tuple[int, ...] = ()


def make_app(
    label: LabelReviews, topic_map: TopicMap, limits: Limits, token: str | None = None, local: bool = False
) -> FastAPI:
    """Build the application.

    With `token`, requests must have it; with `local`, their Host must be this machine.
    """
    metrics = Metrics()
    batcher = Batcher(label, limits, metrics.observe_batch)
    metrics.watch_queue(lambda: batcher.waiting)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.close()

    async def bearer(
        sent: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
    ) -> None:
        check_token(sent, token)

    app = FastAPI(
        title="aspectra", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        summary="Labels every segment of every review with an aspect.",
    )  # fmt: skip
    app.add_middleware(Gate, metrics=metrics, local=local)
    guard = Guard({"dependencies": [Depends(bearer)]}, (401,)) if token else Guard()
    add_labelling(app, batcher, limits, guard)
    add_state(app, topic_map, batcher, metrics, guard)
    add_pages(app)
    return app


def add_labelling(app: FastAPI, batcher: Batcher, limits: Limits, guard: Guard) -> None:
    @app.post(
        "/label",
        response_model=Labels,
        responses=problems(*guard.statuses, 408, 413, 415, 422, 429, 503),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": Texts.model_json_schema()}},
            }
        },
        **guard.options,
    )
    async def label_texts(request: Request) -> Response:
        """Split texts into segments and label each."""
        texts = read_texts(await read_body(request, limits.timeout))
        try:
            rows = await batcher.label(texts)
        except QueueFull:
            raise HTTPException(
                429, f"{batcher.waiting} texts are already waiting. Try again in a moment.", RETRY
            ) from None
        except TimeoutError:
            raise HTTPException(
                503, f"No labels within {limits.timeout:g} s. Send fewer texts, or try again later.", RETRY
            ) from None
        return Response(b'{"segments":[' + b",".join(rows) + b"]}", media_type="application/json")


def add_state(app: FastAPI, topic_map: TopicMap, batcher: Batcher, metrics: Metrics, guard: Guard) -> None:
    """Add the routes for callers, load balancers and Prometheus."""

    @app.get("/aspects", responses=problems(*guard.statuses), **guard.options)
    async def aspects() -> Aspects:
        """Return the aspects and the topics mapped to each."""
        return describe(topic_map)

    @app.get("/healthz", responses=problems(503))
    async def healthz() -> Health:
        """Return whether texts can be labelled; needs no token."""
        if not batcher.alive:
            raise HTTPException(503, "The labelling thread has stopped. Start the service again.")
        return Health(status="ok")

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **problems(*guard.statuses)},
        **guard.options,
    )
    async def prometheus() -> Response:
        """Return the metrics for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def add_pages(app: FastAPI) -> None:
    """Add the documentation page."""
    page = files("aspectra.serve") / "page"

    async def start(request: Request) -> Response:
        return RedirectResponse("/docs")

    async def docs(request: Request) -> Response:
        name = request.path_params.get("name", "docs.html")
        if name not in KINDS:
            return JSONResponse({"detail": f"No page {name}. See /docs."}, 404)
        return Response((page / name).read_bytes(), media_type=KINDS[name])

    app.add_route("/", start, include_in_schema=False)
    app.add_route("/docs", docs, include_in_schema=False)
    app.add_route("/docs/{name}", docs, include_in_schema=False)


def check_token(sent: HTTPAuthorizationCredentials | None, token: str | None) -> None:
    given = sent.credentials if sent else ""
    if token and not hmac.compare_digest(given.encode(), token.encode()):
        raise HTTPException(
            401, "Wrong or no token. Send it as: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"}
        )


async def read_body(request: Request, timeout: float) -> bytes:
    """Read a JSON body of bounded size in bounded time."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "Send JSON, with the header Content-Type: application/json")
    too_large = HTTPException(413, f"A request has at most {LARGEST_BODY} bytes. Send fewer texts at once.")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > LARGEST_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(timeout):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise too_large
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(408, f"The request was not complete within {timeout:g} s.") from None
    return bytes(body)


def read_texts(body: bytes) -> list[str]:
    try:
        return Texts.model_validate_json(body).texts
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        shape = f'Send {{"texts": ["…"]}} with 1 to {MOST_TEXTS} texts of at most {LONGEST_TEXT} characters.'
        raise HTTPException(422, f"{where + ': ' if where else ''}{first['msg']}. {shape}") from None


def describe(topic_map: TopicMap) -> Aspects:
    def topics(aspect: str) -> list[Topic]:
        return [
            Topic(topic=choice.topic, keywords=list(choice.keywords))
            for choice in topic_map.choices
            if aspect in choice.weights
        ]

    return Aspects(aspects=[Aspect(name=name, topics=topics(name)) for name in topic_map.aspects])


class Gate:
    """Counts requests, adds headers to answers, and refuses requests that name another host."""

    def __init__(self, app: ASGIApp, metrics: Metrics, local: bool) -> None:
        self.app, self.metrics, self.local = app, metrics, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *HEADERS.items()]}
            await send(message)

        try:
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if self.local and not names_this_machine(host):
                await JSONResponse({"detail": "Wrong host. Use the address that the command printed."}, 403)(
                    scope, receive, answer
                )
            else:
                await self.app(scope, receive, answer)
        finally:
            route = scope.get("route")
            self.metrics.observe_request(
                route.path if route else "other", status, time.perf_counter() - began
            )
