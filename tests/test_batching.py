import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from aspectra.serve.batching import Batcher, Limits, QueueFull, label_batch


def by_word(texts: pl.Series) -> pl.DataFrame:
    """Label each word of each text with itself."""
    return (
        pl.DataFrame({"review": range(len(texts)), "aspect": texts.str.split(" ")})
        .explode("aspect")
        .drop_nulls()
    )


class Slow:
    """Labels when it is allowed to, and keeps what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.allowed = threading.Event()

    def __call__(self, texts: pl.Series) -> pl.DataFrame:
        self.batches.append(texts.to_list())
        assert self.allowed.wait(60)
        if "bad" in texts:
            raise ZeroDivisionError
        return by_word(texts)


def play(label: Any, play: Callable[[Batcher], Any], **limits: Any) -> Any:
    """Run a coroutine with a batcher that has been started."""

    async def whole() -> Any:
        batcher = Batcher(label, Limits(**limits), lambda texts, labels: None)
        batcher.start()
        try:
            return await play(batcher)
        finally:
            if isinstance(label, Slow):
                label.allowed.set()
            await batcher.close()

    return asyncio.run(whole())


async def busy(batcher: Batcher, label: Slow) -> asyncio.Task[list[bytes]]:
    """Give the labelling thread something to do and wait until it does it."""
    task = asyncio.create_task(batcher.label(["first"]))
    while not label.batches:
        await asyncio.sleep(0.001)
    return task


def test_each_request_gets_its_own_rows_numbered_from_zero() -> None:
    rows, frame = label_batch(by_word, [["a b", "c"], ["d"], ["e", "f g"]])
    told = [[(row["review"], row["aspect"]) for row in map(json.loads, part)] for part in rows]
    assert told == [[(0, "a"), (0, "b"), (1, "c")], [(0, "d")], [(0, "e"), (1, "f"), (1, "g")]]
    assert len(frame) == 7


def test_texts_without_segments_leave_the_others_in_their_place() -> None:
    def without_blank(texts: pl.Series) -> pl.DataFrame:
        return by_word(texts).filter(pl.col("aspect") != "")

    rows, _ = label_batch(without_blank, [[""], ["a", "", "b"], [""]])
    assert [[json.loads(row)["review"] for row in part] for part in rows] == [[], [0, 2], []]


def test_what_arrives_while_the_labeller_works_makes_one_batch() -> None:
    slow = Slow()

    async def requests(batcher: Batcher) -> list[list[bytes]]:
        first = await busy(batcher, slow)
        others = [asyncio.create_task(batcher.label([f"text{number}"])) for number in range(5)]
        await asyncio.sleep(0)
        slow.allowed.set()
        return await asyncio.gather(first, *others)

    answers = play(slow, requests)
    assert slow.batches == [["first"], [f"text{number}" for number in range(5)]]
    assert [json.loads(row)["aspect"] for [row] in answers] == [
        "first",
        *(f"text{number}" for number in range(5)),
    ]


def test_a_batch_is_full_before_it_has_too_many_texts_and_a_request_is_never_cut() -> None:
    slow = Slow()

    async def requests(batcher: Batcher) -> None:
        first = await busy(batcher, slow)
        others = [asyncio.create_task(batcher.label(["x"] * size)) for size in (2, 2, 1, 7, 1)]
        await asyncio.sleep(0)
        slow.allowed.set()
        await asyncio.gather(first, *others)

    play(slow, requests, batch=4)
    assert [len(batch) for batch in slow.batches] == [1, 4, 1, 7, 1]


def test_a_full_queue_refuses_at_once_and_takes_again_when_it_is_empty() -> None:
    slow = Slow()

    async def requests(batcher: Batcher) -> list[bytes]:
        await busy(batcher, slow)
        waiting = asyncio.create_task(batcher.label(["a", "b"]))
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await batcher.label(["c"])
        slow.allowed.set()
        await waiting
        return await batcher.label(["d"])

    assert len(play(slow, requests, queue=2)) == 1


def test_who_waits_too_long_is_told_so_and_left_out() -> None:
    slow = Slow()

    async def requests(batcher: Batcher) -> None:
        first = await busy(batcher, slow)
        with pytest.raises(TimeoutError):
            await batcher.label(["late"])
        with pytest.raises(TimeoutError):
            await first
        slow.allowed.set()
        await batcher.label(["next"])

    play(slow, requests, timeout=0.2)
    assert slow.batches == [["first"], ["next"]]


def test_an_error_in_the_labeller_reaches_who_asked_and_nobody_else() -> None:
    slow = Slow()
    slow.allowed.set()

    async def requests(batcher: Batcher) -> tuple[list[bytes], bool]:
        with pytest.raises(ZeroDivisionError):
            await batcher.label(["bad"])
        return await batcher.label(["good"]), batcher.alive

    assert play(slow, requests)[1]


def test_closing_labels_what_is_still_waiting() -> None:
    slow = Slow()

    async def requests(batcher: Batcher) -> list[list[bytes]]:
        tasks = [await busy(batcher, slow), *(asyncio.create_task(batcher.label([text])) for text in "abc")]
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, slow.allowed.set)
        await batcher.close()
        return await asyncio.gather(*tasks)

    assert [len(rows) for rows in play(slow, requests)] == [1, 1, 1, 1]
