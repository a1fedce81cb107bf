"""Segments that a run can hardly read: counts in, a warning out if they are far more than in its own reviews.

A run of few reviews knows few words, so half of its own segments may have hardly one. That is no sign of
another language or product.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.corpus import Corpus
from aspectra.errors import RunError

KNOWN_FROM = 5
"""On the sample, 1 % of the segments have fewer known words than one in so many; in another language most."""
LOOKED_AT = 20_000
"""Segments of the run."""


def count_unreadable(texts: pl.Series, known_words: pl.Series) -> int:
    """Count the segments of whose words fewer than one in KNOWN_FROM is known; stop words never are."""
    words = texts.str.count_matches(" ", literal=True) + 1  # about: a pattern would be slower
    return int((KNOWN_FROM * known_words < words).sum())


def share_of_run(run: Path) -> float:
    """Return the share of such segments among those that the run was fitted on; 0 if they are not there."""
    if not run.is_dir():  # an exported file
        return 0.0
    try:
        corpus = Corpus.load(rundir.RunDir(run))
    except RunError:
        return 0.0
    rows = np.arange(0, len(corpus.segments), 1 + len(corpus.segments) // LOOKED_AT)
    known = pl.Series(corpus.tokens.lengths[rows], dtype=pl.Int64)
    return count_unreadable(corpus.segments["text"].gather(rows), known) / max(1, len(rows))


def unreadable_note(unreadable: int, count: int, run: Path) -> tuple[str, ...]:
    """Say so if most of `count` segments have hardly a known word, so that their answers say little.

    Most are more than half of those that would be readable if they were the run's own.
    """
    if unreadable <= count / 2:
        return ()
    usual = share_of_run(run)
    if unreadable <= count * (1 + usual) / 2:
        return ()
    own = f" ({usual:.0%} in the reviews that it was fitted on)" if usual else ""
    return (
        f"{unreadable:,} of {count:,} segments ({unreadable / count:.0%}) have no word that the run knows, "
        f"or hardly any{own}, so their aspects say little. They may be in another language, or about another "
        "product. Label them with a run that was fitted on such reviews.",
    )
