"""How well do a topic's keywords belong together? Mean NPMI of our two kinds of keywords, and of LDA's.

    python benchmarks/keywords.py runs/tv runs/citysearch --seed 0

Counted as topics.json counts coherence, over topics with at least 0.5 % of the segments. Each run is read
and its keywords are computed anew; nothing is fitted but LDA, with as many topics on the same words, and
nothing is written. LDA's keywords are its most probable words, or chosen as ours are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from aspectra.bench.systems.baselines import LdaTopics, counts_of
from aspectra.config import KEYWORDS
from aspectra.detector import AspectDetector
from aspectra.topics import N_KEYWORDS, SAMPLE, coherence, frequent_words, interpret

LEAST = 0.005
"""Topics with a smaller share of the segments are not counted."""


def ours(detector: AspectDetector, keywords: str) -> float:
    """Return the mean coherence of the run's topics with these keywords."""
    made = interpret(
        detector.teacher_, detector.vectors_, detector.corpus_, detector.max_tokens, detector.seed, keywords
    )
    return float(np.mean([item.coherence for item in made.items if item.share >= LEAST]))


def lda(detector: AspectDetector, seed: int) -> list[float]:
    """Return the mean coherence of LDA's topics by its most probable words, and by words chosen our way."""
    rows = detector.corpus_.trainable(1)
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(detector.seed).choice(rows, SAMPLE, replace=False))
    sample, n_words = detector.corpus_.tokens.select(rows), len(detector.vocabulary_)
    model = LdaTopics().learn(detector.fitted_, seed)
    beta = model.transform(counts_of(sample, n_words))
    counted = np.bincount(beta.argmax(1), minlength=beta.shape[1]) / len(beta) >= LEAST
    probable = np.argsort(-model.components_, axis=1)[:, :N_KEYWORDS]
    chosen = frequent_words(beta, sample, detector.vocabulary_.words)[0]
    return [float(coherence(words, sample, n_words)[counted].mean()) for words in (probable, chosen)]


def main(
    runs: Annotated[list[Path], typer.Argument(help="Folders of fitted runs.")],
    seed: Annotated[int, typer.Option(help="Seed of LDA.")] = 0,
) -> None:
    """Print a table row for each run."""
    print(
        f"| run | topics | {' | '.join(KEYWORDS)} | LDA, probable | LDA, frequent |\n"
        "|---|---|---|---|---|---|"
    )
    for run in runs:
        detector = AspectDetector.load(run, with_map=False)
        values = [*(ours(detector, keywords) for keywords in KEYWORDS), *lda(detector, seed)]
        cells = " | ".join(f"{value:+.3f}".replace("-", "−") for value in values)
        print(f"| {run.name} | {detector.n_topics} | {cells} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
