"""Splitting reviews: messy sentences, clauses, nothing lost; and the score of clause boundaries."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from aspectra.bench.clauses import clause_boundaries
from aspectra.errors import ConfigError, InputError
from aspectra.text.segment import split_reviews

# A bar stands where a segment must end.
MESSY_SENTENCES = (
    "The picture is great.|The sound is bad.",
    "works great.| would buy again.| thanks",
    "good picture.|the sound is thin.|i like it",
    "Wow!!!| Love it!!!| great tv",
    "nice sound!!|would buy again",
    'I bought a 42" TV.| It sits next to the 32" set.| Both work.',
    "Plasma vs. Mr. Smith's old tube.",
    "It weighs approx. 20 lbs. with the stand.",
    "It has 5.1 sound and costs $399.99.| Good.",
    "First line\n|second line\n\n|third line",
    "Pros:\n|- good price\n|- thin\n",
    "1. Easy to mount.| 2. Bright.",
    "Great tv :)| Love it. :)",
    "THIS IS BAD.| DO NOT BUY.",
    "It worked for me.| Sorry to say, not for you.",
    "Ask at shop.example.com for help.",
    "It was ok... then it died...| Never again.",
    "Nice (really nice.)| Buy it.",
    "Is it good?|Yes.| It is!",
    "I turned on the T.V. and it died.",
    "Bought in Dec. 2010 e.g. for movies.",
    "Bright… too bright…| Both are fine",
)
CLAUSES = (
    "I like the screen| but the remote feels cheap.",
    "It looks great| and it was easy to mount.",
    "The picture is crisp and clear.",
    "I sent it back| because the stand broke.",
    "The stand broke,| so I sent it back.",
    "I think| it is too loud| when the fan runs.",
    "This is a cable| that fits every port.",
    "However, the menu is slow| even though it was updated.",
    "The set| (a gift)| arrived late;| nobody called.",
    "We waited for a while.",
)


def split(text: str, segment: str = "sentence", language: str = "en") -> list[str]:
    return split_reviews(pl.Series([text]), segment, language)["text"].to_list()


def solid(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("marked", MESSY_SENTENCES)
def test_messy_reviews_split_into_sentences(marked: str) -> None:
    assert split(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("marked", CLAUSES)
def test_sentences_split_into_clauses(marked: str) -> None:
    assert split(marked.replace("|", ""), "clause") == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("segment", ["sentence", "clause", "none"])
def test_no_character_is_lost(segment: str) -> None:
    odd = [
        "a\x1fb. C\x1e!",
        "...\n***\n!!!\nOk\n???\n!",
        "§ 👍👍\u2028好。很好!",
        "(a) -- b ; c , but I",
        "\u00a0x\u200b\r\n\ty",
        "$1 ${2}",
    ]
    texts = [text.replace("|", "") for text in MESSY_SENTENCES + CLAUSES] + odd
    joined = (
        split_reviews(pl.Series(texts), segment)
        .group_by("review", maintain_order=True)
        .agg(pl.col("text").str.join(""))
    )
    assert [solid(text) for text in joined["text"]] == [solid(text) for text in texts]


def test_reviews_and_sentences_are_numbered_in_order() -> None:
    texts = pl.Series(["Good. I like it but it is big.", None, "  \n", "", "Bad."])
    frame = split_reviews(texts, "clause")
    assert frame.schema == {"review": pl.UInt32, "sentence": pl.UInt32, "text": pl.String}
    assert frame["review"].to_list() == [0, 0, 0, 4]
    assert frame["sentence"].to_list() == [0, 1, 1, 2]


def test_a_review_can_stay_whole() -> None:
    frame = split_reviews(pl.Series([None, " One. Two.\nThree. "]), "none")
    assert frame.rows() == [(1, 0, "One. Two.\nThree.")]


@pytest.mark.parametrize(
    "texts", [pl.Series([], dtype=pl.String), pl.Series([None, None]), pl.Series(["", " \x1f "])]
)
def test_blank_reviews_give_no_rows(texts: pl.Series) -> None:
    frame = split_reviews(texts, "clause")
    assert frame.is_empty()
    assert frame.columns == ["review", "sentence", "text"]


def test_punctuation_alone_joins_its_neighbour() -> None:
    assert split("***\n!!!\nGood sound.\n:)\n---\nBad stand.") == ["*** !!! Good sound. :) ---", "Bad stand."]
    assert split("!!!\n???") == ["!!! ???"]


def test_reviews_do_not_change_one_another() -> None:
    texts = [text.replace("|", "") for text in MESSY_SENTENCES]
    together = split_reviews(pl.Series(texts), "clause")["text"].to_list()
    assert together == [part for text in texts for part in split(text, "clause")]


def test_other_languages_split_at_their_own_abbreviations() -> None:
    assert split("Das Bild ist z.B. gut. Der Ton nicht.", language="de") == [
        "Das Bild ist z.B. gut.",
        "Der Ton nicht.",
    ]


def test_other_languages_have_clauses_at_punctuation_only() -> None:
    text = "Das Bild ist gut, aber der Ton (wie immer) ist dünn; schade."
    expected = ["Das Bild ist gut, aber der Ton", "(wie immer)", "ist dünn;", "schade."]
    assert split(text, "clause", "de") == expected


def test_unknown_kind_of_segment_is_refused() -> None:
    with pytest.raises(ConfigError, match="segment must be one of sentence, clause, none, got 'word'"):
        split_reviews(pl.Series(["Good."]), "word")


def test_boundaries_are_scored_against_gold(tmp_path: Path) -> None:
    lines = [
        "None|Sound",
        "",
        "r1",
        "It is loud,\t1",
        "but I like it.\t1 0",
        "The stand\t0",
        "broke today.\t0",
        "",
    ]
    (tmp_path / "oposum").mkdir()
    (tmp_path / "oposum" / "radio-dev.asp").write_text("\n".join(lines))
    scores = clause_boundaries(tmp_path)
    assert scores["domain"].to_list() == ["radio", "radio", "all domains", "all domains"]
    assert scores.select("kind", "gold", "ours", "both").rows()[:2] == [
        ("all", 3, 2, 2),
        ("inside sentences", 2, 1, 1),
    ]
    assert scores["f1"].to_list() == pytest.approx([4 / 5, 2 / 3] * 2)


def test_folder_without_gold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No \*-dev.asp files in .*oposum"):
        clause_boundaries(tmp_path)


def test_what_was_written_for_a_page_is_read_as_it_looks_there() -> None:
    text = (
        "Great.<br /><br />It isn&#39;t &amp;quot;loud&amp;quot;."
        "<p>I <b>love</b> it &lt;3 &unknown; a < b</p>"
    )
    assert split_reviews(pl.Series([text, None]))["text"].to_list() == [
        "Great.",
        'It isn\'t "loud".',
        "I love it <3 &unknown; a < b",
    ]


def test_marks_with_attributes_stay_as_they_may_be_pasted_code() -> None:
    text = '<a href="x">A link</a> and <script>.'
    assert split_reviews(pl.Series([text]))["text"].to_list() == [text]
