"""Readers of the published data sets, on little files of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspectra.bench.datasets import load_aspects, load_citysearch, load_oposum, load_seedwords, load_semeval, parse_asp
from aspectra.errors import InputError

ASP = "Apps_Interface|Ease_of_use|None\n\nR-1\nOpens fast,\t0\nand is simple.\t1 0\n\nR-2\nA gift.\t2\n"
XML_2014 = """<sentences>
<sentence id="1"><text> Tasty soup. </text><aspectCategories><aspectCategory category="food"/></aspectCategories></sentence>
<sentence id="2"><text>Cheap soup.</text><aspectCategories><aspectCategory category="food"/><aspectCategory category="price"/>
</aspectCategories></sentence>
</sentences>"""
XML_2015 = """<?xml version="1.0" encoding="UTF-8"?><Reviews><Review><sentences>
<sentence id="3"><text>Kind waiter.</text><Opinions><Opinion category="SERVICE#GENERAL"/><Opinion category="SERVICE#GENERAL"/>
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
    [("\t2", "", 8), ("\t2", "\t3", 8), ("1 0", "1 x", 5), ("R-1\n", "", 3), ("\nA gift.\t2", "", 7), ("A gift.", " ", 8)],
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


def test_damaged_xml_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bad\.xml is not well-formed XML"):
        load_semeval([write(tmp_path / "bad.xml", "<sentences><sentence>")])


def test_seed_words_come_with_and_without_weights(tmp_path: Path) -> None:
    plain = write(tmp_path / "x.2.txt", "soup taste soup \nwaiter\n")
    weighted = write(tmp_path / "x.2-weights.txt", "soup:0.5 taste:0.25\nwaiter:2\n")
    assert load_seedwords(plain, ["Food", "Staff"]) == {"Food": {"soup": 1, "taste": 1}, "Staff": {"waiter": 1}}
    assert load_seedwords(weighted, ["Food", "Staff"])["Food"] == {"soup": 0.5, "taste": 0.25}


def test_seed_words_need_a_line_per_aspect(tmp_path: Path) -> None:
    path = write(tmp_path / "x.2.txt", "soup\n")
    with pytest.raises(InputError, match=r"1 lines of seed words but there are 2 aspects: Food, Staff"):
        load_seedwords(path, ["Food", "Staff"])


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No file .*missing\.asp"):
        load_oposum(tmp_path / "missing.asp")
