"""What the program trec_eval prints, under its names.

Documents are sorted by falling score, equal scores by falling name of the document, as
trec_eval does; ranks in the run file do not count. Documents that were not judged are
not relevant. Means are over the queries that have both judgements and results, unless
`complete` is set (-c of trec_eval: queries without results count as zero).

    map         mean of the precision at each relevant document, over all relevant ones
    Rprec       precision at R, the number of relevant documents
    recip_rank  1 / place of the first relevant document
    P_k, recall_k   relevant documents among the first k, over k or over R
    ndcg, ndcg_cut_k    gain = grade, discount 1 / log2(place + 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
SUMS = ("num_q", "num_ret", "num_rel", "num_rel_ret")  # added up, not averaged

Judgements = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


class TrecScores(dict[str, float]):
    """Measures by name over all queries; `queries` has those of each query."""

    queries: dict[str, dict[str, float]]

    def __str__(self) -> str:
        """The lines that trec_eval prints."""
        return "\n".join(
            f"{name:<22}\tall\t" + (f"{v:.0f}" if name in SUMS else f"{v:.4f}")
            for name, v in self.items()
        )


def trec_eval(
    qrels: Judgements, run: Run, cuts: Sequence[int] = CUTS, complete: bool = False
) -> TrecScores:
    """Evaluate a run as trec_eval does.

    Parameters
    ----------
    qrels : mapping
        Grade of each judged document of each query; above zero is relevant.
    run : mapping
        Score of each retrieved document of each query.
    cuts : sequence of int
        The k of P_k, recall_k and ndcg_cut_k.
    complete : bool
        Whether judged queries without results count as zero; otherwise they are left out.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5},
    ...        "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    >>> found = trec_eval(qrels, run)
    >>> round(found["map"], 4), round(found.queries["q2"]["ndcg"], 4)
    (0.4583, 0.6934)
    """
    if any(k < 1 for k in cuts):
        raise ValueError(f"cuts={list(cuts)!r}: places are counted from 1")
    each = {
        q: _measures(qrels[q], run.get(q, {}), cuts, q)
        for q in qrels
        if complete or q in run
    }
    if not each:
        raise ValueError("no query of the run has judgements: are the names the same?")
    names = list(next(iter(each.values())))
    out = TrecScores(num_q=float(len(each)))
    for name in names:
        values = [row[name] for row in each.values()]
        out[name] = float(np.sum(values) if name in SUMS else np.mean(values))
    out.queries = each
    return out


def _measures(
    judged: Mapping[str, Any],
    found: Mapping[str, Any],
    cuts: Sequence[int],
    query: str,
) -> dict[str, float]:
    """All measures of one query."""
    for document, score in found.items():
        if not np.isfinite(score):
            raise ValueError(f"query {query!r}, document {document!r}: score {score}")
    order = sorted(found, reverse=True)  # equal scores: the later name first
    order.sort(key=lambda document: -float(found[document]))
    grades = np.array([judged.get(document, 0) for document in order], np.float64)
    gain = np.maximum(grades, 0.0)
    best = np.sort([float(g) for g in judged.values() if g > 0])[::-1]
    hit = gain > 0.0
    places = np.flatnonzero(hit) + 1.0
    relevant, seen = float(len(best)), np.cumsum(hit)
    some = max(relevant, 1.0)  # no division by zero: without any all are zero
    out = {
        "num_ret": float(len(order)),
        "num_rel": relevant,
        "num_rel_ret": float(hit.sum()),
        "map": float((np.arange(1, len(places) + 1) / places).sum() / some),
        "Rprec": float(hit[: len(best)].sum() / some),
        "recip_rank": float(1.0 / places[0]) if len(places) else 0.0,
    }
    for k in cuts:
        out[f"P_{k}"] = float(hit[:k].sum() / k)
    for k in cuts:
        out[f"recall_{k}"] = float(seen[min(k, len(seen)) - 1] / some) if order else 0.0
    out["ndcg"] = _ndcg(gain, best, max(len(gain), len(best)))
    for k in cuts:
        out[f"ndcg_cut_{k}"] = _ndcg(gain, best, k)
    return out


def _ndcg(gain: Any, best: Any, k: int) -> float:
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = float(best[:k] @ discount[: len(best)])
    return float(gain[:k] @ discount[: len(gain)]) / ideal if ideal > 0.0 else 0.0
