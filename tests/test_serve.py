"""The service: what it answers, whom it turns away, and how it starts and ends as a process."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("fastapi", reason='the service needs fastapi: pip install "aspectra[serve]"')

import uvicorn
from starlette.testclient import TestClient

from aspectra import rundir
from aspectra.connections import ImpatientProtocol
from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.sample import Sample
from aspectra.serve.app import LARGEST_BODY, LONGEST_TEXT, MOST_TEXTS, make_app
from aspectra.serve.batching import Limits
from aspectra.serve.server import Service, listen

Start = Callable[..., TestClient]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def start(detector: AspectDetector) -> Iterator[Start]:
    clients: list[TestClient] = []

    def begin(
        label: Any = detector.label, token: str | None = None, local: bool = False, **limits: Any
    ) -> TestClient:
        app = make_app(label, detector.topic_map_, Limits(**limits), token, local)
        clients.append(TestClient(app, raise_server_exceptions=False))
        return clients[-1].__enter__()

    yield begin
    for client in clients:
        client.__exit__(None, None, None)


def test_the_rows_are_those_of_aspectra_label(start: Start, detector: AspectDetector, sample: Sample) -> None:
    texts = ["Nice crema. Loud pump!", "", "   ", *sample.reviews["text"].head(3)]
    answer = start().post("/label", json={"texts": texts})
    assert answer.status_code == 200
    assert answer.json() == {
        "segments": [json.loads(row) for row in detector.label(texts).write_ndjson().splitlines()]
    }
    assert [row["review"] for row in answer.json()["segments"]][:3] == [0, 0, 3]


def test_aspects_tell_their_topics(start: Start, detector: AspectDetector) -> None:
    aspects = start().get("/aspects").json()["aspects"]
    assert [aspect["name"] for aspect in aspects] == ["Taste", "Noise", "General"]
    assert [topic["topic"] for topic in aspects[1]["topics"]] == [4, 5, 6, 7]
    assert aspects[0]["topics"][0]["keywords"] == list(detector.topics_.items[0].keywords)


BAD = [
    (b"{", 422, "Invalid JSON"),
    (b"[]", 422, 'Send {"texts"'),
    (b'{"text": "one"}', 422, "Field required"),
    (b'{"texts": []}', 422, "at least 1 item"),
    (b'{"texts": "one"}', 422, "valid array"),
    (b'{"texts": [1]}', 422, "texts.0: Input should be a valid string"),
    (b'{"texts": ["\\ud800"]}', 422, "Invalid JSON"),
    (b'{"texts": ["\xff"]}', 422, "Invalid JSON"),
    (b"[" * 100_000, 422, "Invalid JSON"),
    (json.dumps({"texts": ["x"] * (MOST_TEXTS + 1)}).encode(), 422, f"at most {MOST_TEXTS} items"),
    (json.dumps({"texts": ["x" * (LONGEST_TEXT + 1)]}).encode(), 422, f"at most {LONGEST_TEXT} characters"),
    (b" " * (LARGEST_BODY + 1), 413, f"at most {LARGEST_BODY} bytes"),
]


@pytest.mark.parametrize(("body", "status", "message"), BAD, ids=lambda value: str(value)[:24])
def test_a_bad_request_gets_its_status_and_one_sentence(
    start: Start, body: bytes, status: int, message: str
) -> None:
    answer = start().post("/label", content=body, headers=JSON)
    assert answer.status_code == status
    assert message in answer.json()["detail"]


def test_a_body_without_length_is_cut_off_too(start: Start) -> None:
    chunks = (b" " * 2**20 for _ in range(LARGEST_BODY // 2**20 + 1))
    assert start().post("/label", content=chunks, headers=JSON).status_code == 413


def test_a_form_of_another_page_is_refused(start: Start) -> None:
    client = start(local=True)
    assert client.post("http://localhost/label", content=b'{"texts":["x"]}').status_code == 415
    for host in ("evil.example", "localhost.evil.example", ""):
        assert (
            client.post("http://localhost/label", json={"texts": ["x"]}, headers={"Host": host}).status_code
            == 403
        )
    for host in ("127.0.0.1:8000", "localhost", "[::1]:80"):
        assert client.get("http://localhost/healthz", headers={"Host": host}).status_code == 200


def test_only_bearers_of_the_token_may_label(start: Start) -> None:
    client = start(token="sesame")
    for headers in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic sesame"},
        {"Authorization": "Bearer sesam"},
    ):
        for method, path in (("POST", "/label"), ("GET", "/aspects"), ("GET", "/metrics")):
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert client.get("/healthz").status_code == 200
    assert client.get("/aspects", headers={"Authorization": "Bearer sesame"}).status_code == 200


class Blocked:
    """Labels only when it is let go."""

    def __init__(self, detector: AspectDetector) -> None:
        self.detector, self.go = detector, threading.Event()

    def __call__(self, texts: pl.Series) -> pl.DataFrame:
        assert self.go.wait(60)
        return self.detector.label(texts)


def test_a_full_queue_is_429_and_it_recovers(start: Start, detector: AspectDetector) -> None:
    blocked = Blocked(detector)
    client = start(blocked, queue=2, batch=1)
    statuses: list[int] = []
    senders = [
        threading.Thread(
            target=lambda: statuses.append(client.post("/label", json={"texts": ["Nice crema."]}).status_code)
        )
        for _ in range(8)
    ]
    for sender in senders:
        sender.start()
    while len(statuses) < 5:
        time.sleep(0.01)
    full = client.post("/label", json={"texts": ["Nice crema."]})
    assert (full.status_code, full.headers["Retry-After"]) == (429, "1")
    blocked.go.set()
    for sender in senders:
        sender.join(60)
    assert sorted(statuses) == [200] * 3 + [429] * 5
    assert client.post("/label", json={"texts": ["Nice crema."]}).status_code == 200


def test_labels_that_do_not_come_in_time_are_503(start: Start, detector: AspectDetector) -> None:
    blocked = Blocked(detector)
    answer = start(blocked, timeout=0.1).post("/label", json={"texts": ["Nice crema."]})
    blocked.go.set()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "No labels within 0.1 s" in answer.json()["detail"]


def test_metrics_count_requests_and_segments_by_aspect(start: Start, detector: AspectDetector) -> None:
    client = start()
    client.post("/label", json={"texts": ["Nice crema. Loud pump!"]})
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert 'aspectra_requests_total{path="/label",status="200"} 1.0' in text
    assert 'aspectra_requests_total{path="other",status="404"} 1.0' in text
    counts = [
        float(line.split()[-1]) for line in text.splitlines() if line.startswith("aspectra_segments_total")
    ]
    assert sum(counts) == len(detector.label(["Nice crema. Loud pump!"]))


def test_the_pages_load_nothing_from_elsewhere(start: Start) -> None:
    client = start()
    assert client.get("/", follow_redirects=False).headers["Location"] == "/docs"
    for path in ("/docs", "/docs/docs.css", "/docs/docs.js"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'; script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "://" not in answer.text
    assert client.get("/docs/app.py").status_code == 404


@contextmanager
def process(
    program: list[str], *words: object, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start `aspectra serve` on a free port; give the process and the port."""
    command = [*program, "serve", *map(str, words), "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
        start_new_session=True,
    ) as started:
        killer = threading.Timer(300, os.killpg, (started.pid, signal.SIGKILL))
        killer.start()
        try:
            yield started, int(started.stdout.readline().rpartition(":")[2])
        finally:
            killer.cancel()
            started.terminate()


