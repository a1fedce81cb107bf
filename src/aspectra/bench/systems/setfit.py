"""SetFit (Tunstall et al. 2022): an encoder fine-tuned on pairs of labelled segments, then a classifier.

Its package's defaults: batches of 16 pairs, one pass, logistic regression on the vectors. Departures: MiniLM;
at most 500 steps, as all pairs of 700 labels would take a day; a segment with several aspects has its first.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class SetFit:
    """SetFit with so many of dev's labels at random; None takes all."""

    name: str = "setfit"
    title: str = "SetFit, all labels"
    supervision: str = LABELS
    number: int | None = None
    encoder: str = StudentConfig.encoder
    steps: int = 500
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        return {"encoder": self.encoder, "number": self.number, "steps": self.steps}

    def fit(self, task: Task) -> Frozen:
        package, datasets = need("setfit"), need("datasets")
        rows = np.random.default_rng(task.seed).permutation(len(task.dev.texts))[: self.number]
        labels = gold_matrix(task.dev.aspects, task.aspects).argmax(1)[rows]
        told = {"text": [task.dev.texts[row] for row in rows], "label": labels.tolist()}
        model = package.SetFitModel.from_pretrained(str(place_of(self.encoder)))
        with TemporaryDirectory(dir=task.home) as folder:
            arguments = package.TrainingArguments(
                output_dir=folder,
                batch_size=16,
                max_steps=self.steps,
                seed=task.seed,
                save_strategy="no",
                report_to="none",
                show_progress_bar=False,
            )
            package.Trainer(model, arguments, train_dataset=datasets.Dataset.from_dict(told)).train()

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            result = np.zeros((len(texts), len(task.aspects)))
            found = model.predict_proba(list(texts), as_numpy=True, show_progress_bar=False)
            result[:, model.model_head.classes_] = found
            return result

        return Frozen(probabilities, {"labels": len(rows)})
