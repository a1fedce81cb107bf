"""What `aspectra bench speed` measures, in which order, as tables."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aspectra import rundir
from aspectra.bench import growth, speed
from aspectra.bench.clauses import clause_boundaries
from aspectra.bench.figures import draw_growth
from aspectra.bench.processes import measured
from aspectra.bench.protocol import Task
from aspectra.bench.sets import SAMPLE, find_set, prepare_folders
from aspectra.bench.tables import Grid
from aspectra.config import StudentConfig
from aspectra.corpus import prepare
from aspectra.errors import InputError
from aspectra.progress import Progress
from aspectra.rundir import TOPIC_MAP
from aspectra.student.paper.from_teacher import train_attention
from aspectra.topicmap.topicmap import write_map

ROWS = (100_000, 1_000_000)
SOME = 200_000


def open_task(data: Path | None, home: Path, progress: Progress) -> Task:
    """Return what is measured on: TVs if there is data, else the sample."""
    name = "tv" if data else SAMPLE
    folder = prepare_folders((name,), data, home)[name]
    return Task(find_set(name, folder), folder, home, 0, progress)


def stage_lines(task: Task) -> Iterator[speed.Line]:
    """Measure every stage that a user waits for."""
    detector, config = task.teacher, task.bench.config(0)
    write_map(task.run / TOPIC_MAP, detector.topic_map_)
    segments = detector.corpus_.segments["text"]
    rate = speed.preparing_rate(list(task.bench.reviews(task.data).texts()), config)
    yield (
        f"preparing, {config.segment}s",
        f"{rate['segments_per_second']:,.0f} segments/s ({rate['segments']:,.0f} segments)",
    )
    words = speed.tokenising_ratio(segments[:SOME], detector.vocabulary_)
    yield (
        "tokenising and indexing",
        f"{words['segments_per_second']:,.0f} segments/s; "
        f"plain Python {words['plain_segments_per_second']:,.0f}/s; "
        f"ratio {words['ratio']:.1f}",
    )
    train = speed.training_ratio(detector.corpus_, detector.vectors_, config)
    yield (
        f"training, B = {config.batch_size}",
        f"{train['segments_per_second']:,.0f} segments/s; "
        f"literal algorithm {train['literal_segments_per_second']:,.0f}/s; "
        f"ratio {train['ratio']:.0f}",
    )
    for size in ROWS:
        row = speed.labelling_rate(task.run, segments, size)
        text = f"{row['segments_per_second']:,.0f} segments/s end to end, peak RSS {row['peak_gb']:.2f} GB"
        yield f"labelling, Parquet to Parquet, {size:,} rows", text
    with tempfile.TemporaryDirectory(dir=task.home) as fresh:
        files = [str(path) for path in task.bench.files(task.data, task.bench.corpus)]
        seconds, peak = measured(["fit", *files, "--run", fresh, "--quiet"])
    yield f"aspectra fit, {task.bench.title}, sentences", f"{seconds:.0f} s, peak RSS {peak:.2f} GB"


def student_lines(task: Task) -> Iterator[speed.Line]:
    config = StudentConfig(head="attention")
    student = train_attention(task.teacher.fitted_, config, task.run / rundir.STUDENT, progress=task.progress)
    yield from speed.student_lines(task.teacher, student)


def clause_grid(data: Path) -> Grid:
    frame = clause_boundaries(data).drop("both")
    rows = [
        [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.iter_rows()
    ]
    return Grid("Clause boundaries against OPOSUM's EDUs", frame.columns, rows)


def growth_grid(rows: list[dict[str, Any]]) -> Grid:
    """Return segments per second of each stage and size, the peak memory, and with which power both grow."""
    segments = [row["segments"] for row in rows]
    table = []
    for row in rows:
        rates = [f"{row['segments'] / row['seconds'][stage]:,.0f}" for stage in growth.STAGES]
        table.append([f"{row['segments']:,}", *rates, f"{row['peak_gb']['label']:.2f}"])
    powers = [growth.exponent(segments, [row["seconds"][stage] for row in rows]) for stage in growth.STAGES]
    powers.append(growth.exponent(segments, [row["peak_gb"]["label"] for row in rows]))
    table.append(["exponent", *(f"{power:.2f}" for power in powers)])
    header = ["segments", *growth.STAGES.values(), "peak RSS, GB"]
    notes = [
        "Segments per second, one pass in each stage, on one core. "
        "The exponent is that of seconds and of memory; 1 is in proportion."
    ]
    return Grid("Growth with the number of segments", header, table, notes)


def line_grid(title: str, lines: Iterator[speed.Line]) -> Grid:
    busy = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    grid = Grid(title, ["figure", "value"], [list(line) for line in lines])
    grid.notes.append(f"{os.cpu_count()} cores; load before {busy}.")
    return grid


ALL = ("stages", "student", "clauses", "growth")


def choose_parts(names: tuple[str, ...] | None, data: Path | None) -> tuple[str, ...]:
    unknown = [name for name in names or () if name not in ALL]
    if unknown:
        raise InputError(f"No part {', '.join(unknown)}. There are {', '.join(ALL)}.")
    return names or tuple(name for name in ALL if data or name != "clauses")


def measure_part(part: str, task: Task, largest: int, figures: Path) -> tuple[Grid, dict[str, str]]:
    """Measure one part; return its table, and captions and names of the figures drawn."""
    if part == "stages":
        return line_grid("Speed and memory", stage_lines(task)), {}
    if part == "student":
        return line_grid("The student's speed", student_lines(task)), {}
    if part == "clauses":
        return clause_grid(task.data), {}
    corpus = prepare(task.bench.reviews(task.data).texts(), task.bench.config(0))
    rows = growth.measure_growth(corpus, largest, lambda done: task.progress("growth", done))
    return growth_grid(rows), {"Seconds and memory against segments": draw_growth(rows, figures)}
