import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score, precision_score, recall_score

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.scores import (
    Gold,
    accuracy_at_shares,
    calibration_error,
    cohens_kappa,
    coverage_curve,
    join_gold,
    keep_only,
    objective,
    read_gold,
    score,
    score_sets,
)

ASPECTS = ("Image", "Sound", "Price", GENERAL)


def drawn(seed: int, n: int = 200) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    gold = rng.choice(ASPECTS, n, p=[0.2, 0.15, 0.05, 0.6])
    return gold.tolist(), np.where(rng.random(n) < 0.6, gold, rng.choice(ASPECTS, n)).tolist()


def one_each(names: list[str]) -> list[frozenset[str]]:
    return [frozenset([name]) for name in names]


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_f1_equals_scikit_learn(average: str) -> None:
    gold, predicted = drawn(seed=1)
    scores = score(one_each(gold), predicted, ASPECTS)
    assert getattr(scores, f"f1_{average}") == pytest.approx(f1_score(gold, predicted, average=average))


def test_weighted_precision_and_recall_equal_scikit_learn() -> None:
    gold, predicted = drawn(seed=2)
    scores = score(one_each(gold), predicted, ASPECTS)
    assert scores.precision_weighted == pytest.approx(precision_score(gold, predicted, average="weighted"))
    assert scores.recall_weighted == pytest.approx(recall_score(gold, predicted, average="weighted"))
    assert scores.accuracy == scores.f1_micro == pytest.approx(np.mean(np.array(gold) == predicted))


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_f1_without_general_equals_scikit_learn_with_the_other_labels(average: str) -> None:
    gold, predicted = drawn(seed=3)
    scores = score(one_each(gold), predicted, ASPECTS)
    expected = f1_score(gold, predicted, labels=list(ASPECTS[:-1]), average=average)
    assert getattr(scores, f"f1_{average}_without_general") == pytest.approx(expected)


def test_per_aspect_scores_and_confusion_equal_scikit_learn() -> None:
    gold, predicted = drawn(seed=4)
    scores = score(one_each(gold), predicted, ASPECTS)
    np.testing.assert_array_equal(scores.confusion, confusion_matrix(gold, predicted, labels=ASPECTS))
    np.testing.assert_allclose(
        [row.f1 for row in scores.per_aspect], f1_score(gold, predicted, labels=ASPECTS, average=None)
    )
    assert [row.support for row in scores.per_aspect] == [gold.count(aspect) for aspect in ASPECTS]
    assert [row.predicted for row in scores.per_aspect] == [predicted.count(aspect) for aspect in ASPECTS]


def test_any_of_several_gold_aspects_is_right() -> None:
    scores = score([frozenset(["Image", "Sound"])] * 2, ["Image", "Sound"], ASPECTS)
    assert scores.f1_micro == 1.0
    assert [row.support for row in scores.per_aspect] == [2, 2, 0, 0]
    assert [row.f1 for row in scores.per_aspect] == [1, 1, 0, 0]
    assert scores.several


def test_a_wrong_answer_to_several_gold_aspects_counts_against_each_in_equal_parts() -> None:
    scores = score([frozenset(["Sound", "Image"])], ["Price"], ASPECTS)
    confusion = dict(zip(ASPECTS, scores.confusion, strict=True))
    assert [confusion[name][ASPECTS.index("Price")] for name in ("Image", "Sound", "Price")] == [0.5, 0.5, 0]
    assert scores.f1_micro == 0.0


def test_the_order_of_aspects_changes_no_score_of_several_gold_aspects() -> None:
    rng = np.random.default_rng(7)
    gold = [frozenset(rng.choice(ASPECTS, rng.integers(1, 4), replace=False)) for _ in range(200)]
    answers = rng.choice(ASPECTS, 200).tolist()
    there, back = (score(gold, answers, names) for names in (ASPECTS, ASPECTS[::-1]))
    assert [row.f1 for row in there.per_aspect] == pytest.approx([row.f1 for row in back.per_aspect[::-1]])
    assert (there.f1_macro, there.f1_weighted) == pytest.approx((back.f1_macro, back.f1_weighted))
    assert there.accuracy == np.mean([one in names for one, names in zip(answers, gold, strict=True)])
    assert [row.support for row in there.per_aspect] == [sum(a in g for g in gold) for a in ASPECTS]


