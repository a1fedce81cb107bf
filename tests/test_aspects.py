"""Aspects as a person gives them: names, and aspects.toml."""

from pathlib import Path

import pytest

from aspectra import rundir
from aspectra.aspects.aspects import (
    Aspect,
    aspects_of_run,
    check_names,
    read_aspects,
    read_table,
    write_aspects,
)
from aspectra.errors import InputError, MapError


@pytest.mark.parametrize(
    ("aspects", "message"),
    [
        (("Image", "image"), "there twice"),
        ((" ",), "printable text"),
        (("x" * 61,), "at most 60 characters"),
        (("Unmapped",), "are reserved"),
        (("general",), "spelled 'General'"),
    ],
)
def test_an_aspect_needs_a_usable_name(aspects: tuple[str, ...], message: str) -> None:
    with pytest.raises(MapError, match=message):
        check_names(aspects)


@pytest.mark.parametrize("name", ["Größe", "Ease of use", "Size & Fit"])
def test_a_name_that_toml_needs_in_quotes_is_said_to_need_them(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.toml").write_text(f"[Price]\n[{name}]\n")
    with pytest.raises(InputError, match=f'Put the name in quotes: ."{name}".'):
        read_aspects(tmp_path / "mine.toml")


@pytest.mark.parametrize(
    "given", ["Price,Size & Fit, App", "Price，Size & Fit、App", "Price , Size & Fit,，App,"]
)
def test_names_have_commas_between_them_also_full_width_ones(given: str) -> None:
    assert [one.name for one in read_aspects(given)] == ["Price", "Size & Fit", "App"]


def test_a_file_that_is_not_toml_is_not_taken_for_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("aspects.txt", "Noise"):
        Path(name).touch()
    assert [one.name for one in read_aspects("Noise")] == ["Noise"]
    with pytest.raises(InputError, match=r"aspects.txt is a file, but not .toml"):
        read_aspects("aspects.txt")


def test_earlier_versions_of_an_aspects_file_are_kept(tmp_path: Path) -> None:
    first, second = (Aspect("Price", words=words) for words in (("cheap",), ("cheap", "costly")))
    for aspect in (first, first, second):
        write_aspects(tmp_path / rundir.ASPECTS, [aspect])
    assert aspects_of_run(tmp_path) == (second,)
    (kept,) = (tmp_path / rundir.MAP_HISTORY).iterdir()
    assert read_aspects(kept) == (first,)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"about": "word " * 61}, "a sentence about .* has 61 words, at most 60"),
        ({"words": ["word " * 11]}, "a phrase in words of .* has 11 words, at most 10"),
        ({"examples": ["word " * 61]}, "an example of .* has 61 words, at most 60"),
    ],
)
def test_texts_that_are_too_long_are_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table("Image", table, "aspects.toml")


def test_what_is_said_of_general_is_refused_and_not_dropped() -> None:
    assert read_table("General", {}, "aspects.toml") == Aspect("General")
    with pytest.raises(InputError, match=r"Leave \[General\] out"):
        read_table("General", {"words": ["buy"]}, "aspects.toml")
