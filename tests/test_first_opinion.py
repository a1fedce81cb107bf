"""The first opinion, on planted segments."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import DIRECTIONS, N_PLANTED, plant_segments

from aspectra.aspects.first_opinion import AspectEvidence, GeneralEvidence, first_opinion, specific_share


def test_sentences_about_aspects_tell_apart_what_their_names_do_not() -> None:
    segments, truth = plant_segments()
    general = GeneralEvidence(DIRECTIONS[[2]], DIRECTIONS[[2]], DIRECTIONS[[9]])
    right = []
    for told in (None, False, True):
        evidence = [
            AspectEvidence(
                name, DIRECTIONS[[0, 1]], DIRECTIONS[[0, 1]], None if told is None else DIRECTIONS[[place]]
            )
            for place, name in enumerate(("Sound", "Image"))
        ]
        evidence = [replace(one, told=bool(told)) for one in evidence]
        answers = first_opinion(segments, evidence, general)[:, :-1].argmax(1)
        right.append((answers == truth)[truth < 2].mean())
    assert right[0] < 0.7 < 0.8 < right[2] <= right[1]


def test_a_segment_with_a_given_word_speaks_more_of_its_aspect() -> None:
    segments, _ = plant_segments()
    general = GeneralEvidence(DIRECTIONS[[2]], DIRECTIONS[[2]], DIRECTIONS[[9]])
    sound, image = (
        AspectEvidence(name, DIRECTIONS[[place]]) for place, name in enumerate(("Sound", "Image"))
    )
    before = first_opinion(segments, [sound, image], general)
    half = replace(sound, has_word=(np.arange(N_PLANTED) % 2).astype(float))
    after = first_opinion(segments, [half, image], general)
    assert (after[1::2, 0] > before[1::2, 0]).all()
    np.testing.assert_array_equal(after[::2], before[::2])


def test_the_share_of_general_follows_how_many_segments_mention_an_aspect() -> None:
    rows = np.arange(1000)
    few, many = (AspectEvidence("Price", mentioned=rows < n) for n in (50, 500))
    assert specific_share([few]) == pytest.approx(0.05 + 1.3 * 0.05)
    assert specific_share([few, many]) == pytest.approx(0.05 + 1.3 * 0.5)
    assert specific_share([AspectEvidence("Sound", mentioned=rows < 0)]) == 0.1
    assert specific_share([AspectEvidence("Sound")]) == 0.4
