"""Changes a file as someone does who knows what is in it: fields of JSON, arrays, tables; or its bytes."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 3, 10**10, 10**30, 0.5, -2.0, 1e308, float("nan"), float("inf"), "", "x",
    "x" * 100_000, "../../etc/passwd", "\x00", "\ud800", "=1+1", "<script>", [], [None], [[]], ["x"] * 1000,
    {}, {"a": 1},
)  # fmt: skip


def mutate(path: Path, random: Random) -> str:
    """Change a file until it is another; return what was done to it."""
    before = path.read_bytes()
    while True:
        done = try_change(path, random)
        if path.read_bytes() != before:
            return done


def try_change(path: Path, random: Random) -> str:
    """Change a file, which by chance may stay what it is; return what was done to it."""
    changers = {
        ".json": change_json, ".jsonl": change_lines, ".npy": change_array, ".npz": change_arrays,
        ".safetensors": change_tensors, ".parquet": change_table,
    }  # fmt: skip
    if random.random() < 0.3 or path.suffix not in changers:
        return change_bytes(path, random)
    try:
        return changers[path.suffix](path, random)
    except (ValueError, OverflowError, TypeError, LookupError, SafetensorError, pl.exceptions.PolarsError):
        return change_bytes(path, random)  # a change that this format cannot hold


def change_bytes(path: Path, random: Random) -> str:
    data = path.read_bytes()
    for _ in range(random.randint(1, 5)):
        at, count = random.randrange(len(data) + 1), random.choice((1, 8, 100, len(data)))
        put = random.choice((b"", b"\0", random.randbytes(count), data[:count], b"{", b"9" * 5000))
        data = data[:at] + put + data[at + random.choice((0, len(put), count)) :]
    path.write_bytes(data)
    return "bytes"


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something can be changed in a JSON value; of a long list only some places."""
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = [(place, value[place]) for place in sorted({0, len(value) // 2, len(value) - 1}) if value]
    else:
        return []
    return [one for key, inner in inside for one in ((*at, key), *places(inner, (*at, key)))]


def changed(value: Any, random: Random) -> Any:
    """Return another value in the place of one: of its kind, or of any."""
    if isinstance(value, list) and random.random() < 0.5:
        return random.choice((value[:-1], value * 2, value[::-1], [*value, None], [*value, *value[:1]]))
    if isinstance(value, dict) and random.random() < 0.5:
        return dict(list(value.items())[1:])
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.5:
        return random.choice((value + 1, -value, value * 1000, float(value), str(value)))
    if isinstance(value, str) and random.random() < 0.5:
        return random.choice((value + "x", value[::-1], value.upper(), (value * 1000)[:100_000]))
    return random.choice(VALUES)


def change_value(value: Any, random: Random) -> tuple[Any, str]:
    """Change one field of a JSON value: another value, none, or one too many."""
    value = copy.deepcopy(value)
    found = places(value)
    if not found:
        return random.choice(VALUES), "all"
    *way, last = random.choice(found)
    target = value
    for key in way:
        target = target[key]
    if random.random() < 0.15:
        del target[last]
    elif isinstance(target, dict) and random.random() < 0.15:
        target[random.choice(("surplus", "__class__", ""))] = target[last]
    else:
        target[last] = changed(target[last], random)
    return value, ".".join(map(str, (*way, last)))


def change_json(path: Path, random: Random) -> str:
    value, place = change_value(json.loads(path.read_bytes()), random)
    path.write_text(json.dumps(value))
    return place


def change_lines(path: Path, random: Random) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    number = random.randrange(len(lines))
    value, place = change_value(json.loads(lines[number]), random)
    lines[number] = json.dumps(value)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"line {number + 1}, {place}"


def changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    array = array.copy()
    spoilt = array.reshape(-1)
    if array.size:
        spoilt[random.randrange(array.size)] = random.choice((0, 1, 100))
    ways = (
        array[:-1], array[:0], array.T, array.astype(np.float64), array.astype(np.int16), array.reshape(-1),
        array.astype(str), np.concatenate([array, array]), array * 0, array[None],
        spoilt.reshape(array.shape),
    )  # fmt: skip
    wild = array.astype(np.float32) + random.choice((np.nan, np.inf, 1e38))
    return random.choice((*ways, wild.astype(array.dtype) if array.dtype.kind == "f" else wild))


def change_array(path: Path, random: Random) -> str:
    np.save(path, changed_array(np.load(path), random))
    return "array"


def change_arrays(path: Path, random: Random) -> str:
    with np.load(path) as file:
        arrays: dict[str, Any] = dict(file)
    name = random.choice(list(arrays))
    arrays[name] = changed_array(arrays[name], random)
    if random.random() < 0.2:
        arrays[f"{name}x"] = arrays.pop(name)
    data = io.BytesIO()
    np.savez(data, **arrays)
    path.write_bytes(data.getvalue())
    return name


def change_tensors(path: Path, random: Random) -> str:
    tensors = load_file(path)
    name = random.choice(list(tensors))
    tensors[name] = np.ascontiguousarray(changed_array(tensors[name], random))
    if random.random() < 0.2:
        tensors[f"{name}x"] = tensors.pop(name)
    save_file(tensors, path)
    return name


def change_table(path: Path, random: Random) -> str:
    frame = pl.read_parquet(path)
    name = random.choice(frame.columns)
    column = pl.col(name)
    other = random.choice(VALUES[:14])
    ways = (
        frame.drop(name), frame.head(random.randint(0, 3)), pl.concat([frame, frame]), frame.reverse(),
        frame.rename({name: "surplus"}), frame.with_columns(pl.lit(other).alias(name)),
        frame.with_columns(column.cast(pl.String)), frame.with_columns(column.shift(1)),
        frame.with_columns(pl.concat_list(column).alias(name)), frame.with_columns(column.alias("surplus")),
    )  # fmt: skip
    random.choice(ways).write_parquet(path)
    return name
