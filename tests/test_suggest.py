import numpy as np
import pytest

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.evaluate import score
from aspectra.topicmap.suggest import (
    DevSuggestion,
    answer,
    known_words,
    suggest_by_dev,
    suggest_by_words,
)

ASPECTS = ["Image", "Sound", "Price", GENERAL]
GROUPS = {
    "Image": ["picture", "color", "bright", "image"],
    "Sound": ["speaker", "loud", "bass", "sound"],
    "Price": ["money", "cheap", "cost", "price"],
    GENERAL: ["thing", "lot", "time", "day"],
}


def planted_vectors() -> tuple[tuple[str, ...], np.ndarray]:
    """Words of one group point the same way, but for a little noise."""
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(len(GROUPS), 8), 4, axis=0)
    words = tuple(word for group in GROUPS.values() for word in group)
    return words, (centres + 0.02 * rng.normal(size=centres.shape) + 1).astype(np.float32)


def planted_segments(n: int = 300, seed: int = 0) -> tuple[np.ndarray, list[frozenset[str]]]:
    """Topics 0 to 3 tell the aspects in order, topic 4 says nothing; beta is N×5."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n, p=[0.2, 0.15, 0.05, 0.6])
    logits = rng.normal(size=(n, 5))
    logits[np.arange(n), truth] += 3
    logits[:, 4] += 2
    beta = np.exp(logits)
    return (beta / beta.sum(axis=1, keepdims=True)).astype(np.float32), [
        frozenset([ASPECTS[number]]) for number in truth
    ]


def chosen(result: DevSuggestion) -> list[str | None]:
    return [suggestion.aspect for suggestion in result.suggestions]


def test_each_of_the_four_rules_is_followed() -> None:
    keywords = [
        GROUPS["Image"],
        GROUPS["Sound"],
        GROUPS["Price"],
        GROUPS[GENERAL],
        GROUPS["Image"][:2] + GROUPS["Sound"][:2],
    ]
    keywords += [GROUPS[GENERAL][:2]] * 15
    coherence = np.array([0.2, 0.1, 0.3, -0.9, 0.2] + [0.1, 0.2, 0.3] * 5)
    result = suggest_by_words(keywords, coherence, *planted_vectors(), ASPECTS)
    assert [suggestion.flag for suggestion in result[:6]] == [
        "clear",
        "clear",
        "clear",
        "incoherent",
        "ambiguous",
        "general",
    ]
    assert [suggestion.aspect for suggestion in result[:6]] == [
        "Image",
        "Sound",
        "Price",
        None,
        None,
        GENERAL,
    ]
    assert all(0 <= suggestion.confidence <= 1 for suggestion in result)


def test_seed_words_decide_what_an_aspect_means() -> None:
    keywords = list(GROUPS.values())
    result = suggest_by_words(
        keywords, np.ones(4), *planted_vectors(), ["Look", "Value"], {"Look": ["Picture"], "Value": ["money"]}
    )
    assert [suggestion.aspect for suggestion in result] == ["Look", GENERAL, "Value", GENERAL]
    assert result[0].why == "Its keywords are nearest to Look (picture)."


def test_one_aspect_alone_can_be_suggested() -> None:
    result = suggest_by_words(list(GROUPS.values()), np.ones(4), *planted_vectors(), ["Sound"])
    assert [suggestion.aspect for suggestion in result] == [GENERAL, "Sound", GENERAL, GENERAL]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Apps/Interface", ["app", "interface"]),
        ("Ease_of Use", ["ease", "use"]),
        ("Batteries", ["battery"]),
        ("Glass", ["glass"]),
    ],
)
def test_names_become_known_words(name: str, expected: list[str]) -> None:
    assert known_words([name], {"app", "interface", "ease", "use", "battery", "glass", "glas"}) == expected


def test_an_aspect_without_a_known_word_is_named() -> None:
    with pytest.raises(InputError, match=r"No word for Smell occurs in the reviews\. Give seed words"):
        suggest_by_words(list(GROUPS.values()), np.ones(4), *planted_vectors(), ["Image", "Smell"])


def test_seed_words_for_something_else_are_refused() -> None:
    with pytest.raises(InputError, match="Seed words for Smell, which is not among the aspects Image"):
        suggest_by_words(
            list(GROUPS.values()), np.ones(4), *planted_vectors(), ["Image"], {"Smell": ["picture"]}
        )


def test_general_alone_is_not_enough() -> None:
    with pytest.raises(InputError, match="at least one aspect besides General"):
        suggest_by_words(list(GROUPS.values()), np.ones(4), *planted_vectors(), [GENERAL])


def test_planted_topics_are_found_from_labelled_segments() -> None:
    beta, gold = planted_segments()
    result = suggest_by_dev(beta, gold, ASPECTS)
    assert chosen(result)[:4] == ASPECTS
    assert [suggestion.flag for suggestion in result.suggestions[:4]] == [
        "clear",
        "clear",
        "clear",
        "general",
    ]
    assert result.honest["f1_micro"] > 0.8


def test_a_map_of_noise_is_not_praised() -> None:
    beta, gold = planted_segments()
    shuffled = np.random.default_rng(1).permutation(beta)
    result = suggest_by_dev(shuffled, gold, ASPECTS)
    assert result.honest["f1_macro"] < 0.35
    assert result.honest["f1_macro"] <= result.fitted["f1_macro"]


def test_without_general_topics_are_mapped_to_the_aspects_alone() -> None:
    beta, gold = planted_segments()
    specific = [row for row, names in enumerate(gold) if GENERAL not in names]
    result = suggest_by_dev(beta[specific], [gold[row] for row in specific], ASPECTS[:3])
    assert chosen(result)[:3] == ASPECTS[:3]
    assert GENERAL not in chosen(result)


def test_fitted_scores_are_those_of_the_report() -> None:
    beta, gold = planted_segments()
    result = suggest_by_dev(beta, gold, ASPECTS)
    numbers = np.array([ASPECTS.index(aspect) if aspect else len(ASPECTS) for aspect in chosen(result)])
    report = score(gold, [ASPECTS[number] for number in answer(beta, numbers, len(ASPECTS))], ASPECTS)
    assert result.fitted == {name: getattr(report, name) for name in ("f1_micro", "f1_macro", "f1_weighted")}


def test_the_same_seed_gives_the_same_suggestion_and_leaves_its_input_alone() -> None:
    beta, gold = planted_segments()
    before = beta.copy()
    assert suggest_by_dev(beta, gold, ASPECTS, seed=3) == suggest_by_dev(beta, gold, ASPECTS, seed=3)
    np.testing.assert_array_equal(beta, before)


def test_a_row_of_topics_is_needed_for_each_segment() -> None:
    beta, gold = planted_segments()
    with pytest.raises(InputError, match="got 299 for 300"):
        suggest_by_dev(beta[:-1], gold, ASPECTS)


def test_too_few_labelled_segments_are_refused() -> None:
    beta, gold = planted_segments(n=4)
    with pytest.raises(InputError, match="at least 5 gold segments is needed"):
        suggest_by_dev(beta, gold, ASPECTS)
