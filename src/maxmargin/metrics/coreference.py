"""Coreference as the official scorer of CoNLL-2011 and 2012 computes it.

Key and response are sets of entities, entities sets of mentions; mentions are anything
hashable, say (sentence, first, last). They need not be the same on both sides: response
mentions that are not in the key ("twinless") cost precision, missed ones recall. A
mention that occurs again in the response, in the same or another entity, is dropped.

    CoNLL score = mean of the F1 of MUC, B-cubed and CEAF of entities (phi 4)

[1] Pradhan et al. 2014, Scoring coreference partitions of predicted mentions.
[2] Vilain et al. 1995 (MUC); Bagga and Baldwin 1998 (B-cubed); Luo 2005 (CEAF).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from maxmargin.metrics.clusters import Counts, Score

Entities = Sequence[Iterable[Hashable]]
Sets = list[frozenset[Hashable]]


class CoreferenceScores(NamedTuple):
    """Scores over all documents."""

    mentions: Score  # how well mentions are found
    muc: Score
    b_cubed: Score
    ceaf_m: Score  # similarity of entities: mentions in common (phi 3)
    ceaf_e: Score  # 2 |a and b| / (|a| + |b|) (phi 4)
    lea: Score
    conll: float


def coreference_scores(
    keys: Sequence[Entities],
    responses: Sequence[Entities],
    *,
    singletons: bool = True,
) -> CoreferenceScores:
    """Scores of responses against keys, documents added up.

    Parameters
    ----------
    keys, responses : sequences of documents
        Of each document its entities: sequences of mentions.
    singletons : bool, default=True
        Whether entities of one mention count, where they are given. CoNLL-2012 has none.

    Examples
    --------
    >>> key, response = [["a"], ["b", "c"], ["d", "e", "f"]], [["a"], ["d", "e"]]
    >>> scores = coreference_scores([key], [response])
    >>> [round(score, 3) for score in scores.muc], round(scores.conll, 3)
    ([1.0, 0.333, 0.5], 0.593)
    """
    if len(keys) != len(responses):
        raise ValueError(f"{len(keys)} keys, but {len(responses)} responses")
    sums = {name: np.zeros(4) for name in MEASURES}
    for i, (key, response) in enumerate(zip(keys, responses, strict=True)):
        true = _entities(key, singletons, f"document {i}")
        found = _entities(_first_only(response), singletons, f"document {i}")
        for name, counts in MEASURES.items():
            sums[name] += counts(true, found)
    scores = {name: _score(*values) for name, values in sums.items()}
    three = (scores["muc"], scores["b_cubed"], scores["ceaf_e"])
    return CoreferenceScores(**scores, conll=sum(s.f1 for s in three) / 3.0)


def entities_of(
    mentions: Sequence[Hashable], clusters: Sequence[Hashable]
) -> list[list[Hashable]]:
    """Entities from the cluster of each mention.

    Examples
    --------
    >>> entities_of(["Ann", "Bob", "she"], [0, 1, 0])
    [['Ann', 'she'], ['Bob']]
    """
    found: dict[Hashable, list[Hashable]] = {}
    for mention, cluster in zip(mentions, clusters, strict=True):
        found.setdefault(cluster, []).append(mention)
    return list(found.values())


def clusters_of(
    mentions: Sequence[Hashable], entities: Entities, where: str = "document"
) -> list[int]:
    """The cluster of each mention, from entities: the reverse of `entities_of`.

    Mentions that are in no entity have clusters of their own. An entity with a mention
    that is not in the list, or that another entity has, is refused.

    Examples
    --------
    >>> clusters_of(["Ann", "Bob", "she"], [["Ann", "she"]])
    [0, 1, 0]
    >>> clusters_of(["Ann", "Bob"], [["Ann", "she"]])
    Traceback (most recent call last):
    ValueError: document, entity 0: 'she' is not one of the 2 mentions
    """
    home: dict[Hashable, int] = {}
    known = set(mentions)
    for k, entity in enumerate(entities):
        for mention in entity:
            at = f"{where}, entity {k}: {mention!r:.60}"
            if mention not in known:
                raise ValueError(f"{at} is not one of the {len(mentions)} mentions")
            if mention in home:
                raise ValueError(f"{at} is in entity {home[mention]}, too")
            home[mention] = k
    number: dict[Hashable, int] = {}
    return [
        number.setdefault(home.get(mention, (t, mention)), len(number))
        for t, mention in enumerate(mentions)
    ]


def _first_only(entities: Entities) -> list[list[Hashable]]:
    """Entities without mentions that have occurred before."""
    seen: set[Hashable] = set()
    out = []
    for entity in entities:
        kept = []
        for mention in entity:
            if mention not in seen:
                seen.add(mention)
                kept.append(mention)
        out.append(kept)
    return out


def _entities(entities: Entities, singletons: bool, where: str) -> Sets:
    out = [frozenset(entity) for entity in entities]
    total, union = sum(map(len, out)), len(frozenset().union(*out)) if out else 0
    if total != union:
        raise ValueError(f"{where}: a mention of the key is in two entities")
    return [entity for entity in out if len(entity) > (0 if singletons else 1)]


def _score(p: float, P: float, r: float, R: float) -> Score:
    precision, recall = p / P if P else 0.0, r / R if R else 0.0
    both = precision + recall
    return Score(
        float(precision),
        float(recall),
        float(2 * precision * recall / both) if both else 0.0,
    )


def _mention_counts(key: Sets, response: Sets) -> Counts:
    true, found = frozenset().union(*key), frozenset().union(*response)
    both = float(len(true & found))
    return both, float(len(found)), both, float(len(true))


def _muc_counts(key: Sets, response: Sets) -> Counts:
    """Links kept: |entity| less the parts that the other side divides it into."""

    def links(entities: Sets, others: Sets) -> tuple[float, float]:
        home = {mention: k for k, other in enumerate(others) for mention in other}
        kept = 0
        for entity in entities:
            alone = sum(mention not in home for mention in entity)
            parts = len({home[mention] for mention in entity if mention in home})
            kept += len(entity) - alone - parts
        return float(kept), float(sum(len(entity) - 1 for entity in entities))

    return (*links(response, key), *links(key, response))


def _b_cubed_counts(key: Sets, response: Sets) -> Counts:
    def shares(entities: Sets, others: Sets) -> tuple[float, float]:
        total = sum(
            len(entity & other) ** 2 / len(entity)
            for entity in entities
            for other in others
            if entity & other
        )
        return float(total), float(sum(map(len, entities)))

    return (*shares(response, key), *shares(key, response))


def _ceaf_counts(key: Sets, response: Sets, entities: bool) -> Counts:
    alike = np.array(
        [[float(len(a & b)) for b in response] for a in key], dtype=np.float64
    ).reshape(len(key), len(response))
    sizes = [float(sum(map(len, response))), float(sum(map(len, key)))]
    if entities:
        a, b = (
            np.array([len(e) for e in side], dtype=float) for side in (key, response)
        )
        alike = 2.0 * alike / np.maximum(a[:, None] + b[None, :], 1.0)
        sizes = [float(len(response)), float(len(key))]
    value = float(alike[scipy.optimize.linear_sum_assignment(-alike)].sum())
    return value, sizes[0], value, sizes[1]


def _ceaf_m_counts(key: Sets, response: Sets) -> Counts:
    return _ceaf_counts(key, response, entities=False)


def _ceaf_e_counts(key: Sets, response: Sets) -> Counts:
    return _ceaf_counts(key, response, entities=True)


def _lea_counts(key: Sets, response: Sets) -> Counts:
    """Resolved share of the links of an entity, weighted by its size.

    Moosavi and Strube 2016: a singleton has one link, to itself.
    """

    def resolved(entities: Sets, others: Sets) -> tuple[float, float]:
        total = 0.0
        for entity in entities:
            if len(entity) == 1:
                total += float(entity in others)
                continue
            kept = sum(len(entity & b) * (len(entity & b) - 1) / 2 for b in others)
            total += len(entity) * kept / (len(entity) * (len(entity) - 1) / 2)
        return total, float(sum(map(len, entities)))

    return (*resolved(response, key), *resolved(key, response))


MEASURES: dict[str, Callable[[Sets, Sets], Counts]] = {
    "mentions": _mention_counts,
    "muc": _muc_counts,
    "b_cubed": _b_cubed_counts,
    "ceaf_m": _ceaf_m_counts,
    "ceaf_e": _ceaf_e_counts,
    "lea": _lea_counts,
}
