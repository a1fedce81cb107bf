"""A tiny encoder with random weights, and a run distilled into it: what the student's tests share."""

import shutil
from pathlib import Path

from aspectra.detector import AspectDetector
from aspectra.sample import Sample
from aspectra.student.card import FOLDER
from aspectra.student.config import StudentConfig
from aspectra.student.distill import distill

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_encoder(folder: Path, sample: Sample, width: int = 32) -> Path:
    """Write a BERT of one layer whose pieces are the sample's words."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(
        sample.reviews["text"].to_list(), vocab_size=800, show_progress=False, special_tokens=PIECES
    )
    torch.manual_seed(0)
    shape = {"hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(
        BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=80, **shape)
    ).save_pretrained(folder)
    BertTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(folder)
    return folder


def config(encoder: Path, **settings: object) -> StudentConfig:
    return StudentConfig(
        **{"encoder": str(encoder), "n_segments": 400, "epochs": 2, "batch_size": 64, **settings}
    )


def distilled_run(run: Path, folder: Path, sample: Sample) -> Path:
    """Copy a mapped run and give it a student."""
    own = Path(shutil.copytree(run, folder / "run"))
    detector = AspectDetector.load(own)
    student = distill(detector, config(make_encoder(folder / "encoder", sample)), own / FOLDER)
    student.save_pretrained(own / FOLDER, detector.topic_map_)
    return own
