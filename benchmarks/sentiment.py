"""Sentiment against VADER: OPOSUM polarity, SemEval 2015 and MAMS, also per aspect; no label is learnt from.

    python benchmarks/sentiment.py --data FOLDER --home runs/sentiment

Each domain's model learns from unlabelled reviews of that domain, TVs also from star ratings. The two limits
of three classes, and the one of two, come from the other three domains; "as answered" has none: the sign of
the score, and the most likely class. Encoded texts, and the fit of restaurants that MAMS needs, are kept in
--home.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import numpy as np
import polars as pl
import typer

from aspectra.aspects.aspects import Aspect
from aspectra.bench.protocol import Task
from aspectra.bench.sets import find_set, prepare_folders
from aspectra.bench.systems.names import KeptEncoder as TaskEncoder
from aspectra.bench.systems.names import one_draw
from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.pretrained import LAYERS, load_encoder
from aspectra.labelling.labeller import StudentLabeller
from aspectra.labelling.several import judge_parts
from aspectra.scores import score_sets
from aspectra.sentiment.learn import probabilities
from aspectra.sentiment.model import SentimentModel, in_context
from aspectra.sentiment.opinions import train
from aspectra.sentiment.rated import DRAWN, collect_rated
from aspectra.student.distill import train_student
from aspectra.student.linear import LinearStudent
from aspectra.text.segment import split_reviews
from aspectra.text.tokens import extract_forms
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now

DOMAINS = ("tv", "boots", "bluetooth", "bags_and_cases")
CORPUS = {"restaurants": "restaurants_reviews"}
MOST = 8_000
RATED_REVIEWS = DRAWN
SIGNS = {"-": -1, "0": 0, "+": 1}
POLARITIES = {"negative": -1, "neutral": 0, "positive": 1}
MAMS = {
    "food": "Food", "staff": "Staff", "service": "Service", "price": "Price", "ambience": "Ambience",
    "menu": "Menu", "place": "Place", "miscellaneous": GENERAL,
}  # fmt: skip
"""MAMS's categories, and the names that the student is told."""


class KeptEncoder:
    """Encodes texts; those of earlier runs are read from a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.place: dict[str, int] = {}
        self.states = np.zeros((0, LAYERS, 384), np.float32)
        if (home / "states.npy").exists():
            texts = pl.read_parquet(home / "texts.parquet")["text"]
            self.place = {text: number for number, text in enumerate(texts)}
            self.states = np.load(home / "states.npy")

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        fresh = list(dict.fromkeys(text for text in texts if text not in self.place))
        if fresh:
            self.states = np.concatenate([self.states, load_encoder().states(fresh)])
            self.place |= {text: number for number, text in enumerate(fresh, len(self.place))}
            self.home.mkdir(parents=True, exist_ok=True)
            pl.DataFrame({"text": list(self.place)}).write_parquet(self.home / "texts.parquet")
            np.save(self.home / "states.npy", self.states)
        return self.states[[self.place[text] for text in texts]]


def read_polarity(path: Path) -> pl.DataFrame:
    """Read OPOSUM's polarity file: the segments with a number for their review, and −1, 0 or 1."""
    rows, review = [], -1
    for line in path.read_text(encoding="utf-8").splitlines():
        sign, tab, text = line.partition("\t")
        if tab and sign in SIGNS:
            rows.append((review, text, SIGNS[sign]))
        elif line.strip():
            review += 1
    return pl.DataFrame(rows, schema=["review", "text", "gold"], orient="row")


def read_opinions(path: Path, element: str) -> pl.DataFrame:
    """Read SemEval's (Opinion) or MAMS's (aspectCategory) sentences: one row per opinion."""
    rows = [
        (sentence.findtext("text") or "", one.get("category") or "", POLARITIES[one.get("polarity") or ""])
        for sentence in ElementTree.parse(path).iter("sentence")
        for one in sentence.iter(element)
    ]
    return pl.DataFrame(rows, schema=["text", "category", "gold"], orient="row")


