"""New reviews in a run: topics, map, student and earlier labels stay; words and segments grow."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import SMALL

from aspectra import disk, load, rundir, update
from aspectra.corpus import Ragged
from aspectra.detector import AspectDetector
from aspectra.fitting import Fitted
from aspectra.sample import Sample, generate
from aspectra.updating import Update
from aspectra.vectors import place_words

NEW_WORD = "zorbling"


@pytest.fixture(scope="module")
def reviews() -> pl.DataFrame:
    """Two hundred new reviews with a word that nobody has heard of."""
    rows = generate(200, n_gold=10, seed=77).reviews.with_columns(review_id="n" + pl.col("review_id"))
    added = (
        pl.when(pl.int_range(pl.len()) % 4 == 0)
        .then(pl.lit(f" The {NEW_WORD} wand froths milk."))
        .otherwise(pl.lit(""))
    )
    return rows.with_columns(pl.col("text") + added)


@pytest.fixture(scope="module")
def updated(
    linear_run: Path, reviews: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Update]:
    folder = Path(shutil.copytree(linear_run, tmp_path_factory.mktemp("updated") / "run"))
    return folder, update(folder, reviews["text"])


@pytest.mark.parametrize("model", ["fast", "encoder", "teacher"])
def test_labels_of_earlier_segments_stay_the_same_to_the_last_digit(
    linear_run: Path, updated: tuple[Path, Update], sample: Sample, model: str
) -> None:
    texts = sample.reviews["text"].head(150)
    before, after = (load(run, model).label(texts) for run in (linear_run, updated[0]))
    assert before.equals(after, null_equal=True)


def test_a_new_word_is_learnt_and_known(linear_run: Path, updated: tuple[Path, Update]) -> None:
    assert updated[1].words == {NEW_WORD: 50}
    known = [load(run).label_segments([NEW_WORD])["known_words"][0] for run in (linear_run, updated[0])]
    assert known == [0, 1]


def test_topics_map_and_student_are_not_touched(
    linear_run: Path, updated: tuple[Path, Update], snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    before, after = snapshot(linear_run), snapshot(updated[0])
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == {
        rundir.MANIFEST, rundir.SEGMENTS, rundir.TOKENS, rundir.VOCABULARY, rundir.VECTORS
    }  # fmt: skip


def test_new_segments_come_after_the_earlier_ones(updated: tuple[Path, Update], linear_run: Path) -> None:
    old, new = (Fitted.load(run).corpus for run in (linear_run, updated[0]))
    assert new.segments.head(len(old.segments)).equals(old.segments)
    assert len(new.segments) == len(old.segments) + updated[1].segments
    assert new.segments["review"].n_unique() == old.segments["review"].n_unique() + updated[1].reviews
    assert NEW_WORD in [new.vocabulary.words[word] for word in new.tokens.ids[len(old.tokens.ids) :]]


def test_reviews_that_the_run_has_seen_are_counted_and_left_out(
    own_run: Path, sample: Sample, reviews: pl.DataFrame
) -> None:
    long = sample.reviews["text"].filter(sample.reviews["text"].str.count_matches(r"\S+") >= 5)
    found = update(own_run, pl.concat([long.head(30), reviews["text"].head(20)]))
    assert (found.reviews, found.left_out) == (20, 30)
    again = update(own_run, reviews["text"].head(20))
    assert (again.reviews, again.segments) == (0, 0)


def test_the_same_file_again_changes_nothing(
    own_run: Path, sample: Sample, snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    before = snapshot(own_run)
    assert update(own_run, sample.reviews["text"]).left_out == len(sample.reviews)
    assert snapshot(own_run) == before


def test_ids_tell_reviews_apart_where_texts_do_not(
    own_run: Path, sample: Sample, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    sample.reviews.write_csv(tmp_path / "old.csv")
    rundir.write_json(own_run / rundir.INPUTS, [str(tmp_path / "old.csv")])
    same_text = sample.reviews.head(40).with_columns(
        review_id=pl.when(pl.int_range(pl.len()) < 15).then("review_id").otherwise("x" + pl.col("review_id"))
    )
    same_text.write_csv(tmp_path / "new.csv")
    answer = aspectra("update", own_run, tmp_path / "new.csv", "--id-column", "review_id", "--json")
    told = json.loads(answer.out)
    assert (told["reviews"], told["left_out"]) == (25, 15)
    os.remove(tmp_path / "old.csv")
    later = aspectra("update", own_run, tmp_path / "new.csv", "--id-column", "review_id")
    assert later.code == 0


def test_rare_words_are_told_and_learnt_when_asked_for(own_run: Path, sample: Sample) -> None:
    seen = AspectDetector.load(own_run).vocabulary_
    update(own_run, ["The crema has a strange flumph in the morning."])
    texts = [f"My flumph number {number} broke after a week, no crema." for number in range(6)]
    careful = update(own_run, texts)
    assert "flumph" in careful.rare
    assert "flumph" not in careful.words
    bold = update(own_run, texts, rare_words=True)
    assert (bold.reviews, bold.words["flumph"]) == (0, 7)
    assert AspectDetector.load(own_run).vocabulary_.words[: len(seen)] == seen.words


def test_it_says_when_to_fit_again(own_run: Path, sample: Sample, reviews: pl.DataFrame) -> None:
    small, large = reviews["text"].head(20), sample.reviews["text"] + " Bought again."
    assert update(own_run, small).refit == ()
    (why,) = update(own_run, large).refit
    assert "added since the fit" in why


def test_a_fit_of_a_sample_has_learnt_from_as_many_segments_as_it_kept(
    sample: Sample, tmp_path: Path
) -> None:
    texts = sample.reviews["text"]
    AspectDetector(**{**SMALL, "max_segments": 400}).fit(texts[:200]).save(tmp_path / "run")
    told = [update(tmp_path / "run", texts[at : at + 100]).refit for at in (200, 300)]
    assert all("which learnt from 400." in " ".join(why) for why in told)


def test_two_reviews_with_unknown_words_are_no_reason_to_fit_again(own_run: Path) -> None:
    assert update(own_run, ["My flumph quibbled the zorgle.", "A glorp wibbled."]).refit == ()


def test_the_fit_that_it_advises_has_all_files_and_settings_of_the_run(
    own_run: Path, sample: Sample, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    sample.reviews.head(10).with_columns(pl.col("text") + " So it is.").write_csv(first)
    sample.reviews.with_columns(pl.col("text") + " Bought again.").write_csv(second)
    aspectra("update", own_run, first)
    said = aspectra("update", own_run, second).err
    advice = next(line for line in said.splitlines() if line.startswith("  aspectra fit "))
    assert f" {first} {second} --run {own_run}-new " in advice
    assert f" --n-topics {SMALL['n_topics']} " in advice


def test_reviews_in_another_language_teach_nothing(own_run: Path) -> None:
    german = "Die Maschine brüht schnell und leise, der Kaffee schmeckt hervorragend und bleibt lange warm."
    found = update(own_run, [f"{german} Gekauft im Mai {number}." for number in range(12)])
    assert (found.reviews, found.words, found.without_words[1]) == (12, {}, 0.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "empty"), ("id,stars\n1,5\n2,4\n", "text column"), ("text\n   \n", "No review with text")],
)
def test_files_without_reviews_are_refused_and_the_run_stays(
    own_run: Path,
    tmp_path: Path,
    content: str,
    said: str,
    aspectra: Callable[..., Any],
    snapshot: Callable[[Path], dict[str, bytes]],
) -> None:
    before = snapshot(own_run)
    (tmp_path / "new.csv").write_text(content)
    answer = aspectra("update", own_run, tmp_path / "new.csv")
    assert answer.code == 1
    assert said in answer.err
    assert snapshot(own_run) == before


def test_a_killed_update_is_finished_by_whoever_opens_the_run(
    own_run: Path, reviews: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = []

    def dies(source: Any, target: Any) -> None:
        moved.append(target)
        if len(moved) == 3:
            raise KeyboardInterrupt
        os.rename(source, target)

    with monkeypatch.context() as broken:
        broken.setattr(disk, "finish_replacing", lambda *names: None)
        update(own_run, reviews["text"])  # all is written, nothing is moved
        broken.undo()
        broken.setattr(disk.os, "replace", dies)
        with pytest.raises(KeyboardInterrupt):
            Fitted.load(own_run)
    fitted = Fitted.load(own_run)
    assert NEW_WORD in fitted.vocabulary.index
    assert len(fitted.corpus.tokens) == len(fitted.corpus.segments)


def test_only_one_program_at_a_time_updates_a_run(
    own_run: Path, aspectra: Callable[..., Any], sample_files: Path
) -> None:
    with disk.locked(own_run, "fit"):
        answer = aspectra("update", own_run, sample_files / "reviews.csv")
    assert answer.code == 1
    assert "Another aspectra" in answer.err


def test_who_has_opened_the_run_before_is_told_to_open_it_again(own_run: Path, reviews: pl.DataFrame) -> None:
    opened = Fitted.load(own_run)
    update(own_run, reviews["text"].head(5))
    with pytest.raises(rundir.RunError, match="updated meanwhile"):
        _ = opened.corpus


def test_a_new_word_is_placed_beside_words_of_the_same_contexts() -> None:
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.normal(3, 1, (10, 4)), rng.normal(-3, 1, (10, 4))]).astype(np.float32)
    sentences = [rng.choice(10, 6) for _ in range(200)] + [10 + rng.choice(10, 6) for _ in range(200)]
    for sentence in sentences[:40]:
        sentence[2] = 20  # the new word is said with the first ten
    ids, lengths = np.concatenate(sentences), np.full(len(sentences), 6)
    (placed,) = place_words(Ragged.of(ids, lengths), vectors, 21, window=3)
    near, far = vectors[:10].mean(0), vectors[10:].mean(0)
    assert np.linalg.norm(placed - near) < np.linalg.norm(placed - far) / 3


def test_what_is_new_is_told_on_the_terminal(
    own_run: Path, reviews: pl.DataFrame, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    reviews.write_csv(tmp_path / "new.csv")
    answer = aspectra("update", own_run, tmp_path / "new.csv")
    assert answer.code == 0
    assert f"{NEW_WORD} (50)" in answer.out
    assert "200 reviews" in answer.out
    assert "aspectra label" in answer.err
