import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aspectra.aspects.aspects import Aspect, aspects_of_run, read_file
from aspectra.cli.show_map import HARDLY
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.sample import ASPECTS, SEEDS
from aspectra.studio.topic_card import draw_sample
from aspectra.topicmap.topicmap import read_map, write_map

Aspectra = Callable[..., Any]
WORDS = ("--encoder", "none")


def test_a_map_is_suggested_from_seed_words_and_shown(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "seeds.toml").write_text(
        "".join(f"{json.dumps(name)} = {json.dumps(words)}\n" for name, words in SEEDS.items())
    )
    answer = aspectra("map", own_run, "--seeds", tmp_path / "seeds.toml", "--replace", *WORDS)
    assert answer.code == 0
    assert "--seeds is --aspects now" in answer.err
    topic_map = read_map(own_run / "topic_map.json")
    assert topic_map.aspects[:-1] == ASPECTS
    assert all(choice.aspect is None or choice.aspect in answer.out for choice in topic_map.choices)
    assert [aspect.words for aspect in aspects_of_run(own_run)] == [tuple(words) for words in SEEDS.values()]


def test_names_alone_make_a_map_with_one_line_per_topic(
    aspectra: Aspectra, own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = aspectra("map", own_run, "--aspects", ",".join(ASPECTS), "--replace", *WORDS)
    lines = answer.out.splitlines()
    at = lines.index("Share of each aspect, by the names, and its most typical words:")
    hidden = [item for item in Fitted.load(own_run).topics.items if item.share < HARDLY]
    told = [f"     {len(hidden)} topics with hardly a segment are not shown."] if hidden else []
    topics = lines[: 16 - len(hidden)]
    assert lines[len(topics) : at] == told
    assert len({int(line.split()[0]) for line in topics} | {item.id for item in hidden}) == 16
    assert {line.partition("  ")[0] for line in map(str.strip, lines[at + 1 :])} == {*ASPECTS, "General"}
    assert max(map(len, lines)) <= 80
    assert f"Next: aspectra distill {own_run}" in answer.err
    assert "% of its segments" not in answer.out
    assert "% of its segments" in aspectra("map", own_run, "--why").out


def test_an_aspect_that_nothing_speaks_of_is_said(aspectra: Aspectra, own_run: Path) -> None:
    answer = aspectra("map", own_run, "--aspects", "Taste,xqz", "--replace", *WORDS)
    assert "Nothing speaks of xqz" in answer.err
    assert read_map(own_run / "topic_map.json").aspects == ("Taste", "xqz", "General")


def test_the_run_keeps_what_is_said_of_aspects_and_what_was_before(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    told = tmp_path / "mine.toml"
    told.write_text('[Taste]\nwords = ["bitter"]\n[Noise]\nabout = "How loud it is."\n')
    assert aspectra("map", own_run, "--aspects", told, *WORDS).code == 0
    assert aspects_of_run(own_run) == (Aspect("Taste", words=("bitter",)), Aspect("Noise", "How loud it is."))
    aspectra("map", own_run, "--aspects", "Noise,Price", "--replace", *WORDS)
    assert aspects_of_run(own_run) == (Aspect("Noise", "How loud it is."), Aspect("Price"))
    kept = [path for path in (own_run / "map-history").iterdir() if path.suffix == ".toml"]
    assert [read_file(path)[0].words for path in kept] == [("bitter",)]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"Taste = {'9' * 5000}", "is not TOML"),
        (f"[Taste]\nwords = {[f'word {number}' for number in range(1001)]}", "at most 1,000, got 1,001"),
        (f"[Taste]\nwords = {[1] * 9000}", "must be a list of texts"),
    ],
)
def test_an_aspects_file_is_bounded_and_so_is_the_sentence_about_it(
    tmp_path: Path, content: str, told: str
) -> None:
    (tmp_path / "mine.toml").write_text(content)
    with pytest.raises(InputError, match=told) as error:
        read_file(tmp_path / "mine.toml")
    assert len(str(error.value)) < 400


