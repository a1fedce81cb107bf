"""Teacher and student together."""

import numpy as np
import polars as pl
import pytest

from aspectra.labelling.blend import blend


def test_where_the_teacher_knows_no_word_the_student_answers_alone() -> None:
    labels = pl.DataFrame({"aspect": ["b"] * 2, "known_words": [3, 0], "p_a": [0.0, 0.0], "p_b": [1.0, 1.0]})
    both = blend(labels, np.array([[0.8, 0.2], [0.8, 0.2]]), ("a", "b"), 0.5)
    assert both["aspect"].to_list() == ["b", "a"]
    assert both["p_a"].to_list() == pytest.approx([0.4, 0.8])
    assert blend(labels, np.array([[0.8, 0.2], [0.8, 0.2]]), ("a", "b"), 0.5, ("b",))[
        "probability"
    ].to_list() == [1, 1]
