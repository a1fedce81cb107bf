"""What `aspectra map` prints: the map, the aspects' shares, notes, and what to type next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aspectra.cli import show
from aspectra.config import NOT_REVIEW
from aspectra.errors import quantity, typed

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.topicmap.by_names import Suggested
    from aspectra.topicmap.topicmap import TopicMap

HARDLY = 0.0005
"""A topic with a smaller share, 0.0 %, is not shown."""
FLAGS = {"clear": "clear", "general": "general", "ambiguous": "unsure", "incoherent": "unclear"}


def show_saved(
    run: Path,
    topic_map: TopicMap,
    detector: AspectDetector,
    quiet: bool,
    why: bool = False,
) -> None:
    """Print the map in use, notes on its aspects and what to do next.

    Topics of too few reviews are left out, unless a person has mapped some or asks why.
    """
    from aspectra import rundir
    from aspectra.topics import note_on_collapse

    found = detector.__dict__.get("suggested_")
    few = note_on_collapse(detector.topics_.items)
    telling = why or not few or any(choice.by_person for choice in topic_map.choices)
    if not quiet and telling:
        flags = {one.topic: one.flag for one in found.suggestions} if found else {}
        print_map(topic_map, detector, flags, why)
    if not quiet and (found or telling):
        print_shares(topic_map, detector, found)
    elif not quiet:
        show.console().print(f"Aspects: {', '.join(topic_map.aspects)}", soft_wrap=True, markup=False)
    for note in found.notes if found else few:
        show.note(f"Note: {note}")
    by_names = not any(choice.labelled for choice in topic_map.choices)
    if by_names and topic_map.accepted("") != topic_map:
        check = "These are suggestions. Check the unsure ones on the page"
        show.note(
            f"{'Label segments on the page' if few else check}: aspectra map {typed(run)} --page\n"
            "The student learns from the names, and from what you decide there.",
            quiet,
        )
    say_next(run, run / rundir.TOPIC_MAP, quiet)


def say_next(run: Path, path: Path, quiet: bool) -> None:
    """Say where the map is, and what to type now; a student learns from the labels that the run keeps."""
    from aspectra.topicmap.labels import labels_of_run
    from aspectra.topicmap.topicmap import read_map

    labels, _ = labels_of_run(run, read_map(path).aspects)
    told = f"\nThe student will also learn from {quantity(len(labels.texts), 'label')}." if labels else ""
    show.note(
        f"The map is {path}.{told}\nNext: aspectra distill {typed(run)}\nThen: {show.label_command(run)}",
        quiet,
    )


def print_map(topic_map: TopicMap, detector: AspectDetector, flags: dict[int, str], why: bool) -> None:
    """Print one line per topic, those of one aspect together; with `why` a reason under each."""
    from aspectra.config import UNMAPPED

    console = show.console()
    wide = max(80, min(console.width, 120))
    share = {item.id: item.share for item in detector.topics_.items}
    order = {aspect: place for place, aspect in enumerate((*topic_map.aspects, NOT_REVIEW, None))}
    width = min(16, max(len(name) for name in (*topic_map.aspects, UNMAPPED)))
    choices = [one for one in topic_map.choices if share[one.topic] >= HARDLY or one.by_person]
    for choice in sorted(choices, key=lambda choice: (order[choice.aspect], -share[choice.topic])):
        name = show.shortened(choice.aspect or UNMAPPED, width)
        state = choice.by if choice.by_person else FLAGS.get(flags.get(choice.topic, ""), "suggested")
        state = show.shortened(state, 9)
        line = f"{choice.topic:>3}  {name:<{width}}  {share[choice.topic]:>6.1%}  {state:<9}  "
        console.print(line + show.shortened(" ".join(choice.keywords), wide - len(line)), soft_wrap=True)
        if why and choice.why:
            console.print(f"{'':>5}{choice.why}", style="dim")
    if len(choices) < len(topic_map.choices):
        console.print(
            f"     {len(topic_map.choices) - len(choices)} topics with hardly a segment are not shown."
        )


def print_shares(topic_map: TopicMap, detector: AspectDetector, found: Suggested | None) -> None:
    """Print each aspect's share of the segments, and by what: by the names, or by the topics alone."""
    from aspectra.studio.topic_card import draw_sample
    from aspectra.topicmap.gamma import label_shares

    shares, words = (found.shares, found.words) if found else ({}, {})
    heading = "Share of each aspect, by the names, and its most typical words:"
    if not shares:
        sample = draw_sample(detector, seed=detector.seed)
        shares = label_shares(sample.beta, topic_map, detector.fitted_.shares)
        heading = "Shares of the segments by the topics alone, as --model teacher labels:"
    console = show.console()
    console.print(heading, soft_wrap=True)
    width = min(16, max(map(len, shares), default=0))
    for name, value in sorted(shares.items(), key=lambda pair: -pair[1]):
        line = f"     {show.shortened(name, width):<{width}}  {value:>6.1%}  {' '.join(words.get(name, ()))}"
        console.print(show.shortened(line.rstrip(), max(80, console.width)), soft_wrap=True)
