"""AE-CSA (Luo et al., IJCAI 2019): ABAE, see autoencoder.py, whose words bring the sememes of their senses.

A sense m of word t is the mean vector s_tm of its sememes. The segment's context c = mean e_t weighs senses:
a_tm = softmax_m(s_tm·c); the word is then e_t + Σ_m a_tm s_tm, at length 1, and goes into ABAE's attention.
Departures: we had the abstract alone, so both attentions are as plain as it says; sememes are the words of a
WordNet synset and of those right above it, at most 3 senses; 14 topics, each mapped by dev.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from aspectra.bench.protocol import DEV_MAP, Frozen, Task
from aspectra.bench.systems.abae import map_each_topic
from aspectra.bench.systems.autoencoder import STEPS, centred, network_config, train_network, unit_tensor
from aspectra.bench.systems.baselines import encode
from aspectra.config import FitConfig
from aspectra.errors import InputError
from aspectra.teacher.model import Encoding, Teacher, attend
from aspectra.teacher.train import centroids

WORDNET = Path("/usr/share/wordnet")
SENSES = 3
KINDS = ("noun", "adj", "verb")


@dataclass(frozen=True)
class AeCsa:
    """ABAE with sememes; `wordnet` is the folder of WordNet's files index.noun, data.noun and so on."""

    name: str = "ae-csa"
    title: str = "AE-CSA, 14 topics"
    supervision: str = DEV_MAP
    n_topics: int = 14
    steps: int = STEPS
    wordnet: Path = WORDNET
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        fit = network_config(task.bench.config(task.seed), self.n_topics).to_dict()
        return {"fit": fit, "steps": self.steps, "senses": SENSES}

    def fit(self, task: Task) -> Frozen:
        config, words = network_config(task.bench.config(task.seed), self.n_topics), task.words
        vectors = centred(words.vectors.matrix)
        senses = sense_vectors(words.vocabulary.index, vectors, self.wordnet)
        start = centroids(vectors, config.n_topics, task.seed)
        torch.manual_seed(task.seed)
        model = SememeNetwork(unit_tensor(vectors), unit_tensor(start), torch.from_numpy(senses), config)
        train_network(model, words, config, self.steps)

        def topics(texts: Sequence[str]) -> np.ndarray:
            beta = np.zeros((len(texts), config.n_topics))
            with torch.inference_mode():
                for rows, ids in encode(words, texts).same_length(config.max_tokens):
                    beta[rows] = model(torch.from_numpy(ids), torch.ones(ids.shape)).beta.numpy()
            return beta

        frozen = map_each_topic(topics, task)
        known = float((np.abs(senses).sum((1, 2)) > 0).mean())
        return Frozen(frozen.probabilities, {**frozen.facts, "words_with_senses": round(known, 3)})


class SememeNetwork(Teacher):
    """ABAE's network; `senses` (V×M×D) are the vectors of each word's senses, zeros where it has fewer."""

    senses: Tensor

    def __init__(self, vectors: Tensor, topics: Tensor, senses: Tensor, config: FitConfig) -> None:
        super().__init__(vectors, topics, config)
        self.register_buffer("senses", senses)

    def forward(self, ids: Tensor, mask: Tensor) -> Encoding:
        with torch.no_grad():  # nothing here learns
            embedded = with_sememes(self.vectors[ids], self.senses[ids], mask)  # B×L×D
        attention = attend(embedded, mask, self.align, self.kind, self.smoothness)  # B×L, α
        words = torch.bmm(attention.unsqueeze(1), embedded).squeeze(1)  # B×D, z
        beta = torch.softmax(self.classify(words), dim=1)  # B×K, p
        return Encoding(attention, words, beta, beta @ self.topics)


def with_sememes(embedded: Tensor, senses: Tensor, mask: Tensor) -> Tensor:
    """Add to words (B×L×D) their senses (B×L×M×D), weighed by the segment's mean word; length 1."""
    context = (embedded * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)  # B×D, c
    scores = (senses * context[:, None, None]).sum(3)  # B×L×M
    weights = torch.softmax(
        scores.masked_fill(scores == 0, -1e9), dim=2
    )  # B×L×M, a; a sense of zeros is none
    return functional.normalize(embedded + (weights.unsqueeze(3) * senses).sum(2), dim=2)


def sense_vectors(index: dict[str, int], vectors: np.ndarray, folder: Path) -> np.ndarray:
    """Return the mean sememe vectors of each word's first senses, V×M×D, at length 1 or zero."""
    result = np.zeros((len(vectors), SENSES, vectors.shape[1]), dtype=np.float32)
    for word, sememes in read_sememes(index, folder):
        found = [
            vectors[[index[one] for one in sense if one in index]].mean(0)
            for sense in sememes
            if any(one in index for one in sense)
        ]
        for place, vector in enumerate(found[:SENSES]):
            result[index[word], place] = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return result


def read_sememes(words: dict[str, int], folder: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each word that WordNet knows with its senses, the usual first: the words of their sememes."""
    senses: dict[str, list[list[str]]] = {}
    for kind in KINDS:
        synsets = read_synsets(folder / f"data.{kind}")
        for line in lines_of(folder / f"index.{kind}"):
            word, _, count, *rest = line.split()
            if word in words:
                for offset in rest[-int(count) :]:
                    own, above = synsets[offset]
                    wider = [name for one in above if one in synsets for name in synsets[one][0]]
                    senses.setdefault(word, []).append([*own, *wider])
    yield from senses.items()


def read_synsets(path: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return for each offset a synset's words and the offsets of what is right above it (pointer @)."""
    found = {}
    for line in lines_of(path):
        fields = line.partition(" |")[0].split()
        last = 4 + 2 * int(fields[3], 16)
        names = [name.partition("(")[0].lower() for name in fields[4:last:2]]
        pointers = fields[last + 1 :]
        above = [offset for sign, offset in zip(pointers[::4], pointers[1::4], strict=False) if sign == "@"]
        found[fields[0]] = (names, above)
    return found


def lines_of(path: Path) -> list[str]:
    """Return the lines after WordNet's licence, whose lines begin with blanks."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"AE-CSA needs WordNet: cannot read {path} ({error.strerror}). "
            "On Debian: apt-get install wordnet-base"
        ) from None
    return [line for line in text.splitlines() if line and not line.startswith(" ")]
