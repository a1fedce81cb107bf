"""Names to start from when the person has none: groups of similar topics, each named by a frequent keyword near its middle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aspectra.corpus import Vocabulary

FEWEST, MOST = 3, 9


def propose_aspects(
    topics: np.ndarray,
    shares: np.ndarray,
    keywords: Sequence[Sequence[str]],
    vocabulary: Vocabulary,
    vectors: np.ndarray,
) -> list[tuple[str, list[int]]]:
    """Return (name, topics) for groups of the topics (K×D), the largest share first; vectors (V×D) are the vocabulary's."""
    from scipy.cluster.hierarchy import fcluster, linkage

    unit = topics / np.maximum(np.linalg.norm(topics, axis=1, keepdims=True), 1e-12)
    n_groups = min(MOST, max(FEWEST, len(topics) // 3))
    group_of = fcluster(linkage(unit, "ward"), n_groups, "maxclust")
    groups = [np.flatnonzero(group_of == group) for group in np.unique(group_of)]
    groups.sort(key=lambda members: -float(shares[members].sum()))
    named: dict[str, list[int]] = {}
    for members in groups:
        middle = (unit[members] * (shares[members, None] + 1e-6)).sum(0)
        candidates = [
            word
            for topic in members.tolist()
            for word in keywords[topic]
            if word.isalpha() and word.title() not in named
        ]
        if candidates:
            named[best_name(candidates, middle, vocabulary, vectors).title()] = members.tolist()
    return list(named.items())


def best_name(words: Sequence[str], middle: np.ndarray, vocabulary: Vocabulary, vectors: np.ndarray) -> str:
    """Return the word nearest to the middle by cosine, frequent words before rare ones."""
    rows = [vocabulary.index[word] for word in words]
    near = vectors[rows] @ middle / np.maximum(np.linalg.norm(vectors[rows], axis=1), 1e-12)
    return words[int((near * np.log1p(np.array(vocabulary.counts)[rows])).argmax())]
