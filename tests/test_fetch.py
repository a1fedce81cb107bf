"""Fetching published data, from a server of our own on the loopback."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aspectra.bench import fetch
from aspectra.bench.fetch import Origin, Remote
from aspectra.errors import InputError

CONTENT = b"Good soup .\n" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.BaseHTTPRequestHandler):
    """Has one file, gives parts of it, and cuts /cut short."""

    asked: list[str | None]

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        type(self).asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if self.path == "/missing" or start >= len(CONTENT):
            self.send_error(404 if self.path == "/missing" else 416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(
            CONTENT[start : len(CONTENT) // 2] if self.path == "/cut" and not wanted else CONTENT[start:]
        )

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Server.asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture
def get(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    def call(url: str, digest: str = DIGEST) -> Path:
        monkeypatch.setattr(
            fetch,
            "ORIGINS",
            {"ours": Origin((Remote("ours/test.txt", digest, url),), "Put it in {folder}/ours.")},
        )
        (path,) = fetch.get("ours", tmp_path, lambda file, done: None)
        return path

    return call


def test_a_file_with_the_right_checksum_is_kept(server: str, get: Callable[..., Path]) -> None:
    path = get(f"{server}/file")
    assert path.read_bytes() == CONTENT
    assert [one.name for one in path.parent.iterdir()] == ["test.txt"]


def test_a_file_that_is_there_is_not_fetched_again(server: str, get: Callable[..., Path]) -> None:
    get(f"{server}/file")
    get(f"{server}/file")
    assert Server.asked == [None]


def test_a_file_with_a_wrong_checksum_is_not_kept(
    server: str, get: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"another SHA-256\); nothing was kept\. Put it in .*/ours"):
        get(f"{server}/file", "0" * 64)
    assert list((tmp_path / "ours").iterdir()) == []


def test_a_file_of_another_content_is_not_overwritten(server: str, get: Callable[..., Path]) -> None:
    path = get(f"{server}/file")
    path.write_text("mine")
    with pytest.raises(InputError, match="is not the published file"):
        get(f"{server}/file")
    assert path.read_text() == "mine"


def test_a_missing_file_says_what_to_do_by_hand(server: str, get: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"/missing answers 404 \(Not Found\)\. Put it in .*/ours"):
        get(f"{server}/missing")


def test_without_a_network_it_says_what_to_do_by_hand(get: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"is there a network\? Repeat to go on, or: Put it in .*/ours"):
        get("http://127.0.0.1:9/file")


def test_a_broken_download_goes_on_where_it_stopped(server: str, get: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="Repeat to go on"):
        get(f"{server}/cut")
    assert get(f"{server}/cut").read_bytes() == CONTENT
    assert Server.asked == [None, f"bytes={len(CONTENT) // 2}-"]


def test_a_download_that_is_longer_than_the_file_starts_again(
    server: str, get: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/test.txt.part").write_bytes(CONTENT + b"more")
    assert get(f"{server}/file").read_bytes() == CONTENT


def test_what_needs_a_registration_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"restaurants-2014-test\.xml is not there\. SemEval asks for a registration"
    ):
        fetch.get("semeval", tmp_path, lambda file, done: None)


def test_unknown_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No data 'imagenet'\. There are oposum, citysearch, semeval"):
        fetch.get("imagenet", tmp_path, lambda file, done: None)


def test_every_address_names_a_commit_and_every_file_a_checksum() -> None:
    files = [file for origin in fetch.ORIGINS.values() for file in origin.files]
    assert all(len(file.sha256) == 64 for file in files)
    assert all(len(file.url.split("/")[5]) == 40 for file in files if file.url)
