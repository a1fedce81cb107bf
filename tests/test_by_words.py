import numpy as np
import pytest

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.topicmap.by_words import known_words, suggest_by_words
from aspectra.topics import Topic, Topics
from aspectra.vectors import WordVectors

ASPECTS = ["Image", "Sound", "Price", GENERAL]
GROUPS = {
    "Image": ["picture", "color", "bright", "image"],
    "Sound": ["speaker", "loud", "bass", "sound"],
    "Price": ["money", "cheap", "cost", "price"],
    GENERAL: ["thing", "lot", "time", "day"],
}


def planted_vectors() -> WordVectors:
    """Words of one group point the same way, but for a little noise."""
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(len(GROUPS), 8), 4, axis=0)
    words = tuple(word for group in GROUPS.values() for word in group)
    return WordVectors(words, (centres + 0.02 * rng.normal(size=centres.shape) + 1).astype(np.float32))


def topics_of(keywords: list[list[str]], coherence: list[float] | None = None) -> Topics:
    values = coherence or [1.0] * len(keywords)
    items = [
        Topic(number, tuple(words), (1.0,) * len(words), 0.1, value, ())
        for number, (words, value) in enumerate(zip(keywords, values, strict=True))
    ]
    return Topics(tuple(items), 1.0, "print")


def test_each_of_the_four_rules_is_followed() -> None:
    keywords = [
        GROUPS["Image"],
        GROUPS["Sound"],
        GROUPS["Price"],
        GROUPS[GENERAL],
        GROUPS["Image"][:2] + GROUPS["Sound"][:2],
    ]
    keywords += [GROUPS[GENERAL][:2]] * 15
    coherence = [0.2, 0.1, 0.3, -0.9, 0.2] + [0.1, 0.2, 0.3] * 5
    result = suggest_by_words(topics_of(keywords, coherence), planted_vectors(), ASPECTS)
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
        topics_of(keywords), planted_vectors(), ["Look", "Value"], {"Look": ["Picture"], "Value": ["money"]}
    )
    assert [suggestion.aspect for suggestion in result] == ["Look", GENERAL, "Value", GENERAL]
    assert result[0].why == "Its keywords are nearest to Look (picture)."


def test_one_aspect_alone_can_be_suggested() -> None:
    result = suggest_by_words(topics_of(list(GROUPS.values())), planted_vectors(), ["Sound"])
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
        suggest_by_words(topics_of(list(GROUPS.values())), planted_vectors(), ["Image", "Smell"])


def test_seed_words_for_something_else_are_refused() -> None:
    with pytest.raises(InputError, match="Seed words for Smell, which is not among the aspects Image"):
        suggest_by_words(
            topics_of(list(GROUPS.values())), planted_vectors(), ["Image"], {"Smell": ["picture"]}
        )


def test_general_alone_is_not_enough() -> None:
    with pytest.raises(InputError, match="at least one aspect besides General"):
        suggest_by_words(topics_of(list(GROUPS.values())), planted_vectors(), [GENERAL])