def ask(port: int, path: str, sent: Any = None, **headers: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=150)) as connection:
        connection.request(
            "POST" if sent else "GET", path, json.dumps(sent) if sent else None, JSON | headers
        )
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_schemathesis_finds_nothing(program: list[str], run: Path, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    with process(program, run) as (_, port):
        limits = ["--max-examples", "3", "--max-time", "5"]
        command = ["-m", "schemathesis.cli", "run", f"http://127.0.0.1:{port}/openapi.json", *limits]
        end = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, timeout=300, cwd=tmp_path
        )
        assert end.returncode == 0, end.stdout[-3000:]


def test_a_stopped_service_still_answers_what_was_asked(program: list[str], run: Path) -> None:
    sent = json.dumps({"texts": ["Nice crema. Loud pump! " * 50] * 64})
    with process(program, run) as (server, port):
        senders = [http.client.HTTPConnection("127.0.0.1", port, timeout=150) for _ in range(4)]
        for sender in senders:
            sender.request("POST", "/label", sent, JSON)
        assert ask(port, "/healthz")[0] == 200  # it came after them, so they have arrived
        server.send_signal(signal.SIGTERM)
        assert [sender.getresponse().status for sender in senders] == [200] * 4
        for sender in senders:
            sender.close()
        assert server.wait(60) == 128 + signal.SIGTERM


