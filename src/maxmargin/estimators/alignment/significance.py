"""How often chance aligns two sequences as well: p-values and E-values of local scores.

The best local score S of random sequences of lengths m and n has an extreme-value
distribution [1],

    P(S >= s) = 1 - exp(-K m n exp(-lambda s)),

whose two numbers are fitted by maximum likelihood to scores of shuffled sequences.

This holds where matches of random letters and gaps lower a score, so that the score grows
with the logarithm of the length. Scores of a global model are determined only up to a
constant per letter: `local_shift` chooses one that brings them into this region.

[1] Karlin and Altschul 1990. [2] Altschul and Gish 1996.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.foreign.biopython_records import from_biopython
from maxmargin.core.data.validation import check_positive, check_types
from maxmargin.core.data.warned import warn
from maxmargin.structures.alignment.inputs.views import View
from maxmargin.structures.alignment.paths import match_counts
from maxmargin.structures.alignment.structure import Alignment

MANY = 0.5  # share of the shorter sequence that random alignments match at most
FEW = 0.1  # the same where a shift is chosen
SHUFFLED = 40  # pairs to choose a shift with


class ChanceScores(NamedTuple):
    """The distribution of the best local score of two random sequences.

    Fields are called as in BLAST; `lam` is lambda.
    """

    lam: float
    K: float

    def validate(self) -> None:
        """Two positive numbers."""
        check_types(self)
        check_positive(self.lam, "lambda")
        check_positive(self.K, "K")

    def p_values(self, scores: Floats, space: Floats) -> Floats:
        """Probability of such a score or a higher one; `space` is m n.

        Examples
        --------
        >>> random = ChanceScores(lam=1.0, K=1.0)
        >>> random.p_values(np.array([5.0, 7.0]), np.array([100.0, 100.0])).round(3)
        array([0.49 , 0.087])
        """
        height = np.log(self.K * space) - self.lam * scores
        out: Floats = -np.expm1(-np.exp(np.clip(height, -700.0, 700.0)))
        return out


def fit_distribution(scores: Floats, space: Floats) -> ChanceScores:
    """Maximum likelihood from scores of random pairs and their m n.

    Given lambda, the best K is n / sum(space * exp(-lambda * score)).
    """
    begin = np.pi / (np.sqrt(6.0) * max(float(np.std(scores)), 1e-12))
    low = float(scores.min())

    def log_K(lam: float) -> float:
        total = np.log(space) - lam * (scores - low)
        most = float(total.max())
        return -most - float(np.log(np.mean(np.exp(total - most)))) + lam * low

    def loss(size: float) -> float:
        lam = begin * float(np.exp(size))
        height = log_K(lam) + np.log(space) - lam * scores
        return float(np.mean(-np.log(lam) - height + np.exp(height)))

    found = scipy.optimize.minimize_scalar(loss, bounds=(-4.0, 4.0), method="bounded")
    lam = begin * float(np.exp(found.x))
    return ChanceScores(lam, float(np.exp(log_K(lam))))


def shuffle(sequence: Any, rng: np.random.Generator) -> Any:
    """The positions of a sequence in random order, all tracks alike.

    Examples
    --------
    >>> sorted(shuffle("HEAG", np.random.default_rng(0)))
    ['A', 'E', 'G', 'H']
    """
    sequence = from_biopython(sequence)
    if not hasattr(sequence, "keys"):
        return _permuted(sequence, rng.permutation(len(sequence)))
    tracks = {k: v for k, v in sequence.items() if k != "name"}
    order = rng.permutation(len(next(iter(tracks.values()))))
    return {k: _permuted(v, order) for k, v in tracks.items()}


def _permuted(values: Any, order: Ints) -> Any:
    if isinstance(values, np.ndarray):
        return values[order]
    letters = [values[k] for k in order.tolist()]
    return "".join(letters) if isinstance(values, str) else letters


def shuffled_pairs(
    pairs: Sequence[Any], n: int, rng: np.random.Generator
) -> list[tuple[Any, Any]]:
    """Pairs of shuffled sequences, drawn from given pairs with their lengths."""
    drawn = rng.integers(len(pairs), size=n).tolist()
    return [(shuffle(pairs[k][0], rng), shuffle(pairs[k][1], rng)) for k in drawn]


def raw_scores(
    alignment: Alignment, pairs: Sequence[Any], w: Floats
) -> tuple[Floats, Floats, Floats]:
    """Best scores that are not divided by lengths, m n, and the share that is matched."""
    x = alignment.encode(pairs)
    found = alignment.argmax(x, np.arange(x.n), w)
    rows, cols = x.sizes
    scores = found.score * (rows + cols if alignment.normalize else 1.0)
    matched = match_counts(found.labels)
    space: Floats = (rows * cols).astype(np.float64)
    return scores, space, np.array(matched) / np.minimum(rows, cols)


class Significance:
    """p-values and E-values of `AlignmentSVM` and `HomologySVM`."""

    coef_: Floats
    score_distribution_: ChanceScores

    def _local_alignment(self) -> Alignment:
        """The structure that aligns one pair."""
        raise NotImplementedError

    def _all_pairs(self, X: Any) -> tuple[list[Any], list[int]]:
        """All pairs of the inputs, and how many each input has."""
        raise NotImplementedError

    def fit_evalues(self, X: Any, *, n: int = 500, random_state: int = 0) -> Self:
        """Learn how high chance scores; `p_values` and `evalues` then work.

        Parameters
        ----------
        X : inputs as in `fit`
            Their sequences are shuffled. Take some of the composition that you will align.
        n : int
            Number of shuffled pairs. With 500 the logarithm of a small p-value is right to
            some 5 %.
        random_state : int
            Seed of the shuffling.
        """
        check_is_fitted(self, "coef_")
        alignment = self._local_alignment()
        if alignment.mode != "local":
            raise ValueError(
                f"E-values are about local scores, and this model has mode="
                f"{alignment.mode!r}: use model.as_local(X)"
            )
        if n < 20:
            raise ValueError(f"n={n}: at least 20 shuffled pairs are needed")
        pairs, _ = self._all_pairs(X)
        if not pairs:
            raise ValueError("there are no sequences to shuffle")
        rng = np.random.default_rng(random_state)
        drawn = shuffled_pairs(pairs, n, rng)
        scores, space, matched = raw_scores(alignment, drawn, self.coef_)
        if np.ptp(scores) == 0.0:
            raise ValueError(
                f"all shuffled pairs score {scores[0]:.3g}: the model does not align "
                "random sequences at all"
            )
        if np.mean(matched) > MANY:
            warn(
                f"random sequences are matched over {np.mean(matched):.0%} of their "
                "length, so their scores grow with the length and have another "
                "distribution: p-values are rough",
            )
        self.score_distribution_ = fit_distribution(scores, space)
        return self

    def _flat_p_values(self, X: Any) -> tuple[Floats, list[int]]:
        check_is_fitted(self, "coef_")
        if not hasattr(self, "score_distribution_"):
            raise NotFittedError(
                "p-values need the scores of random sequences: call fit_evalues(X)"
            )
        pairs, sizes = self._all_pairs(X)
        scores, space, _ = raw_scores(self._local_alignment(), pairs, self.coef_)
        return self.score_distribution_.p_values(scores, space), sizes


def shifted(alignment: Alignment, w: Floats, shift: float) -> Floats:
    """Weights under which each match costs `shift` more, and each gap letter half of it.

    Global alignments of two sequences all lose the same, so the best stays the best.
    """
    at = _constant(alignment)
    if at is None:
        raise ValueError(
            "a constant per letter cannot be subtracted: the model needs a pair of letter "
            "tracks with a score for each pair of letters, and gap costs that do not "
            "depend on letters"
        )
    matches, gaps = at
    out = np.array(w, dtype=np.float64)
    out[matches] -= shift
    out[gaps] -= shift / 2.0
    return out


def _constant(alignment: Alignment) -> tuple[Ints, Ints] | None:
    """Weights of which each match, and each letter in a gap, has exactly one."""
    layout, symbols = alignment.layout, alignment.symbols
    assert layout is not None
    tied = len(layout.home) > 0
    home: Ints = layout.home.astype(np.int64) if tied else np.arange(alignment.dim)
    offset = 0
    matches: Ints | None = None
    for pair in alignment.pairs:
        size = symbols.size(pair.left) * symbols.size(pair.right)
        plain = pair.table is None and not (pair.left.real or pair.right.real)
        if plain and matches is None:
            matches = np.unique(home[offset : offset + size])
        offset += size
    views = [alignment.gaps.opening]
    views += [alignment.gaps.extension] if alignment.gaps.affine else []
    if matches is None or not all(View() in described for described in views):
        return None
    rows = np.concatenate([layout.left_gaps, layout.right_gaps])
    letters = [row for row in rows if row[1] == 0 and _is_any(alignment, row)]
    first = {int(home[row[3]]) for row in letters}
    return matches, np.array(sorted(first), np.int64)


def _is_any(alignment: Alignment, row: Ints) -> bool:
    """Whether a row of the gap tables has one weight for all letters, of its own."""
    layout = alignment.layout
    assert layout is not None
    unit = len(layout.factor) == 0 or layout.factor[row[3]] == 1.0
    views = [v for v in alignment._views(0) if not v.real]
    return bool(unit and views[row[2]] == View())


def local_shift(
    alignment: Alignment, w: Floats, pairs: Sequence[Any], random_state: int = 0
) -> float:
    """The least shift at which random sequences are hardly aligned."""
    rng = np.random.default_rng(random_state)
    drawn = shuffled_pairs(pairs, SHUFFLED, rng)
    x = alignment.encode(drawn)
    ids = np.arange(x.n)

    def matched(shift: float) -> float:
        labels = alignment.argmax(x, ids, shifted(alignment, w, shift)).labels
        rows, cols = x.sizes
        counts = match_counts(labels)
        return float(np.mean(counts / np.minimum(rows, cols)))

    size = float(np.abs(w).max()) or 1.0
    low, high = 0.0, size
    if matched(low) <= FEW:
        return 0.0
    for _ in range(20):
        if matched(high) <= FEW:
            break
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (low, middle) if matched(middle) <= FEW else (middle, high)
    return high