def test_a_persons_choices_outlive_a_suggestion_unless_told_to_replace_them(
    aspectra: Aspectra, own_run: Path
) -> None:
    before = read_map(own_run / "topic_map.json")
    aspectra("map", own_run, "--aspects", "Price,Design", *WORDS)
    assert read_map(own_run / "topic_map.json").choices == before.choices
    aspectra("map", own_run, "--aspects", "Price,Design", "--replace", *WORDS)
    assert {choice.by for choice in read_map(own_run / "topic_map.json").choices} == {"suggestion"}
    assert before in [read_map(path) for path in (own_run / "map-history").glob("*.json")]


def test_accepted_suggestions_are_choices_and_the_choices_of_others_stay(
    aspectra: Aspectra, own_run: Path
) -> None:
    aspectra("map", own_run, "--aspects", "Price,Design", "--replace", *WORDS)
    write_map(own_run / "topic_map.json", read_map(own_run / "topic_map.json").with_choice(0, None, "Bob"))
    answer = aspectra("map", own_run, "--no-page")
    assert f"Check the unsure ones on the page: aspectra map {own_run} --page" in answer.err
    assert "The student learns from the names" in answer.err
    suggested = read_map(own_run / "topic_map.json").choices
    answer = aspectra("map", "accept", own_run, "--by", "Ada")
    choices = read_map(own_run / "topic_map.json").choices
    assert [choice.aspect for choice in choices] == [choice.aspect for choice in suggested]
    assert {choice.by for choice in choices[1:]} == {"Ada"}
    assert choices[0].by == "Bob"
    assert "what is unsure" not in answer.err


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
    aspectra("map", own_run, "--aspects", "Price", "--replace", "--export", table, "-q", *WORDS)
    assert "Price" in table.read_text(encoding="utf-8-sig")
    answer = aspectra("map", own_run, "--export", table, "--page")
    assert (answer.code, "work without the page" in answer.err) == (1, True)


