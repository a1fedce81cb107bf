"""Tables, figures and files of a benchmark, from outcomes made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aspectra.bench import figures, labels, results, tables
from aspectra.bench.ablations import ABLATIONS, chosen
from aspectra.bench.runner import Outcome
from aspectra.bench.sets import SETS
from aspectra.errors import InputError


def outcome(name: str, seed: int, f1: float, set_name: str = "citysearch", **more: Any) -> Outcome:
    aspects = ["Ambience", "Food", "Staff"]
    parts = dict.fromkeys(("precision", "recall", "f1"), f1)
    weighted = {f"{part}_weighted": f1 for part in parts}
    test = {**dict.fromkeys(tables.FIGURES, f1), **weighted, "aspects": aspects, "per_aspect": [parts] * 3}
    curve = [[0.5, f1 + 0.05], [1.0, f1]]
    facts = {"attention": [[list("abc"), [0.2, None, 0.8]]] * 3}
    values = {
        "test": test,
        "dev": test,
        "coverage": curve,
        "facts": facts,
        "cost": {"fit_seconds": 99.0, "shared_seconds": 5.0, "peak_gb": 0.5},
        "cpu_seconds": 10.0 * seed,
        "stand_in": SETS[set_name].stand_in,
        **more,
    }
    return Outcome(set_name, name, seed, values)


OUTCOMES = [
    outcome("majority", 0, 0.444),
    *(outcome("teacher", seed, f1) for seed, f1 in ((0, 0.88), (1, 0.90))),
]


def test_a_table_has_mean_and_spread_beside_the_published_values() -> None:
    rows = {row[0]: row[1] for row in tables.quality_grids(OUTCOMES)[0].rows}
    assert rows["teacher (dev map)"] == "89.0 ±1.4"
    assert rows["majority answer (labels)"] == "44.4"
    assert rows["SSCL (map by hand) †"] == "88.6"
    assert "MATE (seed words) †" not in rows


def test_a_failed_cell_stays_in_the_table_with_its_reason() -> None:
    failed = Outcome("citysearch", "student", 0, {"error": "Too few segments.", "stand_in": ""})
    head = tables.quality_grids([*OUTCOMES, failed])[0]
    assert ["aspectra (dev map)", "failed"] in head.rows
    assert "citysearch, student, seed 0 failed: Too few segments." in head.notes


def test_a_cell_that_failed_for_some_seeds_says_so() -> None:
    failed = Outcome("citysearch", "teacher", 2, {"error": "No.", "stand_in": ""})
    assert (
        tables.shown([*OUTCOMES, failed], "citysearch", "teacher", tables.test_figure("f1_macro"))
        == "89.0 ±1.4 (1 failed)"
    )


def test_a_stand_in_corpus_is_marked() -> None:
    head, _, detail = tables.quality_grids([outcome("teacher", 0, 0.5, "boots")])
    assert head.header == ["system", "boots*"]
    assert any(note.startswith("* boots: low-resource") for note in head.notes)
    assert detail.title.startswith("Boots*")


def test_a_set_without_test_says_so() -> None:
    head = tables.quality_grids([outcome("names", 0, 0.5, "keyboards")])[0]
    assert head.header == ["system", "keyboards* (dev)"]
    assert any(note.startswith("(dev): without a test set") for note in head.notes)


def test_precision_and_recall_by_aspect_stand_beside_table_4() -> None:
    grid = tables.precision_grid(OUTCOMES, SETS["citysearch"])
    assert grid.header[:4] == ["system", "Ambience P", "Ambience R", "Ambience F"]
    rows = {row[0]: row[1:] for row in grid.rows}
    published = "79.1 86.1 82.4 91.7 94.6 93.1 88.4 75.9 81.7 88.8 88.7 88.6"
    assert " ".join(rows["SSCL (map by hand) †"]) == published
    assert rows["teacher (dev map)"] == ["89.0 ±1.4"] * 12


def test_f1_by_aspect_of_a_product_set() -> None:
    grid = tables.aspect_grid([outcome("teacher", 0, 0.5, "boots")], SETS["boots"])
    assert grid.rows == [["teacher (dev map)", "50.0", "50.0", "50.0"]]


def test_the_cost_of_a_fit_is_the_median_of_its_seeds() -> None:
    failed = Outcome("citysearch", "mate", 0, {"error": "No.", "stand_in": ""})
    rows = dict(tables.cost_grid([*OUTCOMES, failed]).rows)
    assert rows["teacher (dev map)"] == "10 s · 0.5"
    assert rows["MATE (30 seed words)"] == tables.NOTHING


def test_an_ablation_shows_test_dev_and_what_was_published() -> None:
    made = [
        outcome(f"attention {kind}", 0, f1)
        for kind, f1 in (("smooth", 0.89), ("regular", 0.86), ("mean", 0.87))
    ]
    grid = tables.ablation_grid(made, ABLATIONS["attention"])
    assert grid.header == ["value", "citysearch", "dev", "published"]
    assert grid.rows[0] == ["smooth (default)", "89.0", "89.0", "88.6"]


def test_the_default_of_every_ablation_is_one_of_its_values() -> None:
    assert [one.name for one in ABLATIONS.values() if one.default not in one.values] == []


def test_unknown_ablations_are_refused() -> None:
    with pytest.raises(InputError, match=r"No ablation colour\. There are attention, lambda"):
        chosen(("colour",))


def test_tables_go_between_their_marks_and_nothing_else_changes(tmp_path: Path) -> None:
    begin, end = results.marks("quality")
    page = tmp_path / "results.md"
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    results.insert(page, "quality", "new")
    assert page.read_text() == f"before\n{begin}\n\nnew\n\n{end}\nafter\n"


@pytest.mark.parametrize(
    ("text", "why"), [("no marks", "has no place for the tables"), (None, "Cannot read")]
)
def test_a_page_without_marks_is_refused(tmp_path: Path, text: str | None, why: str) -> None:
    page = tmp_path / "results.md"
    if text:
        page.write_text(text)
    with pytest.raises(InputError, match=why):
        results.insert(page, "quality", "new")


def test_results_are_written_as_json_markdown_and_figures(tmp_path: Path) -> None:
    places = results.Places(tmp_path, None)
    pictures = results.quality_pictures(OUTCOMES, places.figures)
    results.publish(
        "quality", "aspectra bench quality", tables.quality_grids(OUTCOMES), pictures, OUTCOMES, places
    )
    assert [cell["name"] for cell in json.loads((tmp_path / "quality.json").read_text())["cells"]] == [
        "majority",
        "teacher",
        "teacher",
    ]
    assert "figures/f1-per-set.png" in (tmp_path / "quality.md").read_text()
    assert (tmp_path / "figures/f1-by-seconds.svg").exists()
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".png", ".svg"}


def test_figures_of_ablations_are_the_same_twice(tmp_path: Path) -> None:
    made = [outcome(f"attention {kind}", 0, 0.8) for kind in ("smooth", "regular", "mean")]
    made += [outcome(f"lambda {value}", 0, 0.8) for value in ABLATIONS["lambda"].values]
    for folder in (tmp_path / "a", tmp_path / "b"):
        results.ablation_pictures(made, chosen(("attention", "lambda")), folder)
    names = sorted(path.name for path in (tmp_path / "a").glob("*.svg"))
    assert names == ["ablation-attention.svg", "ablation-lambda.svg", "attention.svg"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_growth_is_drawn(tmp_path: Path) -> None:
    rows = [
        {
            "segments": size,
            "seconds": dict.fromkeys(figures.STAGES, size / 1e4),
            "peak_gb": dict.fromkeys(figures.STAGES, 0.5),
        }
        for size in (10_000, 100_000)
    ]
    assert figures.draw_growth(rows, tmp_path) == "growth.png"
    assert "exponent 1.00" in (tmp_path / "growth.svg").read_text()


def test_the_labels_curve_has_a_row_for_each_number() -> None:
    made = [
        outcome("point", 0, f1, "boots", config={"kind": labels.BOTH, "choice": labels.RANDOM, "number": one})
        for one, f1 in ((0, 0.6), (50, 0.65), (None, 0.7))
    ]
    (grid,) = labels.label_grids(made)
    rows = {row[0]: row[1] for row in grid.rows}
    assert (rows["0"], rows["10"], rows["50"], rows["all"]) == ("60.0/60.0", "–", "65.0/65.0", "70.0/70.0")


def test_the_labels_curve_needs_a_test_set() -> None:
    with pytest.raises(InputError, match="The set vacuums has no test set"):
        labels.label_cells(("vacuums",), 1)
