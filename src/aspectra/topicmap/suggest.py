"""The one function that suggests a map, whoever asks, and proposals for names when there are none.

`suggest` takes the best evidence it is given: labelled segments (`by_labels`), else the aspects' names and
what else is said of them (`by_names`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aspectra.arrays import unit
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.names_sample import NamesSample
from aspectra.config import GENERAL
from aspectra.corpus import Vocabulary
from aspectra.topicmap.by_labels import LabelledSegments, suggest_by_labels
from aspectra.topicmap.by_names import Suggested, suggest_by_names
from aspectra.topicmap.calibrate import FOLDS
from aspectra.topicmap.topicmap import Suggestion
from aspectra.topics import Topics
from aspectra.vectors import WordVectors

FEWEST_GROUPS, MOST_GROUPS = 3, 9


def suggest(
    topics: Topics,
    aspects: Sequence[Aspect],
    sample: NamesSample | None,
    labelled: LabelledSegments | None = None,
    seed: int = 0,
    strict: bool = True,
    choices: Mapping[int, str | None] | None = None,
) -> Suggested:
    """Suggest an aspect, General or nothing for each topic, in their order.

    Unless `strict`, labels of other aspects are skipped instead of refused. Where nothing is left to go by, a
    topic gets a suggestion without aspect and reason. `choices` are a person's, which names respect.
    """
    names = [aspect.name for aspect in aspects]
    if not strict:
        labelled, names = usable_labels(labelled, names)
    if labelled is not None:
        return Suggested(suggest_by_labels(labelled, names, seed))
    if sample is None or not any(aspect.name != GENERAL for aspect in aspects):
        return Suggested([Suggestion(item.id, None, "general", 0.0, "") for item in topics.items])
    return suggest_by_names(topics, aspects, sample, choices)


def usable_labels(
    labelled: LabelledSegments | None, aspects: Sequence[str]
) -> tuple[LabelledSegments | None, list[str]]:
    """Keep the labels of these aspects and General, if enough, and return the aspects to search with."""
    allowed = {*aspects, GENERAL}
    rows = [row for row, names in enumerate(labelled.gold) if names & allowed] if labelled else []
    if labelled is None or len(rows) < FOLDS or not aspects:
        return None, []
    gold = [labelled.gold[row] & allowed for row in rows]
    return LabelledSegments(labelled.beta[rows], gold), sorted(set().union(*gold) | set(aspects))


def propose_aspects(
    topics: Topics, matrix: np.ndarray, vocabulary: Vocabulary, vectors: WordVectors
) -> list[tuple[str, list[int]]]:
    """Group similar topics (matrix, K×D) and name each group by a frequent keyword near its middle.

    Return (name, topics), the group with the largest share first.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    shares = np.array([item.share for item in topics.items])
    directions = unit(matrix)
    n_groups = min(MOST_GROUPS, max(FEWEST_GROUPS, len(matrix) // 3))
    group_of = fcluster(linkage(directions, "ward"), n_groups, "maxclust")
    groups = [np.flatnonzero(group_of == group) for group in np.unique(group_of)]
    groups.sort(key=lambda members: -float(shares[members].sum()))
    named: dict[str, list[int]] = {}
    for members in groups:
        middle = (directions[members] * (shares[members, None] + 1e-6)).sum(0)
        keywords = [word for topic in members.tolist() for word in topics.items[topic].keywords]
        candidates = [word for word in keywords if word.isalpha() and word.title() not in named]
        if candidates:
            name = best_name(candidates, middle, vocabulary, vectors.matrix).title()
            named[name] = members.tolist()
    return list(named.items())


def best_name(words: Sequence[str], middle: np.ndarray, vocabulary: Vocabulary, vectors: np.ndarray) -> str:
    """Return the word nearest to the middle by cosine, frequent words before rare ones."""
    rows = [vocabulary.index[word] for word in words]
    near = unit(vectors[rows]) @ middle
    return words[int((near * np.log1p(np.array(vocabulary.counts)[rows])).argmax())]
