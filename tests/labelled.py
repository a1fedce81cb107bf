"""Label files as `aspectra label` writes them, for the report's tests."""

from pathlib import Path

import polars as pl

from aspectra.detector import AspectDetector
from aspectra.labelling.rows import labelled
from aspectra.text.read import open_source
from aspectra.text.write import write_frames


def label_file(detector: AspectDetector, reviews: pl.DataFrame, path: Path) -> Path:
    """Label reviews, their other columns carried through."""
    source = path.parent / f"{path.stem}-reviews.parquet"
    reviews.write_parquet(source)
    write_frames(labelled(detector, open_source([str(source)], "text"), lambda n: None), path)
    return path
