"""Differences beyond chance: chance is not claimed, planted changes are found; two label files compared."""

from pathlib import Path

import polars as pl
import pytest
from conftest import count_segments, draw_segments, label_file

from aspectra.detector import AspectDetector
from aspectra.report.compare import Difference, compare, find_changes, find_contrasts
from aspectra.report.read import open_labels
from aspectra.report.stats import MIN_REVIEWS
from aspectra.report.wording import agreement_sentence, comparison_title
from aspectra.sample import Sample

NAMES = ("Taste", "Noise", "General")


def test_where_dates_and_groups_mean_nothing_no_change_is_claimed() -> None:
    tallies = [count_segments(draw_segments(300, seed)) for seed in range(40)]
    claims = [find_changes(counted.at(slice(None), slice(0, 6)), NAMES, range(6), 3) for counted in tallies]
    claims += [find_contrasts(counted.merge(1), NAMES) for counted in tallies]
    assert sum(map(bool, claims)) <= 1  # a claim is wrong in one report of a hundred


def test_a_planted_change_is_found_where_and_when_it_was() -> None:
    found = find_changes(
        count_segments(draw_segments(2500, 1, noise_from=4)).at(slice(None), slice(0, 6)), NAMES, range(6), 3
    )
    noise = next(change for change in found if change.name == "Noise")
    assert (noise.group, noise.at) == (1, 4)
    assert noise.before == pytest.approx(0.1, abs=0.03)
    assert noise.after == pytest.approx(0.5, abs=0.06)
    assert 0 < noise.low < noise.after - noise.before < noise.high


def test_a_group_that_differs_is_found() -> None:
    found = find_contrasts(count_segments(draw_segments(2500, 2, noise_from=0)).merge(1), NAMES)
    assert {(contrast.name, contrast.at) for contrast in found if contrast.name == "Noise"} >= {("Noise", 1)}
    assert found[0].after > found[0].before or found[0].at != 1


def test_too_few_reviews_prove_nothing() -> None:
    frame = draw_segments(2500, 1, noise_from=4)
    few = frame.filter((pl.col("group") != 1) | (pl.col("review") < 200))
    after = few.filter((pl.col("group") == 1) & (pl.col("period") >= 4))["review"].n_unique()
    assert after < MIN_REVIEWS
    found = find_changes(count_segments(few).at(slice(None), slice(0, 6)), NAMES, range(6), 3)
    assert [change for change in found if change.group == 1 and change.at >= 4] == []


def test_changes_are_ranked_by_how_large_they_are_at_least() -> None:
    from_little = Difference("Apps", 0.003, 0.026, 0.02, 0.026, 1)
    from_much = Difference("Image", 0.50, 0.53, 0.022, 0.038, 1)
    assert from_little.effect > from_much.effect > 0
    assert Difference("Sound", 0.1, 0.11, -0.01, 0.03, 1).effect == 0


def test_the_same_labels_compared_agree(labelled_file: Path) -> None:
    comparison = compare(open_labels(labelled_file), open_labels(labelled_file))
    assert (comparison.agreement, comparison.kappa, comparison.moves) == (1.0, 1.0, ())
    assert comparison.same_segments
    assert not any(shift.claimed for shift in comparison.shifts)
    assert comparison_title(comparison).startswith("No ")


def test_what_is_no_review_in_both_files_leaves_them_paired(labelled_file: Path, tmp_path: Path) -> None:
    first = (pl.col("review") == 0).alias("aspect")
    frame = pl.read_parquet(labelled_file).with_columns(
        aspect=pl.when(first).then(pl.lit("Not a review")).otherwise("aspect")
    )
    frame.write_parquet(tmp_path / "some.parquet")
    labels = open_labels(tmp_path / "some.parquet")
    comparison = compare(labels, labels)
    assert (comparison.same_segments, comparison.matched) == (True, len(labels.frame))


def test_labels_that_moved_are_found_by_comparison(labelled_file: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(labelled_file)
    moved = (pl.col("aspect") == "Noise") & (pl.col("segment") == 0)
    changed = frame.with_columns(aspect=pl.when(moved).then(pl.lit("Taste")).otherwise(pl.col("aspect")))
    changed.write_parquet(tmp_path / "changed.parquet")
    comparison = compare(open_labels(labelled_file), open_labels(tmp_path / "changed.parquet"))
    n = frame.filter(moved).height
    assert comparison.moves == (("Taste", "Noise", n),)
    assert comparison.agreement == pytest.approx(1 - n / len(frame))
    assert {shift.name for shift in comparison.shifts if shift.claimed} == {"Taste", "Noise"}


def test_other_reviews_are_compared_without_agreement(
    labelled_file: Path, detector: AspectDetector, sample: Sample, tmp_path: Path
) -> None:
    reviews = sample.reviews[:300].with_columns(text=pl.lit("So. ") + pl.col("text"))
    other = open_labels(label_file(detector, reviews, tmp_path / "other.csv"))
    comparison = compare(open_labels(labelled_file), other)
    assert not comparison.same_segments
    assert comparison.matched < 30
    assert ("unknown" in agreement_sentence(comparison)) is (comparison.matched == 0)
