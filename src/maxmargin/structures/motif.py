"""A motif at an unknown place in a sequence of bases or amino acids.

An output y is 1 (the sequence holds the motif) or 0; the hidden part h is where the motif
starts, and on which strand. Features are summed over the bases: those under the motif
count in a position-specific weight matrix of length l, all others in a Markov background
of order 0 to 3 (proteins: 0 or 1),

    psi(x, 1, h) = sum_{j<l} e[j, x_{h+j}] + sum_{i outside} e[x_{i-order} .. x_i]
    psi(x, 0)    = sum_i e[x_{i-order} .. x_i].

The background outside the motif cancels in every difference, so a plane has at most 4l
entries. A row is (y, start, strand); (1, -1, 0) is a motif not placed yet, (0, 0, 0)
no motif. Letters that are none of the 4 bases, or 20 amino acids, carry no features.

[1] Yu 2011, section 5.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.foreign.biopython_records import letters_of
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Answer,
    Augment,
    Found,
    Layers,
    Pieces,
    Structure,
)
from maxmargin.inference.motif_sampler import log_background, markov, sample

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}
OTHERS = {"dna": "NRYSWKMBDHVX-.", "protein": "XBZJUO*-."}  # known to be unknown
ORDERS = {"dna": 3, "protein": 1}  # of the background at most
PSEUDO = 0.5  # added to each count of a letter while sampling places


def _codes(alphabet: str) -> Labels:
    """The number of each byte: of letters in either case, and of unknown ones; or -1."""
    out = np.full(256, -1, np.int32)
    known = [*LETTERS[alphabet]]
    for letter in OTHERS[alphabet]:
        out[ord(letter)] = out[ord(letter.lower())] = len(known)
    for code, letter in enumerate(known):
        out[ord(letter)] = out[ord(letter.lower())] = code
    if alphabet == "dna":
        out[ord("U")] = out[ord("u")] = out[ord("T")]
    return out


_CODES = {alphabet: _codes(alphabet) for alphabet in LETTERS}


class Bases(NamedTuple):
    """Encoded inputs."""

    ptr: Ints  # (n + 1,)
    letter: Labels  # (bases,) from 0 on; the number of letters if unknown
    context: Labels  # (bases,) background feature, or -1

    @property
    def n(self) -> int:
        """Number of sequences."""
        return len(self.ptr) - 1


@dataclass(frozen=True)
class Motif(Structure):
    """Motif or none, and where.

    Parameters
    ----------
    length : int
        Bases in the motif.
    order : int
        Order of the Markov background, 0 to 3.
    both_strands : bool
        Whether the motif may also lie on the reverse strand.
    sweeps : int
        Sweeps of Gibbs sampling that `guess` makes; 0 for uniform places.
    alphabet : {"dna", "protein"}
        Bases, or the twenty amino acids, which have one strand and a background of order
        0 or 1.
    """

    length: int = 11
    order: int = 3
    both_strands: bool = False
    sweeps: int = 50
    alphabet: str = "dna"
    losses: ClassVar[tuple[LossForm, ...]] = ("motif",)

    @property
    def letters(self) -> str:
        """The letters, in the order of the columns of the matrix."""
        return LETTERS[self.alphabet]

    @property
    def k(self) -> int:
        """Number of letters; that of an unknown one."""
        return len(self.letters)

    @property
    def dim(self) -> int:
        """Length of w: the matrix first, then the background of orders 0 to `order`."""
        k, order = (
            self.k,
            min(self.order, max(ORDERS.values())),
        )  # as `validate` wants it
        return k * self.length + (k ** (order + 2) - k) // (k - 1)

    def validate(self) -> None:
        """Sizes within what the loops are written for."""
        check_types(self)
        require(0 < self.length < 2**24, f"length={self.length} is out of range")
        require(self.alphabet in LETTERS, f"alphabet={self.alphabet!r} is not known")
        most = ORDERS[self.alphabet]
        require(
            0 <= self.order <= most, f"order={self.order} is not one of 0 to {most}"
        )
        require(self.alphabet == "dna" or not self.both_strands, "proteins: one strand")
        require(0 <= self.sweeps < 2**24, f"sweeps={self.sweeps} is out of range")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Check the sizes; nothing has to be learnt from the data."""
        if self.length < 1:
            raise ValueError(f"length={self.length}: a motif has at least one letter")
        if not isinstance(self.alphabet, str) or self.alphabet not in LETTERS:
            raise ValueError(
                f"alphabet={self.alphabet!r} is neither 'dna' nor 'protein'"
            )
        most = ORDERS[self.alphabet]
        if self.order not in range(most + 1):
            raise ValueError(
                f"order={self.order}: the background of {self.alphabet} sequences has "
                f"order 0 to {most}"
            )
        if self.alphabet != "dna" and self.both_strands:
            raise ValueError("both_strands=True: proteins have one strand")
        for i, x in enumerate(X):
            if not hasattr(x, "__len__"):
                raise ValueError(f"sequence {i} is {x!r}, not a string of letters")
        if all(len(x) < self.length for x in X):
            raise ValueError(
                f"a motif of length {self.length} is longer than every sequence"
            )
        return self

    def encode(self, X: Sequence[Any]) -> Bases:
        """Strings of letters, in either case, or sequences of Biopython."""
        if isinstance(X, str):
            raise ValueError("X is one string, not a list of sequences: write [X]")
        if not hasattr(X, "__iter__"):
            raise TypeError(f"X is one {type(X).__name__}, not a list of sequences")
        X = rows_of_frame(X, [1], "the sequences")
        codes = [_encode(s, i, self.alphabet) for i, s in enumerate(X)]
        letter = np.concatenate(codes) if codes else np.empty(0, np.int32)
        ptr = pointers([len(c) for c in codes])
        return Bases(ptr, letter, _contexts(ptr, letter, self.order, self.k))

    def encode_labels(self, x: Bases, Y: Sequence[Any]) -> Ragged:
        """Labels 0 or 1, or (label, start, strand) where the place is known."""
        rows = np.zeros((len(Y), 3), np.int32)
        sizes = np.diff(x.ptr)
        for i, y in enumerate(Y):
            label, start, strand = (
                (int(y[0]), int(y[1]), int(y[2])) if np.ndim(y) else (int(y), -1, 0)
            )
            if label not in (0, 1):
                raise ValueError(f"sequence {i}: label {y!r} is neither 0 nor 1")
            if label and sizes[i] < self.length:
                raise ValueError(
                    f"sequence {i} has {sizes[i]} bases and cannot hold a motif of "
                    f"length {self.length}, but its label says that it does"
                )
            if label and start > sizes[i] - self.length:
                raise ValueError(f"sequence {i}: no motif can start at {start}")
            rows[i] = (1, start, strand) if label else 0
        return Ragged.pack(rows)

    def decode_labels(self, x: Bases, labels: Ragged) -> list[int]:
        """The labels; places are in the rows."""
        return labels.data.reshape(-1, 3)[:, 0].tolist()

    def features(self, x: Bases, ids: Ints, labels: Ragged) -> Rows:
        """Matrix entries under the motif, background entries elsewhere."""
        rows = labels.data.reshape(-1, 3)
        return Rows(*_features(*x, ids, rows, self.length, self.k))

    def argmax(
        self, x: Bases, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best place of a motif against none."""
        place, gain = self._places(x, ids, w)
        if augment is None:
            without, within = np.zeros(len(ids)), gain
        else:
            label = augment.truth.data[augment.truth.ptr[:-1]][ids]
            cost = augment.weight[ids, None] * augment.loss.table[label]
            without, within = cost[:, 0], gain + cost[:, 1]
        seen = within > without
        labels = np.where(seen[:, None], place, np.int32(0))
        score = np.where(seen, within, without)
        score = score + _background(*x, ids, w, self.length, self.k)
        return Found(_rows(labels), score, score)

    def cuts(self, x: Bases, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Differences of the windows alone."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        rows, true_rows = found.labels.data.reshape(-1, 3), truth.data.reshape(-1, 3)
        dpsi = Rows(*_differences(*x, ids, true_rows, rows, self.length, self.k))
        delta = augment.loss.value(truth, found.labels)
        return Answer(
            found.labels, dpsi, delta, augment.weight[ids] * delta - dpsi.dot(w)
        )

    def argmax_by_loss(
        self, x: Bases, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """The best placed motif and none: one of them has the true label."""
        place, gain = self._places(x, ids, w)
        base = _background(*x, ids, w, self.length, self.k)
        label = augment.truth.data[augment.truth.ptr[:-1]][ids]
        cost = augment.loss.table[label]
        fits = np.isfinite(gain)
        ptr = pointers(1 + fits)
        rows = np.zeros((ptr[-1], 3), np.int32)
        score, loss = np.zeros(ptr[-1]), np.zeros(ptr[-1])
        score[ptr[:-1]], loss[ptr[:-1]] = base, cost[:, 0]
        second = ptr[:-1][fits] + 1
        rows[second] = place[fits]
        score[second], loss[second] = (base + gain)[fits], cost[fits, 1]
        return Layers(ptr, _rows(rows), score, loss)

    def complete(self, x: Bases, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Best place of the motif where there is one."""
        place, _ = self._places(x, ids, w)
        label = truth.data[truth.ptr[:-1]][ids]
        return _rows(np.where(label[:, None] == 1, place, np.int32(0)))

    def check_completed(self, x: Bases, truth: Ragged, completed: Ragged) -> None:
        """Labels are unchanged, and motifs lie within their sequences."""
        require(np.array_equal(truth.ptr, completed.ptr), NOT_COMPLETED)
        true, rows = truth.data.reshape(-1, 3), completed.data.reshape(-1, 3)
        last = np.where(true[:, 0] == 1, np.diff(x.ptr) - self.length, 0)
        fits = (rows[:, 1] >= -1) & (rows[:, 1] <= last)
        strand = (rows[:, 2] >= 0) & (rows[:, 2] <= 1)
        whole = (rows[:, 0] == true[:, 0]) & fits & strand
        require(whole.all(), NOT_COMPLETED)

    def guess(self, x: Bases, truth: Ragged, rng: np.random.Generator) -> Ragged:
        """Places drawn by a few sweeps of Gibbs sampling; uniformly if `sweeps` is 0.

        The background is that of the sequences without motif.
        """
        rows = np.array(truth.data.reshape(-1, 3))
        ids = np.flatnonzero(rows[:, 0] == 1)
        strands = 2 if self.both_strands else 1
        letters = Ragged(x.ptr, x.letter).take(ids)
        context = Ragged(x.ptr, x.context).take(ids).data
        behind = Ragged(x.ptr, x.context).take(np.flatnonzero(rows[:, 0] == 0)).data
        odds = log_background(context, markov(behind, self.order, self.k))
        draws = rng.random((self.sweeps + 1, len(ids)))
        _, _, place = sample(
            letters.ptr, letters.data, odds, self.length, strands, draws, PSEUDO, self.k
        )
        rows[ids, 1], rows[ids, 2] = place // strands, place % strands
        return _rows(rows)

    def gains(self, x: Bases, ids: Ints, w: Floats) -> tuple[Labels, Floats]:
        """Best place (n, 3) and <w, psi(x, 1, h)> - <w, psi(x, 0)> of each sequence."""
        return self._places(x, ids, w)

    def _places(self, x: Bases, ids: Ints, w: Floats) -> tuple[Labels, Floats]:
        return _places(*x, ids, w, self.length, self.both_strands, self.k)

    def explain_pieces(self, x: Bases, i: int, row: Labels) -> Pieces:
        """The background of the whole sequence, then each base of the motif."""
        none = self.features(x, np.array([i]), _rows(np.zeros((1, 3), np.int32)))
        names, parts = ["background"], [(none.idx, none.val)]
        label, start, strand = (int(v) for v in row)
        for j in range(self.length if label else 0):
            h = int(x.ptr[i]) + start
            c = int(_read(x.letter, h, j, self.length, strand, self.k))
            at = [(self.k * j + c, 1.0)] if c < self.k else []
            if x.context[h + j] >= 0:
                at.append((self.k * self.length + int(x.context[h + j]), -1.0))
            names.append(
                f"motif {j + 1}: {(self.letters + OTHERS[self.alphabet][0])[c]}"
            )
            both = np.array(at).reshape(-1, 2)
            parts.append((both[:, 0], both[:, 1]))
        return Pieces(names, Rows.pack(parts))

    def runner_up(self, x: Bases, i: int, w: Floats, row: Labels) -> Labels | None:
        """The best placed motif against none, and the other way round."""
        if row[0]:
            return np.zeros(3, np.int32)
        place, gain = self._places(x, np.array([i]), w)
        return place[0] if np.isfinite(gain[0]) else None

    def label_count(self) -> int:
        """Motif or none."""
        return 2

    def work(self, x: Bases) -> Floats:
        """Windows times their length."""
        return np.diff(x.ptr) * float(self.length * (1 + self.both_strands))

    def feature_names(self) -> list[str]:
        """Motif positions and contexts by name."""
        names = [
            f"motif {j + 1}: {c}" for j in range(self.length) for c in self.letters
        ]
        words = [""]
        for _ in range(self.order + 1):
            words = [word + c for word in words for c in self.letters]
            names += [f"background: {word}" for word in words]
        return names


def _rows(array: Labels) -> Ragged:
    data = np.ascontiguousarray(array, dtype=np.int32)
    return Ragged(3 * np.arange(len(data) + 1, dtype=np.int64), data.reshape(-1))


def _encode(sequence: Any, i: int, alphabet: str) -> Labels:
    sequence = letters_of(sequence)
    if not isinstance(sequence, str | bytes):
        raise ValueError(f"sequence {i} is a {type(sequence).__name__}, not a string")
    raw = (
        sequence.encode("latin-1", "replace") if isinstance(sequence, str) else sequence
    )
    code = _CODES[alphabet][np.frombuffer(raw, np.uint8)]
    if (code < 0).any():
        at = int(np.flatnonzero(code < 0)[0])
        what = "a nucleotide" if alphabet == "dna" else "an amino acid"
        hint = ""
        if (
            alphabet == "dna"
            and (_CODES["protein"][np.frombuffer(raw, np.uint8)] >= 0).all()
        ):
            hint = "; for proteins use alphabet='protein'"
        raise ValueError(
            f"sequence {i}, position {at}: {chr(raw[at])!r} is not {what}{hint}"
        )
    return code


@loop
def _contexts(ptr, letter, order, k):
    """The background feature of each base: it and the known bases before it."""
    out = np.full(len(letter), -1, np.int32)
    for i in range(len(ptr) - 1):
        for t in range(ptr[i], ptr[i + 1]):
            if letter[t] == k:
                continue
            code, power, first = np.int64(letter[t]), 1, 0
            for back in range(1, order + 1):
                if t - back < ptr[i] or letter[t - back] == k:
                    break
                power *= k
                first += power
                code += power * letter[t - back]
            out[t] = first + code
    return out


@loop
def _read(letter, h, j, length, strand, k):
    """Base j of the motif that starts at h."""
    if strand == 0:
        return letter[h + j]
    c = letter[h + length - 1 - j]
    return c if c == k else k - 1 - c


@loop
def _places(ptr, letter, context, ids, w, length, both, k):
    """Rows (1, start, strand) of the best windows and what they gain over none."""
    rows = np.zeros((len(ids), 3), np.int32)
    gain = np.full(len(ids), -np.inf)
    for q in range(len(ids)):
        a, b = ptr[ids[q]], ptr[ids[q] + 1]
        lost = np.zeros(b - a + 1)
        for t in range(a, b):
            v = w[k * length + context[t]] if context[t] >= 0 else 0.0
            lost[t - a + 1] = lost[t - a] + v
        rows[q, 0] = 1
        for h in range(b - a - length + 1):
            away = lost[h + length] - lost[h]
            for strand in range(2 if both else 1):
                s = -away
                for j in range(length):
                    c = _read(letter, a + h, j, length, strand, k)
                    if c < k:
                        s += w[k * j + c]
                if s > gain[q]:
                    gain[q] = s
                    rows[q, 1], rows[q, 2] = h, strand
    return rows, gain


@loop
def _background(ptr, letter, context, ids, w, length, k):
    """<w, psi(x, 0)>."""
    out = np.zeros(len(ids))
    for q in range(len(ids)):
        for t in range(ptr[ids[q]], ptr[ids[q] + 1]):
            if context[t] >= 0:
                out[q] += w[k * length + context[t]]
    return out


@inner_loop
def _put_window(letter, context, a, row, length, k, sign, n, idx, val):
    """Entries of psi(x, 1, h) - psi(x, 0), times sign, from n on."""
    h, strand = a + row[1], row[2]
    for j in range(length):
        c = _read(letter, h, j, length, strand, k)
        if c < k:
            idx[n], val[n] = k * j + c, sign
            n += 1
        if context[h + j] >= 0:
            idx[n], val[n] = k * length + context[h + j], -sign
            n += 1
    return n


@loop
def _differences(ptr, letter, context, ids, truth, rows, length, k):
    out = np.zeros(len(ids) + 1, np.int64)
    idx = np.empty(4 * length * len(ids), np.int32)
    val = np.empty(4 * length * len(ids))
    n = 0
    for q in range(len(ids)):
        a, t, r = ptr[ids[q]], truth[q], rows[q]
        if t[0] != r[0] or t[1] != r[1] or t[2] != r[2]:
            if t[0] == 1 and t[1] >= 0:
                n = _put_window(letter, context, a, t, length, k, 1.0, n, idx, val)
            if r[0] == 1 and r[1] >= 0:
                n = _put_window(letter, context, a, r, length, k, -1.0, n, idx, val)
        out[q + 1] = n
    return out, idx[:n].copy(), val[:n].copy()


@loop
def _features(ptr, letter, context, ids, rows, length, k):
    out = np.zeros(len(ids) + 1, np.int64)
    total = 0
    for i in ids:
        total += ptr[i + 1] - ptr[i] + 2 * length
    idx, val = np.empty(total, np.int32), np.empty(total)
    n = 0
    for q in range(len(ids)):
        a, b = ptr[ids[q]], ptr[ids[q] + 1]
        for t in range(a, b):
            if context[t] >= 0:
                idx[n], val[n] = k * length + context[t], 1.0
                n += 1
        if rows[q, 0] == 1 and rows[q, 1] >= 0:
            n = _put_window(letter, context, a, rows[q], length, k, 1.0, n, idx, val)
        out[q + 1] = n
    return out, idx[:n].copy(), val[:n].copy()
