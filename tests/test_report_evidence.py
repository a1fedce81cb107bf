"""The segments that the report shows."""

from pathlib import Path

import polars as pl

from aspectra.report.content import Content
from aspectra.report.evidence import candidates
from aspectra.report.read import open_labels


def test_evidence_is_of_its_aspect_and_kind(content: Content, labelled_file: Path) -> None:
    frame = pl.read_parquet(labelled_file)
    for aspect in content.aspects:
        shown = {
            kind: [s for s in content.segments if (s.aspect, s.kind) == (aspect, kind)]
            for kind in ("typical", "recent", "random")
        }
        mine = frame.filter(pl.col("aspect") == aspect)
        texts = set(mine["text"])
        assert all(
            "".join(text for text, _ in segment.pieces) in texts
            for part in shown.values()
            for segment in part
        )
        assert min(s.probability for s in shown["typical"]) > mine["probability"].quantile(0.5)
        assert min(s.day for s in shown["recent"] if s.day) > mine["date"].sort()[len(mine) // 2]


def test_a_segment_is_shown_though_the_run_knows_few_of_its_words(
    labelled_file: Path, tmp_path: Path
) -> None:
    frame, file = pl.read_parquet(labelled_file), tmp_path / "few.parquet"
    frame.with_columns(known_words=pl.lit(1, pl.Int32)).write_parquet(file)
    labels = open_labels(file)
    for aspect, rows in candidates(labels.frame, "typical").iter_rows():
        written = frame.filter(pl.col("aspect") == aspect)
        written = written.filter(pl.col("text").str.split(" ").list.len().is_between(5, 40))
        assert labels.frame[rows[0], "probability"] >= written["probability"].max()
    assert labels.frame["words"].min() > 0
