"""The weights of a chain as tables: features by label, transitions, CRFsuite's names."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.reports.explanation import Explanation
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.weight_names import input_weights

Pair = tuple[Hashable, Hashable]


class ChainInfo(NamedTuple):
    """What a model has learned, under the names of CRFsuite's `tagger.info()`."""

    transitions: dict[Pair, float]
    state_features: dict[tuple[str, Hashable], float]
    labels: dict[Hashable, int]
    attributes: dict[str, int]


def chain_info(chain: Chain, w: Floats) -> ChainInfo:
    """All weights by name, the largest first; zeros are left out."""
    return ChainInfo(
        {pair: v for pair, v in transition_weights(chain, w).items() if v},
        state_weights(chain, w),
        {label: k for k, label in enumerate(chain.labels)},
        {name: j for j, name in enumerate(chain.inputs())},
    )


def transition_weights(chain: Chain, w: Floats) -> dict[Pair, float]:
    """Score of each pair of neighbouring labels, largest first."""
    k, at = len(chain.labels), chain.layout.pairs
    flat = float(chain.eta) * w[at : at + k * k]
    order = np.argsort(-flat, kind="stable")
    name = chain.labels
    return {(name[j // k], name[j % k]): float(flat[j]) for j in order}


def state_weights(chain: Chain, w: Floats) -> dict[tuple[str, Hashable], float]:
    """Weight of each feature for each label, largest first; zeros are left out."""
    table, names = input_weights(chain.layout, w, chain.sparse), chain.inputs()
    rows, columns = np.nonzero(table)
    order = np.argsort(-table[rows, columns], kind="stable")
    return {
        (names[rows[q]], chain.labels[columns[q]]): float(table[rows[q], columns[q]])
        for q in order
    }


def top_features(
    chain: Chain, w: Floats, label: Hashable, n: int
) -> list[tuple[str, float]]:
    """The n features with the largest weights for a label; smallest if n < 0."""
    if label not in chain.labels:
        raise ValueError(f"unknown label {label!r}; see classes_")
    table = input_weights(chain.layout, w, chain.sparse)
    column, names = table[:, chain.labels.index(label)], chain.inputs()
    order = np.argsort(-column if n >= 0 else column, kind="stable")[: abs(n)]
    return [(names[j], float(column[j])) for j in order]


def with_rivals(
    plain: Explanation, labels: Sequence[Hashable], best: Floats
) -> Explanation:
    """An explanation whose tokens have their label, the best other one and the margin.

    `best` has the score of the best sequence for each token and label.
    """
    parts = []
    for part, y, row in zip(plain.parts, plain.output, best, strict=True):
        others = row.copy()
        others[labels.index(y)] = -np.inf
        k = int(np.argmax(others))
        margin = float(row[labels.index(y)] - others[k])
        parts.append(replace(part, label=y, rival=labels[k], margin=margin))
    return replace(plain, parts=tuple(parts))
