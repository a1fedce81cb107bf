"""The segments that the report shows."""

from pathlib import Path

import polars as pl

from aspectra.report.content import Content


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
