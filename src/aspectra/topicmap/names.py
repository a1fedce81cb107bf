"""Learning aspects from their names: unlabelled segments and what is said of aspects in, a classifier out.

1. First opinion (first_opinion.py): how near a segment is to each aspect's name, sentences and words.
2. Topics denoise it, and later the answer: what the segments of a topic say together counts for each.
3. In three rounds two linear models learn from it: is it General, and if not, which aspect?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aspectra.config import GENERAL
from aspectra.topicmap.first_opinion import SURE_SHARE, AspectEvidence, GeneralEvidence, first_opinion
from aspectra.topicmap.gaussians import (
    TINY,
    Correction,
    CorrectionData,
    Features,
    Linear,
    Space,
    fit_gaussians,
    heard,
    learn_correction,
    normalise,
    surest,
    surest_data,
)

PRIOR_POWER, SPREAD = 0.5, 0.1
"""A topic's opinion is divided by the shares of the aspects to this power, as the segment's own opinion
contains them already. Where all segments have much the same topics, the power nears 1, and topics say
nothing: so it is if the logarithm of what topics say varies less than the second number. With 60 reviews that
is 0.007 or less, on seven dev sets 0.26 or more."""
TOPIC_POWER, DECIDED_POWER = 1.5, 2.0
"""Weight of the topics' opinion: β is spread over many topics, so their opinions lie closer together than
they should. The second is for topics that a person has decided."""
ROUNDS = 3
"""Without labels nothing gets better after so many, and General drifts after ten."""
GENERAL_ANCHOR = 3.0
"""Power of the first opinion in the answers that the model of General learns from: it is what would drift."""
OWN_TOPIC = (0.08, 6.0, 3.0, 2.0)
"""A topic is an aspect's own, although most of its answers are General, if at least this share of them are
the aspect's, so many times as many as elsewhere, so many times as far above elsewhere as the next aspect,
and the topic is so many times as large as all that is answered with the aspect. Set so that nothing changes
on seven dev sets, also with aspects of other products; the sample's Service and Ease of use need it."""
HARDLY, SURE = 0.002, 0.5
"""Hardly any segment speaks of an aspect below this share; an answer above this probability is sure."""
ANSWER_POWER = 1.0
"""Weight of the topics' opinion in the answer."""
LABELLED_PRIOR = 3.0
"""A topic speaks as its labelled segments do, and so many that speak as its other segments do."""
CHOSEN, CHOSEN_GENERAL = 0.8, 0.2
"""How far a topic that a person mapped speaks of that aspect. A topic of General still holds segments of
others: more lost macro F1."""


@dataclass(frozen=True)
class Learned:
    """Two models, whether General (among all A) and if not which aspect (among A − 1), and their making."""

    aspects: tuple[str, ...]  # General is the last
    space: Space
    general: Linear
    specific: Linear
    topic_map: np.ndarray  # K×A
    topics_say: np.ndarray  # K×A: topic_map, less where an aspect is frequent
    topics_power: float
    targets: np.ndarray  # N×A
    shares: dict[str, float]
    unchanged: tuple[float, ...]  # per round: share of answers as in the round before
    sure: Features  # segments that are surest of an aspect
    usual: Features  # one row: the words and topics of a segment whose words are unknown
    correction: Correction | None = None
    answerable: np.ndarray | None = None
    """Which aspects (A booleans) may be answered; the others have no part in what labels correct."""

    def probabilities(self, segments: Features) -> np.ndarray:
        """Return N×A in the order of `aspects`."""
        segments = segments.filled(self.usual)
        places = self.space(segments)
        answer = join(self.general(places)[:, -1], self.specific(places))
        answer = heard(answer, segments.beta, self.topics_say, self.topics_power)
        if self.answerable is not None:
            answer = normalise(answer * self.answerable)
        return answer if self.correction is None else self.correction(answer, places)

    def with_labels(self, segments: Features, labels: np.ndarray) -> Learned:
        """Return what labels (N×A, rows that sum to one) make of it: corrections as large as they warrant."""
        plain, segments = replace(self, correction=None), segments.filled(self.usual)
        told = CorrectionData.of(plain.probabilities(segments), self.space(segments), labels)
        sure = surest_data(plain.probabilities(self.sure), self.space(self.sure), len(labels))
        return replace(plain, correction=learn_correction(told.and_then(sure)))


