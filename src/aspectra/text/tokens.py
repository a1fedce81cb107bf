"""Segments → lemmas (paper: preprocessing), without punctuation and stop words; numbers stay.

Occurrences are handled by polars and numpy; Python sees each distinct word form (a *type*) once. A
contraction counts as its longest part, and an English negated auxiliary ("don't") as a stop word.
Negation is dropped, as in the paper: it changes what is said about an aspect, not the aspect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from aspectra.errors import ConfigError

if TYPE_CHECKING:
    from simplemma import Lemmatizer

TOKEN = r"\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'\p{L}+)*"
"""A number with its decimals, or a word with its apostrophes."""
FORM = (
    rf"[:;=]['oO-]?[()/|*]|(?:[:;=]['-]?|<)?(?:{TOKEN})"
    r"|[!?]+|…|\.\.+|[,.;:()]|\p{Extended_Pictographic}"
)
"""A word as it is written, what may be an emoticon before it or alone, or a mark."""
EDGES = "<:;='-()/|*"
"""What may stand around the word of a form."""

STOP_WORDS = frozenset((
    "a", "about", "above", "across", "after", "afterwards", "again", "against", "all", "almost", "alone",
    "along", "already", "also", "although", "always", "am", "among", "amongst", "amoungst", "an", "and",
    "another", "any", "anyhow", "anyone", "anything", "anyway", "anywhere", "are", "around", "as", "at",
    "be", "became", "because", "become", "becomes", "becoming", "been", "before", "beforehand", "behind",
    "being", "below", "beside", "besides", "between", "beyond", "both", "but", "by", "can", "cannot", "cant",
    "co", "con", "could", "couldnt", "cry", "de", "did", "didnt", "do", "does", "doesnt", "doing", "don",
    "done", "dont", "down", "due", "during", "each", "eg", "eight", "either", "eleven", "else", "elsewhere",
    "enough", "etc", "even", "ever", "every", "everyone", "everything", "everywhere", "except", "few",
    "fifteen", "fifty", "find", "first", "five", "for", "former", "formerly", "forty", "found", "four",
    "from", "further", "get", "give", "go", "going", "gone", "got", "had", "has", "hasnt", "have", "having",
    "he", "hence", "her", "here", "hereafter", "hereby", "herein", "hereupon", "hers", "herself", "him",
    "himself", "his", "how", "however", "hundred", "i", "id", "ie", "if", "ill", "im", "in", "inc", "indeed",
    "into", "is", "isnt", "it", "its", "itself", "ive", "just", "keep", "last", "latter", "latterly",
    "least", "less", "ll", "ltd", "made", "many", "may", "me", "meanwhile", "might", "mill", "mine", "more",
    "moreover", "most", "mostly", "much", "must", "my", "myself", "namely", "neither", "never",
    "nevertheless", "next", "nine", "no", "nobody", "none", "noone", "nor", "not", "nothing", "now",
    "nowhere", "of", "off", "often", "on", "once", "one", "only", "onto", "or", "other", "others",
    "otherwise", "our", "ours", "ourselves", "out", "over", "own", "per", "perhaps", "please", "put",
    "rather", "re", "really", "same", "see", "seem", "seemed", "seeming", "seems", "serious", "several",
    "she", "should", "since", "sincere", "six", "sixty", "so", "some", "somehow", "someone", "something",
    "sometime", "sometimes", "somewhere", "still", "such", "take", "ten", "than", "that", "thats", "the",
    "their", "them", "themselves", "then", "thence", "there", "thereafter", "thereby", "therefore",
    "therein", "theres", "thereupon", "these", "they", "third", "this", "those", "though", "three",
    "through", "throughout", "thru", "thus", "to", "together", "too", "toward", "towards", "twelve",
    "twenty", "two", "un", "under", "until", "up", "upon", "us", "ve", "very", "via", "was", "wasnt", "we",
    "well", "went", "were", "what", "whatever", "when", "whence", "whenever", "where", "whereafter",
    "whereas", "whereby", "wherein", "whereupon", "wherever", "whether", "which", "while", "whither", "who",
    "whoever", "whole", "whom", "whose", "why", "will", "with", "within", "without", "wont", "would",
    "wouldnt", "yet", "you", "your", "youre", "yours", "yourself", "yourselves",
))  # fmt: skip
"""English words without a meaning of their own: scikit-learn's list without words that reviews need (bill,
fire, full, system, thick, thin, …), and with contractions that are typed without their apostrophe."""
# Where the lemmatiser's dictionary picks a rare reading.
EXCEPTIONS = {
    "gone": "go",
    "lenses": "lens",
    "lens": "lens",
    "glasses": "glasses",
    "better": "better",
    "best": "best",
    "worse": "worse",
    "worst": "worst",
}
SHORT = 3
"""Words of so few letters are often abbreviations, which do not become longer: LED is not lead, nor CF
californium."""

MOST_REMEMBERED = 40_000
"""Words about which facts are remembered; with more of them, memory would grow with the reviews."""
Fact = TypeVar("Fact")


@dataclass(frozen=True)
class Tokens:
    """The tokens of N texts: `codes` are positions in `types`, `lengths` the number of tokens per text."""

    types: list[str]
    codes: np.ndarray  # int32, one per occurrence
    lengths: np.ndarray  # int32, N


def remembered(facts: dict[str, Fact], words: Iterable[str]) -> dict[str, Fact]:
    """Return the facts; if they are too many, a new dict with those about these words only.

    The old dict is not changed: another thread may be using it.
    """
    if len(facts) <= MOST_REMEMBERED:
        return facts
    return {word: facts[word] for word in words if word in facts}


def extract(texts: pl.Series) -> Tokens:
    """Cut texts into lower-case tokens; a null text has none."""
    plain = texts.fill_null("").str.to_lowercase().str.replace_all("’", "'", literal=True)
    return cut(plain, TOKEN)


def cut(texts: pl.Series, pattern: str) -> Tokens:
    lists = texts.str.extract_all(pattern)
    lengths = lists.list.len().to_numpy().astype(np.int32)
    return Tokens(*numbered(lists.filter(lists.list.len() > 0).explode()), lengths)


def extract_forms(texts: pl.Series) -> Tokens:
    """Cut texts into words as they are written, and the marks and signs that show feelings.

    Capitals stay; what may be an emoticon is one form (":D", "<3"), as is a word after such a sign.
    """
    plain = texts.fill_null("").str.replace_many({"’": "'", "İ": "i̇"})  # the only letter that becomes two
    return cut(plain, FORM)


def words_of(forms: Tokens) -> Tokens:
    """Return the tokens that `extract` finds in the same texts, but for a Greek capital Σ beside a sign."""
    words: dict[str, int] = {}
    place = [
        words.setdefault(word, len(words)) if (word := word_in(form).lower()) else -1 for form in forms.types
    ]
    codes = np.array(place, np.int32)[forms.codes] if place else forms.codes
    kept = codes >= 0
    before, ends = np.append(0, np.cumsum(kept)), np.cumsum(forms.lengths)
    return Tokens(list(words), codes[kept], (before[ends] - before[ends - forms.lengths]).astype(np.int32))


def word_in(form: str) -> str:
    """Return the word of a form, as it is written; "" for a mark."""
    word = form.strip(EDGES)
    return word if word[:1].isalnum() else ""


def numbered(words: pl.Series) -> tuple[list[str], np.ndarray]:
    """Return the distinct words in the order of their first occurrence, and the number of each occurrence."""
    coded = words.cast(pl.Categorical(pl.Categories.random()))  # categories of its own: numbered from 0
    types = coded.unique(maintain_order=True).cast(pl.String)
    return types.to_list(), coded.to_physical().to_numpy().astype(np.int32)


@lru_cache
def stop_words(language: str) -> frozenset[str]:
    if language == "en":
        return STOP_WORDS
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(language)) if stopwordsiso.has_lang(language) else frozenset()


def check_language(language: str) -> None:
    """Raise ConfigError unless the lemmatiser knows the language."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    if language not in SUPPORTED_LANGUAGES:
        raise ConfigError(
            f"language must be one of {', '.join(sorted(SUPPORTED_LANGUAGES))}, got {language!r}. "
            "If yours is not there, choose a near one and add --keep-junk."
        )


