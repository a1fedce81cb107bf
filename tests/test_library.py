"""The library of aspects that many reviews have."""

from collections import Counter

import pytest

from aspectra.aspects.library import look_up, plain, tables
from aspectra.text.tokens import lemmas

TABLES = tables()


def test_no_name_is_given_twice_for_one_aspect_and_few_names_mean_several() -> None:
    names = [{plain(name) for name in (title, *table["names"])} for title, table in TABLES.items()]
    assert [len(some) for some in names] == [1 + len(table["names"]) for table in TABLES.values()]
    times = Counter(name for some in names for name in some)
    assert len(times) > 7000
    assert sum(count > 1 for count in times.values()) < 170


def test_every_aspect_has_words_and_sentences_and_nothing_twice() -> None:
    for title, table in TABLES.items():
        assert len(table["words"]) >= 2, title
        assert len(table["examples"]) >= 4, title
        for texts in table.values():
            assert len(set(texts)) == len(texts), title
        assert all(text[-1] in ".!?" for text in table["examples"]), title


def test_no_sentence_speaks_of_two_aspects() -> None:
    times = Counter(text.lower() for table in TABLES.values() for text in table["examples"])
    assert [text for text, count in times.items() if count > 1] == []


def test_no_single_word_is_a_stop_word() -> None:
    words = sorted({word for table in TABLES.values() for word in table["words"] if word.isalpha()})
    assert [word for word, lemma in zip(words, lemmas(words, "en"), strict=True) if lemma is None] == []


@pytest.mark.parametrize(
    "name",
    ["Price", "cost", "  Value for MONEY ", "prices", "overall price", "💰 Price (EUR)!", "Ｐｒｉｃｅ"],
)
def test_an_aspect_is_known_by_any_of_its_names(name: str) -> None:
    found = look_up(name)
    assert found.name == name
    assert found.words == tuple(TABLES["Price"]["words"])
    assert found.examples == tuple(TABLES["Price"]["examples"])


@pytest.mark.parametrize(
    "name", ["Size/Look", "size and looks", "Look & size", "size,_look", "size, and look"]
)
def test_a_name_of_several_parts_is_all_of_them(name: str) -> None:
    assert set(look_up(name).examples) == {*TABLES["Size"]["examples"], *TABLES["Look"]["examples"]}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Warranties", "Warranty"),
        ("Glitch", "Bugs"),
        ("Deliveries", "Delivery"),
        ("Qualities", "Quality"),
        ("Easy to use", "Ease of Use"),
        ("Ease of booking", "Booking"),
        ("Cancellations", "Cancellation Policy"),
        ("Drying speed", "Drying"),
        ("Cars", "Vehicle"),
    ],
)
def test_a_name_is_known_in_singular_and_plural_and_as_people_type_it(name: str, title: str) -> None:
    assert look_up(name).examples == tuple(TABLES[title]["examples"])


def test_of_names_with_and_between_them_all_must_be_known() -> None:
    both = {*TABLES["Sound"]["examples"], *TABLES["Image"]["examples"]}
    assert set(look_up("Sound & picture").examples) == set(look_up("sound and picture").examples) == both
    assert not look_up("Research and Development").examples
    assert not look_up("Price & xqz").examples
    assert look_up("Price/xqz").examples == look_up("Price").examples
    assert set(look_up("Xqz and sound, picture").examples) == set(TABLES["Image"]["examples"])


@pytest.mark.parametrize(
    ("name", "title"), [("App", "Companion App"), ("Storage", "Memory"), ("Speed", "Speed"), ("Host", "Host")]
)
def test_a_common_name_is_known_in_its_other_sense_too(name: str, title: str) -> None:
    found = look_up(name).examples
    assert set(TABLES[title]["examples"]) < set(found)


def test_a_name_of_several_meanings_is_all_of_them() -> None:
    both = {*TABLES["Staff"]["words"], *TABLES["Customer Service"]["words"]}
    assert set(look_up("Service").words) == both


@pytest.mark.parametrize("name", ["xqz", "", "and", "quality of the product level xqz", "General"])
def test_of_an_unknown_name_nothing_is_said(name: str) -> None:
    found = look_up(name)
    assert (found.words, found.examples) == ((), ())


def test_the_library_is_english() -> None:
    assert look_up("Service", "en").words
    assert not look_up("Service", "de").words
