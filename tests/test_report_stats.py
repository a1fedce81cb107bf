"""The report's statistics: sums equal slow loops, intervals are honest, chance is not claimed and a planted change is."""

import numpy as np
import polars as pl
import pytest

from aspectra.report.change import Difference, changes, contrasts
from aspectra.report.stats import FEW, Tally, mean_interval, ratings, share_interval, tally

NAMES = ("Taste", "Noise", "General")


def segments(n_reviews: int = 600, seed: int = 0, noise_from: int = 99, n_periods: int = 6) -> pl.DataFrame:
    """Draw reviews whose segments keep to one aspect more than chance would; Noise is commoner from a period on, in group 1."""
    rng = np.random.default_rng(seed)
    rows = []
    for review in range(n_reviews):
        period, group = int(rng.integers(n_periods)), int(rng.integers(3))
        chance = [0.2, 0.5, 0.3] if period >= noise_from and group == 1 else [0.3, 0.1, 0.6]
        own = rng.choice(3, p=chance)
        for _ in range(rng.integers(1, 9)):
            rows.append((review, int(own if rng.random() < 0.5 else rng.choice(3, p=chance)), group, period))
    return pl.DataFrame(rows, schema=["review", "code", "group", "period"], orient="row")


def count(frame: pl.DataFrame, n_periods: int = 6) -> Tally:
    return tally(frame, "code", 3, 3, range(n_periods))


def test_a_tally_is_what_a_loop_over_reviews_counts() -> None:
    frame = segments(80)
    counted = count(frame).merge(0).merge(0)
    rows = [review["code"].to_list() for review in frame.partition_by("review")]
    n, total = sum(map(len, rows)), len(rows)
    for code in range(3):
        share = sum(row.count(code) for row in rows) / n
        variance = sum((row.count(code) - share * len(row)) ** 2 for row in rows) * total / (total - 1) / n**2
        assert counted.share[code] == pytest.approx(share)
        assert counted.variance[code] == pytest.approx(variance)


def test_cells_add_up_and_reviews_without_a_period_are_kept() -> None:
    frame = segments(200).with_columns(
        period=pl.when(pl.col("period") == 5).then(None).otherwise(pl.col("period"))
    )
    counted = count(frame, 5)
    assert counted.mentions.shape == (3, 6, 3)
    assert counted.segments.sum() == len(frame)
    assert counted.merge(0).reviews[5, 0] == frame.filter(pl.col("period").is_null())["review"].n_unique()


def test_segments_without_a_class_count_in_the_whole_only() -> None:
    frame = segments(100).with_columns(code=pl.when(pl.col("code") == 2).then(None).otherwise(pl.col("code")))
    counted = count(frame).merge(0).merge(0)
    assert counted.segments[0] == len(frame)
    assert counted.mentions[2] == 0
    assert counted.share.sum() < 1


def test_intervals_cover_the_truth_although_reviews_keep_to_their_aspect() -> None:
    hits, naive = 0, 0
    for seed in range(100):
        counted = count(segments(150, seed)).merge(0).merge(0)
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


def test_where_dates_and_groups_mean_nothing_no_change_is_claimed() -> None:
    tallies = [count(segments(300, seed)) for seed in range(40)]
    claims = [changes(counted.at(slice(None), slice(0, 6)), NAMES, range(6), 3) for counted in tallies]
    claims += [contrasts(counted.merge(1), NAMES) for counted in tallies]
    assert sum(map(bool, claims)) <= 1  # a claim is wrong in one report of a hundred


def test_a_planted_change_is_found_where_and_when_it_was() -> None:
    found = changes(count(segments(2500, 1, noise_from=4)).at(slice(None), slice(0, 6)), NAMES, range(6), 3)
    noise = next(change for change in found if change.name == "Noise")
    assert (noise.group, noise.at) == (1, 4)
    assert noise.before == pytest.approx(0.1, abs=0.03)
    assert noise.after == pytest.approx(0.5, abs=0.06)
    assert 0 < noise.low < noise.after - noise.before < noise.high


def test_a_group_that_differs_is_found() -> None:
    found = contrasts(count(segments(2500, 2, noise_from=0)).merge(1), NAMES)
    assert {(contrast.name, contrast.at) for contrast in found if contrast.name == "Noise"} >= {("Noise", 1)}
    assert found[0].after > found[0].before or found[0].at != 1


def test_too_few_reviews_prove_nothing() -> None:
    frame = segments(2500, 1, noise_from=4)
    few = frame.filter((pl.col("group") != 1) | (pl.col("review") < 200))
    after = few.filter((pl.col("group") == 1) & (pl.col("period") >= 4))["review"].n_unique()
    assert after < FEW
    found = changes(count(few).at(slice(None), slice(0, 6)), NAMES, range(6), 3)
    assert [change for change in found if change.group == 1 and change.at >= 4] == []


def test_changes_are_ranked_by_how_telling_they_are() -> None:
    from_little = Difference("Apps", 0.003, 0.026, 0.02, 0.026, 1)
    from_much = Difference("Image", 0.50, 0.53, 0.022, 0.038, 1)
    assert from_little.effect > from_much.effect > 0
    assert Difference("Sound", 0.1, 0.11, -0.01, 0.03, 1).effect == 0


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


def test_ratings_without_numbers_are_none() -> None:
    frame = pl.DataFrame(
        {"review": [0, 1], "aspect": ["Taste", "Noise"], "rating": [None, None]},
        schema_overrides={"rating": pl.Float32},
    )
    assert ratings(frame, ("Taste", "Noise")) == ()
    assert mean_interval(1, 3.0, 0.0) == (float("-inf"), float("inf"))
