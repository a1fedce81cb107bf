"""The report's statistics: sums equal slow loops, and intervals are honest."""

import numpy as np
import polars as pl
import pytest
from conftest import count_segments, draw_segments

from aspectra.report.stats import mean_interval, ratings, share_interval, tally


def test_a_tally_is_what_a_loop_over_reviews_counts() -> None:
    frame = draw_segments(80)
    counted = count_segments(frame).merge(0).merge(0)
    rows = [review["code"].to_list() for review in frame.partition_by("review")]
    n, total = sum(map(len, rows)), len(rows)
    for code in range(3):
        share = sum(row.count(code) for row in rows) / n
        variance = sum((row.count(code) - share * len(row)) ** 2 for row in rows) * total / (total - 1) / n**2
        assert counted.share[code] == pytest.approx(share)
        assert counted.variance[code] == pytest.approx(variance)


def test_cells_add_up_and_reviews_without_a_period_are_kept() -> None:
    frame = draw_segments(200).with_columns(
        period=pl.when(pl.col("period") == 5).then(None).otherwise(pl.col("period"))
    )
    counted = count_segments(frame, 5)
    assert counted.mentions.shape == (3, 6, 3)
    assert counted.segments.sum() == len(frame)
    assert counted.merge(0).reviews[5, 0] == frame.filter(pl.col("period").is_null())["review"].n_unique()


def test_segments_without_a_class_count_in_the_whole_only() -> None:
    frame = draw_segments(100).with_columns(
        code=pl.when(pl.col("code") == 2).then(None).otherwise(pl.col("code"))
    )
    counted = count_segments(frame).merge(0).merge(0)
    assert counted.segments[0] == len(frame)
    assert counted.mentions[2] == 0
    assert counted.share.sum() < 1


def test_intervals_cover_the_truth_although_reviews_keep_to_their_aspect() -> None:
    hits, naive = 0, 0
    for seed in range(100):
        counted = count_segments(draw_segments(150, seed)).merge(0).merge(0)
        low, high = share_interval(counted)
        hits += low[1] <= 0.1 <= high[1]
        reach = 1.96 * np.sqrt(counted.share[1] * (1 - counted.share[1]) / counted.segments[0])
        naive += abs(counted.share[1] - 0.1) <= reach
    assert 0.9 <= hits / 100 <= 1
    assert naive < hits


def test_intervals_stay_between_none_and_all() -> None:
    one = pl.DataFrame({"review": [0], "code": [0], "group": [0], "period": [0]})
    low, high = share_interval(tally(one, "code", 2, 1, [0]).merge(0).merge(0))
    assert ((low >= 0) & (high <= 1)).all()
    assert low[0] < 0.9
    assert high[1] > 0.1


def test_ratings_are_compared_review_by_review() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (r, aspect, 2.0 if aspect == "Noise" else 4.0)
        for r in range(200)
        for aspect in [rng.choice(["Taste", "Noise"])] * 3
    ]
    frame = pl.DataFrame(rows, schema=["review", "aspect", "rating"], orient="row")
    jitter = frame.with_columns(rating=pl.col("rating") + pl.col("review").mod(2) * 0.5)
    low, high = ratings(jitter, ("Taste", "Noise"))
    assert (low.aspect, low.differs, high.differs) == ("Noise", True, True)
    assert low.reviews + high.reviews == 200
    assert low.others == pytest.approx(high.mean)


def test_a_mean_rating_and_its_interval_are_within_the_ratings() -> None:
    frame = pl.DataFrame(
        {"review": [0, 1, 2], "aspect": ["Taste"] * 2 + ["Noise"], "rating": [1.0, 5.0, 3.0]},
        schema_overrides={"rating": pl.Float32},
    )
    (taste,) = ratings(frame, ("Taste", "Noise"))
    assert (taste.low, taste.mean, taste.high) == (1, 3, 5)


def test_ratings_without_numbers_are_none() -> None:
    frame = pl.DataFrame(
        {"review": [0, 1], "aspect": ["Taste", "Noise"], "rating": [None, None]},
        schema_overrides={"rating": pl.Float32},
    )
    assert ratings(frame, ("Taste", "Noise")) == ()
    assert mean_interval(1, 3.0, 0.0) == (float("-inf"), float("inf"))
