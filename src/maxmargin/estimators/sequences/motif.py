"""MotifSVM: which sequences contain a motif, what it looks like, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Ragged, real_numbers
from maxmargin.core.data.foreign.biopython_records import letters_of
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.data.validation import (
    check_finite,
    check_shape,
    check_types,
    require,
)
from maxmargin.core.data.warned import warn
from maxmargin.core.structure import Structure
from maxmargin.estimators.class_inputs import check_labels
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_parameters,
    check_same_length,
    check_truth,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.prediction import ask_batches, predict_found
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.estimators.sequences.motif_lengths import (
    length_scores,
    masked,
    tried_lengths,
)
from maxmargin.estimators.sequences.motif_sites import (
    ScoreDistribution,
    Site,
    window_scores,
)
from maxmargin.io.biology.meme import meme_text
from maxmargin.losses.motif import MotifLoss
from maxmargin.reports.drawing.marked_text import plain_html, site_html
from maxmargin.reports.weight_tables import motif_logo
from maxmargin.solvers.base import Result, State
from maxmargin.solvers.cccp import LatentResult
from maxmargin.structures.motif import Bases, Motif

SITE = np.dtype([("start", np.int64), ("strand", "U1"), ("score", np.float64)])
NO_SITE = '<p class="faint">No motif: the marked place is the nearest to one.</p>'
PSEUDO = 0.5  # added to each count of a base at a motif position


class LearnedMotif(NamedTuple):
    """What `MotifSVM` has found out about the motif."""

    probabilities: Floats  # (length, k) share of each letter at the sites, smoothed
    weights: Floats  # (length, k) score of each letter against the background
    background: Floats  # (k,) share of each letter in the training sequences
    sites: int  # training sequences with the motif

    def validate(self) -> None:
        """Finite numbers for each base of each position."""
        check_types(self)
        require(len(self.background) in (4, 20), "neither bases nor amino acids")
        shape = len(self.probabilities), len(self.background)
        check_shape(self.probabilities, shape, "probabilities")
        check_shape(self.weights, shape, "weights")
        for part in (self.probabilities, self.weights, self.background):
            check_finite(part, "motif")


@describe_parameters()
class MotifSVM(ClassifierMixin, StructuredEstimator):
    r"""Discriminative motif finding; the position of the motif is hidden.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \big( \max_{y,h} [\Delta(y_i, y) +
              \langle w, \psi(x_i, y, h) \rangle] - \max_h \langle w,
              \psi(x_i, y_i, h) \rangle \big)

    Parameters
    ----------
    length : int, "auto" or sequence of int
        Length of the motif. Of several lengths, that with the largest ROC area in
        cross-validation is taken; "auto" tries 6, 8, 11, 14, 17, 21 and 26.
    order : {0, 1, 2, 3}
        Order of the Markov model of the background.
    both_strands : bool
        Whether the motif may also be on the reverse strand.
    alphabet : {"dna", "protein"}
        What the letters are: bases, or amino acids, which need ``order=0`` or 1.
    C : float
        Weight of the training errors in the objective. If there are many more background
        sequences than others, weight them down by `class_weight` or by `sample_weight` in
        `fit`.
    loss : {"zero-one"} or MotifLoss
        A MotifLoss has different costs for missed motifs and for false alarms.
    restarts : int
        Number of starts from different positions. The one that reaches the lowest objective
        is kept.
    init : array
        Weights to start from, instead of positions.
    positive : label
        Which of the two labels means that the motif is present. By default "+" if it is
        one of them, or the larger of two numbers; other labels must be named.
    sweeps : int
        Sweeps of Gibbs sampling that draw the initial positions, against the background of
        the sequences without motif. 0 draws them uniformly as in the thesis, which ends in
        worse minima where bases are not equally frequent.
    class_weight : {"balanced"} or dict
        Factor on C by label; "balanced" gives both labels the same total. The weights of a
        balanced fit can be the start of another one: ``init=first.coef_``.
    random_state : int or RandomState
        Seed of the initial positions. None is 0, so that runs repeat.

    Attributes
    ----------
    classes_ : array (2,)
        The labels without and with motif.
    length_ : int
        Length of the motif.
    length_scores_ : dict
        ROC area in cross-validation of each length that was tried.
    motif_ : LearnedMotif
        `probabilities`, `weights`, `background`, `sites`.
    result_ : LatentResult
        Certificate of the last convex problem, and `outer`, one row per completion.

    References
    ----------
    Yu 2011, section 5.4.1.

    Examples
    --------
    >>> from maxmargin import MotifSVM
    >>> X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    >>> y = [1, 1, 1, 0, 0, 0]
    >>> model = MotifSVM(length=4, order=0, C=1.0, random_state=0).fit(X, y)
    >>> model.consensus(), model.predict(["gggTATAg", "ggggcgcg"]).tolist()
    ('TATA', [1, 0])
    >>> model.locate(["gggTATAg"])["start"].tolist()
    [3]
    """

    _predicts_labels = True
    structure_: Motif
    classes_: np.ndarray
    length_: int
    length_scores_: dict[int, float]
    motif_: LearnedMotif

    def __init__(
        self,
        length: int | str | Sequence[int] = 11,
        order: int = 3,
        both_strands: bool = False,
        C: float = 0.2,
        *,
        loss: LossChoice = "zero-one",
        rescaling: str = "margin",
        penalty: str = "linear",
        solver: SolverChoice = "auto",
        restarts: int = 5,
        init: Any = None,
        positive: Any = None,
        sweeps: int = 50,
        alphabet: str = "dna",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        engine: EngineChoice = None,
        random_state: Seed = None,
        warm_start: bool = False,
        callbacks: CallbackChoice = None,
        checkpoint: CheckpointChoice = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.order = order
        self.both_strands = both_strands
        self.C = C
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.solver = solver
        self.restarts = restarts
        self.init = init
        self.positive = positive
        self.sweeps = sweeps
        self.alphabet = alphabet
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _structure(self, X: Any, y: Any) -> Motif:
        motif = Motif(
            self.length_, self.order, self.both_strands, self.sweeps, self.alphabet
        )
        if isinstance(self.init, np.ndarray):
            check_start(self.init, motif)
        return motif

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"zero-one": MotifLoss()}

    def fit(
        self, X: Any, y: Any, sample_weight: SampleWeight = None, places: Any = None
    ) -> Self:
        """Learn the motif.

        Parameters
        ----------
        X : sequence of str, or of `Seq` or `SeqRecord` of Biopython
            Bases or amino acids in either case; N, X and the like are unknown.
        y : sequence of two labels
        sample_weight : array (n,), optional
            Factor on C of each sequence.
        places : sequence of (start, strand), optional
            Position of the motif in each sequence, used by the first start; strand 0 or 1.
        """
        self._fit_data(self._training_data(X, y, sample_weight, places))
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight, places: Any = None
    ) -> TrainingData:
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        X = rows_of_frame(X, [1], "the sequences")
        y = rows_of_frame(y, [1], "the labels", "y")
        self._check_container(X)
        check_labels(y)
        X = [letters_of(x) for x in by_position(X)]
        y = by_position(y)
        labels = np.array(np.asarray(y).tolist())
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(
                f"y has {len(classes)} labels, but there must be two: motif and no motif"
            )
        positive = self.positive
        if positive is None:
            positive = _guess_positive(classes)
        if np.ndim(positive) != 0 or positive not in classes:
            raise ValueError(f"positive={positive!r} is not in y: {classes.tolist()}")
        self.classes_ = np.array([*classes[classes != positive], positive])
        coded: list[Any] = (labels == positive).astype(int).tolist()
        if places is not None:
            coded = [(c, *p) for c, p in zip(coded, places, strict=True)]
        self._choose_length(X, labels == positive, sample_weight)
        structure = self._structure(X, y).bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, coded)
        weight = self._class_weighted(labels, sample_weight)
        given = places is not None
        return TrainingData(structure, x, truth, weight, X, y, given=given)

    def _choose_length(self, X: Any, present: np.ndarray, weight: SampleWeight) -> None:
        """Set `length_`, by cross-validation if several lengths are asked for."""
        if isinstance(self.length, int | np.integer):
            self.length_, self.length_scores_ = int(self.length), {}
            return
        plain = clone(self).set_params(
            positive=1, callbacks=None, checkpoint=None, verbose=0, class_weight=None
        )
        absent, there = self.classes_
        weights = self._class_weighted(np.where(present, there, absent), weight)
        self.length_scores_ = length_scores(
            plain, tried_lengths(self.length, X, present), X, present, weights
        )
        self.length_ = max(self.length_scores_, key=self.length_scores_.__getitem__)

    def fit_several(
        self, X: Any, y: Any, n: int = 3, sample_weight: SampleWeight = None
    ) -> list[MotifSVM]:
        """Find several motifs, one after the other.

        The sites of a motif are masked (N) in the sequences that have it before the next
        is learned.

        Returns
        -------
        list of MotifSVM
            Copies of this estimator, fitted; fewer than `n` if masked sequences are all
            that is left.

        Examples
        --------
        >>> X = ["ccTATAgcGATTAc", "gTATAccgGATTAg", "cTATAcgcGATTAc"]
        >>> X += ["gcgcgccggcgcgc", "ccggcgccccgcgg", "gcccggcgcggccg"]
        >>> model = MotifSVM(length=4, order=0, C=1.0)
        >>> found = [one.consensus() for one in model.fit_several(X, [1] * 3 + [0] * 3, 2)]
        >>> len(set(found))
        2
        """
        if n < 1:
            raise ValueError(f"n={n}: at least one motif is to be found")
        first = clone(self).fit(X, y, sample_weight)
        return [first, *first.further_motifs(X, y, n - 1, sample_weight)]

    def further_motifs(
        self, X: Any, y: Any, n: int = 1, sample_weight: SampleWeight = None
    ) -> list[MotifSVM]:
        """Up to n further motifs after that of this model; see `fit_several`."""
        check_is_fitted(self, "motif_")
        out: list[MotifSVM] = []
        X, y = rows_of_frame(X, [1], "the sequences"), rows_of_frame(y, [1], "y", "y")
        rest, model = [str(letters_of(x)) for x in by_position(X)], self
        unknown = "N" if self.alphabet == "dna" else "X"
        for _ in range(n):
            has = np.asarray(by_position(y)) == model.classes_[1]
            rest = masked(rest, model.locate(rest), model.length_, has, unknown)
            if all(set(x) <= {unknown} for x, h in zip(rest, has, strict=True) if h):
                break
            model = clone(self).set_params(init=None).fit(rest, y, sample_weight)
            out.append(model)
        return out

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        plan = super()._plan(data, C)

        def adopt(one: MotifSVM, result: Result, state: State | None) -> None:
            plan.adopt(one, result, state)
            if state is not None:
                assert isinstance(data.structure, Motif)
                one.motif_ = one._motif(data.structure, data.x)

        return plan._replace(adopt=adopt)

    def _class_weighted(self, labels: np.ndarray, sample_weight: SampleWeight) -> Any:
        """Weight of each sequence times the weight of its label."""
        if self.class_weight is None:
            return sample_weight
        weight = np.ones(len(labels)) if sample_weight is None else sample_weight
        weight = real_numbers(weight)
        if self.class_weight == "balanced":
            mass = {c: weight[labels == c].sum() for c in self.classes_}
            factor = {c: weight.sum() / (2.0 * m) for c, m in mass.items() if m > 0}
        elif isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} is neither 'balanced' nor a dict"
            )
        else:
            factor = dict(self.class_weight)
            unknown = set(factor) - set(self.classes_.tolist())
            if unknown:
                raise ValueError(f"class_weight: {min(unknown, key=str)!r} is not in y")
        return weight * [factor.get(label, 1.0) for label in labels.tolist()]

    def _outputs(self, decoded: Any) -> Any:
        return self.classes_[np.asarray(decoded)].tolist()

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        y = self._known(y)
        return super()._encoded(X, (y == self.classes_[1]).astype(int))

    def _known(self, y: Any) -> np.ndarray:
        """The labels of y, which must be those of training."""
        labels = np.asarray(by_position(rows_of_frame(y, [1], "the labels", "y")))
        known = self.classes_.tolist()
        for i, label in enumerate(labels.tolist()):
            if label not in known:
                raise ValueError(
                    f"y[{i}] is {label!r:.40}, but the labels of training are "
                    f"{known[0]!r} and {known[1]!r}"
                )
        return labels

    def score(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> float:
        """Share of sequences with the right label."""
        check_is_fitted(self, "coef_")
        check_same_length(X, y, "score")
        labels = np.asarray(by_position(rows_of_frame(y, [1], "the labels", "y")))
        check_truth(labels.tolist(), self.classes_.tolist())
        return float(ClassifierMixin.score(self, X, labels, sample_weight))

    def predict(self, X: Any) -> np.ndarray:
        """Label of each sequence."""
        check_is_fitted(self, "coef_")
        found = predict_found(self, self.structure_.encode(X))
        return self.classes_[found.labels.data.reshape(-1, 3)[:, 0]]

    def decision_function(self, X: Any) -> Floats:
        """Score of the best motif position above that of no motif."""
        return self.locate(X)["score"]

    def locate(self, X: Any) -> np.ndarray:
        """Best position in each sequence: start, strand ("+" or "-"), score."""
        check_is_fitted(self, "coef_")
        structure = self.structure_
        answers = ask_batches(self, structure, structure.encode(X), Motif.gains)
        rows = np.concatenate([place for place, _ in answers])
        out = np.zeros(len(rows), SITE)
        out["start"] = rows[:, 1]
        out["strand"] = np.where(rows[:, 2] == 0, "+", "-")
        out["score"] = np.concatenate([gain for _, gain in answers])
        return out

    def sites(self, X: Any, p_value: float = 1e-3) -> list[Site]:
        """All sites whose score is as high as that of few random windows.

        Parameters
        ----------
        X : sequence of str
        p_value : float
            The probability that a random window scores as high, at most. There are as
            many windows as bases: with 1000 bases expect ``1000 * p_value`` by chance.

        Returns
        -------
        sites : list of Site
            `sequence`, `start`, `strand`, `score`, `p_value`; best first. Sites may
            overlap.

        Examples
        --------
        >>> X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
        >>> model = MotifSVM(length=4, order=0, C=1.0).fit(X, [1, 1, 1, 0, 0, 0])
        >>> [(s.sequence, s.start) for s in model.sites(["ggTATAggTATA"], p_value=0.01)]
        [(0, 2), (0, 8)]
        """
        check_is_fitted(self, "coef_")
        if not 0.0 < p_value <= 1.0:
            raise ValueError(f"p_value={p_value!r} is not a probability")
        structure, x = self.structure_, self.structure_.encode(X)
        strands = "+-" if structure.both_strands else "+"
        random = [
            ScoreDistribution(structure, self.coef_, self.motif_.background, k)
            for k in range(len(strands))
        ]
        least = min(chance.least() for chance in random)
        if least > p_value:
            warn(
                f"no window can have a p-value of {p_value:g}: that of the best "
                f"{structure.length} letters is {least:.2g}; ask for more, or learn a longer "
                "motif",
                UserWarning,
            )
        found = []
        for i in range(x.n):
            for k, scores in enumerate(window_scores(structure, x, i, self.coef_)):
                chance = random[k].p_values(scores)
                for h in np.flatnonzero(chance <= p_value).tolist():
                    one = float(scores[h]), float(chance[h])
                    found.append(Site(i, h, strands[k], *one))
        return sorted(found, key=lambda site: (site.p_value, -site.score))

    def consensus(self) -> str:
        """The most frequent letter at each position of the motif."""
        check_is_fitted(self, "motif_")
        return "".join(
            self.structure_.letters[k] for k in self.motif_.probabilities.argmax(axis=1)
        )

    def to_meme(self) -> str:
        """The motif in MEME format, for Tomtom, FIMO and others.

        ``meme_text`` of `maxmargin.io.biology` writes several motifs into one file.
        """
        check_is_fitted(self, "motif_")
        motif = self.motif_
        rows = [(self.consensus(), motif.probabilities, motif.sites)]
        return meme_text(rows, motif.background, self.structure_.both_strands)

    def _learned(self) -> Sequence[str]:
        motif = self.motif_
        logo = motif_logo(
            motif.probabilities, motif.background, self.consensus(), motif.sites
        )
        return [logo, *super()._learned()]

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        site = self.locate([x])[0]
        drawn = site_html(
            letters_of(x),
            int(site["start"]),
            self.structure_.length,
            str(site["strand"]),
        )
        absent = output != self.classes_[1]
        return plain_html(output, truth) + drawn + (NO_SITE if absent else "")

    def _motif(self, structure: Motif, x: Bases) -> LearnedMotif:
        """The motif at the positions that training has found."""
        assert isinstance(self.result_, LatentResult)
        truth = self.result_.truth
        assert truth is not None
        k = structure.k
        counts, sites = np.zeros((structure.length, k)), 0
        for i, (label, start, strand) in enumerate(truth.data.reshape(-1, 3)):
            if label:
                window = x.letter[x.ptr[i] + start :][: structure.length]
                if strand:
                    window = np.where(window == k, k, k - 1 - window)[::-1]
                known = window < k
                counts[np.flatnonzero(known), window[known]] += 1
                sites += 1
        counts += PSEUDO
        share = np.bincount(x.letter, minlength=k + 1)[:k] + PSEUDO
        weights = self.coef_[: k * structure.length].reshape(-1, k)
        single = self.coef_[k * structure.length :][:k]
        return LearnedMotif(
            counts / counts.sum(axis=1, keepdims=True),
            weights - single,
            share / share.sum(),
            sites,
        )


def check_start(init: Floats, motif: Motif) -> None:
    """Refuse weights of a motif of another length, or beside another background.

    Examples
    --------
    >>> check_start(np.zeros(52), Motif(8, 1))
    """
    motif.validate()
    if init.shape == (motif.dim,):
        return
    more, rest = divmod(init.size - motif.dim, motif.k)
    letters = motif.length + more
    of = f": they are of a motif of {letters} letters" if letters > 0 == rest else ""
    raise ValueError(
        f"init has {init.size} initial weights, but length={motif.length} and "
        f"order={motif.order} have {motif.dim}{of}"
    )


def _guess_positive(classes: np.ndarray) -> Any:
    if "+" in classes.tolist():
        return "+"
    if classes.dtype.kind in "biuf":
        return classes[-1]
    a, b = classes.tolist()
    raise ValueError(
        f"which of the labels {a!r} and {b!r} means that the motif is there? Say "
        f"positive={a!r} or positive={b!r}"
    )
