import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aspectra.sample import ASPECTS, SEEDS
from aspectra.topicmap.topicmap import read_map

Aspectra = Callable[..., Any]


def test_a_map_is_suggested_from_seed_words_and_shown(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "seeds.toml").write_text(
        "".join(f"{json.dumps(name)} = {json.dumps(words)}\n" for name, words in SEEDS.items())
    )
    answer = aspectra("map", own_run, "--seeds", tmp_path / "seeds.toml", "--replace")
    assert answer.code == 0
    topic_map = read_map(own_run / "topic_map.json")
    assert topic_map.aspects[:-1] == ASPECTS
    assert all(choice.aspect is None or choice.aspect in answer.out for choice in topic_map.choices)
    assert aspectra("map", own_run).out.startswith(answer.out[:200])


def test_a_persons_choices_outlive_a_suggestion_unless_told_to_replace_them(
    aspectra: Aspectra, own_run: Path
) -> None:
    before = read_map(own_run / "topic_map.json")
    aspectra("map", own_run, "--aspects", "Price,Design")
    assert read_map(own_run / "topic_map.json").choices == before.choices
    aspectra("map", own_run, "--aspects", "Price,Design", "--replace")
    assert {choice.by for choice in read_map(own_run / "topic_map.json").choices} == {"suggestion"}
    assert before in [read_map(path) for path in (own_run / "map-history").iterdir()]


def edited(table: Path) -> None:
    lines = table.read_text(encoding="utf-8-sig").splitlines()
    lines[1] = lines[1].replace("Taste", "noise")
    table.write_text("\n".join(lines), encoding="utf-8-sig")


def test_a_map_goes_through_a_spreadsheet(aspectra: Aspectra, own_run: Path, tmp_path: Path) -> None:
    table = tmp_path / "map.csv"
    assert aspectra("map", "export", own_run, table).err.startswith(f"Wrote {table}.")
    edited(table)
    assert aspectra("map", "import", own_run, table, "--by", "Ada").code == 0
    choice = read_map(own_run / "topic_map.json").choices[0]
    assert (choice.aspect, choice.by) == ("Noise", "Ada")


def test_the_old_flags_still_work_and_say_what_to_type(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    table = tmp_path / "map.csv"
    answer = aspectra("map", own_run, "--export", table)
    assert f"Type: aspectra map export {own_run} {table}" in answer.err
    edited(table)
    answer = aspectra("map", own_run, "--import", table, "--by", "Ada")
    assert f"Type: aspectra map import {own_run} {table}" in answer.err
    assert read_map(own_run / "topic_map.json").choices[0].by == "Ada"
    assert "--export" not in aspectra("map", "--help").out


def test_a_suggestion_can_still_be_exported_at_once_but_not_from_the_page(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    table = tmp_path / "map.csv"
    aspectra("map", own_run, "--aspects", "Price", "--replace", "--export", table, "-q")
    assert "Price" in table.read_text(encoding="utf-8-sig")
    answer = aspectra("map", own_run, "--export", table, "--page")
    assert (answer.code, "work without the page" in answer.err) == (1, True)


def test_choices_are_carried_over_from_another_run(aspectra: Aspectra, own_run: Path, run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    assert aspectra("map", own_run, "--from", run).code == 0
    old, new = (read_map(folder / "topic_map.json") for folder in (run, own_run))
    assert [choice.aspect for choice in new.choices] == [choice.aspect for choice in old.choices]
    assert {choice.by for choice in new.choices} == {"person"}


def test_labelled_segments_also_say_what_to_expect(
    aspectra: Aspectra, own_run: Path, sample_files: Path
) -> None:
    answer = aspectra("map", own_run, "--dev", sample_files / "dev.jsonl", "--replace")
    assert "Expected on new segments" in answer.out
    assert "f1_macro" in answer.out


def test_help_shows_the_options_and_the_commands_beside_them(aspectra: Aspectra) -> None:
    out = aspectra("map", "--help").out
    assert "aspectra map [OPTIONS]" in out
    assert "map export RUN FILE" in out
    assert aspectra("map").code == 2


@pytest.mark.parametrize("content", ['Image = "picture"', "Image = []", "Image", "", "Image = [1]"])
def test_seed_words_that_cannot_be_read_are_refused(
    aspectra: Aspectra, own_run: Path, tmp_path: Path, content: str
) -> None:
    (tmp_path / "seeds.toml").write_text(content)
    answer = aspectra("map", own_run, "--seeds", tmp_path / "seeds.toml")
    assert answer.code == 1
    assert 'Image = ["picture", "color"]' in answer.err
