"""Readers of the published data sets, on little files of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspectra.bench.datasets import (
    TrnReviews,
    load_aspects,
    load_citysearch,
    load_oposum,
    load_seedwords,
    load_semeval,
    parse_asp,
)
from aspectra.bench.sets import find_set
from aspectra.errors import InputError

ASP = "Apps_Interface|Ease_of_use|None\n\nR-1\nOpens fast,\t0\nand is simple.\t1 0\n\nR-2\nA gift.\t2\n"
TRN = "R-1 4\nOpens fast, EDU_BREAK and is simple.\nI like it.\n\nR-2 5\nA gift.\n"
XML_2014 = """<sentences>
<sentence id="1"><text> Tasty soup. </text>
<aspectCategories><aspectCategory category="food"/></aspectCategories></sentence>
<sentence id="2"><text>Cheap soup.</text>
<aspectCategories><aspectCategory category="food"/><aspectCategory category="price"/>
</aspectCategories></sentence>
</sentences>"""
XML_2015 = """<?xml version="1.0" encoding="UTF-8"?><Reviews><Review><sentences>
<sentence id="3"><text>Kind waiter.</text>
<Opinions><Opinion category="SERVICE#GENERAL"/><Opinion category="SERVICE#GENERAL"/>
</Opinions></sentence>
<sentence id="4"><text>We came by train.</text></sentence>
<sentence id="5"><text>Far away.</text><Opinions><Opinion category="LOCATION#GENERAL"/></Opinions></sentence>
</sentences></Review></Reviews>"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_oposum_segments_carry_the_names_of_the_paper(tmp_path: Path) -> None:
    gold = load_oposum(write(tmp_path / "x.asp", ASP))
    assert gold.texts == ("Opens fast,", "and is simple.", "A gift.")
    assert gold.aspects == ({"Apps/Interface"}, {"Apps/Interface", "Ease of Use"}, {"General"})


def test_oposum_keeps_reviews_and_the_order_of_aspects(tmp_path: Path) -> None:
    path = write(tmp_path / "x.asp", ASP.replace("None", "Customer_service"))
    assert [review.id for review in parse_asp(path)] == ["R-1", "R-2"]
    assert load_aspects(path) == ("Apps/Interface", "Ease of Use", "Customer Service")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("\t2", "", 8),
        ("\t2", "\t3", 8),
        ("1 0", "1 x", 5),
        ("R-1\n", "", 3),
        ("\nA gift.\t2", "", 7),
        ("A gift.", " ", 8),
    ],
)
def test_malformed_oposum_lines_are_named(tmp_path: Path, old: str, new: str, line: int) -> None:
    path = write(tmp_path / "x.asp", ASP.replace(old, new, 1))
    with pytest.raises(InputError, match=rf"x\.asp, line {line}: expected "):
        parse_asp(path)


def test_citysearch_keeps_sentences_with_one_wanted_label(tmp_path: Path) -> None:
    write(tmp_path / "test.txt", " Good soup . \nKind waiter .\nBoth .\nFar .\n")
    write(tmp_path / "test_label.txt", "Food\nStaff\nFood Staff\nAnecdotes\n")
    gold = load_citysearch(tmp_path)
    assert gold.texts == ("Good soup .", "Kind waiter .")
    assert gold.aspects == ({"Food"}, {"Staff"})
    assert load_citysearch(tmp_path, ["Anecdotes"]).texts == ("Far .",)


def test_citysearch_files_must_have_as_many_lines(tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "Good soup .\n")
    write(tmp_path / "test_label.txt", "Food\nStaff\n")
    with pytest.raises(InputError, match=r"has 1 lines but test_label.txt has 2"):
        load_citysearch(tmp_path)


def test_semeval_keeps_sentences_with_one_category(tmp_path: Path) -> None:
    gold = load_semeval([write(tmp_path / "2014.xml", XML_2014), write(tmp_path / "2015.xml", XML_2015)])
    assert gold.texts == ("Tasty soup.", "Kind waiter.")
    assert gold.aspects == ({"Food"}, {"Staff"})


def test_damaged_xml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bad\.xml, line 2: not well-formed XML"):
        load_semeval([write(tmp_path / "bad.xml", "<sentences>\n<sentence></x>")])


def test_a_sentence_without_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bad\.xml, sentence '7': expected a <text>"):
        load_semeval([write(tmp_path / "bad.xml", '<sentences><sentence id="7"></sentence></sentences>')])


@pytest.mark.parametrize(("name", "what"), [("test.txt", "a sentence"), ("test_label.txt", "a label")])
def test_blank_lines_of_citysearch_are_named(tmp_path: Path, name: str, what: str) -> None:
    write(tmp_path / "test.txt", "Good soup .\nKind waiter .\n")
    write(tmp_path / "test_label.txt", "Food\nStaff\n")
    write(tmp_path / name, "Food\n \n")
    with pytest.raises(InputError, match=rf"{name}, line 2: expected {what}, got nothing"):
        load_citysearch(tmp_path)


def test_reviews_of_a_trn_file_are_joined_from_their_edus(tmp_path: Path) -> None:
    source = TrnReviews(write(tmp_path / "x.trn", TRN))
    assert [text for part in source.texts() for text in part] == [
        "Opens fast, and is simple.\nI like it.",
        "A gift.",
    ]
    assert source.fingerprint() != TrnReviews(write(tmp_path / "y.trn", TRN + "\n")).fingerprint()


def test_malformed_trn_lines_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.trn, line 5: expected an id, a rating"):
        list(TrnReviews(write(tmp_path / "x.trn", TRN.replace("R-2 5", "R-2"))).texts())


def test_a_sets_own_corpus_is_preferred_and_stands_in_for_nothing(tmp_path: Path) -> None:
    assert find_set("boots", tmp_path).stand_in
    (tmp_path / "oposum").mkdir()
    write(tmp_path / "oposum/boots.trn", TRN)
    boots = find_set("boots", tmp_path)
    assert boots.stand_in == ""
    assert isinstance(boots.reviews(tmp_path), TrnReviews)


def test_seed_words_come_with_and_without_weights(tmp_path: Path) -> None:
    plain = write(tmp_path / "x.2.txt", "soup taste soup \nwaiter\n")
    weighted = write(tmp_path / "x.2-weights.txt", "soup:0.5 taste:0.25\nwaiter:2\n")
    assert load_seedwords(plain, ["Food", "Staff"]) == {
        "Food": {"soup": 1, "taste": 1},
        "Staff": {"waiter": 1},
    }
    assert load_seedwords(weighted, ["Food", "Staff"])["Food"] == {"soup": 0.5, "taste": 0.25}


def test_malformed_seed_words_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.2\.txt, line 2: expected word:weight, got 'waiter:much'"):
        load_seedwords(write(tmp_path / "x.2.txt", "soup\nwaiter:much\n"), ["Food", "Staff"])


def test_seed_words_need_a_line_per_aspect(tmp_path: Path) -> None:
    path = write(tmp_path / "x.2.txt", "soup\n")
    with pytest.raises(InputError, match=r"1 lines of seed words but there are 2 aspects: Food, Staff"):
        load_seedwords(path, ["Food", "Staff"])


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No file .*missing\.asp"):
        load_oposum(tmp_path / "missing.asp")
