"""Learning aspects from their names: unlabelled segments and what is said of aspects in, a classifier out.

1. First opinion (first_opinion.py): how near a segment is to each aspect's name, sentences and words.
2. Topics make it less noisy, and later the answer: the mean opinion of a topic counts for its segments.
3. In three rounds two linear models learn from it: is a segment General, and if not, which aspect has it?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aspectra.arrays import TINY, normalise
from aspectra.aspects.first_opinion import SURE_SHARE, AspectEvidence, GeneralEvidence, first_opinion
from aspectra.aspects.gaussians import (
    Correction,
    CorrectionData,
    Features,
    Linear,
    Space,
    fit_gaussians,
    learn_correction,
    surest,
    surest_data,
    with_topics,
)
from aspectra.config import GENERAL

PRIOR_POWER, SPREAD = 0.5, 0.1
"""What a topic says is divided by the aspects' shares to the power PRIOR_POWER: a segment's own opinion
contains these shares already. Where all segments have much the same topics, topics should say nothing: if the
logarithm of what they say has a standard deviation below SPREAD, the power rises towards 1. That deviation is
0.007 or less with 60 reviews, and 0.26 or more on seven dev sets."""
TOPIC_POWER, DECIDED_POWER = 1.5, 2.0
"""Weight of what topics say, as a power. It is above 1: β is spread over many topics, so that what they say
differs too little between segments. The second is for topics that a person has decided."""
ROUNDS = 3
"""More rounds make nothing better; after ten, the share of General drifts."""
GENERAL_ANCHOR = 3.0
"""The General model learns from its answers times the first opinion to this power: that stops the drift."""
OWN_SHARE, OWN_LIFT, OWN_LEAD, OWN_SIZE = 0.08, 6.0, 3.0, 2.0
"""A topic can be an aspect's own although most of its answers are General. At least OWN_SHARE of them must be
the aspect's. That is OWN_LIFT times the aspect's share of all segments or more, and this factor is OWN_LEAD
times that of the next aspect. The topic is OWN_SIZE times as large as all that is answered with the aspect.
Set so that nothing changes on seven dev sets, also with aspects of other products; the sample's Service and
Ease of use need it."""
HARDLY, SURE = 0.002, 0.5
"""Below HARDLY of the answers, an aspect is hardly answered; an answer with probability SURE is sure."""
ANSWER_POWER = 1.0
"""Weight of what topics say in the answer, as a power."""
LABELLED_PRIOR = 3.0
"""What a topic says is the mean of its labelled segments and of so many more that say what all of it says."""
CHOSEN, CHOSEN_GENERAL = 0.8, 0.2
"""Weight of a person's choice in what a topic says. The second is for General: such a topic still has
segments of other aspects, and a higher weight lost macro F1."""


@dataclass(frozen=True)
class Learned:
    """Two linear models, what topics say, and how both came about.

    `general` tells how probable General is (among all A), `specific` which aspect it is if not (A − 1).
    """

    aspects: tuple[str, ...]  # General is the last
    space: Space
    general: Linear
    specific: Linear
    topic_map: np.ndarray  # K×A
    topics_say: np.ndarray  # K×A: topic_map divided by the aspects' shares
    topics_power: float
    targets: np.ndarray  # N×A
    shares: dict[str, float]
    unchanged: tuple[float, ...]  # per round: share of answers as in the round before
    sure: Features  # segments that are surest of an aspect
    usual: Features  # one row: the words and topics of a segment whose words are unknown
    correction: Correction | None = None
    answerable: np.ndarray | None = None
    """Which aspects (A booleans) may be answered; labels correct the answers among these only."""

    def probabilities(self, segments: Features) -> np.ndarray:
        """Return N×A in the order of `aspects`."""
        segments = segments.filled(self.usual)
        places = self.space(segments)
        answer = join(self.general(places)[:, -1], self.specific(places))
        answer = with_topics(answer, segments.beta, self.topics_say, self.topics_power)
        if self.answerable is not None:
            answer = normalise(answer * self.answerable)
        return answer if self.correction is None else self.correction(answer, places)

    def with_labels(self, segments: Features, labels: np.ndarray) -> Learned:
        """Return a copy that labels (N×A, rows sum to 1) correct: the more labels, the more."""
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
    not sound like its name would be lost to General. If the reviews use its words and it has a topic of its
    own (`own_topics`), all is learnt again as if a person had mapped that topic to it.
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
    """Learn as `learn_from_names` does, without looking for topics that are an aspect's own."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # small matrices: threads would only wait for each other
        space = Space.of(segments)
        opinions = [first_opinion(segments, aspects, general, share) for share in (None, SURE_SHARE)]
        places = space(segments)
        is_general, specific, unchanged = learn_models(places, segments.beta, opinions, choices, labelled)
    answer = join(is_general(places)[:, -1], specific(places))
    topic_map = map_topics(segments.beta, answer, choices, labelled)
    topics_say = divided_by_shares(topic_map, answer, segments.beta)
    answer = with_topics(answer, segments.beta, topics_say, ANSWER_POWER)
    names = (*(aspect.name for aspect in aspects), GENERAL)
    shares = np.bincount(answer.argmax(1), minlength=len(names)) / len(answer)
    return Learned(
        aspects=names,
        space=space,
        general=is_general,
        specific=specific,
        topic_map=topic_map,
        topics_say=topics_say,
        topics_power=ANSWER_POWER,
        targets=answer,
        shares=dict(zip(names, shares.tolist(), strict=True)),
        unchanged=unchanged,
        sure=segments.select(surest(answer)),
        usual=segments.average(),
    )