def test_choices_are_carried_over_from_another_run(aspectra: Aspectra, own_run: Path, run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    assert aspectra("map", own_run, "--from", run).code == 0
    old, new = (read_map(folder / "topic_map.json") for folder in (run, own_run))
    assert [choice.aspect for choice in new.choices] == [choice.aspect for choice in old.choices]
    assert {choice.by for choice in new.choices} == {"person"}


def test_a_suggestion_of_the_same_topics_comes_with_all_its_weights(
    aspectra: Aspectra, own_run: Path, run: Path, tmp_path: Path
) -> None:
    aspectra("map", own_run, "--aspects", ",".join(ASPECTS), "--replace", *WORDS)
    new = Path(shutil.copytree(own_run, tmp_path / "new"))
    answer = aspectra("map", new, "--from", own_run, "--replace")
    old, carried = (read_map(folder / "topic_map.json") for folder in (own_run, new))
    assert any(choice.shares for choice in old.choices)
    assert carried.fingerprint == old.fingerprint
    assert "No topic of this run has" not in answer.err


def test_an_aspect_that_no_topic_has_after_carrying_over_is_told(
    aspectra: Aspectra, own_run: Path, run: Path, tmp_path: Path
) -> None:
    old = Path(shutil.copytree(run, tmp_path / "old"))
    topic_map = read_map(run / "topic_map.json")
    write_map(old / "topic_map.json", replace(topic_map, aspects=("Taste", "Noise", "Price")))
    answer = aspectra("map", own_run, "--from", old, "--replace")
    assert "Note: No topic of this run has Price. Give it a topic on the page" in answer.err


def test_shares_say_of_which_model_they_are_and_are_those_of_the_teachers_labels(
    aspectra: Aspectra, own_run: Path
) -> None:
    lines = aspectra("map", own_run, "--no-page").out.splitlines()
    at = lines.index("Shares of the segments by the topics alone, as --model teacher labels:")
    told = {line.split()[0]: float(line.split()[1].strip("%")) for line in lines[at + 1 :]}
    detector = AspectDetector.load(own_run)
    answers = detector.predict(draw_sample(detector, seed=detector.seed).texts)
    assert told == {name: pytest.approx(100 * (answers == name).mean(), abs=0.06) for name in told}


def test_without_a_map_the_names_to_try_are_words_of_the_reviews(aspectra: Aspectra, own_run: Path) -> None:
    (own_run / "topic_map.json").unlink()
    answer = aspectra("map", own_run, "--no-page")
    found = re.search(r"--aspects (\S+) or open the page", answer.err)
    assert found
    words = AspectDetector.load(own_run, with_map=False).vocabulary_.index
    assert all(name.lower() in words for name in found[1].split(","))


def test_what_is_said_of_aspects_and_labels_come_with_the_choices(
    aspectra: Aspectra, own_run: Path, run: Path, tmp_path: Path
) -> None:
    old = Path(shutil.copytree(run, tmp_path / "old"))
    (old / "aspects.toml").write_text('[Noise]\nwords = ["hum"]\n')
    (old / "labels.jsonl").write_text('{"text": "It hums.", "aspects": ["Noise"]}\n')
    answer = aspectra("map", own_run, "--from", old, "--replace")
    assert "The student will also learn from 1 label." in answer.err
    assert Aspect("Noise", words=("hum",)) in aspects_of_run(own_run)


def test_what_was_said_of_aspects_that_the_map_no_longer_has_is_told(
    aspectra: Aspectra, own_run: Path
) -> None:
    (own_run / "aspects.toml").write_text('[Noise]\nwords = ["hum"]\n')
    answer = aspectra("map", own_run, "--aspects", "Price", "--replace", *WORDS)
    assert "map-history still has what was said of Noise, which the map no longer has." in answer.err


def test_another_runs_map_is_not_mixed_with_a_suggestion(
    aspectra: Aspectra, own_run: Path, run: Path, sample_files: Path
) -> None:
    before = (own_run / "topic_map.json").read_bytes()
    for told in (("--dev", sample_files / "dev.jsonl"), ("--aspects", "Noise")):
        answer = aspectra("map", own_run, "--from", run, *told)
        assert (answer.code, "Leave out --aspects and --dev" in answer.err) == (1, True)
    assert (own_run / "topic_map.json").read_bytes() == before


def test_labelled_segments_also_say_what_to_expect(
    aspectra: Aspectra, own_run: Path, sample_files: Path
) -> None:
    answer = aspectra("map", own_run, "--dev", sample_files / "dev.jsonl", "--replace")
    assert "Expected on new segments" in answer.out
    assert "f1_macro" in answer.out
    assert f"Next: aspectra distill {own_run}\n" in answer.err
    n_labels = len((sample_files / "dev.jsonl").read_text().splitlines())
    assert f"The student will also learn from {n_labels:,} labels." in answer.err
    later = aspectra("map", own_run, "--aspects", "Noise,Battery", "--replace")
    assert "The labels of the map before, which was made with --dev, are no longer kept" in later.err
    assert "The student will also learn" not in later.err


def test_with_labels_the_aspects_may_be_named_in_any_order_and_general_need_not_be(
    aspectra: Aspectra, own_run: Path, sample_files: Path
) -> None:
    for more in ((), ("General",)):
        names = [*reversed(ASPECTS), *more]
        dev = ("--dev", sample_files / "dev.jsonl")
        assert aspectra("map", own_run, *dev, "--aspects", ",".join(names), "--replace").code == 0
        assert read_map(own_run / "topic_map.json").aspects == (*reversed(ASPECTS), "General")


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


def test_topics_of_too_few_reviews_are_not_shown(
    aspectra: Aspectra, own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aspectra.topics.COLLAPSED", 0.0)
    answer = aspectra("map", own_run, "--aspects", "Price,Design", "--replace", *WORDS)
    assert re.search(r"Share of each aspect, by the names", answer.out)
    assert not re.search(r"^ *\d+  (Price|Design|General) ", answer.out, re.MULTILINE)
    assert "Too few reviews for topics" in answer.err
    assert "unsure" not in answer.err
    again = aspectra("map", own_run, "--no-page")
    assert again.out == "Aspects: Price, Design, General\n"
    assert "Too few reviews for topics" in again.err
    assert re.search(r"^ *0  ", aspectra("map", own_run, "--why", "--no-page").out, re.MULTILINE)