def test_several_workers_add_up_their_figures_and_one_that_dies_is_replaced(
    program: list[str], run: Path
) -> None:
    with process(program, run, "--workers", 2, ASPECTRA_TOKEN="sesame") as (server, port):
        token = {"Authorization": "Bearer sesame"}
        statuses = [ask(port, "/label", {"texts": ["Nice crema."]}, **token)[0] for _ in range(20)]
        assert statuses == [200] * 20
        counted = 'aspectra_requests_total{path="/label",status="200"} 20.0'
        for _ in range(100):  # a request is counted once its answer is sent
            if counted in (text := ask(port, "/metrics", **token)[1].decode()):
                break
            time.sleep(0.05)
        assert counted in text
        victim = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[-1]
        os.kill(int(victim), signal.SIGKILL)
        assert ask(port, "/healthz")[0] == 200
        assert 'status="200"} 20.0' in ask(port, "/metrics", **token)[1].decode()
        server.terminate()
        server.wait(45)  # a dead worker that is waited for as if it started would take 60


def test_a_wide_address_needs_a_token_or_consent(aspectra: Callable[..., Any], run: Path) -> None:
    answer = aspectra("serve", run, "--host", "0.0.0.0")
    assert answer.code == 1
    assert "0.0.0.0 can be reached from other machines. Set a token" in answer.err


def test_a_taken_port_is_told(aspectra: Callable[..., Any], run: Path) -> None:
    with listen("127.0.0.1", 0) as listener:
        answer = aspectra("serve", run, "--port", listener.getsockname()[1])
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "Choose another --port or --host." in answer.err


def test_a_run_without_a_map_cannot_be_served(own_run: Path) -> None:
    (own_run / rundir.TOPIC_MAP).unlink()
    with pytest.raises(MapError, match="No topic map in"):
        Service(own_run)()


def test_a_run_or_an_onnx_file_must_be_named(aspectra: Callable[..., Any]) -> None:
    answer = aspectra("serve")
    assert answer.code == 2
    assert "Give the run's folder or --onnx" in answer.err


def test_half_sent_headers_lose_their_connection_and_others_do_not(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aspectra.connections.HEADERS_WITHIN", 0.3)
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(start().app, log_level="warning", http=ImpatientProtocol, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    port = listener.getsockname()[1]
    used = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    used.request("GET", "/healthz")
    assert used.getresponse().read()
    halves = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(20)]
    for place, half in enumerate(halves):
        half.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n"[: place * 2])
    used.sock.sendall(b"GET /heal")  # a second request on a connection that was used
    assert [half.recv(1) for half in (*halves, used.sock)] == [b""] * 21
    assert ask(port, "/healthz")[0] == 200
    for connection in (*halves, used):
        connection.close()
    server.should_exit = True
    thread.join(10)
    listener.close()
