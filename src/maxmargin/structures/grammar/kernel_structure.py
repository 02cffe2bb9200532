"""Grammars whose nodes are scored by a kernel.

    <w, psi(x, y)> = sum over nodes of w[rule] + sum over nodes of <w_c, phi(v)>

where c is the class of the node (its label or its rule), and v has the anchored features
of its span: length, and words or tags at both ends. phi is known by a kernel
K(v, v') = <phi(v), phi(v')> only, so that with a polynomial kernel, say, features of both
ends count together. A span has one score per class, whatever stands in it, so the best
tree is still found by CKY.

[1] Tsochantaridis et al. 2005, section 4.5.1: "each node weight can be a (kernelized)
linear function of the full x and the span of the subtree".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows, pointers
from maxmargin.core.data.validation import FeatureMap, require
from maxmargin.inference.tree.chart import NODE
from maxmargin.structures.grammar.anchors import Anchors, length_bin, spans_of
from maxmargin.structures.grammar.smoothing import known_nodes
from maxmargin.structures.grammar.structure import Grammar, GrammarInputs, SpanRows
from maxmargin.structures.grammar.treebank.productions import Productions


@dataclass(frozen=True, eq=False)
class KernelGrammar(Grammar):
    """Trees of a grammar whose anchored features a map or a kernel may replace.

    Parameters
    ----------
    anchors : tuple of str
        Templates of the features that are compared; all but "split", which is no
        feature of the span alone.

    Examples
    --------
    >>> from maxmargin.kernels import Polynomial, exact
    >>> tree = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> X = [[("the", "DT"), ("cat", "NN"), ("sat", "VBD")]]
    >>> grammar = KernelGrammar(anchors=("first", "last")).bind(X, [tree])
    >>> spans = grammar.input_matrix(grammar.encode(X))
    >>> spans.shape  # six spans, three tags (or an edge) at each end
    (6, 8)
    >>> grammar.mapped(exact(Polynomial(2), spans)[0]).encode(X).spans.vectors.shape
    (6, 6)
    """

    phi: FeatureMap | None = field(default=None, repr=False)

    def _check(self) -> None:
        super()._check()
        if not self.anchors:
            raise ValueError(
                "a kernel compares the anchored features of nodes, but there are none: "
                "give anchors=('length', 'starts', 'ends'), or leave the kernel out"
            )
        if any(template.endswith("split") for template in self.anchors):
            raise ValueError(
                "anchors: 'split' is not a feature of the span of a node, which a kernel "
                "compares: leave it out, or the kernel"
            )

    def _width(self, anchored: Anchors) -> int:
        return anchored.rows if self.phi is None else int(self.phi.width)

    def _weight_count(self, known: Productions, anchored: Anchors) -> int:
        return known.size + self._width(anchored) * anchored.classes

    def validate(self) -> None:
        """The map takes the features of spans."""
        super().validate()
        if self.phi is not None and self.productions is not None:
            fits = self.phi.inputs in (None, self.anchored.rows)
            require(fits, "the map takes other features")

    def encode(self, X: Sequence[Any]) -> GrammarInputs:
        """Sentences, and the features of all their spans as rows, each once."""
        x = super().encode(X)
        spans = distinct_spans(self.anchored, x)
        if self.phi is not None:
            spans = spans._replace(vectors=self.phi(spans.vectors))
        return x._replace(spans=spans)

    def mapped(self, phi: Any) -> Self:
        """The same grammar over phi(v) in place of the features v of a span."""
        over = replace(self, phi=phi)
        dim = over._weight_count(self._productions, self.anchored)
        if dim >= 2**31:
            raise ValueError(
                f"{dim} weights are too many: train on fewer or shorter sentences, or "
                "use anchor_by='label'"
            )
        return replace(over, dim=dim)

    def input_matrix(self, x: GrammarInputs) -> Any:
        """Features of the distinct spans, as rows."""
        return _spans(x).vectors

    def with_inputs(self, x: GrammarInputs, matrix: Any) -> GrammarInputs:
        """The same sentences with other features of their spans."""
        return x._replace(spans=_spans(x)._replace(vectors=matrix))

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of the features of spans (features, classes), and those of rules."""
        rest, inputs = np.split(w, [self._productions.size])
        return inputs.reshape(-1, self.anchored.classes), rest

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""
        return np.concatenate((rest, inputs.ravel()))

    def features(self, x: GrammarInputs, ids: Ints, labels: Ragged) -> Rows:
        """Counts of rules, and the features of the spans of inner nodes by class."""
        known, spans, labels = self._productions, _spans(x), known_nodes(labels)
        nodes = labels.data.reshape(-1, NODE).astype(np.int64)
        owner = np.repeat(np.arange(len(ids)), labels.sizes // NODE)
        start, end, rule = nodes[:, 0], nodes[:, 2], nodes[:, 3]
        classes = np.concatenate((known.rules.rule_class, known.rules.unary_class))
        inner = np.flatnonzero(rule < len(classes))
        number = end * (end + 1) // 2 - 1 - start
        row = spans.row[spans.ptr[ids[owner]] + number][inner]
        found = sp.csr_array(spans.vectors[row])
        place = known.size + found.indices.astype(np.int64) * self.anchored.classes
        place += np.repeat(classes[rule[inner]], np.diff(found.indptr))
        who = np.append(owner, np.repeat(owner[inner], np.diff(found.indptr)))
        order = np.argsort(who, kind="stable")
        return Rows(
            pointers(np.bincount(who, minlength=len(ids))),
            np.append(rule, place)[order].astype(np.int32),
            np.append(np.ones(len(rule)), found.data)[order],
        )

    def _anchor_weights(self, w: Floats) -> Floats:
        return w.reshape(-1, self.anchored.classes)

    def _anchor_tables(self, weight: Floats, x: GrammarInputs, i: int) -> list[Floats]:
        """Scores of all spans of sentence i, in the place of those by length."""
        spans, n = _spans(x), int(x.ptr[i + 1] - x.ptr[i])
        rows = spans.row[spans.ptr[i] : spans.ptr[i + 1]]
        none = np.zeros((n + 1, self.anchored.classes))
        each = np.ascontiguousarray(spans.vectors[rows] @ weight)
        return [none, none, each, none]

    def _anchor_names(self) -> list[str]:
        if self.phi is None:
            return super()._anchor_names()
        return [f"kernel {f}" for f in range(self._width(self.anchored))]


def distinct_spans(anchored: Anchors, x: GrammarInputs) -> SpanRows:
    """Anchored features of all spans as rows of zeros and ones, equal ones once."""
    lengths = np.diff(x.ptr).tolist()
    keys = [np.empty((0, _templates(anchored, x)), np.int64)]
    for i, n in enumerate(lengths):
        start, end = spans_of(n)
        first = int(x.ptr[i]) + i
        bins = length_bin(end - start)[:, None][:, : int(anchored.has_length)]
        parts = bins, x.anchored.start[first + start], x.anchored.end[first + end]
        keys.append(np.hstack(parts).astype(np.int64))
    distinct, row = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    known = distinct >= 0  # values that training has not shown have no feature
    ptr = pointers(known.sum(axis=1))
    shape = len(distinct), anchored.rows
    vectors = sp.csr_array((np.ones(ptr[-1]), distinct[known], ptr), shape)
    vectors.sort_indices()
    counts = [n * (n + 1) // 2 for n in lengths]
    return SpanRows(pointers(counts), row.ravel(), vectors)


def _templates(anchored: Anchors, x: GrammarInputs) -> int:
    places = x.anchored.start.shape[1] + x.anchored.end.shape[1]
    return places + int(anchored.has_length)


def _spans(x: GrammarInputs) -> SpanRows:
    assert x.spans is not None
    return x.spans