def learn_from_names(
    segments: Features,
    aspects: Sequence[AspectEvidence],
    general: GeneralEvidence,
    choices: Mapping[int, int | None] | None = None,
    labelled: np.ndarray | None = None,
) -> Learned:
    """Learn from unlabelled segments.

    `choices` are a person's: topic → number of the aspect (General is the last), or None: unmapped.
    `labelled` (K×A) counts the labelled segments that the map was made with. An aspect whose segments do
    not sound like its name would be lost to General: if the reviews use its words and it has a topic of
    its own, that counts as chosen.
    """
    learned = learn_once(segments, aspects, general, choices, labelled)
    decided = dict(choices or {})
    own = own_topics(learned.topic_map, segments.beta.mean(0)) if labelled is None else {}
    own = {topic: place for topic, place in own.items() if aspects[place].has_words and topic not in decided}
    return learn_once(segments, aspects, general, own | decided, labelled) if own else learned


def learn_once(
    segments: Features,
    aspects: Sequence[AspectEvidence],
    general: GeneralEvidence,
    choices: Mapping[int, int | None] | None,
    labelled: np.ndarray | None,
) -> Learned:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # small matrices: threads would only wait for each other
        space = Space.of(segments)
        opinions = [first_opinion(segments, aspects, general, share) for share in (None, SURE_SHARE)]
        places = space(segments)
        is_general, specific, changes = learn_models(places, segments.beta, opinions, choices, labelled)
    answer = join(is_general(places)[:, -1], specific(places))
    topic_map = map_topics(segments.beta, answer, choices, labelled)
    say = against_shares(topic_map, answer, segments.beta)
    answer = heard(answer, segments.beta, say, ANSWER_POWER)
    names = (*(aspect.name for aspect in aspects), GENERAL)
    shares = np.bincount(answer.argmax(1), minlength=len(names)) / len(answer)
    return Learned(
        names,
        space,
        is_general,
        specific,
        topic_map,
        say,
        ANSWER_POWER,
        answer,
        dict(zip(names, shares.tolist(), strict=True)),
        changes,
        segments.select(surest(answer)),
        segments.average(),
    )


def learn_models(
    places: np.ndarray,
    beta: np.ndarray,
    opinions: Sequence[np.ndarray],
    choices: Mapping[int, int | None] | None,
    labelled: np.ndarray | None,
) -> tuple[Linear, Linear, tuple[float, ...]]:
    """Learn both models, whether General and which aspect, each from its first opinion.

    Also return how answers changed. Which aspect it is, is learnt from sure segments: if General is not
    answered, Citysearch's dev gains 0.9 by that.
    """
    power = DECIDED_POWER if choices else TOPIC_POWER
    starts = [denoise(beta, one, map_topics(beta, one, choices, labelled), power) for one in opinions]
    opinion, sure = starts if choices else opinions  # what a person said stays in force in every round
    is_general, changes = rounds(places, starts[0], opinion**GENERAL_ANCHOR, ROUNDS)
    aspect, left = normalise(starts[1][:, :-1]), 1 - starts[1][:, -1:]
    specific, more = rounds(places, aspect * left, normalise(sure[:, :-1]), ROUNDS)
    return is_general, specific, (*changes, *more)


def own_topics(topic_map: np.ndarray, sizes: np.ndarray) -> dict[int, int]:
    """Find topics that are an aspect's own, by what they answer (K×A) and their shares of the segments."""
    least, above, rival, larger = OWN_TOPIC
    shares = sizes @ topic_map
    lift = topic_map[:, :-1] / np.maximum(shares[:-1], TINY)
    best = lift.argmax(1)
    rows = np.arange(len(lift))
    highest = lift[rows, best]
    lift[rows, best] = 0
    own = (topic_map.argmax(1) == len(shares) - 1) & (topic_map[rows, best] >= least)
    own &= (highest >= above) & (highest >= rival * lift.max(1)) & (sizes >= larger * shares[best])
    return {int(topic): int(best[topic]) for topic in np.flatnonzero(own)}


