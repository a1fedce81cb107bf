"""Net sentiment, its changes, and what drives the rating, on planted feelings."""

import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from aspectra import sample
from aspectra.report import wording
from aspectra.report.content import Content
from aspectra.report.pictures.felt_charts import MAKERS
from aspectra.report.sentiment import (
    changes_of,
    drivers,
    feelings,
    felt_cells,
    felt_tally,
    robust_regression,
    worse_groups,
)
from aspectra.report.workbook import felt_tables

ASPECTS = ("Lid", "Taste", "General")


def planted(n: int = 600, cost: float = 1.2) -> pl.DataFrame:
    """Reviews of three segments; complaints of the lid cost stars, and it sours from period 3 on."""
    rng = np.random.default_rng(0)
    review = np.repeat(np.arange(n), 3)
    period = np.repeat(np.arange(n) * 6 // n, 3)
    aspect = np.tile([0, 1, 2], n)
    sour = np.where((aspect == 0) & (period >= 3), 0.7, 0.2)
    feeling = np.where(rng.random(3 * n) < sour, -1, rng.integers(0, 2, 3 * n))
    complained = (feeling.reshape(n, 3) < 0)[:, :2]
    stars = 4.5 - complained @ np.array([cost, 0.3]) + rng.normal(0, 0.5, n)
    return pl.DataFrame({
        "review": review, "aspect": pl.Series([ASPECTS[at] for at in aspect], dtype=pl.Enum(ASPECTS)),
        "feeling": pl.Series(feeling, dtype=pl.Int8), "period": pl.Series(period, dtype=pl.Int32),
        "rating": pl.Series(np.repeat(stars, 3), dtype=pl.Float32),
        "group": pl.Series(np.repeat(np.arange(n) % 2, 3), dtype=pl.UInt16),
    })  # fmt: skip


FRAME = planted()


def test_net_sentiment_is_praise_minus_complaints() -> None:
    counted = felt_tally(FRAME, 3, 2, range(6))
    found = {one.aspect: one for one in feelings(FRAME, counted, ASPECTS)}
    mine = FRAME.filter(pl.col("aspect") == "Lid")["feeling"]
    assert found["Lid"].net == pytest.approx(mine.mean())
    assert found["Lid"].positive - found["Lid"].negative == pytest.approx(found["Lid"].net)
    assert found["Lid"].low < found["Lid"].net < found["Lid"].high


def test_few_segments_that_all_praise_are_not_certain() -> None:
    few = FRAME.filter(pl.col("aspect") == "Lid").head(4).with_columns(feeling=pl.lit(1, pl.Int8))
    (found,) = feelings(few, felt_tally(few, 3, 2, range(6)), ASPECTS)
    assert (found.net, found.high) == (1, 1)
    assert found.low < 0.6


def test_a_souring_aspect_is_found_with_its_moment_and_nothing_else() -> None:
    changes = changes_of(felt_tally(FRAME, 3, 2, range(6)), ASPECTS, range(6), 6)
    assert [(one.name, one.at) for one in changes] == [("Lid", 3)]
    assert changes[0].after < changes[0].before


def test_what_soured_in_one_group_alone_is_found_with_the_group() -> None:
    calm = pl.Series(np.random.default_rng(1).integers(-1, 2, len(FRAME)))
    sour = (pl.col("group") == 1) & (pl.col("aspect") == "Taste") & (pl.col("period") >= 4)
    for chosen, found in ((sour, [("Taste", 4, 1)]), (pl.lit(False), [])):
        frame = FRAME.with_columns(feeling=pl.when(chosen).then(-1).otherwise(calm).cast(pl.Int8))
        changes = changes_of(felt_tally(frame, 3, 2, range(6)), ASPECTS, range(6), 6, n_groups=2)
        assert [(one.name, one.at, one.group) for one in changes if one.group is not None] == found


def test_the_worse_group_is_found_with_its_aspect_and_nothing_by_chance() -> None:
    assert worse_groups(felt_tally(FRAME, 3, 2, range(6)).merge(1), ASPECTS) == ()
    worse = (pl.col("group") == 1) & (pl.col("aspect") == "Taste")
    planted_group = FRAME.with_columns(feeling=pl.when(worse).then(-1).otherwise("feeling").cast(pl.Int8))
    found = worse_groups(felt_tally(planted_group, 3, 2, range(6)).merge(1), ASPECTS)
    assert [(one.name, one.at) for one in found] == [("Taste", 1)]
    assert found[0].after == pytest.approx(-1)


def test_drivers_find_a_planted_effect_adjusted_for_the_others() -> None:
    found = {one.aspect: one for one in drivers(FRAME, ASPECTS)}
    assert found["Lid"].cost_low < 1.2 < found["Lid"].cost_high
    assert found["Taste"].cost_low < 0.3 < found["Taste"].cost_high
    assert found["Lid"].claimed
    assert "General" not in found
    assert [one.aspect for one in drivers(planted(cost=0.0), ASPECTS) if one.claimed] == ["Taste"]


def test_the_driver_that_the_sample_plants_is_found_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(stars: int) -> list[sample.Review]:
        monkeypatch.setattr(sample, "DRIVER_STARS", stars)
        rng = random.Random(0)
        return [sample.write_review(rng) for _ in range(1500)]

    reviews, names = write(sample.DRIVER_STARS), (*sample.ASPECTS, "General")
    rows = [
        (number, aspect, felt, review.rating)
        for number, review in enumerate(reviews)
        for sentence in review.sentences
        for aspect, felt in zip(sentence.aspects, sentence.felt, strict=True)
    ]
    kinds = {"review": pl.UInt32, "aspect": pl.Enum(names), "feeling": pl.Int8, "rating": pl.Float32}
    costliest, *others = drivers(pl.DataFrame(rows, schema=kinds, orient="row"), names)
    assert costliest.aspect == sample.DRIVER
    complained = {number for number, aspect, felt, _ in rows if (aspect, felt) == (sample.DRIVER, -1)}
    without = write(stars=0)
    lost = np.mean([without[number].rating - reviews[number].rating for number in complained])
    usual = float(np.mean([one.cost for one in others]))  # what every complaint goes with
    assert costliest.cost - usual == pytest.approx(lost, abs=0.2)


def test_drivers_need_ratings_that_differ_and_enough_reviews() -> None:
    assert drivers(FRAME.with_columns(rating=pl.lit(5.0)), ASPECTS) == ()
    assert drivers(FRAME.with_columns(rating=pl.lit(None, pl.Float32)), ASPECTS) == ()
    assert drivers(FRAME.head(90), ASPECTS) == ()


def test_cells_with_few_reviews_are_left_open() -> None:
    cells = felt_cells(felt_tally(FRAME, 3, 2, ()).merge(1), ("one", "two"), 301)
    assert cells is not None
    assert np.isnan(cells.net).all()
    assert felt_cells(felt_tally(FRAME, 3, 1 + 1, ()).merge(1), ("one",), 1) is None


def test_robust_errors_equal_the_textbook_loop() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    effects, errors = robust_regression(x, y)
    full = np.column_stack([x, np.ones(40)])
    inverse, meat = np.linalg.inv(full.T @ full), np.zeros((3, 3))
    left = y - full @ np.linalg.lstsq(full, y, rcond=None)[0]
    for row, e in zip(full, left, strict=True):
        meat += e * e * np.outer(row, row)
    assert errors == pytest.approx(np.sqrt(np.diag(40 / 37 * inverse @ meat @ inverse))[:2])
    assert effects == pytest.approx(np.linalg.lstsq(full, y, rcond=None)[0][:2])


def test_the_report_tells_and_draws_sentiment(content: Content) -> None:
    assert content.felt is not None
    assert {one.aspect for one in content.felt.aspects} <= set(content.aspects)
    charts = [chart for make in MAKERS if (chart := make(content))]
    assert {"sentiment", "sentiment_groups"} <= {chart.name for chart in charts}
    assert {one.name for one in felt_tables(content)} >= {"sentiment", "drivers", "sentiment_groups"}
    assert {segment.kind for segment in content.segments} >= {"best", "worst"}


def test_labels_of_an_older_version_have_a_report_without_sentiment(content: Content) -> None:
    older = replace(content, felt=None)
    assert [make(older) for make in MAKERS] == [None] * len(MAKERS)
    assert felt_tables(older) == []
    assert wording.headlines(older)