def read_semeval(path: Path) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Return SemEval's sentences with a number for their review, and each opinion's sentence and sign."""
    sentences: list[tuple[int, str]] = []
    opinions: list[tuple[int, int]] = []
    for review, one in enumerate(ElementTree.parse(path).iter("Review")):
        for sentence in one.iter("sentence"):
            signs = [POLARITIES[opinion.get("polarity") or ""] for opinion in sentence.iter("Opinion")]
            opinions += [(len(sentences), sign) for sign in signs if sign]
            sentences.append((review, sentence.findtext("text") or ""))
    at, gold = np.array(opinions).T
    return pl.DataFrame(sentences, schema=["review", "text"], orient="row"), at, gold


def read_corpus(data: Path, domain: str, most: int = MOST) -> pl.DataFrame:
    """Return so many clauses of unlabelled reviews, drawn at random: text and review."""
    name = CORPUS.get(domain, domain)
    if domain == "tv":
        texts = rated_reviews(data)["text"]
    else:
        with gzip.open(data / f"corpora/{name}.txt.gz", "rt", encoding="utf-8") as file:
            texts = pl.Series(file.read().splitlines())
    return split_reviews(texts.sample(min(len(texts), most), seed=0), "clause").head(most)


def rated_reviews(data: Path) -> pl.DataFrame:
    with gzip.open(data / "corpora/tv.jsonl.gz") as file:
        return pl.read_ndjson(file.read())


class RatedTable:
    """The TV reviews, or so many of them, as `fit` reads them from a file."""

    text_column = "text"

    def __init__(self, reviews: pl.DataFrame, most: int) -> None:
        self.reviews = reviews.sample(min(len(reviews), most), seed=1)

    def batches(self) -> Iterator[pl.DataFrame]:
        yield self.reviews


def rated_segments(data: Path, most: int) -> tuple[pl.Series, np.ndarray, np.ndarray] | None:
    """Return clauses of rated TV reviews, each one's review, and the reviews' ratings from 0 to 1."""
    return collect_rated(RatedTable(rated_reviews(data), most), "rating", "en").segments("clause", "en")


def domain_model(data: Path, domain: str, kept: KeptEncoder | None, rated: int) -> SentimentModel:
    """Learn a domain's model, with the encoder or without; TVs learn from so many rated reviews, too."""
    segments = read_corpus(data, domain)
    stars = rated_segments(data, rated) if rated and domain == "tv" else None
    texts = segments["text"]
    encoded = kept(texts.to_list()) if kept else None
    return train(texts, "en", segments["review"].to_numpy(), encoded, kept, stars)


def macro_f1(gold: np.ndarray, answer: np.ndarray) -> float:
    counts = np.bincount((gold + 1) * 3 + answer + 1, minlength=9).reshape(3, 3)
    return float((2 * np.diag(counts) / np.maximum(counts.sum(0) + counts.sum(1), 1)).mean())


