"""Scores of a labeller, from Python as from the command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspectra import AspectDetector, evaluate, load
from aspectra.cli.evaluate import print_confusion, print_scores
from aspectra.config import NOT_REVIEW
from aspectra.errors import InputError
from aspectra.scores import Gold, score


@pytest.fixture(scope="module")
def few(gold: Gold) -> Gold:
    """Segments of the aspects that the run's map has."""
    known = [place for place, names in enumerate(gold.aspects) if names <= {"Taste", "Noise", "General"}]
    return Gold(tuple(gold.texts[place] for place in known), tuple(gold.aspects[place] for place in known))


@pytest.fixture(scope="module")
def gold_file(few: Gold, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    lines = zip(few.texts, map(sorted, few.aspects), strict=True)
    path.write_text("".join(json.dumps({"text": text, "aspects": names}) + "\n" for text, names in lines))
    return path


def test_the_scores_are_those_of_the_command(
    aspectra: Callable[..., Any], student_run: Path, gold_file: Path
) -> None:
    answer = aspectra("evaluate", student_run, gold_file, "--json", "--quiet")
    assert json.loads(json.dumps(evaluate(str(student_run), str(gold_file)).to_dict())) == json.loads(
        answer.out
    )


def test_a_run_a_labeller_and_a_detector_are_scored_alike(student_run: Path, few: Gold) -> None:
    scores = evaluate(student_run, few)
    assert scores == evaluate(load(student_run), few) == evaluate(AspectDetector.load(student_run), few)
    assert scores.n == len(few.texts)


def test_the_teacher_is_scored_without_its_student(student_run: Path, run: Path, few: Gold) -> None:
    assert evaluate(student_run, few, model="teacher") == evaluate(run, few)


def test_only_some_aspects_are_scored(run: Path, few: Gold) -> None:
    scores = evaluate(run, few, only=["Taste", "Noise"])
    assert scores.aspects == ("Taste", "Noise")
    assert scores.n == sum(bool(names & {"Taste", "Noise"}) for names in few.aspects)


def test_an_aspect_that_the_map_does_not_have_is_refused(run: Path, few: Gold) -> None:
    with pytest.raises(InputError, match="Sound"):
        evaluate(run, Gold(("Thin sound.",), (frozenset({"Sound"}),)))


def test_gold_without_any_review_has_nothing_to_score(run: Path) -> None:
    with pytest.raises(InputError, match="Every gold segment is 'Not a review'"):
        evaluate(run, Gold(("x = 1",), (frozenset([NOT_REVIEW]),)))


def test_gold_that_is_not_a_review_is_left_out_and_code_is_scored_as_an_aspect(
    aspectra: Callable[..., Any], run: Path, few: Gold, tmp_path: Path
) -> None:
    code = "var swfParams = new Object();"
    gold = Gold((*few.texts, code, code), (*few.aspects, frozenset({NOT_REVIEW}), frozenset({"General"})))
    assert evaluate(run, gold).n == len(few.texts) + 1
    lines = [
        json.dumps({"text": text, "aspects": sorted(names)})
        for text, names in zip(*vars(gold).values(), strict=True)
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines))
    assert (
        "1 gold segment is not a review and is left out."
        in aspectra("evaluate", run, tmp_path / "gold.jsonl").err
    )


def test_thirty_aspects_are_told_apart_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"Picture {letter}" for letter in "abcdefghijklmnopqrstuvwxyzABCD"]
    print_confusion(score([frozenset([name]) for name in names], names, names))
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split()[1:] for line in lines if line.startswith(" gold")]
    assert [number for head in heads for number in head] == [str(number) for number in range(1, 31)]
    assert "…" not in "".join(lines)


def test_what_counts_as_right_is_said_where_gold_has_several_aspects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["Taste", "Noise"]
    print_scores(score([frozenset(names)], ["Taste"], names))
    assert "right if it is one of them" in " ".join(capsys.readouterr().out.split())
    print_scores(score([frozenset(["Taste"])], ["Taste"], names))
    assert "right if it is" not in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("sure", "told"),
    [
        (0.7, "20 points too high on average: their mean is 70 %, and 50 % are right (ECE 0.20)"),
        (0.49, "1 point too low on average: their mean is 49 %, and 50 % are right (ECE 0.01)"),
        (0.5, "right on average: their mean is 50 %, and 50 % are right (ECE 0.00)"),
    ],
)
def test_probabilities_are_said_to_be_too_high_or_too_low(
    sure: float, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["Taste", "Noise"]
    print_scores(score([frozenset(["Taste"])] * 2, names, names, np.full(2, sure)))
    assert f"Probabilities are {told}." in capsys.readouterr().out


def test_gold_of_more_aspects_than_the_run_has_can_be_scored_in_part(run: Path) -> None:
    gold = Gold(("Tasty coffee.", "Too heavy."), (frozenset({"Taste"}), frozenset({"Weight"})))
    with pytest.raises(InputError, match=r"Gold aspect Weight is not .* others: --only Taste$"):
        evaluate(run, gold)
    assert evaluate(run, gold, only=["Taste"]).n == 1
    with pytest.raises(InputError, match=r"remove it in the gold file\.$"):
        evaluate(run, Gold(gold.texts[1:], gold.aspects[1:]))
