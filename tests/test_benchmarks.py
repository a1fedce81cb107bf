"""The scripts of benchmarks/ run, on tiny fixtures."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import SMALL, TINY

from aspectra.bench import sets
from aspectra.bench.protocol import ProtocolError, Task
from aspectra.config import FitConfig
from aspectra.labelling.several import WordOpinions
from aspectra.sample import Sample

MOST = FitConfig.max_segments
FOLDER = Path(__file__).parent.parent / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def oposum_data(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample as if it were OPOSUM's boots, with settings with which it is fitted in seconds."""
    data = tmp_path / "data"
    (data / "corpora").mkdir(parents=True)
    (data / "oposum").mkdir()
    with gzip.open(data / "corpora/boots.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(" ".join(text.split()) for text in sample.reviews["text"]))
    aspects = sorted({name for names in sample.gold["aspects"] for name in names})
    rows = [
        f"{text}\t{' '.join(str(aspects.index(name)) for name in names)}"
        for text, names in zip(sample.gold["text"], sample.gold["aspects"], strict=True)
    ]
    head = "|".join(name.replace("General", "None").replace(" ", "_") for name in aspects)
    for name, part in (("dev", rows[:150]), ("tst", rows[150:])):
        lines = [head, "", "R-1", *part, ""]
        (data / f"oposum/boots-{name}.asp").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(sets, "TOPICS", SMALL["n_topics"])
    return data


def test_every_script_says_how_to_run_it() -> None:
    assert len(SCRIPTS) > 7
    assert [path for path in SCRIPTS if f"    python benchmarks/{path.name} " not in path.read_text()] == []


def test_engines(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script("engines").main(run, tmp_path, size=[200], engine=["local"], each=100)
    said = capfd.readouterr().out
    assert "| local | 200 |" in said
    assert "The engines wrote the same bytes: True" in said


def test_service(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module = script("service")
    monkeypatch.setattr(module, "CONNECTIONS", (2,))
    module.main(run, seconds=0.4)
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "teacher" in line]
    assert [row[0].strip() for row in rows] == [
        "teacher", "teacher, queue of 16", "teacher, right after that"
    ]  # fmt: skip
    assert rows[0][5].strip() == "none"


def test_keywords(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script("keywords").main([run], seed=0)
    name, topics, *values = [
        cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]
    ]
    assert (name, int(topics)) == (run.name, SMALL["n_topics"])
    assert all(-1 <= float(value.replace("−", "-")) <= 1 for value in values)
    assert len(values) == 4


def test_sample_sizes(bench_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Path(shutil.copytree(bench_home, tmp_path / "home"))
    script("sample_sizes").main(home, name="sample", seeds=1, size=[MOST], figures=tmp_path / "figures")
    assert f"| {MOST:,} | " in capsys.readouterr().out
    assert (tmp_path / "figures/sample-size.png").exists()


def test_piles(
    oposum_data: Path,
    encoder_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sets.SETS, "boots", replace(sets.SETS["boots"], settings=SMALL))
    encoder = str(encoder_folder)
    script("piles").main(oposum_data, tmp_path / "home", name="boots", seeds=1, size=[300], encoder=encoder)
    assert "| 300 | " in capsys.readouterr().out


def test_kinds(encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (FOLDER / "kinds/airline.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    path = tmp_path / "flights.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    script("kinds").main(seeds=1, other=[path], encoder=str(encoder_folder))
    rows = capsys.readouterr().out.splitlines()
    assert [row.split("|")[1].strip() for row in rows[2:]] == ["flights", "mean"]
    assert rows[2].count("|") == rows[0].count("|") == 7


def test_the_piles_of_other_kinds_are_whole() -> None:
    module = script("kinds")
    for name in (*module.CHOSE, *module.KEPT):
        pile = module.Pile.read(FOLDER / f"kinds/{name}.jsonl")
        assert len(pile.reviews) == 90
        assert len(set(pile.sentences)) == len(pile.sentences) > 350
        assert set().union(*pile.gold) == {*pile.aspects, "General"}
        assert set(pile.felt) == {"negative", "neutral", "positive"}


def test_small_corpora(
    oposum_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("small_corpora")
    monkeypatch.setattr(module, "VARIANTS", {"default": SMALL})
    module.main(oposum_data, tmp_path / "home", seeds=1, sets="boots", variants="default", test=True)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| default")]
    assert [row.split("|")[1].strip() for row in rows] == ["default, dev", "default, test"]


def test_small_corpora_are_fitted_with_test_sealed(
    oposum_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("small_corpora")

    def peek(variant: str, task: Task) -> Any:
        return (task.data / task.bench.test[0]).read_text()

    monkeypatch.setattr(module, "fit", peek)
    with pytest.raises(ProtocolError, match="was opened before the system was frozen"):
        module.main(oposum_data, tmp_path, seeds=1, sets="boots", variants="default")


def test_studio(run: Path, sample_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(shutil.copytree(run, tmp_path / "run"))
    before = sorted(path.name for path in own.iterdir())
    script("studio").main(own, sample_files / "dev.jsonl", sample_files / "test.jsonl", browser=False)
    found = json.loads(capsys.readouterr().out)
    assert {"key", "card", "trials", "preview"} <= set(found["requests"])
    assert found["test"]["automatic"]["f1_micro"] > 0.5
    assert sorted(path.name for path in own.iterdir()) == before


def test_updates(
    oposum_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = sets.find_set("boots", oposum_data)
    tiny = replace(bench, settings={**TINY, "segment": "sentence"})
    module = script("updates")
    monkeypatch.setattr(module, "find_set", lambda name, data: tiny)
    module.main(tmp_path / "home", oposum_data, "boots", seed=0, reviews=300, encoder="none")
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0].split(":")[0] for row in rows] == [
        "| the first 80 %",
        "| and an update",
        "| all fitted again",
    ]
    assert rows[0][1:3] == rows[1][1:3]  # nothing was new: teacher and student answer as before
    with pytest.raises(SystemExit, match="is not empty"):
        module.main(tmp_path / "home", oposum_data)


def test_release_finds_the_commands_of_a_tutorial(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\npip install x\naspectra fit a.csv \\\n  --run r  # b\n```\n```python\n1 + 1\n```\n"
    )
    assert script("release").commands_of(page) == [
        ["aspectra", "fit", "a.csv", "--run", "r"], ["python", "-c", "1 + 1\n"]
    ]  # fmt: skip


def test_release_is_tried_outside_the_repository() -> None:
    with pytest.raises(SystemExit, match="is in the repository"):
        script("release").main(FOLDER / "here")


@dataclass
class FoodLabeller:
    """Answers Food for everything."""

    sentiment: Any

    def label_segments(self, texts: pl.Series) -> pl.DataFrame:
        same = pl.DataFrame({"aspect": ["Food"] * len(texts), "aspects": [["Food"]] * len(texts)})
        return same.hstack(self.sentiment.label(texts))

    @property
    def opinions(self) -> WordOpinions:
        return WordOpinions(lambda words: np.full((len(words), 8), 1 / 8))


def test_sentiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each set is two reviews of our own; the encoder is a hash of the text."""
    module, data = script("sentiment"), tmp_path / "data"
    lines = "1 R-1\n-\tThe lid is awful .\n0\tIt is red .\n5 R-2\n+\tI love the taste .\n0\tA cup .\n"
    for name in module.DOMAINS:
        (data / "polarity").mkdir(parents=True, exist_ok=True)
        (data / "polarity" / f"{name}.lbl").write_text(lines, encoding="utf-8")
    (data / "corpora").mkdir()
    texts = ["The lid is awful. It is red.", "I love the taste. A cup."] * 3
    for name in (*module.DOMAINS[1:], "restaurants_reviews"):
        with gzip.open(data / f"corpora/{name}.txt.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(texts))
    with gzip.open(data / "corpora/tv.jsonl.gz", "wt", encoding="utf-8") as file:
        rows = [{"text": text, "rating": float(1 + 4 * (n % 2))} for n, text in enumerate(texts)]
        file.write("\n".join(map(json.dumps, rows)))
    for folder, name, tag in (
        ("semeval", "restaurants-2015-test", "Opinion"),
        ("mams", "val", "aspectCategory"),
    ):
        (data / folder).mkdir()
        one = f'<sentence><text>Awful soup.</text><{tag} category="food" polarity="negative"/></sentence>'
        (data / folder / f"{name}.xml").write_text(f"<all><Review>{one}</Review></all>", encoding="utf-8")
    monkeypatch.setattr(
        module.KeptEncoder,
        "__call__",
        lambda self, texts: np.array([[[len(t), t.count("a"), 1.0]] * 2 for t in texts]),
    )
    monkeypatch.setattr(module, "restaurant_labeller", lambda data, home, model: FoodLabeller(model))
    module.main(data, tmp_path / "home", rated=6)
    said = capsys.readouterr().out
    assert "| of each aspect | 100.0 |" in said
    assert "| TVs with ratings, in their reviews | 100.0 / " in said
    assert "| in their reviews | 100.0 |" in said


def test_record_leaves_out_what_helps_only_while_waiting() -> None:
    lines = ["\x1b[1m$ aspectra fit\x1b[0m", "Loading … 0:10", "Topics: this will take about 3 minutes."]
    lines += ["Next: aspectra map", "Topics ━━ 57 %  0:06 left", "Topics ━━━ 100 %  0:16", "3,000 reviews."]
    assert script("record").cleaned(lines) == ["$ aspectra fit", "Topics ━━━ 100 %", "3,000 reviews."]


def test_record_shows_each_line_at_its_time() -> None:
    drawn = script("record").draw(["$ aspectra sample demo", "Wrote <1> file."])
    assert [float(at) for at in re.findall(r"hide ([0-9.]+)s\"", drawn)] == [0, pytest.approx(20.8)]
    assert "Wrote &lt;1&gt; file." in drawn
