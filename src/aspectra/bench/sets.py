"""The benchmark's sets, each with its unlabelled corpus, dev, test and settings; one is made of the sample.

What the paper publishes for a set is in published.py. A set whose corpus is far smaller than the paper's, or
of another kind, says so in `stand_in`, and every table marks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aspectra.bench import datasets
from aspectra.config import FitConfig
from aspectra.errors import InputError
from aspectra.fitting import Reviews
from aspectra.sample import SEEDS, generate, write
from aspectra.scores import Gold, read_gold
from aspectra.text.read import open_source

TOPICS = 60
"""More than the paper's 30: with a development set nobody has to map them by hand, and dev prefers more."""
SAMPLE = "sample"
SAMPLE_REVIEWS, SAMPLE_GOLD = 1500, 600

Read = Callable[[list[Path]], Gold]
Seeds = dict[str, dict[str, float]]  # aspect -> words and their weights, the best first


@dataclass(frozen=True)
class BenchmarkSet:
    """One set; files are named below the data folder. `headline` is the metric of the paper's tables."""

    name: str
    title: str
    headline: str
    corpus: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]
    read_dev: Read
    read_test: Read
    settings: dict[str, Any] = field(default_factory=dict)
    read_seeds: Callable[[Path], Seeds] = lambda data: {}
    stand_in: str = ""
    own_corpus: str = ""
    """The corpus that belongs to the set; where it is there it is used, and nothing stands in."""
    examples: tuple[str, ...] = ()
    """Sentences of our own, to look at attention."""

    def files(self, data: Path, names: tuple[str, ...]) -> list[Path]:
        paths = [data / name for name in names]
        missing = [path for path in paths if not path.is_file()]
        if missing:
            raise InputError(
                f"No file {missing[0]}, which the set {self.name} needs. "
                "See docs/benchmark.md for where it comes from."
            )
        return paths

    def reviews(self, data: Path) -> Reviews:
        """Open the unlabelled corpus."""
        paths = self.files(data, self.corpus)
        return (
            datasets.TrnReviews(paths[0])
            if paths[0].suffix == ".trn"
            else open_source([str(path) for path in paths])
        )

    def config(self, seed: int, **settings: Any) -> FitConfig:
        return FitConfig(**{**self.settings, **settings, "seed": seed})


def oposum(
    name: str,
    title: str,
    domain: str,
    corpus: str,
    stand_in: str,
    examples: tuple[str, ...],
    *,
    tested: bool = True,
) -> BenchmarkSet:
    """Describe one of OPOSUM's sets; two have no test set among the files that we know."""

    def read(paths: list[Path]) -> Gold:
        return datasets.load_oposum(paths[0])

    def read_seeds(data: Path) -> Seeds:
        aspects = datasets.load_aspects(data / f"oposum/{domain}-dev.asp")
        return datasets.load_seedwords(data / f"seedwords/{domain}.30-weights.txt", aspects)

    return BenchmarkSet(
        name=name,
        title=title,
        headline="f1_micro",
        corpus=(f"corpora/{corpus}",),
        dev=(f"oposum/{domain}-dev.asp",),
        test=(f"oposum/{domain}-tst.asp",) if tested else (),
        read_dev=read,
        read_test=read,
        settings={"segment": "clause", "n_topics": TOPICS},
        read_seeds=read_seeds,
        stand_in=stand_in,
        own_corpus=f"oposum/{domain}.trn",
        examples=examples,
    )


def only_file(paths: list[Path]) -> Gold:
    return read_gold(paths[0])


