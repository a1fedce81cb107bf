"""What helps a corpus of a few thousand reviews, on five of OPOSUM's product sets.

    python benchmarks/small_corpora.py --data FOLDER --variants default,start-words

A variant is settings of `fit`; `mixed` learns word vectors from the set's reviews and from reviews of TVs.
Every variant is scored on dev, cross-validated inside it, and that decides. Test files are read only with
--test.
"""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from aspectra.bench.protocol import Frozen, Task, score_answers
from aspectra.bench.sets import known_names, oposum
from aspectra.config import FitConfig
from aspectra.corpus import prepare
from aspectra.detector import AspectDetector
from aspectra.fitting import stage_fingerprints
from aspectra.rundir import RunDir
from aspectra.text.read import Source, open_source
from aspectra.vectors import WordVectors, learn_vectors, save_vectors

SETS = ("bags_and_cases", "bluetooth", "boots", "keyboards", "vacuums")
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "start-words": {"start": "words"},
    "one-pass": {"start": "words", "steps": 500, "vector_epochs": 5},
    "topics-30": {"n_topics": 30},
    "steps-8000": {"steps": 8000},
    "min-count-3": {"min_count": 3},
    "min-tokens-2": {"min_tokens": 2},
    "window-10": {"window": 10},
    "epochs-60": {"vector_epochs": 60},
    "mixed": {},
}
RELATED = 60_000
"""Reviews of TVs that the word vectors of `mixed` are learnt from, besides the set's own."""
METRICS = ("f1_micro", "f1_macro")


def fit(variant: str, task: Task) -> AspectDetector:
    """Fit a variant in a folder of its own, where it is resumed, and map it by dev."""
    home = RunDir(task.home / f"{variant}-{task.bench.name}-{task.seed}")
    config = task.bench.config(task.seed, **VARIANTS[variant])
    source = open_source([str(path) for path in task.bench.files(task.data, task.bench.corpus)])
    if variant == "mixed":
        mix_vectors(source, open_source([str(task.data / "corpora/tv.jsonl.gz")]), config, home)
    return AspectDetector(**config.to_dict()).fit(source, run=home.path).suggest_map(dev=task.dev)


def measure(variant: str, task: Task, with_test: bool) -> tuple[list[float], list[float]]:
    """Return F1 in percent on dev, cross-validated, and on test, if that is wanted and there is one."""
    exam = task.exam() if (task.data / task.bench.test[0]).is_file() else None
    with exam.sealed() if exam else contextlib.nullcontext():
        detector = fit(variant, task)
    dev = [100 * detector.dev_estimate_[metric] for metric in METRICS]
    if exam is None or not with_test:
        return dev, []
    frozen = Frozen(partial(task.probabilities, detector))
    exam.freeze(frozen)
    scores = score_answers(*exam.answer(), task.aspects, frozen)
    return dev, [100 * getattr(scores, metric) for metric in METRICS]


def mix_vectors(own: Source, related: Source, config: FitConfig, home: RunDir) -> None:
    """Begin a run whose word vectors are learnt from its own reviews and related ones together."""
    marks = stage_fingerprints(own, config)
    home.create()
    if home.finished("vectors", marks["vectors"]):
        return
    corpus = prepare(own.texts(), config, config.seed)
    corpus.save(home)
    home.finish("prepare", marks["prepare"])
    texts = pl.concat([*own.texts(), pl.concat(related.texts()).sample(RELATED, seed=config.seed)])
    both = prepare([texts], config, config.seed)
    vectors = learn_vectors(both.sentences(), both.vocabulary, config, config.seed, lambda done: None)
    places = [both.vocabulary.index[word] for word in corpus.vocabulary.words]
    save_vectors(WordVectors(corpus.vocabulary.words, vectors.matrix[places]), home)
    home.finish("vectors", marks["vectors"])


def table_row(title: str, found: list[list[list[float]]]) -> str:
    """Write the mean over sets and seeds, then each set's; `found` is sets × seeds × (micro, macro)."""
    means = [np.mean(seeds, axis=0) if seeds else None for seeds in found]
    there = [mean for mean in means if mean is not None]
    overall = np.mean(there, axis=0) if there else None
    cells = ["—" if mean is None else f"{mean[0]:.1f} / {mean[1]:.1f}" for mean in (overall, *means)]
    return f"| {title} | " + " | ".join(cells) + " |"


def main(
    data: Annotated[Path, typer.Option(help="Folder with corpora/ and oposum/.")],
    home: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("bench-small"),
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 3,
    sets: Annotated[str, typer.Option(help="Sets, with commas.")] = ",".join(SETS),
    variants: Annotated[str, typer.Option(help="Variants, with commas.")] = ",".join(VARIANTS),
    test: Annotated[bool, typer.Option(help="Score test too, where there is one.")] = False,
) -> None:
    """Print a table row for each variant."""
    names = known_names(sets, SETS, "set")
    benches = [oposum(name, name, name, f"{name}.txt.gz", "", ()) for name in names]
    print(f"| micro / macro F1, {seeds} seeds | mean | {' | '.join(names)} |\n|---|---{'|---' * len(names)}|")
    for variant in known_names(variants, tuple(VARIANTS), "variant"):
        found = [
            [measure(variant, Task(bench, data, home, seed), test) for seed in range(seeds)]
            for bench in benches
        ]
        print(table_row(f"{variant}, dev", [[dev for dev, _ in one] for one in found]), flush=True)
        if test:
            tests = [[scores for _, scores in one if scores] for one in found]
            print(table_row(f"{variant}, test", tests), flush=True)


if __name__ == "__main__":
    typer.run(main)
