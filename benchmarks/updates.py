"""New reviews without a new fit: F1 and time of `aspectra update` beside a fit of everything.

    python benchmarks/updates.py --data FOLDER --home runs/update --set tv

The reviews are put in the order of their dates, if they have some. The first 80 % are fitted; the rest comes
by an update, or by fitting all again. Topics are mapped with one half of dev and scored on the other, and the
other way round; the map of the updated run was made before the update. A student learns from the names alone,
so it is scored on all of dev, or of test; the updated run keeps the one that was made before the update.
Times are of CPU, by this process, without the student.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import polars as pl
import typer

from aspectra.bench.sets import BenchmarkSet, find_set
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.labelling.evaluate import evaluate
from aspectra.scores import Gold, average_scores, gold_matrix
from aspectra.student.from_names import train_linear
from aspectra.student.linear import LinearStudent
from aspectra.text.read import open_source
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now
from aspectra.updating import update

FIRST = 0.8
SEGMENTS = 8000
"""The student learns from so many: half of its default."""
Made = TypeVar("Made")


def split_reviews(bench: BenchmarkSet, data: Path, home: Path, most: int) -> list[Path]:
    """Write the earlier and the later reviews, of about `most`, evenly over time; all if it is 0."""
    source = open_source([str(path) for path in bench.files(data, bench.corpus)])
    frame = pl.concat(source.batches(), how="diagonal_relaxed").rename({source.text_column: "text"})
    if "date" in frame.columns:
        frame = frame.sort("date", maintain_order=True)
    frame = frame.gather_every(max(1, len(frame) // most)) if most else frame
    cut = int(FIRST * len(frame))
    home.mkdir(parents=True, exist_ok=True)
    for name, part in (("old", frame[:cut]), ("new", frame[cut:])):
        part.write_parquet(home / f"{name}.parquet")
    return [home / "old.parquet", home / "new.parquet"]


def halves_of(gold: Gold) -> list[Gold]:
    return [Gold(gold.texts[start::2], gold.aspects[start::2]) for start in (0, 1)]


def maps_by(detector: AspectDetector, halves: Sequence[Gold]) -> list[TopicMap]:
    return [detector.suggest_map(dev=half).topic_map_ for half in halves]


def scores(detector: AspectDetector, maps: Sequence[TopicMap], halves: Sequence[Gold]) -> list[float]:
    """Return micro and macro F1 in percent, each half scored with the map of the other."""
    found = []
    for topic_map, half in zip(maps, reversed(halves), strict=True):
        detector.topic_map_ = topic_map
        found.append(evaluate(detector, half))
    return [100 * float(np.mean([getattr(one, name) for one in found])) for name in ("f1_micro", "f1_macro")]


def student_of(detector: AspectDetector, aspects: Sequence[str], config: StudentConfig) -> LinearStudent:
    """Return a student that knows names and topics; nothing of the map is decided."""
    fitted = detector.fitted_
    choices = tuple(Choice(item.id, None, item.keywords, SUGGESTION, now()) for item in fitted.topics.items)
    return train_linear(fitted.with_map(TopicMap(tuple(aspects), choices, fitted.topics.fingerprint)), config)


def student_scores(student: LinearStudent, gold: Gold) -> list[float]:
    answers, aspects = student.probabilities(list(gold.texts)).argmax(1), student.card.aspects
    values = average_scores(gold_matrix(gold.aspects, aspects), answers, aspects)
    return [100 * values["f1_micro"], 100 * values["f1_macro"]]


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def measure(
    bench: BenchmarkSet, data: Path, home: Path, seed: int, most: int, student: StudentConfig, part: str
) -> list[list[Any]]:
    """Return a row each for the first fit, the update and the fit of everything: name, F1s, seconds."""
    old, new = split_reviews(bench, data, home, most)
    dev = bench.read_dev(bench.files(data, bench.dev))
    gold = dev if part == "dev" else bench.read_test(bench.files(data, bench.test))
    halves, aspects = halves_of(dev), sorted(set().union(*dev.aspects))
    config = bench.config(seed).to_dict()

    def fit(files: Sequence[Path], run: Path) -> AspectDetector:
        return AspectDetector(**config).fit(open_source([str(file) for file in files]), run=run)

    before, first = timed(lambda: fit([old], home / "run"))
    maps, kept = maps_by(before, halves), student_of(before, aspects, student)
    rows: list[list[Any]] = [
        ["the first 80 %", *scores(before, maps, halves), *student_scores(kept, gold), first]
    ]
    found, seconds = timed(lambda: update(home / "run", open_source([str(new)])))
    updated = AspectDetector.load(home / "run", with_map=False)
    answers = student_scores(replace(kept, fitted=updated.fitted_), gold)
    title = f"and an update: {len(found.words)} words"
    rows.append([title, *scores(updated, maps, halves), *answers, seconds])
    again, seconds = timed(lambda: fit([old, new], home / "again"))
    answers = student_scores(student_of(again, aspects, student), gold)
    rows.append(["all fitted again", *scores(again, maps_by(again, halves), halves), *answers, seconds])
    return rows


def main(
    home: Annotated[Path, typer.Option(help="Empty folder for reviews and runs.")],
    data: Annotated[Path, typer.Option(help="Folder with the published sets.")],
    name: Annotated[str, typer.Option("--set", help="The set to measure on.")] = "tv",
    seed: Annotated[int, typer.Option(help="The seed.")] = 0,
    reviews: Annotated[int, typer.Option(help="Take about so many reviews, evenly over time; 0: all.")] = 0,
    encoder: Annotated[str, typer.Option(help="The student's encoder; none: words alone.")] = "minilm",
    part: Annotated[str, typer.Option(help="What the student is scored on: dev or test.")] = "dev",
) -> None:
    """Print a table."""
    if home.exists() and any(home.iterdir()):
        raise SystemExit(f"{home} is not empty: fits that are there would take no time. Name another folder.")
    student = StudentConfig(n_segments=SEGMENTS, encoder=encoder)
    rows = measure(find_set(name, data), data, home, seed, reviews, student, part)
    print(f"| reviews | teacher, dev: micro / macro F1 | student, {part} | CPU seconds |\n|---|---|---|---|")
    for title, *f1, seconds in rows:
        print(f"| {title} | {f1[0]:.1f} / {f1[1]:.1f} | {f1[2]:.1f} / {f1[3]:.1f} | {seconds:,.1f} |")


if __name__ == "__main__":
    typer.run(main)
