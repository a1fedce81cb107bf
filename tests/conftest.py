"""What tests share: the embedded sample, one small run fitted on it, a tiny encoder and a student in it.

Nothing here may be changed by a test; copy the run first.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, also for subprocesses
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra.cli import main
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.evaluate import Gold
from aspectra.labelling.rows import labelled
from aspectra.sample import Sample, generate, write
from aspectra.text.read import open_source
from aspectra.text.write import write_frames

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
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def as_flags(settings: dict[str, Any]) -> list[str]:
    """Write settings as options of a command."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]


def make_encoder(folder: Path, sample: Sample, width: int = 32) -> Path:
    """Write a BERT of one layer with random weights, whose word pieces are learnt from the sample."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    tokenizer = BertWordPieceTokenizer()
    texts = sample.reviews["text"].to_list()
    tokenizer.train_from_iterator(texts, vocab_size=800, show_progress=False, special_tokens=SPECIAL_PIECES)
    torch.manual_seed(0)
    shape = {"hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=80, **shape)
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(folder)
    return folder


def student_config(encoder: Path, **settings: object) -> StudentConfig:
    """Return settings with which a student is made in a second."""
    return StudentConfig(
        **{"encoder": str(encoder), "n_segments": 400, "epochs": 2, "batch_size": 64, **settings}
    )


def label_file(detector: AspectDetector, reviews: pl.DataFrame, path: Path) -> Path:
    """Label reviews as `aspectra label` does, their other columns carried through."""
    source = path.parent / f"{path.stem}-reviews.parquet"
    reviews.write_parquet(source)
    write_frames(labelled(detector, open_source([str(source)], "text"), lambda n: None), path)
    return path


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


@pytest.fixture(scope="session")
def detector(sample: Sample) -> AspectDetector:
    """Fitted, and mapped by topic number: quality is not the point."""
    fitted = AspectDetector(**SMALL).fit(sample.reviews["text"])
    return fitted.map_topics({"Taste": range(4), "Noise": range(4, 8), "General": range(8, 14)})


@pytest.fixture(scope="session")
def run(detector: AspectDetector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sample"
    detector.save(folder)
    return folder


@pytest.fixture(scope="session")
def encoder_folder(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder; its weights are random."""
    return make_encoder(tmp_path_factory.mktemp("encoder"), sample)


@pytest.fixture(scope="session")
def student_run(run: Path, encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with a student in it."""
    from aspectra import rundir
    from aspectra.student.distill import distill

    folder = Path(shutil.copytree(run, tmp_path_factory.mktemp("student") / "run"))
    detector = AspectDetector.load(folder)
    student = distill(detector, student_config(encoder_folder), folder / rundir.STUDENT)
    student.save_pretrained(folder / rundir.STUDENT, detector.topic_map_)
    return folder


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
