"""What changed between two label files, and silence when nothing did."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aspectra.errors import InputError, MapError
from aspectra.topicmap.topicmap import read_map, write_map
from aspectra.watch import watch


@pytest.fixture(scope="module")
def parts(labelled_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write the labels of some reviews, changed in some way, and return the file."""
    folder, frame = tmp_path_factory.mktemp("watch"), pl.read_parquet(labelled_file)

    def write(name: str, reviews: np.ndarray, *changes: pl.Expr) -> Path:
        rows = frame.filter(pl.col("review").is_in(reviews.tolist())).with_columns(*changes)
        rows.write_parquet(folder / f"{name}.parquet")
        return folder / f"{name}.parquet"

    return write


@pytest.fixture(scope="module")
def halves(labelled_file: Path) -> list[np.ndarray]:
    reviews = pl.read_parquet(labelled_file)["review"].unique().to_numpy()
    return np.array_split(np.random.default_rng(0).permutation(reviews), 2)


def soured(aspect: str) -> list[pl.Expr]:
    mine = pl.col("aspect") == aspect
    return [
        pl.when(mine).then(pl.lit("negative")).otherwise("sentiment").alias("sentiment"),
        pl.when(mine).then(pl.lit(["negative"])).otherwise("aspect_sentiments").alias("aspect_sentiments"),
        pl.when(mine).then(pl.lit(-0.9)).otherwise("sentiment_score").alias("sentiment_score"),
    ]


def test_two_random_halves_do_not_differ(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old, new = (parts(name, half) for name, half in zip(("a", "b"), halves, strict=True))
    assert watch(run, new, old) == []


def test_a_soured_aspect_is_told_with_three_quotes(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray], aspectra: Callable[..., Any]
) -> None:
    old, new = parts("old", halves[0]), parts("new", halves[1], *soured("Taste"))
    answer = aspectra("watch", run, new, "--against", old, "--json")
    told = json.loads(answer.out)
    assert [(one["kind"], one["name"], len(one["quotes"])) for one in told] == [("soured", "Taste", 3)]
    assert told[0]["high"] < 0


def test_a_quote_is_no_single_word_if_there_are_others(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    short = (pl.col("segment") == 0) & (pl.col("review") % 20 == 0)
    cut = [
        pl.when(short).then(pl.lit("Bad.")).otherwise("text").alias("text"),
        pl.when(short).then(1).otherwise("known_words").cast(pl.Int32).alias("known_words"),
    ]
    old, new = parts("long", halves[0]), parts("short", halves[1], *soured("Taste"), *cut)
    quotes = watch(run, new, old)[0].quotes
    assert len(quotes) == 3
    assert "Bad." not in quotes


def test_an_aspect_that_rose_is_told_and_sets_the_exit_code(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray], aspectra: Callable[..., Any]
) -> None:
    old = parts("before", halves[0])
    new = parts("after", halves[1], pl.lit("Noise").alias("aspect"))
    answer = aspectra("watch", run, new, "--against", old, "--fail-on-change")
    assert answer.code == 3
    assert "Noise rose" in answer.out


def test_the_order_of_aspects_does_not_matter(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old, new = parts("first", halves[0]), parts("moved", halves[1], *soured("Taste"))
    frame = pl.read_parquet(new)
    names = [name for name in frame.columns if name.startswith("p_")]
    at = frame.columns.index(names[0])
    order = [*frame.columns[:at], *reversed(names), *frame.columns[at + len(names) :]]
    frame.select(order).write_parquet(new)
    assert [(one.kind, one.name) for one in watch(run, new, old)] == [("soured", "Taste")]


def test_a_map_of_other_topics_is_refused(
    own_run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old, new = (parts(name, half) for name, half in zip(("c", "d"), halves, strict=True))
    home = own_run / "topic_map.json"
    write_map(home, replace(read_map(home), topics="of another fit"))
    with pytest.raises(MapError, match="made for other topics"):
        watch(own_run, new, old)


def test_labels_of_two_models_are_not_compared(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old, new = parts("sure", halves[0]), parts("unsure", halves[1], pl.col("probability") * 0.5)
    with pytest.raises(InputError, match=r"labelled differently \(an earlier map and teacher model\)"):
        watch(run, new, old)


def test_files_with_other_aspects_are_refused(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old = parts("mine", halves[0])
    new = parts("theirs", halves[1])
    pl.read_parquet(new).rename({"p_Noise": "p_Sound"}).with_columns(aspect=pl.lit("Sound")).write_parquet(
        new
    )
    with pytest.raises(InputError, match="different aspects"):
        watch(run, new, old)


def test_topics_that_the_run_lacks_are_refused(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray]
) -> None:
    old, new = parts("ours", halves[0]), parts("foreign", halves[1], pl.lit(999).alias("topic"))
    with pytest.raises(InputError, match=r"foreign\.parquet has topics that"):
        watch(run, new, old)


def test_a_filtered_file_is_told_on_the_way(
    run: Path, parts: Callable[..., Path], halves: list[np.ndarray], aspectra: Callable[..., Any]
) -> None:
    old = parts("whole", halves[0])
    new = old.with_name("filtered.parquet")
    pl.read_parquet(parts("all", halves[1])).filter(pl.col("aspect") == "Taste").write_parquet(new)
    assert "filtered.parquet lack some of their segments" in aspectra("watch", run, new, "--against", old).err
    with pytest.warns(UserWarning, match="lack some of their segments"):
        watch(run, new, old)
