"""Labelled segments: as a person gives them, as a run keeps them, as a run takes them over from another.

Those that were labelled on the mapping page are in dev.jsonl; labels.jsonl has those that `map --dev` was
given last. A student learns from both, if no others are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from aspectra import disk, rundir
from aspectra.aspects.aspects import Aspect, aspects_of_run, write_aspects
from aspectra.errors import InputError
from aspectra.scores import Gold, join_gold, read_bytes, read_gold, without_not_reviews


def given_labels(gold: Gold | Path | str | None) -> Gold | None:
    """Return labelled segments, read from a file if need be; what is no review has no aspect to learn."""
    gold = read_gold(gold) if isinstance(gold, str | Path) else gold
    if gold is not None and not isinstance(gold, Gold):
        raise InputError(f"Give labels as a file or as read_gold returns them, not {type(gold).__name__}.")
    return without_not_reviews(gold) if gold else None


def keep_labels(run: Path, gold: Gold | None) -> str:
    """Keep the labels that a map was made with; without any, forget those of an earlier map, and say so."""
    path = run / rundir.LABELS
    if gold is None:
        if not path.exists():
            return ""
        path.unlink()
        gone = f"The labels of the map before, which was made with --dev, are no longer kept in {run}."
        return f"{gone} Name --dev, too, to use them."
    rows = zip(gold.texts, gold.aspects, strict=True)
    lines = [json.dumps({"text": text, "aspects": sorted(names)}, ensure_ascii=False) for text, names in rows]
    disk.write_atomic(path, ("\n".join(lines) + "\n").encode())
    return ""


def labels_of_run(run: Path, aspects: Iterable[str]) -> tuple[Gold | None, list[str]]:
    """Return the labels that a run keeps, and a note if some have aspects that are not among these."""
    given = all_labels(run)
    if given is None:
        return None, []
    wanted = set(aspects)
    rows = [pair for pair in zip(given.texts, given.aspects, strict=True) if pair[1] <= wanted]
    n_left = len(given.texts) - len(rows)
    left_out = f"Left out of the run's labels, because the map does not have their aspects: {n_left:,}."
    return Gold(*zip(*rows, strict=True)) if rows else None, [left_out] if n_left else []


def all_labels(run: Path) -> Gold | None:
    """Return all labels that a run keeps; what was labelled on the page comes before what was given.

    Labels of an aspect that was renamed on the page have its new name.
    """
    given = join_gold(*(read_if_there(run / name) for name in (rundir.LABELS, rundir.DEV)))
    new = renamed(run)
    if given is None or not new:
        return given
    present = (frozenset(new.get(one, one) for one in names) for names in given.aspects)
    return Gold(given.texts, tuple(present))


def read_if_there(path: Path) -> Gold | None:
    """Read labels that a run keeps; None if there are none."""
    return read_gold(path) if path.exists() and path.stat().st_size else None


def renamed_lines(run: Path, name: str) -> bytes:
    """Return a file of labels with the aspects' present names; empty if there is none."""
    if read_if_there(run / name) is None:
        return b""
    new = renamed(run)
    lines = read_bytes(run / name).decode("utf-8-sig").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    for row in rows:
        row["aspects"] = [new.get(one.strip(), one) for one in row["aspects"]]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def renamed(run: Path) -> dict[str, str]:
    """Return first name → present name of the aspects that were renamed on the page.

    A first name that another aspect has now stands for that one.
    """
    try:
        page = json.loads((run / rundir.STUDIO).read_bytes())
        return {first: now for first, now in page["aliases"].items() if first not in page["hues"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}  # nothing was renamed, or the page will say what is damaged


def take_over(old: Path, run: Path) -> None:
    """Bring what people said of aspects and the labels from another run; what this run has stays.

    All is read before anything is written.
    """
    here = {one.name.casefold(): one for one in aspects_of_run(run)}
    said, files = aspects_of_run(old), (rundir.DEV, rundir.LABELS)
    labels = {name: renamed_lines(old, name) for name in files if not (run / name).exists()}
    for one in said:
        own = here.setdefault(one.name.casefold(), one)
        if own == Aspect(own.name):  # nothing but its name
            here[one.name.casefold()] = replace(one, name=own.name)
    if here:
        write_aspects(run / rundir.ASPECTS, here.values())
    for name, lines in labels.items():
        if lines:
            disk.write_atomic(run / name, lines)
