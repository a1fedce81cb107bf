"""A client of the mapping page: it assigns topics, and remembers which choices the page has acknowledged."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from aspectra import rundir

ROUNDS = 200


@dataclass
class Client:
    """Speaks to a page at the address that the command printed."""

    address: str
    acknowledged: dict[int, str | None] = field(default_factory=dict)
    asked: dict[int, str | None] = field(default_factory=dict)
    """What was asked for last; a killed page may have done it without an answer."""

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def ask(self, path: str, sent: Any = None) -> tuple[int, Any]:
        """Send JSON, or get something; return the status and the answer."""
        token = self.address.partition("token=")[2]
        headers = {"Host": f"127.0.0.1:{self.port}", "Cookie": f"aspectra-{self.port}={token}"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            body = None if sent is None else json.dumps(sent)
            connection.request("GET" if sent is None else "POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def assign(self, topic: int, aspect: str | None, version: int) -> int:
        """Choose an aspect; return the map's version after it, or the one to try again with."""
        self.asked[topic] = aspect
        action = {"kind": "assign", "choices": {str(topic): aspect}}
        status, answer = self.ask("/api/act", {"action": action, "version": version})
        if status == 200:
            self.acknowledged[topic] = aspect
            return int(answer["version"])
        if status != 409:
            raise RuntimeError(f"status {status}: {answer}")
        return int(self.ask("/api/state")[1]["version"])

    def work(self, topics: Sequence[int], random: Random, rounds: int = ROUNDS) -> None:
        """Assign topics at random, until the page is gone."""
        try:
            version = int(self.ask("/api/state")[1]["version"])
            for _ in range(rounds):
                aspect = random.choice(("Taste", "Noise", "Price", None))
                version = self.assign(random.choice(topics), aspect, version)
        except (OSError, http.client.HTTPException):
            return

    def lost(self, run: Path) -> str:
        """Name a choice that was acknowledged and is not in the map."""
        choices = json.loads((run / rundir.TOPIC_MAP).read_text())["choices"]
        lost = [
            topic
            for topic, aspect in self.acknowledged.items()
            if choices[topic]["aspect"] not in (aspect, self.asked[topic])
        ]
        return f"lost the acknowledged choice of topic {lost[0]}" if lost else ""
