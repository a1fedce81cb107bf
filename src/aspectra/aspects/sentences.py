"""Sentences that describe aspects and ordinary talk, for learning from names: names in, texts out.

An aspect's name goes into templates. General is described by sentences that any review may contain
(general.toml), and some about the product itself, which the reviews call by its name: "this tv", "my boots".
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import resources

TEMPLATES = ("{}", "The {}.", "The {} is great.", "I don't like the {}.", "This is about {}.")
NEUTRAL = ("product", "thing", "place")
"""The templates with these words show what templates say themselves; it is subtracted from every name."""
PRODUCT_TEMPLATES = (
    "I bought this {}.",
    "This {} is great.",
    "I love my {}.",
    "I have owned this {} for a year.",
    "This is the best {} ever.",
    "I would not buy this {} again.",
)
PRODUCTS, LEAST_MENTIONS = 3, 5
"""At most PRODUCTS words for the product go into the general texts; among five were parts of the product.
Each must be found LEAST_MENTIONS times: where reviews are few, "my teacher" may be an aspect."""
AFTER = re.compile(r"\b(?:this|these|my)\s+([a-z]{2,})")
NO_PRODUCT = frozenset(
    """time item thing product review company way kind type two three new week year day morning month point
price will would should can may does did one""".split()  # noqa: SIM905
)


def name_texts(name: str) -> list[str]:
    """Return sentences about an aspect from its name; "Size/Fit" is both, and "_" is a space."""
    parts = [part.strip().lower() for part in name.replace("_", " ").split("/")]
    return [template.format(part) for part in parts for template in TEMPLATES]


def general_texts(products: Sequence[str]) -> list[str]:
    """Return sentences that any review may contain."""
    return [*ordinary_talk(), *(template.format(word) for word in products for template in PRODUCT_TEMPLATES)]


@cache
def ordinary_talk() -> tuple[str, ...]:
    """Read general.toml."""
    text = (resources.files("aspectra.aspects") / "general.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["sentences"])


def neutral_texts() -> list[str]:
    return [template.format(word) for word in NEUTRAL for template in TEMPLATES]


def find_products(
    texts: Iterable[str], names: Iterable[str], stop_words: Collection[str], count: int = PRODUCTS
) -> list[str]:
    """Return what the reviews call the product: the words that follow "this", "these" and "my" most often.

    Words of the aspects' names are left out.
    """
    follow = Counter(word for text in texts for word in AFTER.findall(text.lower()))
    in_names = (word for name in names for word in re.findall(r"\w+", name.lower()))
    passed = {*stop_words, *NO_PRODUCT, *in_names}
    found = [
        word for word, times in follow.most_common(200) if word not in passed and times >= LEAST_MENTIONS
    ]
    return found[:count]
