"""`python -m aspectra.bench --data FOLDER`: measure quality, speed and memory, print the figures and add them to docs/results.md."""

from __future__ import annotations

import argparse
import datetime
import platform
import subprocess
import tempfile
from pathlib import Path

from aspectra import __version__
from aspectra.bench import quality, speed
from aspectra.bench.segments import clause_boundaries
from aspectra.config import FitConfig
from aspectra.fitting import load_vectors
from aspectra.rundir import RunDir
from aspectra.text.read import open_source

MARK = "<!-- runs of make bench are added below -->"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m aspectra.bench", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpora/, oposum/, semeval/ and citysearch/")
    parser.add_argument("--home", type=Path, default=Path("bench-runs"), help="folder for runs; resumed if they are there")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds")
    parser.add_argument("--results", type=Path, default=Path("docs/results.md"), help="file to add the figures to")
    chosen = parser.parse_args()
    lines = [
        *quality_lines(chosen.data, chosen.home, chosen.seeds),
        *speed_lines(chosen.data, chosen.home),
        *clause_lines(chosen.data),
    ]
    add_results(chosen.results, lines)


def say(line: str) -> str:
    print(line, flush=True)
    return line


def quality_lines(data: Path, home: Path, seeds: int) -> list[str]:
    lines = [say(f"| set ({seeds} seeds) | " + " | ".join(quality.SCORES) + " |"), say("|---" * (len(quality.SCORES) + 1) + "|")]
    for name in quality.BENCHMARKS:
        outcomes = [quality.run_seed(name, data, home, seed, {}) for seed in range(seeds)]
        cells = [f"{mean:.1f} ± {sd:.1f}" for mean, sd in quality.summary(outcomes).values()]
        lines.append(say(f"| {name} | " + " | ".join(cells) + " |"))
    return [*lines, say("")]


def speed_lines(data: Path, home: Path) -> list[str]:
    config = FitConfig(segment="clause")
    corpus, rate = speed.preparing_rate(open_source([str(data / "corpora/tv.jsonl.gz")]), config)
    lines = [say("| figure | value |"), say("|---|---|")]
    lines.append(
        say(f"| preparing, TVs, clauses | {rate['segments_per_second']:,.0f} segments/s ({rate['segments']:,} segments) |")
    )
    run = home / "tv-0"
    ratio = speed.training_ratio(corpus, load_vectors(RunDir(run), corpus.vocabulary), config)
    lines.append(
        say(
            f"| training, B = 50 | {ratio['segments_per_second']:,.0f} segments/s; literal algorithm "
            f"{ratio['literal_segments_per_second']:,.0f}/s; ratio {ratio['ratio']:.0f} |"
        )
    )
    for row in speed.labelling(run, corpus, home):
        text = f"{row['segments_per_second']:,.0f} segments/s end to end, peak RSS {row['peak_gb']:.2f} GB"
        lines.append(say(f"| labelling, Parquet to Parquet, {row['rows']:,} rows | {text} |"))
    with tempfile.TemporaryDirectory(dir=home) as fresh:
        seconds, peak = speed.measured(["fit", str(data / "corpora/tv.jsonl.gz"), "--run", fresh, "--quiet"])
    lines.append(say(f"| fit, TVs, sentences | {seconds:.0f} s, peak RSS {peak:.2f} GB |"))
    return [*lines, say("")]


def clause_lines(data: Path) -> list[str]:
    frame = clause_boundaries(data)
    header = [say("| " + " | ".join(frame.columns) + " |"), say("|---" * len(frame.columns) + "|")]
    rows = [
        say("| " + " | ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row) + " |")
        for row in frame.iter_rows()
    ]
    return [*header, *rows, ""]


def add_results(path: Path, lines: list[str]) -> None:
    """Put a dated section below the mark, above earlier ones."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    title = f"### {datetime.date.today()} · `make bench` · version {__version__}, commit {head or 'unknown'} · {machine}"
    before, mark, after = path.read_text().partition(MARK)
    path.write_text(f"{before}{mark}\n\n{title}\n\n" + "\n".join(lines) + after)


if __name__ == "__main__":
    main()
