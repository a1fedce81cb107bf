from pathlib import Path

import numpy as np
import polars as pl
import pytest

from aspectra.config import PrepareConfig
from aspectra.corpus import Corpus, Ragged, Vocabulary, prepare
from aspectra.errors import InputError
from aspectra.rundir import RunDir

REVIEWS = pl.Series(
    [
        "The picture is sharp. The sound is loud and the picture bright!",
        "Loud sound, sharp picture.",
        "Nice picture, but the remote broke.",
    ]
)
LISTS = [[3, 1], [], [2], [5, 6, 7, 8]]


def ragged(lists: list[list[int]]) -> Ragged:
    return Ragged.of(np.concatenate(lists), np.array([len(row) for row in lists]))


def lists(rows: Ragged) -> list[list[int]]:
    return [part.tolist() for part in np.split(rows.ids, rows.offsets[1:-1])]


def words(corpus: Corpus) -> list[list[str]]:
    return [[corpus.vocabulary.words[word] for word in row] for row in lists(corpus.tokens)]


def test_padded_rows_are_cut_and_filled() -> None:
    ids, mask = ragged(LISTS).padded(np.array([3, 0, 2]), longest=3)
    assert (ids * mask).tolist() == [[5, 6, 7], [3, 1, 0], [2, 0, 0]]
    assert mask.tolist() == [[True] * 3, [True, True, False], [True, False, False]]


@pytest.mark.parametrize("rows", [[3, 0, 2], [1], [], [0, 1, 2, 3], [2, 2]])
def test_select_takes_rows_in_the_order_given(rows: list[int]) -> None:
    assert lists(ragged(LISTS).select(np.array(rows, dtype=int)))[: len(rows)] == [LISTS[row] for row in rows]


def test_merged_joins_neighbours_of_one_group() -> None:
    assert lists(ragged(LISTS).merged(np.array([4, 4, 9, 9], dtype=np.uint32))) == [[3, 1], [2, 5, 6, 7, 8]]


def test_a_corpus_has_a_row_a_segment_with_its_known_words() -> None:
    corpus = prepare([REVIEWS], PrepareConfig(min_count=2))
    assert corpus.segments["review"].to_list() == [0, 0, 1, 2]
    assert words(corpus) == [
        ["picture", "sharp"],
        ["sound", "loud", "picture"],
        ["loud", "sound", "sharp", "picture"],
        ["picture"],
    ]
    assert (corpus.vocabulary.words, corpus.vocabulary.counts) == (
        ("picture", "loud", "sharp", "sound"),
        (4, 2, 2, 2),
    )


@pytest.mark.parametrize("segment", ["sentence", "clause", "none"])
def test_batches_change_nothing(segment: str) -> None:
    config = PrepareConfig(min_count=1, segment=segment)
    whole = prepare([REVIEWS], config)
    pieces = prepare([REVIEWS[:1], REVIEWS[:0], REVIEWS[1:2], REVIEWS[2:]], config)
    assert whole.segments.equals(pieces.segments)
    assert whole.vocabulary == pieces.vocabulary
    assert lists(whole.tokens) == lists(pieces.tokens)


def test_sentences_are_whole_where_segments_are_clauses() -> None:
    config = PrepareConfig(min_count=1, segment="clause")
    corpus = prepare(
        [pl.Series(["I love the bright picture, but the remote broke after a week. Loud sound."])], config
    )
    assert len(corpus.segments) == 3
    first, second, third = lists(corpus.tokens)
    assert lists(corpus.sentences()) == [first + second, third]


def test_pasted_code_and_other_languages_are_junk_and_not_counted() -> None:
    code = "function(){var x=document.getElementById('a');return x;}"
    german = "Der Fernseher hat ein scharfes Bild und einen klaren Ton."
    corpus = prepare([pl.Series([*REVIEWS, code, german])], PrepareConfig(min_count=1))
    assert corpus.segments.filter("junk")["text"].to_list() == [code, german]
    assert not {"fernseher", "var", "document"} & set(corpus.vocabulary.words)
    assert corpus.trainable(1).tolist() == [0, 1, 2, 3]
    assert len(corpus.sentences()) == 4


def test_junk_is_kept_when_told() -> None:
    german = "Der Fernseher hat ein scharfes Bild und einen klaren Ton."
    corpus = prepare([pl.Series([german])], PrepareConfig(min_count=1, keep_junk=True))
    assert not corpus.segments["junk"].any()
    assert "fernseher" in corpus.vocabulary.words


def test_trainable_segments_have_enough_known_words() -> None:
    corpus = prepare([REVIEWS], PrepareConfig(min_count=2))
    assert corpus.trainable(3).tolist() == [1, 2]


def test_new_texts_are_encoded_as_the_corpus_was() -> None:
    corpus = prepare([REVIEWS], PrepareConfig(min_count=2))
    assert lists(corpus.vocabulary.encode(corpus.segments["text"])) == lists(corpus.tokens)
    assert lists(corpus.vocabulary.encode(pl.Series(["LOUD pictures", None, "zzz"]))) == [[1, 0], [], []]


def test_a_vocabulary_of_no_words_encodes_to_nothing() -> None:
    assert lists(Vocabulary((), (), "en").encode(pl.Series(["any text", ""]))) == [[], []]


def test_a_corpus_survives_saving_and_loading(tmp_path: Path) -> None:
    corpus = prepare([REVIEWS], PrepareConfig(min_count=1))
    corpus.save(RunDir(tmp_path))
    loaded = Corpus.load(RunDir(tmp_path))
    assert loaded.segments.equals(corpus.segments)
    assert loaded.vocabulary == corpus.vocabulary
    assert lists(loaded.tokens) == lists(corpus.tokens)


@pytest.mark.parametrize("batches", [[], [pl.Series([None, " ", ""], dtype=pl.String)]])
def test_an_input_without_text_is_an_error(batches: list[pl.Series]) -> None:
    with pytest.raises(
        InputError, match=r"There is no text in the input: 0 segments. Check the file and its text column."
    ):
        prepare(batches, PrepareConfig())
