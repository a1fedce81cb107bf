"""What tests share: the embedded sample, one small run fitted on it, a tiny encoder and a student in it.

Nothing here may be changed by a test; copy the run first.
"""

import gc
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, also for subprocesses
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aspectra import disk
from aspectra.aspects.gaussians import Features
from aspectra.cli import main
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.labelling.files import label_source
from aspectra.progress import uncounted
from aspectra.report import build_report
from aspectra.report.content import Content
from aspectra.report.stats import Tally, tally
from aspectra.sample import Sample, generate, write
from aspectra.scores import Gold
from aspectra.text.read import open_source
from aspectra.text.write import write_frames
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap

LONG = {
    "test_benchmarks", "test_cli", "test_cli_bench", "test_doc_blocks", "test_page", "test_paper_systems",
    "test_ray", "test_runner", "test_serve", "test_speed", "test_systems",
}  # fmt: skip
"""Modules that take a quarter of a minute and more: they start first, so that nobody waits for one at the
end."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SMALL = {
    "n_topics": 16,
    "min_count": 5,
    "vector_size": 32,
    "vector_epochs": 30,
    "steps": 300,
    "warmup": 50,
    "learning_factor": 4.0,
}
"""Settings with which the sample's topics are learnt in seconds."""
TINY = {"n_topics": 4, "min_count": 3, "vector_size": 8, "vector_epochs": 1, "steps": 5}
"""Settings of the quickest fit; its topics mean nothing."""
AT = "2024-05-01T10:00:00+00:00"
"""When the choices of test maps were made."""
LINEAR_ASPECTS = ("Taste", "Noise", "Cleaning", "Price", "General")
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def as_flags(settings: dict[str, Any]) -> list[str]:
    """Write settings as options of a command."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]


def make_map(*aspects: str | None, names: tuple[str, ...] = ("Image", "Sound"), by: str = "Ada") -> TopicMap:
    """Map topics 0, 1, … to these aspects; None leaves a topic out."""
    choices = tuple(Choice(topic, aspect, ("word",), by, AT) for topic, aspect in enumerate(aspects))
    return TopicMap(names, choices, "print")


def make_encoder(folder: Path, sample: Sample, width: int = 32) -> Path:
    """Write a BERT of one layer with random weights, whose word pieces are the sample's letters and words."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    counts = Counter(re.findall(r"\w+|[^\w\s]", " ".join(sample.reviews["text"]).lower()))
    letters = sorted(set("".join(counts)))
    words = sorted(counts, key=lambda word: (-counts[word], word))  # learnt pieces would differ each time
    pieces = dict.fromkeys([*SPECIAL_PIECES, *letters, *(f"##{one}" for one in letters), *words])
    tokenizer = BertWordPieceTokenizer({piece: place for place, piece in enumerate(list(pieces)[:800])})
    torch.manual_seed(0)
    shape = {"hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=80, **shape)
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(folder)
    return folder


def student_config(encoder: Path, **settings: object) -> StudentConfig:
    """Return settings with which a student with an attention head is made in a second."""
    small = {"head": "attention", "n_segments": 400, "epochs": 2, "batch_size": 64}
    return StudentConfig(**{"encoder": str(encoder), **small, **settings})


def open_map(detector: AspectDetector, aspects: Sequence[str]) -> AspectDetector:
    """Suggest the aspects in turn for the topics: no person has decided any."""
    choices = tuple(
        Choice(item.id, aspects[item.id % len(aspects)], item.keywords, SUGGESTION, AT)
        for item in detector.topics_.items
    )
    detector.topic_map_ = TopicMap(tuple(aspects), choices, detector.topics_.fingerprint)
    return detector


def label_file(detector: AspectDetector, reviews: pl.DataFrame, path: Path) -> Path:
    """Label reviews as `aspectra label` does, their other columns carried through."""
    source = path.parent / f"{path.stem}-reviews.parquet"
    reviews.write_parquet(source)
    write_frames(label_source(detector.labeller(), open_source([str(source)], "text"), uncounted), path)
    return path


def draw_segments(
    n_reviews: int = 600, seed: int = 0, noise_from: int = 99, n_periods: int = 6
) -> pl.DataFrame:
    """Draw reviews whose segments keep to one aspect more than by chance.

    Noise is more frequent from period `noise_from` on, in group 1.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for review in range(n_reviews):
        period, group = int(rng.integers(n_periods)), int(rng.integers(3))
        chance = [0.2, 0.5, 0.3] if period >= noise_from and group == 1 else [0.3, 0.1, 0.6]
        own = rng.choice(3, p=chance)
        for _ in range(rng.integers(1, 9)):
            rows.append((review, int(own if rng.random() < 0.5 else rng.choice(3, p=chance)), group, period))
    return pl.DataFrame(rows, schema=["review", "code", "group", "period"], orient="row")


def count_segments(frame: pl.DataFrame, n_periods: int = 6) -> Tally:
    """Count drawn segments: groups × periods × aspects."""
    return tally(frame, "code", 3, 3, range(n_periods))


def pytest_configure() -> None:
    gc.set_threshold(50_000)  # as the command does: looking for garbage took 7 % of three test files' time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture(scope="session")
def program() -> list[str]:
    """How to start aspectra as a process of its own."""
    return [sys.executable, "-c", "from aspectra.cli import main; main()"]


@pytest.fixture(scope="session")
def sample() -> Sample:
    return generate(700, n_gold=300)


@pytest.fixture(scope="session")
def gold(sample: Sample) -> Gold:
    return Gold(tuple(sample.gold["text"]), tuple(frozenset(aspects) for aspects in sample.gold["aspects"]))


@pytest.fixture(scope="session")
def sample_files(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews.csv, dev.jsonl and test.jsonl."""
    folder = tmp_path_factory.mktemp("sample")
    write(folder, sample)
    return folder


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that the first worker fills; the others wait for it instead of doing the same work."""
    home = factory.getbasetemp()
    home = home.parent if "PYTEST_XDIST_WORKER" in os.environ else home
    with disk.locked(home, name, wait=600):
        if not (home / name).exists():
            make(home / f"{name}-begun")
            (home / f"{name}-begun").rename(home / name)
    return home / name


@pytest.fixture(scope="session")
def run(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fitted, and mapped by topic number: quality is not the point."""

    def make(folder: Path) -> None:
        fitted = AspectDetector(**SMALL).fit(sample.reviews["text"])
        fitted.map_topics({"Taste": range(4), "Noise": range(4, 8), "General": range(8, 14)}).save(folder)

    return made_once(tmp_path_factory, "sample-run", make)


@pytest.fixture(scope="session")
def bench_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark's home in which the sample has been fitted with the first seed; copy it before use."""

    def make(folder: Path) -> None:
        from aspectra.bench.protocol import Task
        from aspectra.bench.sets import SAMPLE, SETS, prepare_folders

        folder.mkdir()
        _ = Task(SETS[SAMPLE], prepare_folders((SAMPLE,), None, folder)[SAMPLE], folder, 0).words

    return made_once(tmp_path_factory, "bench-home", make)


@pytest.fixture(scope="session", autouse=True)
def compiled_once(request: pytest.FixtureRequest) -> None:
    """Where several workers run, let one of them compile what fits need before the others fit anything."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        request.getfixturevalue("run")


@pytest.fixture(scope="session")
def detector(run: Path, tmp_path_factory: pytest.TempPathFactory) -> AspectDetector:
    """The same from a copy, in which it may keep what an encoder computes."""
    return AspectDetector.load(shutil.copytree(run, tmp_path_factory.mktemp("detector") / "run"))


@pytest.fixture(scope="session")
def encoder_folder(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder; its weights are random."""
    return made_once(tmp_path_factory, "encoder", lambda folder: make_encoder(folder, sample))


@pytest.fixture(scope="session")
def student_run(run: Path, encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with a student in it."""

    def make(folder: Path) -> None:
        from aspectra.student.distill import distill

        shutil.copytree(run, folder)
        distill(folder, student_config(encoder_folder))

    return made_once(tmp_path_factory, "student-run", make)


@pytest.fixture(scope="session")
def linear_run(run: Path, encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with a map that no person decided, and a linear student that learnt from names."""

    def make(folder: Path) -> None:
        from aspectra.student.distill import distill

        shutil.copytree(run, folder)
        open_map(AspectDetector.load(folder, with_map=False), LINEAR_ASPECTS).save(folder, replace=True)
        distill(folder, StudentConfig(encoder=str(encoder_folder), n_segments=2000))

    return made_once(tmp_path_factory, "linear-run", make)


@pytest.fixture(scope="session")
def labelled_file(detector: AspectDetector, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's label file, made by the run."""
    return label_file(detector, sample.reviews, tmp_path_factory.mktemp("labels") / "labelled.parquet")


@pytest.fixture(scope="session")
def gold_file(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold segments of the aspects that the run has."""
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    known = pl.element().is_in(["Taste", "Noise", "General"])
    sample.gold.filter(pl.col("aspects").list.eval(known).list.all()).write_ndjson(path)
    return path


@pytest.fixture(scope="session")
def content(
    run: Path, labelled_file: Path, gold_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Content:
    """What the sample's report says."""
    return build_report(run, labelled_file, tmp_path_factory.mktemp("report") / "report.html", gold=gold_file)


@pytest.fixture
def report_of(own_run: Path, tmp_path: Path) -> Callable[..., Content]:
    """Map the topics anew, label reviews and write a report about them to report.html."""

    def make(reviews: pl.DataFrame, aspects: dict[str, Any], **wanted: Any) -> Content:
        own = AspectDetector.load(own_run).map_topics(aspects)
        own.save(own_run)
        labels = label_file(own, reviews, tmp_path / "own.parquet")
        return build_report(own_run, labels, tmp_path / "report.html", **wanted)

    return make


@pytest.fixture
def own_run(run: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may spoil."""
    return Path(shutil.copytree(run, tmp_path / "own-run"))


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Read a folder's files, to see that nothing in it was changed."""
    return lambda folder: {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def aspectra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command line in this process."""
    monkeypatch.setenv("COLUMNS", "160")

    def call(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["aspectra", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Answer(int(end.value.code or 0), said.out, said.err)

    return call


PLANTED_WIDTH, N_PLANTED, PLANTED_TOPICS = 12, 1500, 8
DIRECTIONS = np.eye(PLANTED_WIDTH)
"""The width and number of planted segments, their topics, and a direction for each aspect."""


def plant_segments(seed: int = 0, encoder: bool = True) -> tuple[Features, np.ndarray]:
    """Draw segments of Sound, Image and General: each near its direction, with two topics of its own."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, N_PLANTED, p=[0.2, 0.2, 0.6])
    near = DIRECTIONS[truth] + 0.35 * random.normal(size=(N_PLANTED, PLANTED_WIDTH))
    beta = random.dirichlet(np.full(PLANTED_TOPICS, 0.3), N_PLANTED)
    beta[np.arange(N_PLANTED), 2 * truth + random.integers(0, 2, N_PLANTED)] += 1
    beta /= beta.sum(1, keepdims=True)
    other = DIRECTIONS[truth][:, None] + 0.5 * random.normal(size=(N_PLANTED, 2, PLANTED_WIDTH))
    return Features(near, beta, other if encoder else None), truth
