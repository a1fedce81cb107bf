"""SetFit (Tunstall et al. 2022): an encoder fine-tuned on pairs of labelled segments, then a classifier.

Its package's defaults: batches of 16 pairs, one pass, as many pairs of like as of unlike labels, logistic
regression on the vectors. Departures: MiniLM; at most 120 steps (two minutes), as all pairs of 700 labels
take a day; a segment with several aspects has its first.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aspectra.bench.protocol import LABELS, Frozen, Task
from aspectra.bench.systems.peers import need
from aspectra.config import StudentConfig
from aspectra.encoder.pretrained import place_of
from aspectra.scores import gold_matrix

BATCH = 16


@dataclass(frozen=True)
class SetFit:
    """SetFit with so many of dev's labels at random; None takes all."""

    name: str = "setfit"
    title: str = "SetFit, all labels"
    supervision: str = LABELS
    number: int | None = None
    encoder: str = StudentConfig.encoder
    most_steps: int = 120
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"encoder": self.encoder, "number": self.number, "most_steps": self.most_steps}

    def fit(self, task: Task) -> Frozen:
        package, datasets, transformers = need("setfit"), need("datasets"), need("transformers")
        datasets.disable_progress_bars()
        logging.getLogger("setfit").setLevel(logging.ERROR)
        rows = np.random.default_rng(task.seed).permutation(len(task.dev.texts))[: self.number]
        labels = gold_matrix(task.dev.aspects, task.aspects).argmax(1)[rows]
        told = {"text": [task.dev.texts[row] for row in rows], "label": labels.tolist()}
        model = package.SetFitModel.from_pretrained(str(place_of(self.encoder)))
        with TemporaryDirectory(dir=task.home) as folder:
            arguments = package.TrainingArguments(
                output_dir=folder,
                batch_size=BATCH,
                max_steps=min(self.most_steps, one_pass(labels)),
                seed=task.seed,
                save_strategy="no",
                report_to="none",
                show_progress_bar=False,
            )
            trainer = package.Trainer(model, arguments, train_dataset=datasets.Dataset.from_dict(told))
            for shown in (transformers.ProgressCallback, transformers.PrinterCallback):
                trainer.st_trainer.remove_callback(shown)
            trainer.train()

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            result = np.zeros((len(texts), len(task.aspects)))
            found = model.predict_proba(list(texts), as_numpy=True, show_progress_bar=False)
            result[:, model.model_head.classes_] = found
            return result

        return Frozen(probabilities, {"labels": len(rows)})


def one_pass(labels: np.ndarray) -> int:
    """Return the steps in which every pair is seen once; of like or unlike pairs, the fewer are repeated."""
    counts = np.bincount(labels)
    like = int((counts * (counts - 1) // 2).sum())
    every = len(labels) * (len(labels) - 1) // 2
    return max(1, -(-2 * max(like, every - like) // BATCH))
