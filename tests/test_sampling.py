from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from aspectra.config import PrepareConfig
from aspectra.corpus import Corpus, prepare
from aspectra.sample import Sample
from aspectra.sampling import Reservoir, keys


def corpus(texts: pl.Series, most: int, batch: int = 700, seed: int = 0, **settings: str) -> Corpus:
    starts = range(0, len(texts), batch)
    return prepare(
        (texts[start : start + batch] for start in starts), PrepareConfig(max_segments=most, **settings), seed
    )


@pytest.mark.parametrize("segment", ["sentence", "clause"])
def test_the_sample_does_not_depend_on_the_batches(sample: Sample, segment: str) -> None:
    made = [corpus(sample.reviews["text"], 400, batch, segment=segment) for batch in (700, 97, 31)]
    for one, other in pairwise(made):
        assert one.segments.equals(other.segments)
        assert one.vocabulary.words == other.vocabulary.words
        assert np.array_equal(one.tokens.ids, other.tokens.ids)
    assert 390 <= len(made[0].segments) <= 400 < made[0].seen


def test_a_sample_larger_than_the_corpus_changes_nothing(sample: Sample) -> None:
    all_of_it, sampled = (corpus(sample.reviews["text"], most) for most in (0, 1_000_000))
    assert sampled.segments.equals(all_of_it.segments)
    assert len(sampled.segments) == sampled.seen == all_of_it.seen


def test_sentences_stay_whole(sample: Sample) -> None:
    texts = sample.reviews["text"]
    whole = corpus(texts, 0, segment="clause").segments.group_by("sentence").agg("text")["text"].to_list()
    some = corpus(texts, 300, segment="clause").segments.group_by("sentence").agg("text")["text"].to_list()
    assert set(map(tuple, some)) <= set(map(tuple, whole))


def test_every_segment_has_the_same_chance_and_seeds_differ() -> None:
    counts = np.zeros(200)
    for seed in range(500):
        kept = Reservoir(50)
        for first in range(0, 200, 20):
            numbers = np.arange(first, first + 20)
            kept.add(pl.DataFrame({"number": numbers, "key": keys(numbers, seed)}))
        counts[kept.rows()["number"].to_numpy()] += 1
    assert counts.sum() == 500 * 50
    assert 80 < counts.min() < 125 < counts.max() < 170  # 125 expected, standard deviation 9.7


def test_no_more_than_three_times_the_sample_is_ever_kept() -> None:
    kept, largest = Reservoir(100), 0
    for first in range(0, 100_000, 100):
        numbers = np.arange(first, first + 100)
        rows = pl.DataFrame({"number": numbers, "key": keys(numbers, 0)})
        kept.add(rows.filter(rows["key"].to_numpy() <= kept.largest_key))
        largest = max(largest, len(kept))
    assert largest <= 300
    assert len(kept.rows()) == 100


def test_junk_is_found_by_the_whole_review_though_only_a_part_is_kept() -> None:
    german = (
        "Der Fernseher ist sehr gut und das Bild ist scharf. Der Ton ist leider etwas schwach und blechern."
    )
    english = "The picture is sharp and the sound is loud. The remote is small and the stand is cheap."
    made = corpus(pl.Series([german, english] * 50), 60, min_count=1)
    junk = made.segments.filter(pl.col("junk"))["text"]
    assert set(junk) == {
        "Der Fernseher ist sehr gut und das Bild ist scharf.",
        "Der Ton ist leider etwas schwach und blechern.",
    }
