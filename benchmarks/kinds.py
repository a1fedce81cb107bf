"""Other kinds of reviews, names alone: small piles that were written and labelled for this (kinds/*.jsonl).

    python benchmarks/kinds.py --seeds 1

Each pile has 90 reviews, and names as a manager would give them. It is fitted and learnt from with ratings,
as the commands do. Aspects are scored by default, with the encoder, and by the cosine with the names; the
sentiment by default, each sentence alone. The first four piles chose constants; the others were kept for the
end. `--other` scores a pile of your own: its first line has the aspects, each other line a review.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from aspectra import AspectDetector, distill, load
from aspectra.arrays import unit
from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.pretrained import load_encoder
from aspectra.scores import score

FOLDER = Path(__file__).parent / "kinds"
CHOSE, KEPT = ("airline", "espresso", "game", "carrepair"), ("dentist", "courses", "mattress", "mealkit")
HEAD = "| 90 reviews of | by default | encoder | ten lines | sentiment | calibration error |"


@dataclass(frozen=True)
class Pile:
    """Reviews of one kind; `gold` has the aspects, `felt` the sentiment of each of all `sentences`."""

    aspects: tuple[str, ...]
    reviews: tuple[str, ...]
    ratings: tuple[float, ...]
    sentences: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    felt: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Pile:
        head, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        sentences = [sentence for row in rows for sentence in row["sentences"]]
        texts, gold, felt = zip(*sentences, strict=True)
        return cls(
            aspects=tuple(head["aspects"]),
            reviews=tuple(" ".join(text for text, _, _ in row["sentences"]) for row in rows),
            ratings=tuple(float(row["rating"]) for row in rows),
            sentences=texts,
            gold=tuple(map(frozenset, gold)),
            felt=felt,
        )


def measure(pile: Pile, seed: int, encoder: str) -> list[tuple[float, ...]]:
    """Return the columns of a row, each one or two shares from 0 to 1."""
    with TemporaryDirectory() as folder:
        detector = AspectDetector(seed=seed).fit(list(pile.reviews), ratings=list(pile.ratings))
        detector.suggest_map(list(pile.aspects)).save(Path(folder) / "run")
        distill(Path(folder) / "run", StudentConfig(encoder=encoder))
        labels = {
            model: load(Path(folder) / "run", model).label_segments(list(pile.sentences))
            for model in ("fast", "encoder")
        }
    aspects = (*pile.aspects, GENERAL)
    found = [
        score(pile.gold, one["aspect"].to_list(), aspects, one["probability"].to_numpy())
        for one in labels.values()
    ]
    lines = score(pile.gold, ten_lines(pile, encoder), aspects)
    felt = score(
        [frozenset([one]) for one in pile.felt], labels["fast"]["sentiment"].to_list(), sorted(set(pile.felt))
    )
    both = [(one.f1_micro, one.f1_macro) for one in (*found, lines, felt)]
    return [*both, (float(found[0].calibration_error or 0),)]


def ten_lines(pile: Pile, encoder: str) -> list[str]:
    """Answer with the name that is nearest; the less similar half of all is General."""
    reader = load_encoder(encoder)
    names = unit(reader.means([f"The {name.lower()}." for name in pile.aspects]))
    cosines = unit(reader.means(pile.sentences)) @ names.T
    near = cosines.max(1) > np.median(cosines.max(1))
    return [
        pile.aspects[place] if some else GENERAL for place, some in zip(cosines.argmax(1), near, strict=True)
    ]


def row(title: str, columns: Sequence[Any]) -> str:
    cells = [" / ".join(f"{100 * one:.1f}" for one in column) for column in columns]
    return f"| {title} | {' | '.join(cells)} |"


def main(
    seeds: Annotated[int, typer.Option(help="Fits of each pile.")] = 1,
    other: Annotated[list[Path] | None, typer.Option(help="A pile of your own in their place.")] = None,
    encoder: Annotated[str, typer.Option(help="The student's encoder.")] = StudentConfig.encoder,
) -> None:
    """Print a table row for each pile, and one for each half."""
    print(f"{HEAD}\n{'|---' * 6}|")
    groups = [other] if other else [[FOLDER / f"{name}.jsonl" for name in some] for some in (CHOSE, KEPT)]
    for group in groups:
        rows = []
        for path in group:
            runs = [measure(Pile.read(path), seed, encoder) for seed in range(seeds)]
            rows.append([tuple(np.mean(cells, axis=0)) for cells in zip(*runs, strict=True)])
            print(row(path.stem, rows[-1]), flush=True)
        print(row("mean", [tuple(np.mean(cells, axis=0)) for cells in zip(*rows, strict=True)]), flush=True)


if __name__ == "__main__":
    typer.run(main)