def test_macro_leaves_out_aspects_that_never_occur() -> None:
    scores = score(one_each(["Image", "Sound"]), ["Image", "Sound"], ASPECTS)
    assert scores.f1_macro == 1.0
    assert scores.per_aspect[ASPECTS.index("Price")].f1 == 0.0


def test_majority_is_the_score_of_always_answering_the_most_frequent_aspect() -> None:
    gold, predicted = drawn(seed=5)
    scores = score(one_each(gold), predicted, ASPECTS)
    constant = [GENERAL] * len(gold)
    assert scores.majority_aspect == GENERAL
    assert scores.majority_f1_micro == pytest.approx(f1_score(gold, constant, average="micro"))
    assert scores.majority_f1_macro == pytest.approx(f1_score(gold, constant, average="macro"))
    assert scores.majority_f1_weighted == pytest.approx(f1_score(gold, constant, average="weighted"))


def test_only_general_leaves_nothing_without_general() -> None:
    scores = score(one_each([GENERAL]), [GENERAL], ASPECTS)
    assert scores.f1_micro_without_general == scores.f1_macro_without_general == 0.0
    assert scores.f1_macro == 1.0


def test_scores_survive_json() -> None:
    gold, predicted = drawn(seed=6)
    values = score(one_each(gold), predicted, ASPECTS).to_dict()
    again = json.loads(json.dumps(values))
    assert again["per_aspect"][0]["aspect"] == "Image"
    assert again["f1_macro"] == values["f1_macro"]


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.jsonl.gz"])
def test_gold_is_read_plain_and_packed(tmp_path: Path, name: str) -> None:
    first = '\ufeff{"text": "Gut zu hören.", "aspects": ["Sound", "General"]}'
    data = f'{first}\r\n\n{{"text": "Dear.", "aspects": ["Price"]}}'.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    gold = read_gold(path)
    assert gold.texts == ("Gut zu hören.", "Dear.")
    assert gold.aspects == (frozenset(["Sound", GENERAL]), frozenset(["Price"]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{'text': 1}", r"line 2 is not JSON"),
        (b'{"aspects": ["Image"]}', r"line 2 has no text"),
        (b"[1]", r"line 2 has no text"),
        (b'{"text": "a", "aspects": []}', r"line 2 has no aspects"),
        (b'{"text": "a", "aspects": "Image"}', r"line 2 has no aspects"),
        (b'{"text": "\xff"}', r"line 2 is not UTF-8"),
    ],
)
def test_a_bad_gold_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b'{"text": "a", "aspects": ["Image"]}\n' + line)
    with pytest.raises(InputError, match=message):
        read_gold(path)


def test_gold_is_read_from_a_path_given_as_text(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"text": "a", "aspects": ["Image"]}')
    assert read_gold(str(path)) == read_gold(path)


def test_gold_without_segments_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b"\n\n")
    with pytest.raises(InputError, match="has no segments"):
        read_gold(path)


@pytest.mark.parametrize("name", ["gold.jsonl.gz", "missing.jsonl"])
def test_unreadable_gold_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "gold.jsonl.gz").write_bytes(b"not packed")
    with pytest.raises(InputError, match="Cannot read"):
        read_gold(tmp_path / name)


def test_only_wanted_aspects_are_kept() -> None:
    gold = Gold(("a", "b", "c"), (frozenset(["Image", "Price"]), frozenset(["Price"]), frozenset(["Sound"])))
    assert keep_only(gold, ["Image", "Sound"]) == Gold(
        ("a", "c"), (frozenset(["Image"]), frozenset(["Sound"]))
    )
    with pytest.raises(InputError, match="No gold segment has one of the aspects Smell"):
        keep_only(gold, ["Smell"])