def lemmas(types: Iterable[str], language: str) -> list[str | None]:
    """Return the lemma of each word form; None for a stop word or a lone letter."""
    stops = stop_words(language)
    return [lemma(word, language, stops) for word in types]


@lru_cache
def lemmatiser() -> Lemmatizer:
    """Return the lemmatiser, without a memory of its own: who asks often remembers the answers."""
    from simplemma import Lemmatizer

    return Lemmatizer(cache_max_size=0)


def lemma(word: str, language: str, stops: frozenset[str]) -> str | None:
    """Return the lemma of one lower-case word form, or None."""
    import simplemma

    if language == "en" and word.endswith("n't"):
        return None
    if "'" in word:
        word = max(word.split("'"), key=len)
    if word in stops or (len(word) == 1 and word.isascii() and word.isalpha()):
        return None
    if language == "en":
        if word in EXCEPTIONS:
            found = EXCEPTIONS[word]
        elif word[0].isdigit():
            found = word
        else:
            found = lemmatiser().lemmatize(word, "en").lower()
            if len(word) <= SHORT < len(found):
                found = word
            if found == word and plural(word) and not simplemma.is_known(word, lang="en"):
                found = word[:-1]
    else:
        found = word if word[0].isdigit() else lemmatiser().lemmatize(word, language).lower()
    return None if found in stops else found


def plural(word: str) -> bool:
    """Tell whether an English word that the dictionary lacks ("dvds") looks like a plural."""
    return len(word) > 2 and word[-1] == "s" and word[-2] not in "aeiousy'"


def known(types: Iterable[str], language: str) -> np.ndarray:
    """Tell for each word form whether it is in the language's dictionary; numbers count as known.

    Of an English contraction the first part counts (it's), elsewhere any: French has l'image and c'est.
    """
    import simplemma

    def has(word: str) -> bool:
        parts = word.split("'")
        return any(
            simplemma.is_known(part, lang=language) for part in parts[: 1 if language == "en" else None]
        )

    return np.array([word[0].isdigit() or has(word) for word in types], dtype=bool)
