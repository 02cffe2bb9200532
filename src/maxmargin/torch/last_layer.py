"""The last layer of a tagger, trained convexly on frozen features, with its gap.

Once the encoder is frozen, label scores W h_t + b and transitions are linear in their
weights, and the structured hinge with an L2 penalty is the problem of `ChainSVM`:

    min_w  1/2 ||w||^2 + C sum_i xi_i.

It has one optimum, and the duality gap tells how far from it a solution is at most.
The weights go back into the network.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from maxmargin.core.data.arrays import Floats
from maxmargin.decode.machinery.batch import row_sizes
from maxmargin.estimators.sequences.chain import ChainSVM
from maxmargin.structures.chain.structure import Chain as ChainStructure
from maxmargin.structures.chain.weight_names import input_weights
from maxmargin.torch.layers import StructuredLoss


class LastLayer(NamedTuple):
    """Weights of a last layer, in the order of the labels given."""

    weight: Floats  # (labels, features)
    bias: Floats  # (labels,)
    transitions: Floats  # (labels, labels)
    start: Floats  # (labels,)
    end: Floats  # (labels,)
    gap: float  # no weights have an objective lower by more than this share
    model: ChainSVM

    def load_into(self, linear: nn.Linear, chain: StructuredLoss) -> None:
        """Copy the weights into a network's last layer and its transitions."""
        tables: dict[str, Tensor] = dict(chain.named_parameters(recurse=False))
        named = {
            "transitions": self.transitions,
            "start": self.start,
            "end": self.end,
        }
        with torch.no_grad():
            _copy(linear.weight, self.weight)
            if linear.bias is None:
                raise ValueError("the linear layer must have a bias")
            _copy(linear.bias, self.bias)
            for name, value in named.items():
                if name not in tables:
                    raise ValueError(f"the chain layer does not learn {name!r}")
                _copy(tables[name], value)


def _copy(place: Tensor, value: Floats) -> None:
    if tuple(place.shape) != value.shape:
        raise ValueError(f"a weight of shape {tuple(place.shape)}, not {value.shape}")
    place.copy_(torch.from_numpy(value))


def frozen_features(
    encode: Callable[[Any], tuple[Tensor, Any]], batches: Iterable[Any]
) -> list[Floats]:
    """Hidden states of all sequences, as arrays (tokens, features).

    Parameters
    ----------
    encode : function of a batch
        Returns hidden states (rows, tokens, features), and lengths or a mask.
    batches : iterable
        What `encode` takes, one by one.

    Examples
    --------
    >>> X = frozen_features(lambda x: (x, torch.tensor([2, 1])), [torch.zeros(2, 3, 4)])
    >>> [x.shape for x in X]
    [(2, 4), (1, 4)]
    """
    out: list[Floats] = []
    with torch.no_grad():
        for batch in batches:
            hidden, mask = encode(batch)
            table = hidden.detach().cpu().double().numpy()
            if table.ndim != 3:
                raise ValueError(
                    f"encode returned states of shape {table.shape}: (rows, tokens, "
                    "features) are needed"
                )
            keep = _kept(torch.as_tensor(mask).cpu().numpy(), *table.shape[:2])
            out += [row[m] for row, m in zip(table, keep, strict=True)]
    return out


def _kept(mask: NDArray[Any], rows: int, tokens: int) -> NDArray[np.bool_]:
    """Mask (rows, tokens), also from lengths; it may have gaps, as that of words does."""
    if mask.shape == (rows, tokens):
        return mask.astype(bool)
    lengths = row_sizes(mask, rows, tokens, "the second thing that encode returns")
    return np.arange(tokens) < lengths[:, None]


def retrain_last_layer(
    X: Sequence[Floats],
    y: Sequence[Sequence[Hashable]],
    labels: Sequence[Hashable],
    C: float = 0.2,
    **options: Any,
) -> LastLayer:
    """Train the last layer of a tagger on frozen features.

    Parameters
    ----------
    X : list of arrays (tokens, features)
        Frozen features, see `frozen_features`.
    y : list of sequences of labels
        Names of the labels.
    labels : sequence
        Names in the order of the network's outputs.
    C : float, default=0.2
        Penalty of a violation, as in `maxmargin.ChainSVM`.
    **options
        Of `maxmargin.ChainSVM`: scheme, tol, loss, n_jobs, ...

    Examples
    --------
    >>> X = [np.eye(2), np.eye(2)[:1]]
    >>> last = retrain_last_layer(X, [["a", "b"], ["a"]], ["b", "a"], C=10.0, tol=1e-3)
    >>> last.gap <= 1e-3, last.weight.shape
    (True, (2, 2))
    """
    settings = {"order": 1, **options}  # the only one that a last layer has
    model = ChainSVM(C=C, **settings).fit(list(X), [list(row) for row in y])
    known = list(model.classes_)
    missing = sorted(map(str, set(known) - set(labels)))
    if missing:
        raise ValueError(f"y has the label {missing[0]!r}, which is not among labels")
    structure = model.structure_
    assert isinstance(structure, ChainStructure)
    layout, coef = structure.layout, np.asarray(model.coef_)
    if layout.order != 1 or layout.edge >= 0 or structure.window:
        raise ValueError("a last layer has order=1, window=0 and no edge features")
    k, eta = len(known), float(structure.eta)
    at = np.array([list(labels).index(label) for label in known])
    weight = np.zeros((len(labels), layout.width))
    weight[at] = input_weights(layout, coef, structure.sparse).T
    transitions = np.zeros((len(labels), len(labels)))
    pairs = coef[layout.pairs : layout.pairs + k * k].reshape(k, k)
    transitions[np.ix_(at, at)] = eta * pairs
    parts = {}
    for name, place, scale in (
        ("bias", layout.bias, 1.0), ("start", layout.start, eta), ("end", layout.end, eta),
    ):  # fmt: skip
        parts[name] = np.zeros(len(labels))
        if place >= 0:
            parts[name][at] = scale * coef[place : place + k]
    return LastLayer(
        weight, parts["bias"], transitions, parts["start"], parts["end"],
        float(model.result_.gap), model,
    )  # fmt: skip