def test_a_gold_aspect_outside_the_aspects_is_named() -> None:
    with pytest.raises(InputError, match=r"Gold aspect Smell is not among .* Add it to the topic map"):
        score(one_each(["Smell"]), ["Image"], ASPECTS)
    with pytest.raises(InputError, match=r"Gold aspects Smell, Taste are not among .* Add them to"):
        score(one_each(["Smell", "Taste"]), ["Image", "Image"], ASPECTS)


def test_as_many_predictions_as_segments_are_needed() -> None:
    with pytest.raises(InputError, match="1 gold segments but 2 predictions"):
        score(one_each(["Image"]), ["Image", "Sound"], ASPECTS)


def test_coverage_falls_as_more_confidence_is_asked_for() -> None:
    curve = coverage_curve([True, True, False, True, False], np.array([0.9, 0.8, 0.7, 0.7, 0.2]))
    assert [(point.confidence, point.coverage) for point in curve] == [
        (0.9, 0.2),
        (0.8, 0.4),
        (0.7, 0.8),
        (0.2, 1.0),
    ]
    assert [point.accuracy for point in curve] == [1.0, 1.0, 0.75, 0.6]


def test_kappa_equals_scikit_learn_and_is_unknown_without_pairs() -> None:
    first, second = drawn(5)
    expected = cohen_kappa_score(first, second)
    assert cohens_kappa(Counter(zip(first, second, strict=True))) == pytest.approx(expected)
    assert cohens_kappa({("Sound", "Sound"): 3}) == 1
    assert cohens_kappa({}) is None


def test_coverage_at_given_shares_answers_the_surest_first() -> None:
    curve = accuracy_at_shares([False, True], np.array([0.6, 0.9]), np.linspace(0.05, 1, 20))
    assert curve[9] == [pytest.approx(0.5), 1.0]
    assert curve[-1] == [1.0, 0.5]


@pytest.mark.parametrize("general", [True, False])
def test_the_objective_equals_the_scores_for_every_option(general: bool) -> None:
    rng = np.random.default_rng(4)
    answers = rng.integers(4, size=(50, 3))
    gold = [frozenset(rng.choice(ASPECTS, rng.integers(1, 3), replace=False)) for _ in range(50)]
    member = np.array([[aspect in names for aspect in ASPECTS] for names in gold])
    each = [score(gold, [ASPECTS[number] for number in column], ASPECTS) for column in answers.T]
    expected = [(one.f1_micro + one.f1_macro) / 2 if general else one.f1_weighted for one in each]
    np.testing.assert_allclose(objective(answers, member, general), expected)


def test_sets_are_scored_beside_the_single_answer() -> None:
    gold = [frozenset({"Image", "Sound"}), frozenset({"Image"}), frozenset({"General"})]
    found = score_sets(
        gold, [["Image", "Sound"], ["Image", "Sound"], []], ["Image", "Image", "Image"], ASPECTS
    )
    assert found is not None
    assert found.f1_micro == pytest.approx(2 * 3 / (4 + 4))
    assert found.f1_macro == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert (found.exact_match, found.jaccard) == pytest.approx((1 / 3, (1 + 0.5 + 0) / 3))
    assert found.single_f1_micro == pytest.approx(2 * 2 / (4 + 3))
    assert score_sets(gold[1:], [["Image"], ["General"]], ["Image", "General"], ASPECTS) is None


def test_the_calibration_error_is_the_mean_distance_of_bins() -> None:
    confidence = np.array([0.95, 0.95, 0.55, 0.55])
    assert calibration_error([True, True, True, False], confidence) == pytest.approx((0.1 + 0.1) / 4)
    found = score(one_each(["Image"] * 2), ["Image", "Sound"], ASPECTS, np.ones(2))
    assert (found.calibration_error, found.mean_probability) == (0.5, 1)


def test_segments_given_twice_count_once_by_what_was_said_last() -> None:
    one, two = Gold(("a", "b"), (frozenset("x"), frozenset("y"))), Gold(("b",), (frozenset("z"),))
    assert join_gold(one, two) == Gold(("a", "b"), (frozenset("x"), frozenset("z")))
    assert join_gold(None, two) == two
    assert join_gold(None, None) is None
