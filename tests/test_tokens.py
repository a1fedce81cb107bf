import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspectra.errors import ConfigError
from aspectra.text.tokens import check_language, extract, extract_forms, known, lemmas, stop_words, words_of


def lemmas_of(text: str, language: str = "en") -> list[str]:
    return [word for word in lemmas(extract(pl.Series([text])).types, language) if word]


def test_tokens_are_lower_case_words_and_numbers_without_punctuation() -> None:
    tokens = extract(pl.Series(["GREAT picture!!! 4.5 stars, 1,299 dollars (55-inch)", None, "", "great"]))
    assert tokens.types == ["great", "picture", "4.5", "stars", "1,299", "dollars", "55", "inch"]
    assert tokens.lengths.tolist() == [8, 0, 0, 1]
    assert tokens.codes.tolist() == [*range(8), 0]


def test_tokens_of_each_text_are_in_order() -> None:
    texts = ["b a b", "c a", "b"]
    tokens = extract(pl.Series(texts))
    parts = np.split(np.array(tokens.types)[tokens.codes], np.cumsum(tokens.lengths)[:-1])
    assert [" ".join(part) for part in parts] == texts


def test_emoji_and_their_invisible_marks_are_no_tokens() -> None:
    assert extract(pl.Series(["❤️❤️ 👍🏽 ☺️ 🇩🇪"])).types == []


def test_marks_inside_a_word_stay() -> None:
    assert extract(pl.Series(["cafe\u0301 naïve हिन्दी"])).types == ["cafe\u0301", "naïve", "हिन्दी"]


def test_both_apostrophes_are_the_same() -> None:
    assert extract(pl.Series(["doesn’t doesn't"])).types == ["doesn't"]


@given(st.lists(st.none() | st.text("aDPo3İé.,'’:;=-()/|*<>!? …😀 \u0301"), max_size=4))
def test_the_words_among_the_forms_are_the_tokens(texts: list[str | None]) -> None:
    series = pl.Series(texts, dtype=pl.String)
    found = [extract(series), words_of(extract_forms(series))]
    words = [[one.types[code] for code in one.codes] for one in found]
    assert words[0] == words[1]
    assert found[0].lengths.tolist() == found[1].lengths.tolist()


def test_forms_keep_capitals_and_what_shows_feelings() -> None:
    found = extract_forms(pl.Series(["GREAT :D", "I <3 it!!", "4:3, pros:Price"]))
    words = ["GREAT", ":D", "I", "<3", "it", "!!", "4", ":3", ",", "pros", ":Price"]
    assert [found.types[code] for code in found.codes] == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The speakers were sounding louder", ["speaker", "sound", "loud"]),
        ("It doesn't work, won't turn on, don't buy", ["work", "turn", "buy"]),
        ("the TV's picture isn't bad", ["tv", "picture", "bad"]),
        ("not a bad thin screen system", ["bad", "thin", "screen", "system"]),
        ("3 dvds, 1080p and x 4.5", ["3", "dvd", "1080p", "4.5"]),
        ("the lenses of my glasses", ["lens", "glasses"]),
    ],
)
def test_words_meet_in_their_lemma_and_stop_words_go(text: str, expected: list[str]) -> None:
    assert lemmas_of(text) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "Les écrans sont très petits", ["écran", "petit"]),
        ("it", "I telefoni non sono belli", ["telefono", "bello"]),
    ],
)
def test_other_languages_have_their_own_lemmas_and_stop_words(
    language: str, text: str, expected: list[str]
) -> None:
    assert lemmas_of(text, language) == expected


def test_meaningful_words_of_the_stop_list_are_kept() -> None:
    assert not {"bill", "system", "fire", "thick", "thin"} & stop_words("en")
    assert {"the", "not", "no", "and"} <= stop_words("en")


def test_dictionary_words_and_numbers_are_known() -> None:
    assert known(["sound", "doesn't", "4.5", "klangqualität"], "en").tolist() == [True, True, True, False]


def test_an_unknown_language_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match=r"language must be one of .*de, .*en, .* got 'tlh'."):
        check_language("tlh")


def test_abbreviations_do_not_become_longer_words() -> None:
    assert lemmas(["cf", "led", "men", "ran"], "en") == ["cf", "led", "man", "run"]
