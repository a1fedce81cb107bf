"""What is asked for on a command line → a labeller: a run's teacher, its student, or an exported ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.labelling.labeller import StudentLabeller
    from aspectra.labelling.onnx import OnnxLabeller

    Labeller = AspectDetector | StudentLabeller | OnnxLabeller


def open_labeller(run: Path, model: str | None, onnx: Path | None, threads: int = 0) -> Labeller:
    """Load what is asked for, and nothing that it does not need; `threads` limits those of a batch, 0 chooses."""
    if onnx:
        from aspectra.labelling.onnx import OnnxLabeller

        return OnnxLabeller(onnx, threads)
    import torch

    from aspectra.labelling.labeller import load_labeller

    labeller = load_labeller(run, model)
    if hasattr(labeller, "label_threads"):  # then batches run side by side, not the products within one
        threads = 1
    if threads:
        torch.set_num_threads(threads)
    return labeller