def learn_models(
    places: np.ndarray,
    beta: np.ndarray,
    opinions: Sequence[np.ndarray],
    choices: Mapping[int, int | None] | None,
    labelled: np.ndarray | None,
) -> tuple[Linear, Linear, tuple[float, ...]]:
    """Learn both models, whether General and which aspect, each from its own of two first opinions.

    The second model learns from segments that are surely not General: where General is not answered,
    Citysearch's dev gains 0.9 by that. Also return per round the share of answers that stayed the same.
    """
    power = DECIDED_POWER if choices else TOPIC_POWER
    starts = [denoise(beta, one, map_topics(beta, one, choices, labelled), power) for one in opinions]
    opinion, sure = starts if choices else opinions  # what a person chose counts in every round
    is_general, unchanged = learn_in_rounds(places, starts[0], opinion**GENERAL_ANCHOR, ROUNDS)
    aspect, left = normalise(starts[1][:, :-1]), 1 - starts[1][:, -1:]
    specific, more = learn_in_rounds(places, aspect * left, normalise(sure[:, :-1]), ROUNDS)
    return is_general, specific, (*unchanged, *more)


def own_topics(topic_map: np.ndarray, sizes: np.ndarray) -> dict[int, int]:
    """Find topics that are an aspect's own, by what they answer (K×A) and their shares of the segments."""
    shares = sizes @ topic_map
    lift = topic_map[:, :-1] / np.maximum(shares[:-1], TINY)
    best = lift.argmax(1)
    rows = np.arange(len(lift))
    highest = lift[rows, best]
    lift[rows, best] = 0
    own = (topic_map.argmax(1) == len(shares) - 1) & (topic_map[rows, best] >= OWN_SHARE)
    own &= (highest >= OWN_LIFT) & (highest >= OWN_LEAD * lift.max(1)) & (sizes >= OWN_SIZE * shares[best])
    return {int(topic): int(best[topic]) for topic in np.flatnonzero(own)}


def map_topics(
    beta: np.ndarray,
    opinion: np.ndarray,
    choices: Mapping[int, int | None] | None = None,
    labelled: np.ndarray | None = None,
) -> np.ndarray:
    """Return K×A, what each topic says: the mean opinion of its segments, and what a person chose for it."""
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

    Such segments were chosen for their aspects, so they tell neither how much of a topic is General nor how
    frequent the aspects are. What topics say without them (K×A) and the aspects' shares tell it. Citysearch's
    dev gains 1.6 by the shares.
    """
    count = labelled.sum(1, keepdims=True)
    specific = normalise(labelled[:, :-1] / np.maximum(labelled[:, :-1].sum(0), 1) * shares[:-1])
    general = topic_map[:, -1:]
    return np.column_stack([count * (1 - general) * specific, count * general])


def denoise(beta: np.ndarray, opinion: np.ndarray, topic_map: np.ndarray, power: float) -> np.ndarray:
    """Return the opinion (N×A) times what the segments' topics say, to a power."""
    return with_topics(opinion, beta, divided_by_shares(topic_map, opinion, beta), power)


def divided_by_shares(topic_map: np.ndarray, opinion: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return what topics say (K×A), divided by the aspects' shares of all opinions (N×A) to a power.

    `beta` (N×K) tells whether segments differ in their topics: see SPREAD.
    """
    said = beta @ topic_map
    spread = np.log(np.maximum(said, TINY) / np.maximum(said.mean(0), TINY)).std()
    power = 1 - (1 - PRIOR_POWER) * min(1.0, float(spread) / SPREAD)
    return np.asarray(topic_map / np.maximum(opinion.mean(0), TINY) ** power)


def learn_in_rounds(
    places: np.ndarray, start: np.ndarray, anchor: np.ndarray, count: int
) -> tuple[Linear, list[float]]:
    """Fit a model to soft targets (N×A), take its answers times `anchor` as the next targets, and so on.

    Rows of `start` with a smaller sum count less. Also return per round the share of answers that stayed.
    """
    weight = start.sum(1, keepdims=True)
    targets, unchanged, before = start, [], start.argmax(1)
    for _ in range(count):
        model = fit_gaussians(places, targets)
        targets = normalise(model(places) * anchor) * weight
        after = targets.argmax(1)
        unchanged.append(float((after == before).mean()))
        before = after
    return model, unchanged


def hardly_answered(
    answers: np.ndarray, aspects: Sequence[str], evidence: Sequence[AspectEvidence]
) -> list[str]:
    """Return the aspects that are the answer of hardly any segment in a sample (probabilities N×A).

    An aspect without any known word is among them, too, unless it is a sure answer at least once.
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
