"""Quality on the published sets: fit on an unlabelled corpus, map with the development set, score the test set once, for each seed.

Runs are kept in a folder and resumed from there, so an interrupted benchmark goes on. The test set is read only after the map is made.
There are 60 topics where the paper has 30: with a development set nobody maps by hand, and dev prefers more topics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aspectra.bench import datasets
from aspectra.config import FitConfig
from aspectra.detector import AspectDetector, quiet
from aspectra.evaluate import Gold, Report, score
from aspectra.fitting import Progress
from aspectra.mapping.topicmap import write_map
from aspectra.rundir import TOPIC_MAP
from aspectra.text.read import open_source

SCORES = ("f1_micro", "f1_macro", "f1_weighted", "f1_micro_without_general", "f1_macro_without_general")


@dataclass(frozen=True)
class Benchmark:
    """One published set: its corpus, gold and the settings of the fit."""

    corpus: tuple[str, ...]
    dev: Callable[[Path], Gold]
    test: Callable[[Path], Gold]
    settings: dict[str, Any] = field(default_factory=dict)


def oposum(domain: str, corpus: str) -> Benchmark:
    return Benchmark(
        corpus=(f"corpora/{corpus}",),
        dev=lambda data: datasets.load_oposum(data / f"oposum/{domain}-dev.asp"),
        test=lambda data: datasets.load_oposum(data / f"oposum/{domain}-tst.asp"),
        settings={"segment": "clause", "n_topics": 60},
    )


BENCHMARKS = {
    "restaurants": Benchmark(
        corpus=("corpora/restaurants_reviews.txt.gz", "corpora/yelp_sentences_restaurantfilter.txt.gz"),
        dev=lambda data: datasets.load_semeval([data / f"semeval/restaurants-{year}-test.xml" for year in (2014, 2015)]),
        test=lambda data: datasets.load_citysearch(data / "citysearch"),
        settings={"n_topics": 60},
    ),
    "tv": oposum("tv", "tv.jsonl.gz"),
}


@dataclass(frozen=True)
class Outcome:
    """Scores on test, and the estimate made beforehand inside dev."""

    test: Report
    dev_estimate: dict[str, float]


def run_seed(name: str, data: Path, home: Path, seed: int, settings: dict[str, Any], progress: Progress = quiet) -> Outcome:
    """Fit, map and score one benchmark with one seed."""
    benchmark = BENCHMARKS[name]
    config = FitConfig(**{**benchmark.settings, **settings, "seed": seed})
    source = open_source([str(data / file) for file in benchmark.corpus])
    run = home / f"{name}-{seed}"
    detector = AspectDetector(**config.to_dict()).fit(source, run=run, progress=progress)
    detector.suggest_map(dev=benchmark.dev(data))
    write_map(run / TOPIC_MAP, detector.topic_map_)
    gold = benchmark.test(data)
    predicted = detector.label_segments(gold.texts)["aspect"].to_list()
    return Outcome(score(gold.aspects, predicted, tuple(detector.classes_)), detector.dev_estimate_)


def summary(outcomes: list[Outcome]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation over seeds of every score, in percent."""
    values = {name: [100 * getattr(outcome.test, name) for outcome in outcomes] for name in SCORES}
    return {name: (float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0) for name, v in values.items()}
