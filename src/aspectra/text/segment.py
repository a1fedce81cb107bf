"""Reviews in, segments out: sentences, or clauses that are close to elementary discourse units (EDUs).

Sentences come from sentencex, repaired where reviews are messier than its rules; clauses come from our
own rules. A rule is a pattern and a replacement that adds or removes a mark where a segment starts.
Rules change nothing else, so a review loses only white space, and what shops' pages put into it: "&quot;"
becomes a quotation mark, "<br />" a new line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import polars as pl

from aspectra.config import SEGMENTS
from aspectra.errors import ConfigError

ENTITY = r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});"
BREAK = r"(?i)</?(?:br|p|div|li|ul|ol|h[1-6]|hr|blockquote)\s*/?>"
FORMAT = r"(?i)</?(?:b|i|u|em|strong|small|span)>"
"""Marks of a page, without attributes: whatever has more to it may be pasted code."""
MARK = "\x1f"
SEPARATORS = r"[\x1c-\x1f]"
NOT_BLANK = r"[^\s\x1c-\x1f]"
"""What a review must have in it; one that is white space gives no segment."""
BETWEEN = f"${{1}}{MARK}${{2}}"
JOINED = "${1}${2}"
Rule = tuple[str, str]

# After sentencex: ends that it misses in reviews, and false ends that are removed.
SENTENCE_RULES: tuple[Rule, ...] = (
    (r"[\n\r\x0b\x0c\x{85}\x{2028}\x{2029}]+", f" {MARK}"),
    (r"([!?]{2,}\s*|[:;]-?[)D]\s+)(\p{L})", BETWEEN),
    (r"(…\s*)(\p{Lu})", BETWEEN),
    (rf"((?:^|{MARK})\s*\(?\d{{1,2}}[.)]\s*){MARK}", JOINED),
)
# sentencex takes the inch marks of two TVs for a quotation, and "me." for Maine.
STARTS = (
    "i|it|its|the|this|these|my|we|but|so|if|they|there|you|and|all|no|not|very|great|good|would|will|love"
    "|works|also"
)
UNITS = "approx|lbs?|oz|yrs?|hrs?|mins?|def|incl|max|appt|misc|est|tech"
ENGLISH_SENTENCE_RULES: tuple[Rule, ...] = (
    (r'([A-Za-z0-9]{2}[.!?]+["”’)\]]*\s+)([A-Z])', BETWEEN),
    (rf"([a-z][.!?])((?:{STARTS})\s)", BETWEEN),
    (rf"\b((?i:vs|mr|mrs|ms|dr|st|prof)\.\s*){MARK}", JOINED),
    (rf"\b((?i:{UNITS})\.\s*){MARK}([a-z0-9])", JOINED),
)

# A clause starts where this follows: a subject, a finite verb, or a short noun phrase with a finite verb.
WORD = r"[\w'’/-]+"
SHORT = r"(?:['’ ]{1,2}(?:m|s|re|ve|ll|d))?"
PRONOUN = rf"(?:i|you|he|she|it|we|they|there|im|ive|its){SHORT}"
SUBJECT = rf"(?:{PRONOUN}|(?:this|that|these|those|everyone|everything|nothing|someone|something){SHORT})"
DETERMINER = (
    "(?:the|an?|my|your|our|his|her|their|its|this|that|these|those|some|any|all|no|every|each|both|most"
    "|other|another|one)"
)
NEGATED = r"(?:is|are|was|were|has|have|had|do|does|did|ca|could|wo|would|should)n['’]?t"
AUXILIARY = (
    "(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|should|may|might|must|cannot|wo|ca"
    rf"|{NEGATED})"
)
BASE = (
    "feel|look|work|fit|make|get|come|seem|keep|hold|need|want|give|take|say|find|use|connect|stay|start"
    "|stop|turn|fall|love|like|provide|play|add|wear|appear|allow"
)
PAST = (
    "made|got|went|came|kept|held|gave|took|said|found|bought|saw|felt|left|broke|fell|sent|wore|thought"
    "|told|began|read"
)
OTHER = "sounds|runs|goes|see|go|buy|put|pay|try|hope|think|know|wish|be|return|recommend"
FINITE = rf"(?:am|{AUXILIARY}|(?:{BASE})s?|{PAST}|{OTHER}|[a-z]{{2,}}ed)"
ADVERB = (
    "(?:also|then|just|still|never|always|now|sometimes|even|only|really|not|already|yet|overall|[a-z]{3,}ly)"
)
NOUN_CLAUSE = rf"{DETERMINER} (?:{WORD} ){{1,3}}?{FINITE}\b"
CLAUSE = rf"(?:(?:{ADVERB} )*(?:{SUBJECT} |{FINITE}\b)|{NOUN_CLAUSE})"
SUBORDINATOR = "(?:because|since|although|though|unless|until|whereas|where|when|whenever|if|while|once)"
RELATIVE = rf"that (?:{SUBJECT} |{FINITE}\b|{DETERMINER} |{ADVERB} |{WORD}s )"
GERUND = "(?:after|before|of|for|by) [a-z]+ing (?:the|an?|my|your|it|them|this) "
THINKING = (
    "think|thought|guess|wish|hope|hoping|know|knew|says?|said|found|out|believe|sure|glad|happy"
    "|disappointed|feel|forget|forgot|realized?|see|mean|bet|told|me|assume|tell"
)
# No clause ends in one of these words: a mark after them is removed.
NEVER_LAST = (
    "a|the|and|but|or|so|if|that|than|as|even|not|when|because|since|what|how|why|where|which|while|though"
    "|although|until|unless|once|after|before|like|then|also|overall|however|whether|who|first|nothing|soon"
    "|an|of|to|with|from|about|for|by"
)

PUNCTUATION_RULES: tuple[Rule, ...] = (
    (r"( )(\(\w)", BETWEEN),
    (r"((?:[;:)]|\),| [-–—]+|\.\.+|…) )(\p{L})", BETWEEN),
)
ENGLISH_CLAUSE_RULES: tuple[Rule, ...] = (
    (
        rf"(?i)(, )((?:(?:but|so|which|who|however|as|without|despite|not|{SUBORDINATOR}) "
        rf"|(?:and|or) {CLAUSE}|{SUBJECT} |{NOUN_CLAUSE}|(?:{WORD} ){{1,3}}?{AUXILIARY} ))",
        BETWEEN,
    ),
    (rf"(?i)( )(but |so (?:that )?{SUBJECT} |(?:and|or) {CLAUSE})", BETWEEN),
    (
        rf"(?i)( )((?:(?:and|but|so|or|even|just|simply|only|especially|as) )?{SUBORDINATOR} "
        rf"|{RELATIVE}|{GERUND}|(?:who|which|without|despite|based on) "
        rf"|(?:than|as|like|after|before) {PRONOUN} )",
        BETWEEN,
    ),
    (rf"(?i)( (?:{THINKING}) )({SUBJECT} |{NOUN_CLAUSE} )", BETWEEN),
    (r"(?i)( (?:enough|time|room|space|way|effort|hassle|something|longer) )(to [a-z]+ )", BETWEEN),
    (rf"(?i)( )((?:i|we|they){SHORT} (?:{ADVERB} )?{FINITE}\b)", BETWEEN),
    (rf"(?i)\b((?:{NEVER_LAST}) ){MARK}", JOINED),
    (rf"((?:^|{MARK}){WORD}(?:,| {WORD},)? ){MARK}", JOINED),
)

# Where parts of a clause may meet: "great price and awful support".
PHRASE_RULES: tuple[Rule, ...] = ((r"((?:[,;:/]| [-–—]+|…) )(\S)", BETWEEN),)
ENGLISH_PHRASE_RULES: tuple[Rule, ...] = (
    (r"(?i)( )((?:and|but|or|yet|while|whereas|although|though|however|except) )", BETWEEN),
)


def split_reviews(texts: pl.Series, segment: str = "sentence", language: str = "en") -> pl.DataFrame:
    """Split each review into segments, in order; only white space and marks of a page are lost.

    `segment` is "sentence", "clause" or "none" (the whole review). Returns the columns review (position in
    `texts`), sentence (running number over all reviews of this call) and text (stripped). Reviews that are
    null or blank give no rows. In languages other than English, clauses end only at punctuation.
    """
    if segment not in SEGMENTS:
        raise ConfigError(f"segment must be one of {', '.join(SEGMENTS)}, got {segment!r}.")
    cleaned = pl.col("text").str.replace_all(SEPARATORS, " ").str.strip_chars()
    frame = pl.DataFrame({"text": without_html(texts.cast(pl.String))}).with_row_index("review")
    frame = frame.with_columns(cleaned).filter(pl.col("text") != "")
    if segment != "none":
        frame = explode_marks(frame, mark_sentences(frame["text"], language))
    frame = frame.with_row_index("sentence")
    if segment == "clause":
        frame = explode_marks(frame, mark_clauses(frame["text"], language))
    return frame.select("review", "sentence", "text")


def without_html(texts: pl.Series) -> pl.Series:
    """Return what was written for a page as it looks there; "&amp;quot;" was written for it twice."""
    for _ in range(2):
        if texts.str.contains("&", literal=True).any() and texts.str.contains(ENTITY).any():
            texts = texts.map_elements(lambda text: re.sub(ENTITY, as_sign, text), pl.String)
    if texts.str.contains("<", literal=True).any():
        texts = texts.str.replace_all(BREAK, "\n").str.replace_all(FORMAT, "")
    return texts


def as_sign(entity: re.Match[str]) -> str:
    return html.unescape(entity[0])


def split_clauses(sentences: pl.Series, language: str = "en") -> pl.DataFrame:
    """Split sentences into clauses; returns the columns review (position in `sentences`) and text."""
    frame = pl.DataFrame({"text": sentences.cast(pl.String)}).with_row_index("review")
    return explode_marks(frame, mark_clauses(frame["text"], language))


def split_phrases(clauses: pl.Series, language: str = "en") -> pl.DataFrame:
    """Split clauses at every comma and every "and" or "but"; returns the columns of `split_clauses`."""
    frame = pl.DataFrame({"text": clauses.cast(pl.String)}).with_row_index("review")
    rules = PHRASE_RULES + (ENGLISH_PHRASE_RULES if language == "en" else ())
    return explode_marks(frame, apply_rules(frame["text"], rules))


def mark_sentences(texts: pl.Series, language: str) -> pl.Series:
    import sentencex

    marked = pl.Series(
        "text", [MARK.join(sentencex.segment(language, text)) for text in texts.to_list()], dtype=pl.String
    )
    return apply_rules(marked, SENTENCE_RULES + (ENGLISH_SENTENCE_RULES if language == "en" else ()))


def mark_clauses(sentences: pl.Series, language: str) -> pl.Series:
    return apply_rules(sentences, PUNCTUATION_RULES + (ENGLISH_CLAUSE_RULES if language == "en" else ()))


def apply_rules(texts: pl.Series, rules: Iterable[Rule]) -> pl.Series:
    for pattern, replacement in rules:
        texts = texts.str.replace_all(pattern, replacement)
    return texts


def explode_marks(frame: pl.DataFrame, marked: pl.Series) -> pl.DataFrame:
    """Give each marked part its own row; a part without letters or digits joins its neighbour."""
    bare = rf"{MARK}([^\p{{L}}\p{{N}}{MARK}]*)({MARK}|$)"
    while marked.str.contains(bare).any():  # each pass halves a chain of such parts
        marked = marked.str.replace_all(bare, JOINED)
    marked = marked.str.replace(rf"^([^\p{{L}}\p{{N}}]*){MARK}", "${1}")
    parts = frame.with_columns(marked.str.split(MARK).alias("text")).explode("text")
    return parts.with_columns(pl.col("text").str.strip_chars()).filter(pl.col("text") != "")
