"""Numbers and findings in words. A sentence claims a difference only where the statistics found one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from aspectra.config import GENERAL

if TYPE_CHECKING:
    from aspectra.evaluate import Coverage
    from aspectra.report.change import Difference
    from aspectra.report.compare import Comparison
    from aspectra.report.content import Content, Facts, Fresh, Share
    from aspectra.report.stats import Rating

NARROW = "\u202f"
"""A narrow space that does not break, before a per-cent sign."""
MOST_CHANGES = 10
TOGETHER = f"In brackets: how large the difference is, 99{NARROW}% certain for all comparisons at once. What may be chance is left out."


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
    """Write a number with two digits and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")


def points(low: float, high: float) -> str:
    """Write an interval of a difference without its sign, the smaller end first."""
    near, far = sorted((abs(low), abs(high)))
    return f"{100 * near:.1f} to {100 * far:.1f} points"


def count(n: int) -> str:
    """Write 1988769 as 1.99 million, and small counts in full."""
    return f"{n / 1e6:.2f} million" if n >= 1_000_000 else f"{n:,}"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def month(day: date) -> str:
    return day.strftime("%B %Y")


def span(facts: Facts) -> str:
    if facts.first is None or facts.last is None:
        return "no dates"
    first, last = month(facts.first), month(facts.last)
    return first if first == last else f"{first} to {last}"


def shares_title(shares: Sequence[Share]) -> str:
    """Name the aspect discussed most, or those among which chance alone may decide."""
    said = [share for share in shares if share.name != GENERAL and share.segments]
    if not said:
        return "No segment is about a specific aspect"
    top = said[0]
    rivals = [share.name for share in said if share.high > top.low]
    if len(rivals) == 1:
        return f"{top.name} is discussed most: {percent(top.share)} of segments"
    if len(rivals) <= 3:
        return f"{listed(rivals)} are discussed most: {percent(top.share)} of segments each, within the margin of error"
    return f"No aspect stands out: the largest, {top.name}, has {percent(top.share)} of segments"


def ratings_title(ratings: Sequence[Rating]) -> str:
    clear = [rating for rating in ratings if rating.differs and rating.others is not None]
    low = [rating for rating in clear if rating.others is not None and rating.mean < rating.others]
    rating = (low or clear)[0 if low else -1] if clear else None
    if rating is None or rating.others is None:
        return "Ratings do not differ clearly between aspects"
    return f"Reviews that mention {rating.aspect} rate {rating.mean:.1f} on average, the others {rating.others:.1f}"


def specific(found: Sequence[Difference]) -> list[Difference]:
    """Leave out General, whose share moves because the others' do."""
    return [one for one in found if one.name != GENERAL]


def where(change: Difference, content: Content) -> str:
    return (
        "" if change.group is None or content.groups is None else f" for {content.groups.names[change.group]}"
    )


def change_sentence(change: Difference, content: Content) -> str:
    """Say what rose or fell, from when on, and where."""
    verb = "rose" if change.after > change.before else "fell"
    before = f"{percent(change.before, 1)} before {content.period_names[change.at]}"
    return f"{change.name}{where(change, content)} {verb} from {before} to {percent(change.after, 1)} since"


def changes_title(content: Content) -> str:
    found = sorted(specific(content.changes), key=lambda change: change.group is not None)
    return change_sentence(found[0], content) if found else "No aspect's share changed beyond chance"


def contrast_sentence(contrast: Difference, content: Content) -> str:
    name = content.groups.names[contrast.at] if content.groups else ""
    verb = "more" if contrast.after > contrast.before else "less"
    return f"{name}: {verb} about {contrast.name}, {percent(contrast.after, 1)} against {percent(contrast.before, 1)} in all other reviews"


def groups_title(content: Content) -> str:
    found = specific(content.contrasts)
    if not found:
        return f"No {content.roles.group} differs beyond chance from the others"
    return contrast_sentence(found[0], content)


def fresh_name(fresh: Fresh) -> str:
    return ", ".join(fresh.keywords[:3])


def growth_sentence(fresh: Fresh, content: Content) -> str:
    """Say how a topic grew; nothing if it did not."""
    if fresh.growth is None:
        return ""
    since = content.period_names[fresh.growth.at]
    return f"rose from {percent(fresh.growth.before, 1)} before {since} to {percent(fresh.growth.after, 1)} since"


def fresh_sentence(fresh: Fresh, content: Content) -> str:
    growth = growth_sentence(fresh, content)
    return f"Not on your list: {fresh_name(fresh)}, {percent(fresh.share)} of segments" + (
        f"; {growth}" if growth else ""
    )


def fresh_details(fresh: Fresh, content: Content) -> str:
    parts = [
        growth_sentence(fresh, content),
        ", ".join(fresh.keywords),
        fresh.mapped,
        f"coherence {signed(fresh.coherence)}",
    ]
    return " · ".join(part for part in parts if part)


def comparison_title(comparison: Comparison) -> str:
    claimed = sorted(
        (shift for shift in comparison.shifts if shift.claimed),
        key=lambda shift: -abs(shift.after - shift.before),
    )
    if not claimed:
        return f"No share differs beyond chance from {comparison.name}"
    shift = claimed[0]
    verb = "more" if shift.after > shift.before else "less"
    shares = f"{percent(shift.after, 1)} against {percent(shift.before, 1)}"
    return f"{verb.capitalize()} about {shift.name} than in {comparison.name}: {shares}"


def agreement_sentence(comparison: Comparison) -> str:
    if comparison.agreement is None or comparison.kappa is None:
        return "No segment stands in both files, so that agreement cannot be told."
    return (
        f"{count(comparison.matched)} segments stand in both files; {percent(comparison.agreement)} of them have the same aspect "
        f"(Cohen's kappa {comparison.kappa:.2f})."
    )


def curve_title(curve: Sequence[Coverage]) -> str:
    """Say what asking for more confidence would gain."""
    half = min(curve, key=lambda point: abs(point.coverage - 0.5))
    surest = f"The surest {percent(half.coverage, 0)} of answers are right in {percent(half.accuracy, 0)}"
    return f"{surest} of cases, all answers in {percent(curve[-1].accuracy, 0)}"


def headlines(content: Content) -> list[str]:
    """Return the few sentences that a hurried reader needs."""
    found = [shares_title(content.shares)]
    overall, within = (
        [c for c in specific(content.changes) if (c.group is None) is whole] for whole in (True, False)
    )
    found += [change_sentence(change, content) for change in (*overall[:2], *within[:1])]
    if content.ratings:
        found.append(ratings_title(content.ratings))
    if content.fresh:
        found.append(fresh_sentence(content.fresh[0], content))
    if content.comparison:
        found.append(comparison_title(content.comparison))
    return [f"{sentence}." for sentence in found]
