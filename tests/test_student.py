"""The student itself: attention, saving and loading, its card."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from aspectra.errors import RunError
from aspectra.fitting import Fitted
from aspectra.rundir import CONFIG, HEAD, STUDENT
from aspectra.sample import Sample
from aspectra.student.card import FORMER
from aspectra.student.paper.model import Head, Student


def literal_attention(head: Head, hidden: torch.Tensor) -> torch.Tensor:
    query = hidden.mean(0)
    scores = [
        head.smoothness * torch.tanh(query @ (head.align.weight @ piece + head.align.bias))
        for piece in hidden
    ]
    return torch.softmax(torch.stack(scores), 0)


def test_attention_is_the_paper_s_equation_and_ignores_padding() -> None:
    head = Head(8, 3)
    torch.manual_seed(0)
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    hidden, mask = torch.randn(2, 5, 8), torch.tensor([[1.0] * 5, [1.0] * 3 + [0.0] * 2])
    answer = head(hidden, mask)
    assert torch.allclose(answer.attention[1, :3], literal_attention(head, hidden[1, :3]), atol=1e-5)
    assert torch.allclose(answer.attention.sum(1), torch.ones(2))
    assert torch.allclose(head(hidden[1:, :3], mask[1:, :3]).logits, answer.logits[1:], atol=1e-5)


def test_the_model_card_tells_aspects_map_and_limits(student_run: Path) -> None:
    text = (student_run / STUDENT / "README.md").read_text()
    for part in (
        "---\nlibrary_name: aspectra\n",
        "# Aspect student",
        "| Taste |",
        "## Limits",
        "unmapped",
        "| n_segments | 400 |",
        "No labelled segments",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        (HEAD, lambda path: path.write_bytes(b"x"), "is missing or damaged. Distil again"),
        (CONFIG, lambda path: path.write_text('{"format": 9}'), "has format 9, this version reads 1"),
        (CONFIG, lambda path: path.unlink(), "No student in .* Make it first: aspectra distill"),
    ],
)
def test_a_damaged_student_is_refused(
    student_run: Path, tmp_path: Path, name: str, spoil, message: str
) -> None:
    import shutil

    shutil.copytree(student_run / STUDENT, tmp_path / "s")
    spoil(tmp_path / "s" / name)
    with pytest.raises(RunError, match=message):
        Student.from_pretrained(tmp_path / "s")


def test_an_encoder_with_other_weights_is_refused(student_run: Path, sample: Sample, tmp_path: Path) -> None:
    student = Student.from_pretrained(student_run / STUDENT)
    student.card = dataclasses.replace(student.card, encoder_fingerprint="other")
    student.save_pretrained(tmp_path, Fitted.load(student_run).the_map())
    with pytest.raises(RunError, match="has other weights than the student was made with"):
        Student.from_pretrained(tmp_path)


def test_a_student_of_an_older_version_is_read(student_run: Path, tmp_path: Path) -> None:
    shutil.copytree(student_run / STUDENT, tmp_path / "old")
    values = json.loads((tmp_path / "old" / CONFIG).read_text())
    del values["checksum"]
    for former, name in FORMER.items():
        values[former] = values.pop(name)
    (tmp_path / "old" / CONFIG).write_text(json.dumps(values))
    old, new = (Student.from_pretrained(folder) for folder in (tmp_path / "old", student_run / STUDENT))
    assert old.card == new.card
