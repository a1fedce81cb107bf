import http.client
import json
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aspectra.aspects.aspects import Aspect, aspects_of_run
from aspectra.errors import InputError
from aspectra.studio.opening import Opening, open_studio
from aspectra.studio.server import free_socket, make_server, serve
from aspectra.studio.studio import Studio
from aspectra.topicmap.topicmap import read_map

ASPECTS = ("Taste", "Noise", "Price")


@dataclass
class Client:
    """Speaks HTTP to a studio as the page would; headers can be changed to play a stranger."""

    studio: Studio
    port: int
    token: str
    thread: threading.Thread

    def ask(
        self, path: str, sent: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        usual = {"Host": f"127.0.0.1:{self.port}", "Cookie": f"aspectra-{self.port}={self.token}"}
        body = sent if sent is None or isinstance(sent, bytes) else json.dumps(sent)
        connection.request("GET" if sent is None else "POST", path, body, {**usual, **(headers or {})})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        kind = answer.headers.get("Content-Type", "")
        return (
            answer.status,
            json.loads(data) if kind.startswith("application/json") else data.decode(),
            answer.headers,
        )

    def act(self, kind: str, **values: Any) -> tuple[int, Any]:
        return self.ask(
            "/api/act", {"version": self.studio.session.version, "action": {"kind": kind, **values}}
        )[:2]


@pytest.fixture
def start(own_run: Path) -> Iterator[Callable[..., Client]]:
    servers = []

    def begin(**options: Any) -> Client:
        options = {"aspects": ASPECTS, "replace": True, **options}
        listener = free_socket(None)
        studio = open_studio(own_run, Opening(by="Ada", encoder="none", **options))
        server, address = make_server(studio, listener)
        thread = threading.Thread(target=serve, args=(server, listener), daemon=True)
        thread.start()
        servers.append((server, thread))
        return Client(studio, listener.getsockname()[1], address.partition("token=")[2], thread)

    yield begin
    for server, thread in servers:
        server.should_exit = True
        thread.join(5)


def start_impatient(start: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> tuple[Client, str]:
    """Start a server that waits 0.2 s for headers and bodies; also return headers that it accepts."""
    monkeypatch.setattr("aspectra.connections.HEADERS_WITHIN", 0.2)
    monkeypatch.setattr("aspectra.studio.server.BODY_WITHIN", 0.2)
    client = start()
    cookie = f"Cookie: aspectra-{client.port}={client.token}\r\nHost: 127.0.0.1:{client.port}\r\n"
    return client, cookie


def test_half_sent_requests_lose_their_connection(
    start: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, cookie = start_impatient(start, monkeypatch)
    for half in ("GET / HTTP/1.1\r\nHost:", f"POST /api/act HTTP/1.1\r\n{cookie}Content-Length: 9\r\n\r\n{{"):
        with socket.create_connection(("127.0.0.1", client.port), 10) as connection:
            connection.sendall(half.encode())
            answer = connection.recv(100)
        assert answer == b"" or b" 400 " in answer
    assert client.ask("/api/state")[0] == 200


def drip(connection: socket.socket) -> None:
    for _ in range(200):
        connection.sendall(b" ")
        time.sleep(0.02)


def test_a_body_that_drips_on_after_its_answer_loses_its_connection(
    start: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, cookie = start_impatient(start, monkeypatch)
    with socket.create_connection(("127.0.0.1", client.port), 10) as connection:
        connection.sendall(f"POST /api/act HTTP/1.1\r\n{cookie}Content-Length: 9000\r\n\r\n".encode())
        assert b" 400 " in connection.recv(1000)
        with pytest.raises(ConnectionError):
            drip(connection)


def test_the_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read(
    start: Callable[..., Client],
) -> None:
    client = start()
    status, _, headers = client.ask(f"/?token={client.token}", headers={"Cookie": ""})
    assert (status, headers["Location"]) == (303, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=strict" in headers["Set-Cookie"]


def test_the_page_and_its_files_are_served_under_a_strict_policy(start: Callable[..., Client]) -> None:
    client = start()
    for path, kind in (
        ("/", "text/html"),
        ("/page/main.js", "text/javascript"),
        ("/page/style.css", "text/css"),
    ):
        status, text, headers = client.ask(path)
        assert status == 200
        assert headers["Content-Type"].startswith(kind)
        assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


STRANGERS = [
    ({"Cookie": ""}, "has no token"),
    ({"Cookie": "aspectra-{port}=guess"}, "has no token"),
    ({"Host": "evil.example"}, "Wrong host"),
    ({"Host": "127.0.0.1"}, "Wrong host"),
    ({"Origin": "http://evil.example"}, "Wrong origin"),
    ({"Origin": "null"}, "Wrong origin"),
    ({"Origin": "http://127.0.0.1:1"}, "Wrong origin"),
]


def test_strangers_are_turned_away(start: Callable[..., Client]) -> None:
    client = start()
    for headers, message in STRANGERS:
        filled = {name: value.format(port=client.port) for name, value in headers.items()}
        for path, sent in (("/", None), ("/api/start", None), ("/api/act", {}), ("/api/done", {})):
            status, text, _ = client.ask(path, sent, filled)
            assert (status, message in text) == (403, True), headers
    assert client.thread.is_alive()


def test_only_files_of_the_page_can_be_fetched(start: Callable[..., Client]) -> None:
    client = start()
    for name in (
        "..%2fserver.py",
        "../topicmap.py",
        "%2e%2e/server.py",
        "style.css%00",
        "nothing.js",
        "index.py",
    ):
        assert client.ask(f"/page/{name}")[0] == 404, name


def test_a_choice_is_on_disk_before_its_answer(start: Callable[..., Client], own_run: Path) -> None:
    client = start()
    status, state = client.act("assign", choices={"3": "Price"})
    assert (status, state["choices"][3]["aspect"], state["topic"]) == (200, "Price", 3)
    saved = read_map(own_run / "topic_map.json").choices[3]
    assert (saved.aspect, saved.by) == ("Price", "Ada")


def test_an_old_version_is_a_conflict(start: Callable[..., Client]) -> None:
    client = start()
    seen = client.studio.session.version
    client.act("assign", choices={"3": "Price"})
    status, answer, _ = client.ask("/api/act", {"version": seen, "action": {"kind": "undo"}})
    assert (status, "another tab" in answer["error"]) == (409, True)


def test_what_cannot_be_saved_says_so(start: Callable[..., Client], own_run: Path) -> None:
    client = start()
    client.act("assign", choices={"0": "Price"})
    shutil.rmtree(own_run)
    status, answer = client.act("assign", choices={"1": "Price"})
    assert (status, "is gone" in answer["error"]) == (507, True)
    assert not own_run.exists()


BAD = [b"", b"[]", b"{", b'{"version": 1}', b"\xff", b"[" * 100_000, b'"' + b"x" * 200_000 + b'"']


def test_bad_requests_are_answered_with_an_error(start: Callable[..., Client]) -> None:
    client = start()
    for sent in BAD:
        status, answer, _ = client.ask("/api/act", sent)
        assert status in (400, 409), sent[:20]
        assert answer["error"]
    for path in ("/api/card/99", "/api/card/-1", "/api/card/x", "/api/trials/²"):
        assert client.ask(path.replace("²", "%C2%B2"))[0] == 400


def test_cards_preview_and_ones_own_sentence(start: Callable[..., Client]) -> None:
    client = start()
    card = client.ask("/api/card/0")[1]
    assert [len(card["surest"]), len(card["boundary"])] == [5, 5]
    first, again, other = (client.ask(f"/api/preview?seed={seed}")[1] for seed in (1, 1, 2))
    assert first == again != other
    tried = client.ask("/api/try", {"text": "<b>the coffee</b>"})[1]
    assert tried["aspect"] in (*ASPECTS, "General")
    assert client.ask("/api/try", {"text": "qqqq"})[1]["known"] is False
    felt = [
        client.ask("/api/try", {"text": text})[1] for text in ("I hate the coffee.", "I love the coffee.")
    ]
    assert [one["sentiment"] for one in felt] == ["negative", "positive"]
    assert all(one["sure"] > 0.5 for one in felt)
    assert {one["sentiment"] for one in card["surest"]} <= {"negative", "neutral", "positive"}
    assert client.ask("/api/try", {"text": " "})[0] == 400


def test_with_a_dev_set_every_choice_shows_its_effect(
    start: Callable[..., Client], sample_files: Path
) -> None:
    client = start(aspects=(), dev=sample_files / "dev.jsonl")
    state = client.ask("/api/start")[1]["state"]
    assert set(state["effect"]["figures"]) == {"f1_micro", "f1_macro", "f1_macro_without_general"}
    trials = client.ask("/api/trials/2")[1]
    assert len(trials) == len(state["aspects"]) + 1
    best = max(trials, key=lambda trial: trial["change"]["f1_micro"][0])
    after = client.act("assign", choices={"2": best["aspect"]})[1]["effect"]["figures"]["f1_micro"][0]
    before = state["effect"]["figures"]["f1_micro"][0]
    assert after - before == pytest.approx(best["change"]["f1_micro"][0])


def test_labels_given_on_the_page_become_a_dev_set(start: Callable[..., Client], own_run: Path) -> None:
    client = start()
    question = client.ask("/api/question")[1]
    for _ in range(20):
        answer = client.ask("/api/answer", {"row": question["row"], "aspect": "Taste"})[1]
        question = answer["question"]
    assert answer["state"]["effect"]["n"] == 20
    assert client.ask("/api/answer", {"back": True})[1]["state"]["effect"] is None
    lines = (own_run / "dev.jsonl").read_text().splitlines()
    assert len({json.loads(line)["text"] for line in lines}) == 19
    assert json.loads(lines[0])["aspects"] == ["Taste"]


def test_only_random_labels_give_an_estimate_and_the_two_kinds_are_kept_apart(
    start: Callable[..., Client], own_run: Path
) -> None:
    client = start()
    for drawn in ("doubtful", "random"):
        question = client.ask(f"/api/question?drawn={drawn}")[1]
        for _ in range(20):
            sent = {"row": question["row"], "aspect": "Taste", "drawn": drawn}
            answer = client.ask("/api/answer", sent)[1]
            question = answer["question"]
        state = answer["state"]
        assert (state["estimates"], state["effect"]["n"]) == (drawn == "random", 20)
    assert (state["own_labels"], state["random_labels"]) == (40, 20)
    lines = (own_run / "dev.jsonl").read_text().splitlines()
    assert [json.loads(line)["drawn"] for line in lines] == ["doubtful"] * 20 + ["random"] * 20
    assert start(replace=False).studio.estimates
    assert client.ask("/api/answer", {"row": 0, "aspect": "Taste", "drawn": "cleverly"})[0] == 400


def test_an_aspect_can_be_described_and_the_run_keeps_it(start: Callable[..., Client], own_run: Path) -> None:
    client = start()
    status, state = client.act(
        "describe", name="Taste", about="How it tastes.", words=["bitter"], examples=[]
    )
    assert (status, state["described"]) == (200, {"Taste": {"about": "How it tastes.", "words": ["bitter"]}})
    assert aspects_of_run(own_run)[0] == Aspect("Taste", "How it tastes.", ("bitter",))
    assert client.act("describe", name="Taste", words="bitter")[0] == 400
    assert client.act("undo")[1]["described"] == {}
    assert start(replace=False).studio.session.state.described == {}


def test_shares_are_those_of_the_labels_and_leave_out_what_is_no_review(
    start: Callable[..., Client], own_run: Path
) -> None:
    client = start()
    before = client.ask("/api/state")[1]["shares"]
    assert sum(before.values()) == pytest.approx(1)
    _, state = client.act("assign", choices={"0": "Not a review"})
    assert state["choices"][0]["aspect"] == "Not a review"
    assert sum(state["shares"].values()) == pytest.approx(1)
    assert "Not a review" not in state["shares"]


def test_a_read_only_studio_changes_nothing(
    start: Callable[..., Client], own_run: Path, snapshot: Callable[..., Any]
) -> None:
    before = snapshot(own_run)
    client = start(aspects=(), replace=False, read_only=True)
    assert client.act("assign", choices={"0": "Taste"})[0] == 400
    for sent in ({"row": 0, "aspect": "Taste"}, {"back": True}):
        assert client.ask("/api/answer", sent)[0] == 400
    assert client.ask("/api/done", {})[0] == 200
    client.thread.join(5)
    assert snapshot(own_run) == before


def test_done_saves_and_ends_the_server(start: Callable[..., Client], own_run: Path) -> None:
    client = start()
    status, answer, _ = client.ask("/api/done", {})
    assert (status, answer["next"].startswith("aspectra distill")) == (200, True)
    client.thread.join(5)
    assert not client.thread.is_alive()
    assert read_map(own_run / "topic_map.json").aspects == (*ASPECTS, "General")


def test_two_people_are_compared_and_agree_on_the_rest(start: Callable[..., Client], own_run: Path) -> None:
    for name, aspect in (("Ada", "Taste"), ("Ben", "Noise")):
        client = start(annotator=name)
        client.act("assign", choices={"0": aspect, "1": "Price"})
    agreement = client.ask("/api/state")[1]["agreement"]
    assert agreement["conflicts"] == {"0": {"Ben": "Noise", "Ada": "Taste"}}
    (own_run / "topic_map.json").unlink()
    joint = start(aspects=(), replace=False)
    state = joint.ask("/api/state")[1]
    choices = state["choices"]
    assert [choices[0]["decided"], choices[1]["by"], choices[1]["aspect"]] == [False, "Ada + Ben", "Price"]
    assert list(state["agreement"]["conflicts"]) == ["0"]
    assert joint.act("assign", choices={"0": "Taste"})[1]["agreement"]["conflicts"] == {}


def test_a_taken_port_is_an_error_only_if_it_was_asked_for() -> None:
    with free_socket(None) as first, free_socket(None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(InputError, match=r"is taken\. Choose another --port"):
            free_socket(first.getsockname()[1])


def test_ctrl_c_ends_the_command_cleanly(program: list[str], own_run: Path) -> None:
    command = [*program, "map", str(own_run), "--page", "--no-browser", "--encoder", "none"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline()
    assert address.startswith("http://127.0.0.1:")
    page = http.client.HTTPConnection(address.split("/")[2], timeout=60)
    page.request("GET", "/")
    assert page.getresponse().status  # it serves: while Python imports, it may lose a signal
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    page.close()
    assert (process.returncode, "Traceback" in said) == (0, False)


@pytest.mark.parametrize(
    "action",
    [
        {"kind": []},
        {"kind": {}},
        {"kind": "assign", "choices": {"9" * 5000: "Taste"}},
        {"kind": "assign", "choices": {"0": ["Taste"]}},
        {"kind": "add", "names": [["x"]]},
        {"kind": "rename", "name": "Taste", "to": {"a": 1}},
        {"kind": "rename", "name": ["Taste"], "to": "x"},
        {"kind": "colour", "name": "Taste", "hue": 1e400},
        {"kind": "note", "topic": 0, "text": "\ud83d"},
        {"kind": "add", "names": ["\udc00"]},
        {"kind": "move", "name": "Taste", "place": "0"},
    ],
    ids=str,
)
def test_no_action_breaks_the_page(start: Callable[..., Client], action: dict[str, Any]) -> None:
    client = start()
    before = client.studio.session.state
    status, said = client.ask("/api/act", {"version": client.studio.session.version, "action": action})[:2]
    assert (status, list(said)) == (400, ["error"])
    assert client.studio.session.state == before
    assert client.act("assign", choices={"0": "Taste"})[0] == 200


@pytest.mark.parametrize("path", ["/page/{}.js", "/api/card/{}", "/api/trials/{}", "/api/preview?seed={}"])
def test_a_very_long_path_is_no_fault_of_the_server(start: Callable[..., Client], path: str) -> None:
    assert start().ask(path.format("9" * 5000))[0] in (200, 400, 404)


def test_two_pages_keep_the_labels_of_both(start: Callable[..., Client], own_run: Path) -> None:
    first, second = start(), start(replace=False)
    for client, row in ((first, 0), (second, 1), (first, 2)):
        client.studio.session.close()
        assert client.ask("/api/answer", {"row": row, "aspect": "Taste"})[0] == 200
    assert len((own_run / "dev.jsonl").read_text().splitlines()) == 3
    for _ in range(3):
        assert first.ask("/api/answer", {"back": True})[0] == 200
    assert len(start(replace=False).studio.own) == 1  # that of the other page
