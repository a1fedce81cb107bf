"""How fast the mapping studio answers, and how good a map is that only follows its advice.

    python benchmarks/studio.py RUN --dev dev.jsonl [--test test.jsonl]

Times are those of a real server over HTTP: every key (the action and its save) and what the next card needs;
and those of Chromium, if there is one. With --test, a map made by accepting all suggestions and then every
change that dev shows to be better is scored beside the automatic one. The map is removed afterwards.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aspectra.bench.protocol import Exam, Frozen, label_probabilities, score_answers
from aspectra.bench.sets import only_file
from aspectra.detector import AspectDetector
from aspectra.studio.opening import Opening, open_studio
from aspectra.studio.server import free_socket, make_server, serve
from aspectra.studio.studio import Studio

ANNOTATOR = "bench-studio"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


@contextlib.contextmanager
def served(studio: Studio) -> Iterator[str]:
    """Serve a studio on a free port while the block runs; yield its address."""
    listener = free_socket(None)
    server, address = make_server(studio, listener)
    thread = threading.Thread(target=serve, args=(server, listener), daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(5)


class Timer:
    """Asks the server and keeps how long each kind of request took, in milliseconds."""

    def __init__(self, address: str) -> None:
        host, _, token = address.removeprefix("http://").partition("/?token=")
        self.connection = http.client.HTTPConnection(host, timeout=30)
        self.headers = {
            "Cookie": f"aspectra-{host.partition(':')[2]}={token}",
            "Content-Type": "application/json",
        }
        self.took: dict[str, list[float]] = {}

    def ask(self, kind: str, path: str, sent: Any = None) -> Any:
        start = time.perf_counter()
        self.connection.request(
            "GET" if sent is None else "POST", path, None if sent is None else json.dumps(sent), self.headers
        )
        answer = self.connection.getresponse().read()
        self.took.setdefault(kind, []).append(1000 * (time.perf_counter() - start))
        return json.loads(answer)

    def summary(self) -> dict[str, dict[str, float]]:
        return {
            kind: {
                "n": len(values),
                "median_ms": round(float(np.median(values)), 1),
                "p95_ms": round(float(np.percentile(values, 95)), 1),
            }
            for kind, values in self.took.items()
        }


def press_keys(timer: Timer) -> None:
    """Decide every topic, undo and redo it, and load what the page would show next."""
    began = timer.ask("start", "/api/start")
    version, aspects = began["state"]["version"], [aspect["name"] for aspect in began["state"]["aspects"]]
    for topic in range(len(began["topics"])):
        assign = {"kind": "assign", "choices": {str(topic): aspects[topic % len(aspects)]}}
        for action in (assign, {"kind": "undo"}, {"kind": "redo"}):
            version = timer.ask("key", "/api/act", {"version": version, "action": action})["version"]
        timer.ask("card", f"/api/card/{topic}")
        timer.ask("trials", f"/api/trials/{topic}")
        timer.ask("preview", f"/api/preview?seed={topic}")
    for _ in began["topics"]:
        version = timer.ask("key", "/api/act", {"version": version, "action": {"kind": "undo"}})["version"]


def first_paint(address: str, loads: int = 5) -> dict[str, float]:
    """Return when Chromium first paints and has drawn all topics, in median milliseconds; {} without it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        return {}
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for _ in range(loads):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("#card .segment")
            marks = ("first-contentful-paint", "drawn")
            times.append(
                [page.evaluate(f"performance.getEntriesByName('{mark}')[0].startTime") for mark in marks]
            )
            context.close()
        browser.close()
    painted, drawn = np.median(times, axis=0)
    return {"first_paint_ms": round(painted), "topics_drawn_ms": round(drawn)}


def follow(studio: Studio, figure: str = "f1_macro") -> int:
    """Accept all suggestions, then each topic's best change if it is above the noise; count the changes."""
    suggestions = studio.suggester(studio.session.state)
    studio.act(
        {"kind": "assign", "choices": {str(one.topic): one.aspect for one in suggestions}},
        studio.session.version,
    )
    taken = 0
    for _ in range(5):
        before = taken
        for topic in range(len(suggestions)):
            best = max(studio.trials(topic), key=lambda trial: trial["change"][figure][0])
            if best["change"][figure][1] > 0:
                studio.act(
                    {"kind": "assign", "choices": {str(topic): best["aspect"]}}, studio.session.version
                )
                taken += 1
        if taken == before:
            break
    return taken


def compare_on_test(studio: Studio, dev: Path, test: Path) -> dict[str, Any]:
    """Score the map that follows the page and the automatic one on segments that neither has seen."""
    with Exam([test], only_file, ()).sealed():
        result: dict[str, Any] = {"changes_after_suggestions": follow(studio)}
        followed = AspectDetector.load(studio.run, with_map=False)
        followed.topic_map_ = studio.topic_map
        automatic = AspectDetector.load(studio.run, with_map=False).suggest_map(dev=dev)
    for name, detector in (("followed", followed), ("automatic", automatic)):
        aspects = tuple(detector.classes_)
        exam = Exam([test], only_file, aspects)
        frozen = Frozen(partial(label_probabilities, detector, aspects))
        exam.freeze(frozen)
        scores = score_answers(*exam.answer(), aspects, frozen)
        result[name] = {"f1_micro": round(scores.f1_micro, 4), "f1_macro": round(scores.f1_macro, 4)}
    return result


def main(
    run: Annotated[Path, typer.Argument(help="A fitted run.")],
    dev: Annotated[Path, typer.Option(help="Labelled segments for the live effect.")],
    test: Annotated[Path | None, typer.Option(help="Labelled segments to score the followed map on.")] = None,
    browser: Annotated[bool, typer.Option(help="Measure in Chromium too.")] = True,
) -> None:
    """Measure the studio on a run and print JSON."""
    began = time.perf_counter()
    studio = open_studio(run, Opening(by=ANNOTATOR, dev=dev, annotator=ANNOTATOR, replace=True))
    result: dict[str, Any] = {
        "topics": len(studio.topic_map.choices),
        "open_s": round(time.perf_counter() - began, 2),
    }
    try:
        with served(studio) as address:
            result |= first_paint(address) if browser else {}
            timer = Timer(address)
            with contextlib.closing(timer.connection):
                press_keys(timer)
            result["requests"] = timer.summary()
        if test:
            result["test"] = compare_on_test(studio, dev, test)
    finally:
        for path in (studio.session.path, studio.session.studio_file):
            path.unlink(missing_ok=True)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    typer.run(main)
