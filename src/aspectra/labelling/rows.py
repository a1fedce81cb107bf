"""Reviews of a source → labelled rows, in order: batches are labelled side by side and carried columns come first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import polars as pl

from aspectra.text.read import Source

if TYPE_CHECKING:
    from aspectra.labelling.opening import Labeller


def free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"input_{name}"
    return name


def labelled_batches(
    labeller: Labeller, source: Source, threads: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield each batch and its labels in order, while the next batches are being labelled on so many threads."""
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[tuple[pl.DataFrame, Future[pl.DataFrame]]] = deque()
        for frame in source.batches():
            under_way.append((frame, pool.submit(labeller.label, frame[source.text_column])))
            if len(under_way) > threads:
                done, labels = under_way.popleft()
                yield done, labels.result()
        yield from ((done, labels.result()) for done, labels in under_way)


def labelled(
    labeller: Labeller, source: Source, count: Callable[[int], None], threads: int = 0
) -> Iterator[pl.DataFrame]:
    """Label batch by batch, on as many threads as the labeller bears or on so many; a carried column is input_… where ours has its name."""
    reviews = 0
    for frame, labels in labelled_batches(labeller, source, threads or getattr(labeller, "label_threads", 1)):
        carried = frame.drop(source.text_column)
        if source.id_column:
            carried = carried.select(source.id_column, pl.exclude(source.id_column))
        taken = {*labels.columns, *carried.columns}
        carried = carried.rename(
            {name: free_name(name, taken) for name in carried.columns if name in labels.columns}
        )
        yield carried[labels["review"]].hstack(labels.with_columns(pl.col("review") + reviews))
        reviews += len(frame)
        count(len(labels))