def three(scores: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.where(scores < low, -1, np.where(scores > high, 1, 0))


Pair = tuple[np.ndarray, np.ndarray]


def grade(own: Pair, others: Sequence[Pair]) -> tuple[float, float]:
    """Return binary accuracy and 3-class macro F1 of a domain; the limits come from the others."""
    both = np.concatenate([scores for scores, _ in others])
    steps = np.unique(np.quantile(both, np.linspace(0.04, 0.96, 33)))
    low, high = max(
        itertools.combinations_with_replacement(steps, 2),
        key=lambda limits: np.mean([macro_f1(gold, three(scores, *limits)) for scores, gold in others]),
    )
    cut = max(
        steps, key=lambda at: (np.mean([accuracy(scores, gold, at) for scores, gold in others]), -abs(at))
    )
    scores, gold = own
    return accuracy(scores, gold, cut), macro_f1(gold, three(scores, low, high))


def accuracy(scores: np.ndarray, gold: np.ndarray, cut: float) -> float:
    sided = gold != 0
    return float(((scores[sided] > cut) == (gold[sided] > 0)).mean())


def polarity_table(scores: dict[str, list[np.ndarray]], gold: list[np.ndarray]) -> None:
    """Print binary accuracy / macro F1 of each system and domain."""
    print(f"| binary accuracy / macro F1 | {' | '.join(DOMAINS)} | mean |")
    print("|" + "---|" * (len(DOMAINS) + 2))
    for name, found in scores.items():
        pairs = list(zip(found, gold, strict=True))
        print_row(name, [grade(pairs[at], pairs[:at] + pairs[at + 1 :]) for at in range(len(pairs))])


def print_row(name: str, grades: Sequence[tuple[float, float]]) -> None:
    percent = np.array(grades) * 100
    cells = [f"{one:.1f} / {two:.1f}" for one, two in [*percent, percent.mean(0)]]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def as_answered(logits: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """Return binary accuracy of the score's sign and macro F1 of the most likely class: no limits."""
    return accuracy(net(logits), gold, 0.0), macro_f1(gold, probabilities(logits).argmax(1) - 1)


def net(logits: np.ndarray) -> np.ndarray:
    chances = probabilities(logits)
    return np.asarray(chances[:, 2] - chances[:, 0])


def vader(texts: Sequence[str]) -> np.ndarray:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    judge = SentimentIntensityAnalyzer()
    return np.array([judge.polarity_scores(text)["compound"] for text in texts])


def main(
    data: Annotated[Path, typer.Option(help="Folder with the published sets.")],
    home: Annotated[Path, typer.Option(help="Folder for encoded texts.")],
    rated: Annotated[int, typer.Option(help="Draw so many rated TV reviews to learn from.")] = RATED_REVIEWS,
) -> None:
    """Print a table of polarity, then accuracy on restaurants."""
    kept = KeptEncoder(home)
    sets = [read_polarity(data / f"polarity/{name}.lbl") for name in DOMAINS]
    gold = [one["gold"].to_numpy() for one in sets]
    scores: dict[str, list[np.ndarray]] = {"VADER": [vader(one["text"].to_list()) for one in sets]}
    answered: dict[str, list[np.ndarray]] = {}
    for title, stars, encoder in (
        ("without ratings and encoder", 0, None),
        ("TVs with ratings, without encoder", rated, None),
        ("without ratings", 0, kept),
        ("TVs with ratings", rated, kept),
    ):
        models = [domain_model(data, name, encoder, stars) for name in DOMAINS]
        logits = [model.logits(extract_forms(one["text"])) for model, one in zip(models, sets, strict=True)]
        scores[f"{title}, segments alone"] = [net(one) for one in logits]
        inside = [in_context(one, s["review"].to_numpy()) for one, s in zip(logits, sets, strict=True)]
        scores[f"{title}, in their reviews"] = [net(one) for one in inside]
        answered[f"{title}, in their reviews, as answered"] = inside
    polarity_table(scores, gold)
    for title, inside in answered.items():
        print_row(title, [as_answered(*pair) for pair in zip(inside, gold, strict=True)])
    model = domain_model(data, "restaurants", kept, 0)
    restaurants(data, model)
    each_aspect(data, restaurant_labeller(data, home, model))


def restaurants(data: Path, model: SentimentModel) -> None:
    semeval, at, gold = read_semeval(data / "semeval/restaurants-2015-test.xml")
    logits = model.logits(extract_forms(semeval["text"]))
    print("\n| SemEval 2015, positive against negative | accuracy |\n|---|---|")
    for name, found in (
        ("VADER", vader(semeval["text"].to_list())),
        ("sentences alone", net(logits)),
        ("in their reviews", net(in_context(logits, semeval["review"].to_numpy()))),
    ):
        print(f"| {name} | {100 * accuracy(found[at], gold, 0.0):.1f} |")
    mams = read_opinions(data / "mams/val.xml", "aspectCategory")
    answer = three(vader(mams["text"].to_list()), -0.3, 0.3)
    print(f"\nMAMS val, three classes, VADER: {100 * (answer == mams['gold'].to_numpy()).mean():.1f}")


def restaurant_labeller(data: Path, home: Path, model: SentimentModel) -> StudentLabeller:
    """Make a student that knows nothing but the names of MAMS's categories, and this model of sentiment."""
    folder = prepare_folders(("citysearch",), data, home)["citysearch"]
    task = Task(find_set("citysearch", folder), folder, home, seed=0)
    fitted, config = one_draw(task), StudentConfig()
    choices = tuple(
        Choice(item.id, GENERAL, item.keywords, SUGGESTION, now()) for item in fitted.topics.items
    )  # suggestions count for nothing; a map must have some
    fitted = fitted.with_map(TopicMap(tuple(MAMS.values()), choices, fitted.topics.fingerprint))
    fitted = fitted.with_sentiment(model)
    encoder = TaskEncoder.of(config.encoder, task)
    fitted.names_sample(encoder, n=config.n_segments)
    aspects = [Aspect(name) for name in MAMS.values() if name != GENERAL]
    student = train_student(fitted, config, task.encoded, aspects=aspects)
    assert isinstance(student, LinearStudent)
    return StudentLabeller(fitted, replace(student, encoder=encoder))


def each_aspect(data: Path, labeller: StudentLabeller) -> None:
    """Print how MAMS's aspects are judged one by one, and found all together."""
    rows = read_opinions(data / "mams/val.xml", "aspectCategory")
    rows = rows.with_columns(pl.col("category").replace_strict(MAMS))
    sentences = rows.group_by("text", maintain_order=True).agg("category", "gold")
    place = {text: number for number, text in enumerate(sentences["text"])}
    at = np.array([place[text] for text in rows["text"]])
    aspect = np.array([list(MAMS.values()).index(name) for name in rows["category"]])
    labels = labeller.label_segments(sentences["text"])
    own = (labels["sentiment"].replace_strict(POLARITIES)).to_numpy()[at]
    judged_parts = judge_parts(sentences["text"], labeller.sentiment, labeller.opinions)
    parts = dict(zip(judged_parts.rows.tolist(), judged_parts.classes - 1, strict=True))
    judged = [
        parts[row][one] if row in parts else same for row, one, same in zip(at, aspect, own, strict=True)
    ]
    gold = rows["gold"].to_numpy()
    print("\n| MAMS val, three classes | accuracy | macro F1 |\n|---|---|---|")
    for name, answer in (("the sentence's sentiment", own), ("of each aspect", np.array(judged))):
        print(f"| {name} | {100 * (answer == gold).mean():.1f} | {100 * macro_f1(gold, answer):.1f} |")
    sets = score_sets(
        [frozenset(names) for names in sentences["category"]], labels["aspects"].to_list(),
        labels["aspect"].to_list(), list(MAMS.values()),
    )  # fmt: skip
    print(f"\nMAMS val, all aspects of a sentence: {sets}")


if __name__ == "__main__":
    typer.run(main)
