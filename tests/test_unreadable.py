"""When a run says that it cannot read what it labels."""

from pathlib import Path

import polars as pl
import pytest

from aspectra.labelling import unreadable
from aspectra.labelling.unreadable import count_unreadable, share_of_run, unreadable_note


def test_segments_with_one_known_word_in_many_are_unreadable() -> None:
    texts = pl.Series(["Die Pumpe ist viel zu laut.", "The pump is loud.", "水泵太吵了", "…"])
    assert count_unreadable(texts, pl.Series([1, 2, 0, 0])) == 3


def test_most_of_the_segments_must_be_unreadable(tmp_path: Path) -> None:
    onnx = tmp_path / "student.onnx"
    assert "3 of 4 segments (75%) have no word" in unreadable_note(3, 4, onnx)[0]
    assert unreadable_note(2, 4, onnx) == unreadable_note(0, 0, onnx) == ()


def test_what_a_small_run_hardly_knows_of_its_own_reviews_is_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unreadable, "share_of_run", lambda run: 0.51)
    assert unreadable_note(149, 290, tmp_path) == unreadable_note(210, 290, tmp_path) == ()
    assert (
        "(98%) have no word that the run knows, or hardly any (51% in the reviews that"
        in unreadable_note(284, 290, tmp_path)[0]
    )


def test_the_share_of_a_run_is_counted_in_its_segments(run: Path, tmp_path: Path) -> None:
    assert 0 < share_of_run(run) < 0.1
    assert share_of_run(tmp_path) == 0