ALL = (
    BenchmarkSet(
        name="citysearch",
        title="Restaurants (Citysearch)",
        headline="f1_weighted",
        corpus=("corpora/restaurants_reviews.txt.gz", "corpora/yelp_sentences_restaurantfilter.txt.gz"),
        dev=("semeval/restaurants-2014-test.xml", "semeval/restaurants-2015-test.xml"),
        test=("citysearch/test.txt", "citysearch/test_label.txt"),
        read_dev=datasets.load_semeval,
        read_test=lambda paths: datasets.load_citysearch(paths[0].parent),
        settings={"n_topics": TOPICS},
        read_seeds=lambda data: datasets.load_seedwords(
            data / "seedwords/citysearch.30-weights.txt", ("Staff", "Ambience", "Food")
        ),
        examples=(
            "the waiter forgot our drinks and never apologized",
            "crispy duck with a sweet ginger sauce",
            "candles and soft music make the room feel romantic",
        ),
    ),
    oposum(
        "tv", "TVs", "tv", "tv.jsonl.gz", "",
        (
            "the speakers sound thin at low volume",
            "colors look washed out and the black level is poor",
            "great value for the price at this size",
        ),
    ),
    oposum(
        "bluetooth", "Bluetooth headsets", "bluetooth", "bluetooth.txt.gz",
        "53,000 sentences of mostly Indian earphone reviews",
        (
            "the battery lasts all day on one charge",
            "callers complain about wind noise",
            "it stays in my ear when i run",
        ),
    ),
    oposum(
        "boots", "Boots", "boots", "boots.txt.gz", "15,000 sentences about footwear in general",
        (
            "half a size too small and tight across the toes",
            "the leather is soft and the stitching neat",
            "my feet stay warm in snow",
        ),
    ),
    oposum(
        "bags", "Bags and cases", "bags_and_cases", "bags_and_cases.txt.gz", "14,000 noisy sentences",
        (
            "the zipper broke after a week",
            "my laptop fits with room for the charger",
            "the strap is comfortable on the shoulder",
        ),
    ),
    oposum(
        "keyboards", "Keyboards", "keyboards", "keyboards.txt.gz", "a small corpus; no test set",
        ("the keys feel mushy and the layout is strange",), tested=False,
    ),
    oposum(
        "vacuums", "Vacuums", "vacuums", "vacuums.txt.gz", "a small corpus; no test set",
        ("it is heavy to carry upstairs and very loud",), tested=False,
    ),
    BenchmarkSet(
        name=SAMPLE,
        title="Embedded sample",
        headline="f1_micro",
        corpus=("reviews.csv",),
        dev=("dev.jsonl",),
        test=("test.jsonl",),
        read_dev=only_file,
        read_test=only_file,
        settings={"n_topics": 30, "min_count": 5, "vector_size": 64, "steps": 600, "warmup": 100},
        read_seeds=lambda data: {aspect: dict.fromkeys(words, 1.0) for aspect, words in SEEDS.items()},
        stand_in="made-up reviews, to try the benchmark",
        examples=(
            "the pump is so loud that it wakes the house",
            "a bitter taste and thin crema",
            "descaling takes half an hour",
        ),
    ),
)  # fmt: skip
SETS = {one.name: one for one in ALL}
PUBLISHED_SETS = tuple(name for name in SETS if name != SAMPLE)


def find_set(name: str, data: Path) -> BenchmarkSet:
    """Return a set as it can be run with this data."""
    one = SETS[name]
    own = one.own_corpus and (data / one.own_corpus).is_file()
    return replace(one, corpus=(one.own_corpus,), stand_in="") if own else one


def prepare_folders(names: tuple[str, ...], data: Path | None, home: Path) -> dict[str, Path]:
    """Return each set's data folder; the sample is written below `home`, the others must be below `data`."""
    needy = [name for name in names if name != SAMPLE]
    if needy and data is None:
        raise InputError(
            f"The set {needy[0]} needs its data. Name the folder: --data FOLDER (see docs/benchmark.md)."
        )
    home.mkdir(parents=True, exist_ok=True)
    if SAMPLE in names and not (home / SAMPLE / "test.jsonl").exists():
        write(home / SAMPLE, generate(SAMPLE_REVIEWS, SAMPLE_GOLD))
    return {name: home / SAMPLE if name == SAMPLE or data is None else data for name in names}


def choose_sets(names: str | None, data: Path | None, tested: bool = False) -> tuple[str, ...]:
    """Return the sets named, else those whose files are all in the data folder, else the sample.

    With `tested`, those without a test set must be named.
    """
    if names:
        return known_names(names, tuple(SETS), "set")
    if data is None:
        return (SAMPLE,)
    wanted = [name for name in PUBLISHED_SETS if SETS[name].test or not tested]
    found = tuple(name for name in wanted if is_complete(name, data))
    if not found:
        raise InputError(
            f"{data} has all files of none of the sets {', '.join(PUBLISHED_SETS)}. "
            "See docs/benchmark.md for the files."
        )
    return found


def is_complete(name: str, data: Path) -> bool:
    one = find_set(name, data)
    return all((data / file).is_file() for file in (*one.corpus, *one.dev, *one.test))


def known_names(names: str, choices: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """Split names with commas between them; raise if one is not among the choices."""
    wanted = tuple(name.strip() for name in names.split(",") if name.strip())
    unknown = [name for name in wanted if name not in choices]
    if unknown or not wanted:
        raise InputError(f"No {kind} {', '.join(unknown) or repr(names)}. There are {', '.join(choices)}.")
    return wanted
