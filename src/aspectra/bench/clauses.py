"""How close our clauses come to elementary discourse units (EDUs): boundaries scored on OPOSUM's dev files.

A review is rebuilt by joining its EDUs with a blank and split by us; then the two sets of boundaries are
compared. A boundary is the number of characters before it, white space not counted, so blanks do not matter.
The end of the review is not a boundary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import polars as pl

from aspectra.bench.datasets import AnnotatedReview, parse_asp
from aspectra.errors import InputError
from aspectra.text.segment import split_reviews

SENTENCE_END = re.compile(r"[.!?][\"')\]]*$")
Boundaries = set[tuple[int, int]]  # (review, characters before the boundary)


def clause_boundaries(data: Path) -> pl.DataFrame:
    """Score each domain and all together: all boundaries, and those inside sentences (not after . ! or ?)."""
    paths = sorted((data / "oposum").glob("*-dev.asp"))
    if not paths:
        raise InputError(
            f"No *-dev.asp files in {data / 'oposum'}. Give the folder that holds the benchmark data."
        )
    counts = pl.concat(
        [count_boundaries(parse_asp(path)).with_columns(domain=pl.lit(path.stem[:-4])) for path in paths]
    )
    total = counts.group_by("kind", maintain_order=True).agg(
        pl.col("gold", "ours", "both").sum(), domain=pl.lit("all domains")
    )
    precision, recall = pl.col("both") / pl.col("ours"), pl.col("both") / pl.col("gold")
    scores = (
        precision.alias("precision"),
        recall.alias("recall"),
        (2 * pl.col("both") / (pl.col("gold") + pl.col("ours"))).alias("f1"),
    )
    return pl.concat([counts, total], how="diagonal").select(
        "domain", "kind", "gold", "ours", "both", *scores
    )


def count_boundaries(reviews: list[AnnotatedReview]) -> pl.DataFrame:
    texts = [" ".join(review.texts) for review in reviews]
    clauses = (
        split_reviews(pl.Series(texts), segment="clause").group_by("review", maintain_order=True).agg("text")
    )
    ours = find_boundaries(clauses["text"].to_list())
    gold = find_boundaries(review.texts for review in reviews)
    solid = [remove_blanks(text) for text in texts]
    inside = {
        (review, before) for review, before in ours | gold if not SENTENCE_END.search(solid[review][:before])
    }
    rows = [("all", gold, ours), ("inside sentences", gold & inside, ours & inside)]
    return pl.DataFrame(
        [{"kind": kind, "gold": len(a), "ours": len(b), "both": len(a & b)} for kind, a, b in rows]
    )


def find_boundaries(reviews: Iterable[Iterable[str]]) -> Boundaries:
    lengths = ([len(remove_blanks(segment)) for segment in segments] for segments in reviews)
    return {(review, before) for review, row in enumerate(lengths) for before in accumulate(row[:-1])}


def remove_blanks(text: str) -> str:
    return "".join(text.split())
