"""What every attack starts from: reviews, a mapped run with a student, its export, and labels."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from .children import Worker

FIT = (
    "--n-topics=8", "--min-count=3", "--vector-size=8", "--vector-epochs=2", "--steps=50", "--warmup=5",
)  # fmt: skip
ASPECTS = "Taste,Noise,Price"
REVIEWS = 200


@dataclass(frozen=True)
class Place:
    """A folder to work in, with one of each thing that a command reads. Nothing but `scratch` is changed."""

    home: Path
    worker: Worker
    seed: int = 0
    scale: float = 1.0

    reviews = property(lambda self: self.home / "sample" / "reviews.csv")
    gold = property(lambda self: self.home / "sample" / "dev.jsonl")
    encoder = property(lambda self: self.home / "encoder")
    run = property(lambda self: self.home / "run")
    onnx = property(lambda self: self.home / "export" / "model.onnx")
    labels = property(lambda self: self.home / "labels.parquet")

    def scratch(self, name: str) -> Path:
        """Return an empty folder."""
        folder = self.home / "scratch" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def copy(self, name: str, of: Path | None = None) -> Path:
        """Return a copy of the run, or of another folder, to spoil."""
        return Path(shutil.copytree(of or self.run, self.scratch(name) / "run"))

    def count(self, most: float) -> int:
        """Return how many of `most` trials to make at this scale; at least one."""
        return max(1, round(most * self.scale))

    def random(self, kind: str) -> Random:
        return Random(f"{self.seed} {kind}")


Trial = tuple[str, str]
"""What was tried, and what fell; nothing if it held."""
Attack = Callable[[Place], Iterator[Trial]]


def prepare(place: Place) -> None:
    """Make all of it, once."""
    if place.labels.exists():
        return
    make_encoder(place)
    commands = (
        ("sample", place.reviews.parent, "--reviews", REVIEWS, "-q"),
        ("fit", place.reviews, "--run", place.run, "-q", *FIT),
        ("map", place.run, "--aspects", ASPECTS, "--encoder", "none", "-q"),
        ("distill", place.run, "--encoder", place.encoder, "--n-segments", 300, "-q"),
        ("export", place.run, "-o", place.onnx, "-q"),
        ("label", place.run, place.reviews, "-o", place.labels, "-q"),
    )
    for words in commands:
        outcome = place.worker(*words)
        if outcome.code != 0:
            raise SystemExit(f"Nothing to attack: {' '.join(outcome.words)}\n{outcome.err}")


def make_encoder(place: Place) -> None:
    """Write a BERT of one layer with random weights."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from aspectra.sample import generate

    texts = generate(REVIEWS, n_gold=2).reviews["text"].to_list()
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(texts, vocab_size=400, show_progress=False)
    torch.manual_seed(0)
    shape: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    config = BertConfig(vocab_size=pieces.get_vocab_size(), max_position_embeddings=80, **shape)
    BertModel(config).save_pretrained(place.encoder)
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(tokenizer_object=pieces._tokenizer, pad_token="[PAD]")
    tokenizer.save_pretrained(place.encoder)


def read_labels(path: Path) -> pl.DataFrame:
    """Read a label file, all of it."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path) if path.suffix == ".csv" else pl.read_ndjson(path)


def bare(text: str) -> str:
    """Leave out white space, which segments may lose."""
    return "".join(sign for sign in text if not sign.isspace())
