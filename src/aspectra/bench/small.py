"""`python -m aspectra.bench.small --data FOLDER`: what helps a corpus of a few thousand reviews, on five of OPOSUM's product sets.

A variant is settings of `fit`; `mixed` learns word vectors from the set's reviews and from reviews of TVs. Every variant is scored on
dev, cross-validated inside it, and that chooses; the test files are read only with --test. Runs are kept in a folder and resumed
from there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra.bench.datasets import load_oposum
from aspectra.config import FitConfig
from aspectra.corpus import prepare
from aspectra.detector import AspectDetector
from aspectra.evaluate import score
from aspectra.fitting import save_vectors, stage_marks
from aspectra.rundir import RunDir
from aspectra.text.read import Source, open_source
from aspectra.vectors import WordVectors, learn_vectors

SETS = ("bags_and_cases", "bluetooth", "boots", "keyboards", "vacuums")
COMMON = {"segment": "clause", "n_topics": 60}
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m aspectra.bench.small", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpora/ and oposum/")
    parser.add_argument(
        "--home", type=Path, default=Path("bench-small"), help="folder for runs; resumed if they are there"
    )
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds")
    parser.add_argument(
        "--variants", nargs="+", choices=tuple(VARIANTS), default=tuple(VARIANTS), help="which variants"
    )
    parser.add_argument("--test", action="store_true", help="read the test files too, where there are some")
    chosen = parser.parse_args()
    print(
        f"| micro / macro F1, {chosen.seeds} seeds | mean | "
        + " | ".join(SETS)
        + " |\n|---|---"
        + "|---" * len(SETS)
        + "|"
    )
    for variant in chosen.variants:
        found = [[run(variant, name, seed, chosen) for seed in range(chosen.seeds)] for name in SETS]
        print(line(f"{variant}, dev", [[dev for dev, _ in seeds] for seeds in found]), flush=True)
        if chosen.test:
            print(
                line(f"{variant}, test", [[test for _, test in seeds if test] for seeds in found]), flush=True
            )


def run(variant: str, name: str, seed: int, chosen: argparse.Namespace) -> tuple[list[float], list[float]]:
    """Return micro and macro F1 in percent on dev, cross-validated, and on test, if it is wanted and there is one."""
    data: Path = chosen.data
    home = RunDir(chosen.home / f"{variant}-{name}-{seed}")
    detector = AspectDetector(**{**COMMON, **VARIANTS[variant], "seed": seed})
    source = open_source([str(data / f"corpora/{name}.txt.gz")])
    if variant == "mixed":
        mix_vectors(source, open_source([str(data / "corpora/tv.jsonl.gz")]), detector.config, home)
    detector.fit(source, run=home.path)
    detector.suggest_map(dev=load_oposum(data / f"oposum/{name}-dev.asp"))
    dev = [100 * detector.dev_estimate_[metric] for metric in ("f1_micro", "f1_macro")]
    path = data / f"oposum/{name}-tst.asp"
    if not chosen.test or not path.is_file():
        return dev, []
    gold = load_oposum(path)
    report = score(gold.aspects, detector.predict(gold.texts).tolist(), tuple(detector.classes_))
    return dev, [100 * report.f1_micro, 100 * report.f1_macro]


def mix_vectors(own: Source, related: Source, config: FitConfig, home: RunDir) -> None:
    """Begin a run whose word vectors are learnt from its own reviews and related ones together."""
    marks = stage_marks(own, config)
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


def line(title: str, found: list[list[list[float]]]) -> str:
    """Write a row of a table: the mean over sets and seeds, then each set's; `found` is sets × seeds × (micro, macro)."""
    means = [np.mean(seeds, axis=0) if seeds else None for seeds in found]
    overall = np.mean([mean for mean in means if mean is not None], axis=0)
    cells = ["—" if mean is None else f"{mean[0]:.1f} / {mean[1]:.1f}" for mean in (overall, *means)]
    return f"| {title} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
