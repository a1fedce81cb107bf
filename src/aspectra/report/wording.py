"""The report's sentences, and how it writes numbers. Only differences beyond chance are put into words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date

import numpy as np

from aspectra.config import GENERAL, UNMAPPED
from aspectra.labelling.evaluate import calibration_sentence
from aspectra.report.compare import Comparison, Difference
from aspectra.report.content import Content, EmergingTopic, Facts, Share
from aspectra.report.quality import Author, Quality
from aspectra.report.sentiment import Driver, Felt
from aspectra.report.stats import MIN_REVIEWS, Rating
from aspectra.scores import Coverage, Scores

NARROW = "\u202f"
"""A narrow space without a line break, before a per cent sign."""
MOST_CHANGES, MOST_RIVALS = 10, 3
NOT_JUDGED = "No specific aspect is judged"
BRACKETS = (
    f"In brackets: the range of the difference, with 99{NARROW}% certainty for all comparisons together. "
    "Differences that may be chance are not listed."
)
KINDS_OF_SEGMENTS = (
    "Typical: the aspect is most probable. Worst and best: the most negative and the most positive. Least "
    "certain: another aspect is nearly as probable, worth a check. Random: drawn by chance. The darker a "
    "word is shaded, the more it counted for the model."
)


FELT_NOTE = (
    "Net sentiment: share of positive minus share of negative segments, from −100 to 100. Sarcasm is not "
    "recognised."
)
COMPLAINS = "A review complains of an aspect if more of its segments on it are negative than positive."
DRIVERS_NOTE = (
    "What lowers the rating is found by comparing reviews that complain of an aspect with those that do not, "
    "the other aspects being equal: an association, not proof of a cause. In brackets: the "
    f"95{NARROW}% interval."
)
ONE_OF_GOLD = "Right: the label is one of the gold aspects, of which some segments have several."


def percent(share: float, digits: int | None = None) -> str:
    """Write 0.031 as 3.1 % and 0.21 as 21 %."""
    if digits is None:
        digits = 1 if share < 0.0995 or 0.99 < share < 1 else 0
    if 0 < share < 0.0005:
        return f"under 0.1{NARROW}%"
    return f"{100 * share:.{digits}f}{NARROW}%"


def percents(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}{NARROW}%"


def signed(value: float) -> str:
    """Write a number with two decimals and a proper minus sign."""
    return f"{value:.2f}".replace("-", "−")


def points(low: float, high: float) -> str:
    """Write the range of a difference without its sign, the smaller end first."""
    near, far = sorted((abs(low), abs(high)))
    return f"{100 * near:.1f} to {100 * far:.1f} points"


def count(n: int) -> str:
    """Write 1988769 as 1.99 million, and small counts in full."""
    return f"{n / 1e6:.2f} million" if n >= 1_000_000 else f"{n:,}"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def month(day: date) -> str:
    return day.strftime("%B %Y")


def time_span(facts: Facts) -> str:
    if facts.first is None or facts.last is None:
        return "no dates"
    first, last = month(facts.first), month(facts.last)
    return first if first == last else f"{first} to {last}"


def shares_title(shares: Sequence[Share]) -> str:
    """Name the aspect discussed most, or several if their order may be chance."""
    mentioned = [share for share in shares if share.name != GENERAL and share.segments]
    if not mentioned:
        return "No segment is about a specific aspect"
    top = mentioned[0]
    rivals = [share.name for share in itertools.takewhile(lambda one: one.high > top.low, mentioned)]
    if len(rivals) == 1:
        return f"{top.name} is discussed most: {percent(top.share)} of segments"
    if len(rivals) <= MOST_RIVALS:
        shown = [percent(share.share) for share in mentioned[: len(rivals)]]
        much = f"{shown[0]} of segments each" if len(set(shown)) == 1 else f"{listed(shown)} of segments"
        return f"{listed(rivals)} are discussed most: {much}, within the margin of error"
    return f"No aspect stands out: the largest, {top.name}, has {percent(top.share)} of segments"


def terms(content: Content) -> str:
    """Say what is counted, in the words of the page."""
    told = [
        "Reviews: those with at least one segment; blank ones and what is no review do not count.",
        "Segments: their sentences or clauses, each counted once, for the aspect that it is most about.",
        "Known words: the model learnt them. Confidence: the probability of the label.",
    ]
    return " ".join([*told, COMPLAINS] if content.felt and content.felt.drivers else told)


def topics_title(content: Content) -> str:
    """Name the largest topic of a specific aspect."""
    largest = next(sub for sub in content.subs if sub.aspect != GENERAL)
    topic = f"“{', '.join(largest.keywords[:3])}” ({largest.aspect})"
    return f"Of the topics under your aspects, {topic} is the largest: {percent(largest.share)} of segments"


def ratings_title(ratings: Sequence[Rating]) -> str:
    clear = [rating for rating in ratings if rating.differs and rating.others is not None]
    low = [rating for rating in clear if rating.others is not None and rating.mean < rating.others]
    rating = (low or clear)[0 if low else -1] if clear else None
    if rating is None or rating.others is None:
        return "Ratings do not differ clearly between aspects"
    means = f"{rating.mean:.1f} on average, the other reviews {rating.others:.1f}"
    return f"Reviews that mention {rating.aspect} give {means}"


def specific(found: Sequence[Difference]) -> list[Difference]:
    """Leave out General: its share changes because the other shares change."""
    return [one for one in found if one.name != GENERAL]


def where(change: Difference, content: Content) -> str:
    """Name the group that changed; nothing for all reviews."""
    if change.group is None or content.groups is None:
        return ""
    return f" for {content.groups.names[change.group]}"


def change_sentence(change: Difference, content: Content) -> str:
    """Say what rose or fell, since when, and in which group."""
    return f"{change.name}{where(change, content)} {rise_or_fall(change, content)}"


def rise_or_fall(change: Difference, content: Content) -> str:
    verb = "rose" if change.after > change.before else "fell"
    before = f"{percent(change.before, 1)} before {content.period_names[change.at]}"
    return f"{verb} from {before} to {percent(change.after, 1)} since"


def changes_title(content: Content) -> str:
    found = sorted(specific(content.changes), key=lambda change: change.group is not None)
    return change_sentence(found[0], content) if found else "No aspect's share changed beyond chance"


def contrast_sentence(contrast: Difference, content: Content) -> str:
    name = content.groups.names[contrast.at] if content.groups else ""
    verb = "more" if contrast.after > contrast.before else "less"
    others = f"{percent(contrast.before, 1)} in all other reviews"
    return f"{name}: {verb} about {contrast.name}, {percent(contrast.after, 1)} compared with {others}"


def groups_title(content: Content) -> str:
    found = specific(content.contrasts)
    if content.groups is not None and (content.groups.reviews < MIN_REVIEWS).all():
        return f"Too few reviews of each {content.columns.group} to compare them"
    if not found:
        return f"No {content.columns.group} differs beyond chance from the others"
    return contrast_sentence(found[0], content)


def distinct_names(topics: Sequence[Sequence[str]]) -> list[str]:
    """Name each topic by three keywords, and one that only it has where others have the same three."""
    short = [", ".join(keywords[:3]) for keywords in topics]
    names = []
    for name, keywords in zip(short, topics, strict=True):
        own = [word for word in keywords[3:] if sum(word in other for other in topics) == 1]
        names.append(", ".join([name, *own[:1]]) if short.count(name) > 1 else name)
    return names


def topic_name(topic: EmergingTopic) -> str:
    return ", ".join(topic.keywords[:3])


def emerging_sentence(topic: EmergingTopic, content: Content) -> str:
    share = f"Not among your aspects: “{topic_name(topic)}”, {percent(topic.share)} of segments"
    return f"{share}; {rise_or_fall(topic.growth, content)}" if topic.growth else share


def emerging_details(topic: EmergingTopic, content: Content) -> str:
    growth = rise_or_fall(topic.growth, content) if topic.growth else ""
    parts = [growth, ", ".join(topic.keywords), topic.mapped, f"coherence {signed(topic.coherence)}"]
    return " · ".join(part for part in parts if part)


def comparison_title(comparison: Comparison) -> str:
    claimed = sorted(
        (shift for shift in comparison.shifts if shift.claimed),
        key=lambda shift: -abs(shift.after - shift.before),
    )
    if not claimed:
        return f"No aspect's share differs beyond chance from {comparison.name}"
    shift = claimed[0]
    verb = "More" if shift.after > shift.before else "Less"
    shares = f"{percent(shift.after, 1)} compared with {percent(shift.before, 1)}"
    return f"{verb} about {shift.name} than in {comparison.name}: {shares}"


def agreement_sentence(comparison: Comparison) -> str:
    if comparison.agreement is None or comparison.kappa is None:
        return "The files have no segment in common, so agreement is unknown."
    return (
        f"{count(comparison.matched)} segments are in both files; {percent(comparison.agreement)} of them "
        f"have the same aspect (Cohen's kappa {comparison.kappa:.2f}; 1 is full agreement, 0 is chance)."
    )


def curve_title(curve: Sequence[Coverage]) -> str:
    """Say how much better the confident labels are than all labels."""
    half = min(curve, key=lambda point: abs(point.coverage - 0.5))
    confident = (
        f"Of the most confident {percent(half.coverage, 0)} of labels, {percent(half.accuracy, 0)} are right"
    )
    return f"{confident}; of all labels, {percent(curve[-1].accuracy, 0)}"


def coherence_title(quality: Quality) -> str:
    mapped = [line.coherence for line in quality.topics if line.aspect not in (GENERAL, UNMAPPED)]
    rest = [line.coherence for line in quality.topics if line.aspect in (GENERAL, UNMAPPED)]
    if not mapped:
        return "No topic is mapped to a specific aspect"
    others = f", the other topics {signed(float(np.median(rest)))}" if rest else ""
    return f"Topics of aspects have a median coherence of {signed(float(np.median(mapped)))}{others}"


def quality_lines(quality: Quality) -> list[str]:
    """Say which model made the labels, how good it is, and who made the map."""
    lines = [f"The labels were made by {quality.model}."]
    if quality.grade:
        scores = quality.grade.scores
        lines.append(
            f"On {scores.n:,} gold segments of {quality.gold}: micro F1 {percent(scores.f1_micro, 1)}, "
            f"macro F1 {percent(scores.f1_macro, 1)}; labelling all of them {scores.majority_aspect} would "
            f"get {percent(scores.majority_f1_micro, 1)} and {percent(scores.majority_f1_macro, 1)}."
        )
        lines += [f"{ONE_OF_GOLD} {sets_sentence(scores)}".strip()] if scores.several else []
        lines += [calibration_sentence(scores)] if scores.mean_probability is not None else []
    else:
        lines.append("No gold segments were given. With --gold the report says how many labels are right.")
    if quality.estimate:
        expected = ", ".join(f"{name} {percent(value, 1)}" for name, value in quality.estimate.items())
        lines.append(
            "What to expect of the student on new segments, by cross-validation on the labelled segments "
            f"that it learned from: {expected}."
        )
    return [*lines, f"The topic map: {'; '.join(map(author_line, quality.authors))}."]


def sets_sentence(scores: Scores) -> str:
    """Say how often all aspects of a segment are right; nothing if that is unknown."""
    if scores.sets is None:
        return ""
    f1 = f"micro F1 {percent(scores.sets.f1_micro, 1)}"
    return f"All aspects are right, none missing or added, for {percent(scores.sets.exact_match)} ({f1})."


def confusion_title(scores: Scores) -> str:
    share, segments = percent(scores.accuracy), f"{scores.n:,} gold segments"
    if scores.several:
        return f"The label is one of the gold aspects for {share} of {segments}"
    return f"{share} of {segments} are labelled correctly"


def author_line(author: Author) -> str:
    days = author.first if author.first == author.last else f"{author.first} to {author.last}"
    return f"{author.topics} topics by {author.name}, {days}"


def net(value: float) -> str:
    """Write a net sentiment of −0.31 as −31."""
    text = f"{100 * value:+.0f}"
    return "0" if text in ("+0", "-0") else text.replace("-", "−")


def rated(value: float, unit: str) -> str:
    """Write 0.9 stars, or 12.4 points on other scales."""
    return f"{value:.1f} {unit}{'' if f'{value:.1f}' == '1.0' else 's'}"


def felt_title(felt: Felt) -> str:
    """Name what people like least and most, up to three aspects if their order may be chance.

    Aspects that few segments judge are left out: their intervals reach over all others.
    """
    specific_ones = [one for one in felt.aspects if one.aspect != GENERAL]
    named = [one for one in specific_ones if one.segments >= MIN_REVIEWS]
    if len(named) < 2:
        return "Too few aspects are judged often enough to compare them" if specific_ones else NOT_JUDGED
    worst, best = named[0], named[-1]
    least = [one for one in named if one.low <= worst.high]
    most = [one for one in reversed(named) if one.high >= best.low]
    if {one.aspect for one in least} & {one.aspect for one in most}:  # an aspect between: name one end only
        least, most = (least, []) if len(least) <= len(most) else ([], most)
    told = [
        f"{listed([one.aspect for one in ones])} {'is' if len(ones) == 1 else 'are'} liked {end} "
        f"(net {listed([net(one.net) for one in ones])})"
        for end, ones in (("least", least), ("most", most))
        if 0 < len(ones) <= min(MOST_RIVALS, len(named) - 1)
    ]
    return "; ".join(told) or "No aspect is clearly liked more than another"


def soured_sentence(change: Difference, content: Content) -> str:
    verb = "soured" if change.after < change.before else "improved"
    since = f"net {net(change.before)} before {content.period_names[change.at]}, {net(change.after)} since"
    return f"{change.name}{where(change, content)} {verb}: {since}"


def felt_trend_title(content: Content, felt: Felt) -> str:
    found = specific(felt.changes)
    return soured_sentence(found[0], content) if found else "No aspect soured or improved beyond chance"


def driver_sentence(driver: Driver, unit: str) -> str:
    often = f"{percent(driver.complaints)} of reviews complain of it"
    return f"{driver.aspect} costs {rated(driver.cost, unit)} when it goes wrong; {often}"


def drivers_title(felt: Felt) -> str:
    clear = [one for one in felt.drivers if one.claimed]
    if not clear:
        return "No aspect lowers the rating beyond chance"
    weightiest = max(clear, key=lambda one: one.cost * one.complaints)
    return driver_sentence(weightiest, felt.rating_unit)


def felt_groups_title(content: Content, felt: Felt) -> str:
    """Name the group and aspect that are most clearly judged worse than elsewhere."""
    cells = felt.groups
    if cells is not None:
        named = [at for at, name in enumerate(content.aspects) if name != GENERAL]
        if np.isnan(cells.net[:, named]).all():
            return f"Too few reviews of each {content.columns.group} to compare how they are judged"
    if not felt.worse:
        return f"No {content.columns.group} is judged clearly worse than the others on an aspect"
    return worse_sentence(felt.worse[0], content)


def worse_sentence(one: Difference, content: Content) -> str:
    group = content.groups.names[one.at] if content.groups else ""
    both = f"net {net(one.after)} compared with {net(one.before)} in all other reviews"
    return f"{group} is judged worse on {one.name}: {both}"


def felt_headlines(content: Content) -> list[str]:
    felt = content.felt
    if felt is None or not felt.aspects:
        return []
    found = [felt_title(felt)]
    for within in (False, True):
        changed = [one for one in specific(felt.changes) if (one.group is not None) is within]
        found += [soured_sentence(change, content) for change in changed[:1]]
    if any(one.claimed for one in felt.drivers):
        found.append(drivers_title(felt))
    if felt.worse:
        found.append(felt_groups_title(content, felt))
    return found


def headlines(content: Content) -> tuple[str, ...]:
    """Return the few sentences for a reader in a hurry."""
    found = [shares_title(content.shares), *felt_headlines(content)]
    overall, within = (
        [c for c in specific(content.changes) if (c.group is None) is whole] for whole in (True, False)
    )
    found += [change_sentence(change, content) for change in (*overall[:2], *within[:1])]
    if content.ratings and not (content.felt and content.felt.drivers):
        found.append(ratings_title(content.ratings))
    if content.emerging:
        found.append(emerging_sentence(content.emerging[0], content))
    if content.comparison:
        found.append(comparison_title(content.comparison))
    return tuple(f"{sentence}." for sentence in found)
