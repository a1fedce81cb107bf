"""The embedded sample: its shape, its imbalance, its planted trend, and that word vectors learn from it."""

import json
import re
import resource
from collections import Counter
from datetime import date

import numpy as np
import polars as pl
import pytest

from aspectra.config import GENERAL
from aspectra.errors import ConfigError, InputError, RunError
from aspectra.sample import (
    ASPECTS,
    SEEDS,
    SHARES,
    TREND_PRODUCT,
    TREND_START,
    Sample,
    bare,
    generate,
    themes,
    words,
    write,
)


@pytest.fixture(scope="module")
def sample() -> Sample:
    return generate()


@pytest.fixture(scope="module")
def vectors(sample):
    from gensim.models import Word2Vec

    return Word2Vec(
        [tokens(sentence) for sentence in sentences(sample)],
        sg=1,
        vector_size=64,
        epochs=10,
        min_count=5,
        seed=0,
        workers=1,
    ).wv


def sentences(sample: Sample) -> list[str]:
    return [sentence for text in sample.reviews["text"] for sentence in re.split(r"(?<=[.!?])\s+", text)]


def tokens(text: str) -> list[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [word for word in re.findall(r"[a-z][a-z'-]+", text.lower()) if word not in ENGLISH_STOP_WORDS]


def test_reviews_have_the_promised_columns_and_ranges(sample):
    reviews = sample.reviews
    kinds = {
        "review_id": pl.String,
        "product": pl.String,
        "date": pl.Date,
        "rating": pl.Int64,
        "text": pl.String,
    }
    assert reviews.schema == kinds
    assert len(reviews) == reviews["review_id"].n_unique() == 3000
    assert set(reviews["rating"]) == {1, 2, 3, 4, 5}
    assert (reviews["date"].min(), reviews["date"].max()) == (date(2023, 1, 1), date(2024, 12, 31))
    assert reviews["text"].str.len_chars().min() >= 5


def test_gold_sentences_are_distinct_and_in_no_review(sample):
    gold = {bare(sentence) for sentence in sample.gold["text"]}
    assert len(gold) == len(sample.gold) == 600
    assert not gold & {bare(sentence) for sentence in sentences(sample)}
    assert bare("Look elsewhere!! 👎") == bare("look elsewhere.") != bare("look here")


def test_gold_has_every_aspect_and_general_in_over_a_third(sample):
    counts = sample.gold["aspects"].explode().value_counts(normalize=True)
    shares = dict(counts.iter_rows())
    assert set(shares) == {*ASPECTS, GENERAL} == set(SHARES)
    assert 0.33 < shares[GENERAL] < 0.42
    assert min(shares.values()) > 0.04


def test_some_gold_sentences_have_two_aspects_and_none_has_more(sample):
    lengths = sample.gold["aspects"].list.len()
    assert 0.02 < (lengths == 2).mean() < 0.1
    assert lengths.max() == 2
    assert sample.gold["aspects"].list.n_unique().equals(lengths)


def test_same_seed_gives_the_same_bytes(tmp_path):
    first, again, other = (
        write(tmp_path / name, generate(50, 20, seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert all(path.read_bytes() != twin.read_bytes() for path, twin in zip(first, other, strict=True))


def test_written_files_read_back_as_they_were(tmp_path):
    sample = generate(40, 21)
    reviews, dev, test = write(tmp_path / "new" / "folder", sample)
    assert pl.read_csv(reviews, try_parse_dates=True).equals(sample.reviews)
    rows = [
        json.loads(line) for path in (dev, test) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert rows == sample.gold.to_dicts()
    assert len(dev.read_text(encoding="utf-8").splitlines()) == 10


def test_csv_starts_with_the_mark_that_excel_needs(tmp_path):
    reviews, _, _ = write(tmp_path, generate(300, 2))
    assert reviews.read_bytes().startswith(b"\xef\xbb\xbf")
    assert "☕" in reviews.read_text(encoding="utf-8-sig")


def test_ratings_follow_the_mood_of_the_text(sample):
    praised = sample.reviews.filter(
        pl.col("text").str.contains(r"(?i)highly recommend|five stars|brilliant|delighted")
    )
    blamed = sample.reviews.filter(pl.col("text").str.contains(r"(?i)never again|total junk|dreadful|fed up"))
    assert praised["rating"].mean() > 4 > 3 > blamed["rating"].mean()


def test_noise_of_the_trend_product_rises_in_the_last_months(sample):
    noisy = pl.col("text").str.contains("(?i)pump|grinder|noise|vibrat|loud").mean()
    late = (pl.col("date") >= TREND_START).alias("late")
    share = sample.reviews.group_by(pl.col("product") == TREND_PRODUCT, late).agg(noisy.alias("noisy"))
    found = {(product, late): noisy for product, late, noisy in share.iter_rows()}
    assert found[True, True] > 1.8 * found[True, False]
    assert found[False, True] < 1.3 * found[False, False]


def test_every_slot_in_a_template_has_fillers_and_every_filler_a_use():
    for theme in themes():
        used = set(re.findall(r"\{(\w+)\}", json.dumps(theme.tables)))
        assert used <= {*theme.tables, *words()["shared"], "product"}
        assert set(theme.tables) <= {*used, "good", "bad", "any"}


def test_seeds_are_frequent_lemmas_of_every_aspect(sample):
    import simplemma

    found = Counter(word for text in sample.reviews["text"] for word in tokens(text))
    assert tuple(SEEDS) == ASPECTS
    assert all(4 <= len(seeds) <= 5 for seeds in SEEDS.values())
    for seed in (seed for seeds in SEEDS.values() for seed in seeds):
        assert simplemma.lemmatize(seed, lang="en") == seed
        assert found[seed] >= 15


def test_word_vectors_find_neighbours_of_the_same_aspect(vectors):
    aspects = {word: set() for word in vectors.index_to_key}
    for theme in themes():
        for word in set(tokens(json.dumps(theme.tables))) & set(aspects):
            aspects[word].add(theme.aspect)
    wanted = {"pump": "Noise", "crema": "Taste", "refund": "Service", "descale": "Cleaning", "price": "Price"}
    for word, aspect in wanted.items():
        assert sum(aspect in aspects[near] for near, _ in vectors.most_similar(word, topn=10)) >= 8


def test_aspects_can_be_learnt_but_not_without_error(sample, vectors):
    from sklearn.linear_model import LogisticRegression

    known = [[word for word in tokens(text) if word in vectors] for text in sample.gold["text"]]
    means = np.array([vectors[found].mean(axis=0) if found else np.zeros(64) for found in known])
    aspects = sample.gold["aspects"].to_list()
    model = LogisticRegression(C=10, max_iter=2000).fit(means[:300], [names[0] for names in aspects[:300]])
    right = [label in names for label, names in zip(model.predict(means[300:]), aspects[300:], strict=True)]
    assert 0.9 < np.mean(right) < 0.995


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 10), "n_reviews must be from 1 to 1000000, got 0"),
        ((10**20, 10), "n_reviews must be from 1 to 1000000"),
        ((5, 1), "n_gold must be from 2"),
    ],
)
def test_sizes_that_cannot_work_are_refused(sizes, message):
    with pytest.raises(ConfigError, match=message):
        generate(*sizes)


def test_a_full_disk_leaves_no_half_file(tmp_path, sample):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(RunError, match=r"Cannot write .*reviews\.csv"):
            write(tmp_path, sample)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_writing_into_a_file_is_refused(tmp_path):
    path = tmp_path / "taken"
    path.write_text("x")
    with pytest.raises(InputError, match=r"taken is a file\. Give the name of a folder"):
        write(path, generate(1, 2))


def test_a_persons_own_file_is_not_overwritten_but_the_sample_may_be_written_again(tmp_path):
    first = write(tmp_path, generate(5, 2))
    assert write(tmp_path, generate(5, 2)) == first
    (tmp_path / "dev.jsonl").write_text("mine")
    (tmp_path / "reviews.csv").unlink()
    with pytest.raises(InputError, match=r"dev\.jsonl is there already, with other content"):
        write(tmp_path, generate(5, 2))
    assert (tmp_path / "dev.jsonl").read_text() == "mine"
    assert not (tmp_path / "reviews.csv").exists()
