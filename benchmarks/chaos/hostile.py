"""Hostile requests to the mapping page and the service: no status 500, no other map, no growing memory."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from aspectra import rundir

from .children import TRACES, serving
from .mutator import VALUES, change_value
from .page import Client
from .place import Place, Trial
from .writers import page, without_student

REQUESTS = 10_000
"""To each of the two."""
HALVES = 300
GROWTH = 150
"""MB that a server may need more after all of it."""
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X" * 100)
PAGE_PATHS = (
    "/", "/api/state", "/api/start", "/api/act", "/api/try", "/api/answer", "/api/question",
    "/api/preview?seed=", "/api/card/", "/api/trials/", "/page/", "/page/app.js", "/page/../server.py",
    "/page/%2e%2e/server.py",
)  # fmt: skip
SERVICE_PATHS = (
    "/", "/label", "/aspects", "/healthz", "/metrics", "/docs", "/docs/", "/openapi.json", "/docs/../app.py",
)  # fmt: skip
ENDS = (
    "", "0", "-1", "99999999999", "%00", "%ff", "../" * 20, "a" * 5000, "٣", "1e5", "{}", "'", "<b>", "\\",
)  # fmt: skip
ODD_BODIES = (b"", b"{", b"[" * 50_000, b"\xff\xfe", b"9" * 6000, b"x" * 200_000)
ODD_HEADERS = (
    ("Host", "evil.example"), ("Origin", "http://evil.example"), ("Cookie", "x" * 5000),
    ("Content-Type", "text/plain"), ("Authorization", "Bearer x"), ("Content-Encoding", "gzip"),
)  # fmt: skip
Request = tuple[str, str, bytes, dict[str, str]]
"""Method, path, body and headers."""
BODIES: tuple[Any, ...] = (
    {"action": {"kind": "assign", "choices": {"0": "Taste"}}, "version": 1},
    {"action": {"kind": "rename", "name": "Taste", "to": "Smell"}, "version": 1},
    {"action": {"kind": "note", "topic": 0, "text": "x"}, "version": 1},
    {"action": {"kind": "describe", "name": "Taste", "words": ["x"]}, "version": 1},
    {"text": "The pump is loud."}, {"row": 0, "aspect": "Taste", "drawn": "random"}, {"back": True},
    {"texts": ["The pump is loud."]}, {"texts": ["x"] * 300}, {"texts": ["y" * 20_000]},
)  # fmt: skip
RAW = (
    b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01",
    b"POST /label HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /label HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [127.0.0.1]evil\r\n\r\n", b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A server under attack: how to ask as its user would, and what tells that it still works."""

    name: str
    port: int
    headers: dict[str, str]
    paths: tuple[str, ...]
    works: Callable[[], str]
    state: Callable[[], list[bytes]]
    process: subprocess.Popen[str]

    def memory(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1000


def attack(place: Place) -> Iterator[Trial]:
    random, count = place.random("requests"), place.count(REQUESTS)
    with serving("serve", place.run, "--port", 0, "--model", "teacher", "-q") as (process, address):
        port = int(address.rpartition(":")[2])
        json_headers = {"Content-Type": "application/json"}
        target = Target("service", port, json_headers, SERVICE_PATHS, lambda: labels(port), list, process)
        yield from assail(target, random, count, place.count(HALVES))
    run = without_student(place.copy("hostile"))
    with serving(*page(run)) as (process, address):
        client = Client(address)

        def kept() -> list[bytes]:
            names = rundir.TOPIC_MAP, rundir.DEV, rundir.ASPECTS
            return [(run / name).read_bytes() for name in names if (run / name).exists()]

        cookie = {"Cookie": f"aspectra-{client.port}={address.partition('token=')[2]}"}
        target = Target("page", client.port, cookie, PAGE_PATHS, lambda: assigns(client, run), kept, process)
        yield from assail(target, random, count, place.count(HALVES))


def labels(port: int) -> str:
    """Tell whether the service labels; return what is wrong."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        body = json.dumps({"texts": ["The pump is loud."]})
        connection.request("POST", "/label", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        labelled = answer.status == 200 and json.loads(answer.read())["segments"]
        return "" if labelled else f"status {answer.status}"
    except OSError as error:
        return f"no answer: {error}"
    finally:
        connection.close()


def assigns(client: Client, run: Path) -> str:
    """Tell whether the page saves a choice; return what is wrong."""
    try:
        version = int(client.ask("/api/state")[1]["version"])
        client.assign(0, None, version)
    except (OSError, RuntimeError) as error:
        return f"no answer: {error}"
    return client.lost(run)


def assail(target: Target, random: Random, count: int, halves: int) -> Iterator[Trial]:
    """Send all of it; look at memory, stderr and a good request afterwards."""
    errors = watch(target.process)
    yield f"{target.name}, before", target.works()
    before = target.memory()
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    for number in range(count):
        if random.random() < 0.05:
            yield f"{target.name}, raw request {number}", send_raw(target.port, random)
        else:
            request = hostile(target, random)
            what = f"{target.name} {request[0]} {request[1][:60]} {request[2][:200]!r}"
            yield what, send(target, connection, request)
    connection.close()
    open_halves = [half_sent(target.port, random) for _ in range(halves)]
    yield f"{target.name}, while {halves} requests are half sent", target.works()
    for one in open_halves:
        one.close()
    growth = target.memory() - before
    yield f"{target.name}, memory", f"{growth:.0f} MB more" if growth > GROWTH else ""
    yield f"{target.name}, afterwards", target.works()
    yield f"{target.name}, stderr", traceback_in(errors)


def traceback_in(lines: list[str]) -> str:
    """Return the last line of the first traceback, and where it was raised."""
    start = next((n for n, line in enumerate(lines) if any(trace in line for trace in TRACES)), None)
    if start is None:
        return ""
    end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith(" ")), len(lines) - 1)
    return " ".join(line.strip() for line in lines[end - 2 : end + 1])


def send(target: Target, connection: http.client.HTTPConnection, request: Request) -> str:
    """Send a request; return what fell. Whatever is not done (status 200) may change nothing."""
    before = target.state()
    try:
        connection.request(*request)
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException, UnicodeEncodeError):
        connection.close()
        return "" if target.process.poll() is None else "it is gone"
    if answer.status == 500 or answer.status > 503:
        return f"status {answer.status}"
    changed = answer.status != 200 and target.state() != before
    return f"status {answer.status}, and yet something has changed" if changed else ""


def watch(process: subprocess.Popen[str]) -> list[str]:
    """Collect what a server prints to stderr."""
    lines: list[str] = []
    stream = process.stderr
    assert stream
    threading.Thread(target=lambda: lines.extend(stream), daemon=True).start()
    return lines


def hostile(target: Target, random: Random) -> Request:
    """Return a request that nobody sends by mistake."""
    path = random.choice(target.paths) + (random.choice(ENDS) if random.random() < 0.5 else "")
    path = "".join(sign if 32 < ord(sign) < 127 else f"%{ord(sign) % 256:02x}" for sign in path)
    value: Any = random.choice(BODIES)
    for _ in range(random.randint(0, 3)):
        value = change_value(value, random)[0] if random.random() < 0.8 else random.choice(VALUES)
    body = json.dumps(value).encode()
    if random.random() < 0.1:
        body = random.choice((*ODD_BODIES, random.randbytes(50)))
    headers = dict(target.headers)
    if random.random() < 0.2:
        headers |= dict([random.choice(ODD_HEADERS)])
    method = random.choice(METHODS if random.random() < 0.2 else ("GET", "POST", "POST"))
    return method, path, body, headers


def send_raw(port: int, random: Random) -> str:
    """Send bytes that are no request; the server may answer anything but status 500, or close."""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        try:
            connection.sendall(random.choice(RAW))
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
        except OSError:
            return ""
    return f"{answer[:60]!r}" if b" 500 " in answer[:20] else ""


def half_sent(port: int, random: Random) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 60)
    whole = b"POST /label HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    connection.sendall(whole[: random.randint(1, len(whole))])
    return connection