def map_topics(
    beta: np.ndarray,
    opinion: np.ndarray,
    choices: Mapping[int, int | None] | None = None,
    labelled: np.ndarray | None = None,
) -> np.ndarray:
    """Return K×A: what the segments of each topic say on average, and more loudly what a person chose."""
    result = normalise(beta.T @ opinion)
    if labelled is not None:
        if not labelled[:, -1].any():
            labelled = as_in_reviews(labelled, result, opinion.mean(0))
        result = normalise(labelled + LABELLED_PRIOR * result)
    for topic, aspect in (choices or {}).items():
        said = opinion.mean(0) if aspect is None else np.eye(result.shape[1])[aspect]
        weight = CHOSEN_GENERAL if aspect == result.shape[1] - 1 else CHOSEN
        result[topic] = (1 - weight) * result[topic] + weight * said
    return result


def as_in_reviews(labelled: np.ndarray, topic_map: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return counts of labelled segments (K×A), none of which is General, as all segments would have them.

    Such labels were chosen for their aspects: they tell neither how much of a topic is General nor how
    frequent the aspects are. The map without them (K×A) and the aspects' shares do. Citysearch's dev gains
    1.6 by the shares.
    """
    count = labelled.sum(1, keepdims=True)
    specific = normalise(labelled[:, :-1] / np.maximum(labelled[:, :-1].sum(0), 1) * shares[:-1])
    general = topic_map[:, -1:]
    return np.column_stack([count * (1 - general) * specific, count * general])


def denoise(beta: np.ndarray, opinion: np.ndarray, topic_map: np.ndarray, power: float) -> np.ndarray:
    """Return the opinion times that of the segment's topics, to a power."""
    return heard(opinion, beta, against_shares(topic_map, opinion, beta), power)


def against_shares(topic_map: np.ndarray, opinion: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return what topics say (K×A), less for aspects that all segments (N×A, β N×K) speak of much."""
    said = beta @ topic_map
    spread = np.log(np.maximum(said, TINY) / np.maximum(said.mean(0), TINY)).std()
    power = 1 - (1 - PRIOR_POWER) * min(1.0, float(spread) / SPREAD)
    return np.asarray(topic_map / np.maximum(opinion.mean(0), TINY) ** power)


def rounds(
    places: np.ndarray, start: np.ndarray, anchor: np.ndarray, count: int
) -> tuple[Linear, list[float]]:
    """Fit a model to soft targets and answer, in turn; rows of `start` with a smaller sum count less."""
    weight = start.sum(1, keepdims=True)
    targets, changes, before = start, [], start.argmax(1)
    for _ in range(count):
        model = fit_gaussians(places, targets)
        targets = normalise(model(places) * anchor) * weight
        after = targets.argmax(1)
        changes.append(float((after == before).mean()))
        before = after
    return model, changes


def unspoken(answers: np.ndarray, aspects: Sequence[str], evidence: Sequence[AspectEvidence]) -> list[str]:
    """Return the aspects that hardly any segment speaks of, by the answers (N×A) for a sample of segments.

    An aspect none of whose words is known must be the sure answer for some segment.
    """
    shares = np.bincount(answers.argmax(1), minlength=len(aspects)) / max(len(answers), 1)
    by_name = {one.name: one for one in evidence}
    without_words = {name for name, one in by_name.items() if one.words is None or not len(one.words)}
    return [
        aspect
        for number, aspect in enumerate(aspects)
        if aspect in by_name
        and (shares[number] < HARDLY or (aspect in without_words and answers[:, number].max() < SURE))
    ]


def join(general: np.ndarray, specific: np.ndarray) -> np.ndarray:
    """Return N×A from the probability of General (N) and those of the aspects if it is not General."""
    return np.column_stack([(1 - general)[:, None] * specific, general])
