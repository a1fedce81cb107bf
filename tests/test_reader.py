"""The mean word vector of a segment, as a literal loop and as it is computed."""

import numpy as np
import pytest

from aspectra.aspects import reader
from aspectra.aspects.reader import mean_vectors
from aspectra.corpus import Ragged


@pytest.mark.parametrize("few", [0, 10_000])
def test_few_and_many_words_have_the_means_of_a_literal_loop(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "FEW_WORDS", few)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 7)).astype(np.float32)
    rows = [rng.integers(50, size=size) for size in (3, 0, 40, 1, 3, 0)]
    found = mean_vectors(Ragged.of(np.concatenate(rows), np.array([len(row) for row in rows])), vectors, 30)
    for row, mean in zip(rows, found, strict=True):
        total = np.zeros(7, np.float32)
        for word in row[:30]:
            total = total + vectors[word]
        assert np.array_equal(mean, total / np.float32(max(1, len(row[:30]))))


def test_no_segments_have_no_means() -> None:
    assert mean_vectors(Ragged.of(np.zeros(0), np.zeros(0)), np.ones((3, 2), np.float32)).shape == (0, 2)
