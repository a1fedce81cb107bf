from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import make_map

from aspectra.config import GENERAL
from aspectra.scores import score
from aspectra.studio.effect import FIGURES, Dev, present, trials
from aspectra.topicmap.gamma import label_beta
from aspectra.topicmap.topicmap import TopicMap

NAMES = ("Image", "Sound", GENERAL)
three_aspects = partial(make_map, names=NAMES)


def make_dev(seed: int = 0, n: int = 120, several: bool = False) -> Dev:
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(5, 0.4), n)
    beta[:3] = np.nan  # segments without known words
    gold = [
        frozenset(rng.choice(NAMES, 2 if several and row % 3 == 0 else 1, replace=False).tolist())
        for row in range(n)
    ]
    return Dev.of(beta, gold, np.full(5, 0.2), seed)


MAP = three_aspects("Image", "Sound", None, GENERAL, "Image")


def labels(dev: Dev, topic_map: TopicMap) -> list[str]:
    known = np.where(dev.no_words, 0, 5)
    return label_beta(np.where(dev.no_words[:, None], np.nan, dev.beta), known, topic_map, dev.shares)[
        "aspect"
    ].to_list()


def test_present_figures_equal_those_of_labelling_and_scoring() -> None:
    dev = make_dev(several=True)
    report = score(dev.gold, labels(dev, MAP), NAMES)
    found = present(dev, MAP, {})
    assert {name: found["figures"][name][0] for name in FIGURES} == {
        name: getattr(report, name) for name in FIGURES
    }
    assert found["confusion"] == report.confusion


@pytest.mark.parametrize("topic", range(5))
def test_a_trial_equals_making_the_choice_and_scoring_again(topic: int) -> None:
    dev = make_dev(seed=topic, several=True)
    before = score(dev.gold, labels(dev, MAP), NAMES)
    for trial in trials(dev, MAP, topic, {}):
        after = score(dev.gold, labels(dev, MAP.with_choice(topic, trial.aspect, "Ada")), NAMES)
        for name in FIGURES:
            assert trial.change[name][0] == pytest.approx(getattr(after, name) - getattr(before, name))


def test_every_aspect_and_leaving_out_is_tried_and_the_present_choice_changes_nothing() -> None:
    found = {trial.aspect: trial.change["f1_macro"] for trial in trials(make_dev(), MAP, 2, {})}
    assert list(found) == [*NAMES, None]
    assert found[None] == (0, 0, 0)


def test_an_interval_holds_its_estimate_and_a_large_gain_lies_outside_the_noise() -> None:
    beta = np.tile([[0.9, 0.1], [0.1, 0.9]], (60, 1))
    dev = Dev.of(beta, [frozenset(["Image"]), frozenset(["Sound"])] * 60, np.full(2, 0.5))
    value, low, high = trials(dev, three_aspects("Image", "Image"), 1, {})[1].change["f1_micro"]
    assert value == pytest.approx(0.5)
    assert 0.3 < low < value < high < 0.7


def test_the_bootstrap_is_the_same_twice() -> None:
    first, second = (trials(make_dev(), MAP, 0, {}) for _ in range(2))
    assert first == second


def test_labels_follow_a_renamed_aspect() -> None:
    renamed = TopicMap(
        ("Picture", "Sound", GENERAL),
        tuple(
            replace(choice, aspect={"Image": "Picture"}.get(choice.aspect, choice.aspect))
            for choice in MAP.choices
        ),
        "print",
    )
    found = present(make_dev(), renamed, {"Image": "Picture"})
    assert found["figures"] == present(make_dev(), MAP, {})["figures"]
    assert found["unmapped_gold"] == {}


def test_labels_that_the_map_lacks_are_always_wrong_and_named() -> None:
    dev = make_dev()
    without = TopicMap(
        ("Sound", GENERAL), three_aspects("Sound", "Sound", None, GENERAL, None).choices, "print"
    )
    found = present(dev, without, {})
    assert found["unmapped_gold"] == {"Image": sum("Image" in names for names in dev.gold)}
    assert found["f1"][found["aspects"].index("Image")] == 0


def test_an_empty_map_has_figures_too() -> None:
    found = present(make_dev(), three_aspects(*[None] * 5), {})
    assert all(0 <= low <= high <= 1 for _, low, high in found["figures"].values())
