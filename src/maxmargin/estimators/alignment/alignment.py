"""AlignmentSVM: learn to align annotated sequences from reference alignments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.warned import warn
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.alignment.confidence import (
    column_confidence,
    column_temperature,
)
from maxmargin.estimators.alignment.exporting import scoring_of
from maxmargin.estimators.alignment.pair_inputs import (
    checked_pair,
    is_pair,
    listed_pairs,
    pairs_of_rows,
    plain_pair,
)
from maxmargin.estimators.alignment.position_kernel import (
    PositionKernels,
    with_kernel,
)
from maxmargin.estimators.alignment.significance import (
    Significance,
    local_shift,
    shifted,
)
from maxmargin.estimators.fitting.inputs import check_examples, check_same_length
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.prediction import (
    ask_batches,
    predict_found,
    predict_layers,
    with_scores,
)
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.inference.alignment.best_path import MODES
from maxmargin.io.biology.scoring import Scoring
from maxmargin.losses.pairs import AlignedPairs
from maxmargin.reports.drawing.alignments import alignment_svg
from maxmargin.reports.weight_tables import substitution_table
from maxmargin.solvers.base import Result
from maxmargin.structures.alignment.inputs.encoding import (
    is_real,
    record_name,
    tracks_of,
)
from maxmargin.structures.alignment.inputs.views import (
    RESIDUE_BINS,
    Gaps,
    Pair,
    anova2,
    profile,
    simple,
    structural_gaps,
    tensor,
    window,
)
from maxmargin.structures.alignment.paths import check_rows, columns_of
from maxmargin.structures.alignment.structure import Alignment


@describe_parameters()
class AlignmentSVM(Significance, PositionKernels):
    r"""Learn substitution scores and gap costs from aligned pairs.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    over all alignments y of the pair x_i. The loss is the share of reference pairs that
    are missed.

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective, ``1/2 ||w||^2 + C * sum(slacks)``.
        It is larger than elsewhere because normalised features are small.
    mode : {"global", "semiglobal", "local"}
        "global": Needleman-Wunsch. "semiglobal": gaps at the ends are free. "local":
        Smith-Waterman. ``set_params(mode=)`` on a fitted model changes how it predicts; see
        `as_local`.
    features : str or tuple of Pair
        Features of a match. "simple": every track against every track. "anova2":
        every two tracks of letters against every two. "tensor": all tracks of letters
        together against all together. "all": these three. "window": "all" and windows
        of neighbours. "profile": "window" and the real-valued tracks. Real-valued tracks
        enter "simple", "all", "window" and "profile". Or pairs of views.
    gaps : {"affine", "linear", "structural"} or Gaps
        Cost of gaps; "structural": opening depends on the neighbouring letters.
    end_gaps : bool
        Whether gaps before the first and after the last letter of a sequence have costs of
        their own. With ``mode="global"`` only.
    symmetric : bool
        Whether scores stay the same when the two sequences are exchanged.
    normalize : bool
        Whether features are divided by the total length of both sequences.
    band : int
        Largest distance from the diagonal.
    alphabets : {"protein", "dna", "rna"} or mapping from track to letters
        Letters that the model knows. By default those of the training data; where these
        are amino acids or nucleotides, the twenty or the four.
    unknown : {"warn", "ignore", "error"} or mapping from letter to letter
        What to do with other letters, such as X, B, Z, U and \* in proteins. "warn": they
        count as one more symbol, whose scores are zero unless training has it, and a
        warning counts them. "ignore": the same in silence. "error": refuse them, and take
        every letter of the training data as it comes. A mapping such as ``{"U": "C"}``
        replaces letters. Unless "error", lower case is read as upper case where only that
        is known.
    kernel : {"rbf", "quadratic", "cubic", "poly", "linear"}, Kernel or callable
        Add scores of two positions to matches: sums of K(s_i, p) K(t_j, q) over pairs
        (p, q), for a kernel K between positions (letters as indicators, vectors as they
        are, all tracks together).
    kernel_method : {"cholesky", "nystroem", "exact", "cpsp", "sampled", ...}
        Which pairs (p, q) there are. All pairs of basis positions, chosen one by one
        where the approximation is worst ("cholesky"), at random ("nystroem"), or all
        distinct ones ("exact"). Or pairs chosen in training: "cpsp" and "sampled", and
        "cpsp-as-written" and "sampled-as-written", see `KernelSVM`.
    n_basis : int
        Number of basis positions m, of which there are m * m pairs; number of pairs
        ("cpsp"), or pairs drawn per iteration ("sampled").
    loss : {"Q", "Q4", "zero-one"} or Loss
        "Q": share of the reference pairs that are missed. "Q4": pairs shifted by up to 4
        positions count as found. ``AlignedPairs(shift)`` allows any shift.

    Attributes
    ----------
    coef_ : array
        Weights, named by `structure_.feature_names()`.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    column_temperature_ : float
        T of `predict_confidence`, set by `calibrate`.
    score_distribution_ : ChanceScores
        Scores of random sequences, set by `fit_evalues`.

    Examples
    --------
    >>> from maxmargin import AlignmentSVM
    >>> X = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW")]
    >>> y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW")]
    >>> model = AlignmentSVM(C=10.0).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.predict(X)[1].tolist()
    [[0, -1], [1, 0], [2, 1], [3, -1], [4, 2], [5, 3]]
    """

    _at_prediction = ("band", "unknown", "mode")
    structure_: Alignment
    column_temperature_: float

    def __init__(
        self,
        C: float = 50.0,
        *,
        mode: str = "global",
        features: Any = "simple",
        gaps: Any = "affine",
        end_gaps: bool = False,
        symmetric: bool = False,
        normalize: bool = True,
        band: int | None = None,
        alphabets: Mapping[str, Sequence[Any]] | str | None = None,
        unknown: str | Mapping[str, str] = "warn",
        kernel: KernelChoice = None,
        kernel_method: str = "cholesky",
        n_basis: int = 20,
        memory: float = MEMORY,
        loss: LossChoice = "Q",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        solver: SolverChoice = "auto",
        tol: float = 1e-2,
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
        self.C = C
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.end_gaps = end_gaps
        self.symmetric = symmetric
        self.normalize = normalize
        self.band = band
        self.alphabets = alphabets
        self.unknown = unknown
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
        self.memory = memory
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.solver = solver
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

    def _structure(self, X: Any, y: Any) -> Structure:
        sequences = [sequence for pair in map(checked_pair, X) for sequence in pair]
        structure = alignment_structure(self, sequences, self.end_gaps)
        if self.kernel is None:
            return structure
        return with_kernel(structure, X, self)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"Q": AlignedPairs(), "Q4": AlignedPairs(4), "zero-one": ZeroOne()}

    def fit(self, X: Any, y: Any = None, sample_weight: SampleWeight = None) -> Self:
        """Learn from pairs of sequences and their alignments.

        Parameters
        ----------
        X : sequence of (first, second)
            Sequences: strings, mappings from track to letters or real vectors, or `Seq` and
            `SeqRecord` of Biopython, whose letter annotations are tracks. Without y:
            alignments of Biopython, of each of which all pairs of rows are used. A data
            frame has two columns.
        y : sequence of alignments
            Two strings with "-" for gaps, both from their first letter on, an array
            (k, 2) of positions, -1 for a gap, or an alignment of Biopython. Local
            alignments may begin anywhere.
        sample_weight : array (n,), optional
            Factor on C for each pair.

        Examples
        --------
        >>> from Bio.Align import MultipleSeqAlignment
        >>> from Bio.Seq import Seq
        >>> from Bio.SeqRecord import SeqRecord
        >>> rows = [SeqRecord(Seq(row)) for row in ("HEAGAW", "-EA-AW")]
        >>> model = AlignmentSVM(C=10.0).fit([MultipleSeqAlignment(rows)])
        >>> model.predict([("HEAGAW", "EAAW")])[0][:, 1].tolist()
        [-1, 0, 1, -1, 2, 3]
        """
        if y is None:
            X, y = pairs_of_rows(X)
        super().fit(X, y, sample_weight)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_same_length(X, y)
        X, y = listed_pairs(X, y)
        self._check_container(X)
        X = [plain_pair(pair) for pair in X]
        for q, (pair, written) in enumerate(zip(X, y, strict=True)):
            if is_pair(pair):
                check_rows(written, pair, f"pair {q}")
        return super()._training_data(X, y, sample_weight)

    def score(self, X: Any, y: Any) -> float:
        """Mean Q score: share of the reference pairs that are found."""
        return float(np.mean(1.0 - self.losses(X, y)))

    def losses(self, X: Any, y: Any, shift: int = 0) -> Floats:
        """Loss of each pair: 1 - Q, or 1 - Q4 with ``shift=4``."""
        check_is_fitted(self, "coef_")
        check_same_length(X, y, "score")
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        return AlignedPairs(shift).value(truth, predict_found(self, x).labels)

    def alignment_scores(self, X: Any) -> Floats:
        """Score of the best alignment of each pair."""
        check_is_fitted(self, "coef_")
        x = self.structure_.encode(X)
        return np.concatenate(ask_batches(self, self.structure_, x, Alignment.scores))

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """The k best alignments of each pair with their scores, best first.

        Examples
        --------
        >>> X, y = [("HEAGAW", "EAAW")], [("HEAGAW", "-EA-AW")]
        >>> model = AlignmentSVM(C=10.0).fit(X, y)
        >>> first, second = model.predict_nbest(X, k=2)[0]
        >>> first[0].tolist() == model.predict(X)[0].tolist(), first[1] >= second[1]
        (True, True)
        """
        check_is_fitted(self, "coef_")
        check_examples(X)
        structure = self.structure_
        x = structure.encode(X)
        # Semi-global paths that differ at the ends only are the same alignment.
        most = 2 * k if self.mode == "semiglobal" else k
        found = predict_layers(self, structure, x, most)
        owner = np.repeat(np.arange(x.n), np.diff(found.ptr))
        whole = x._replace(left=x.left[owner], right=x.right[owner])
        columns = structure.decode_labels(whole, found.labels)
        out = []
        for scored in with_scores(columns, found):
            distinct: dict[bytes, tuple[Any, float]] = {}
            for one, score in scored:
                distinct.setdefault(one.tobytes(), (one, score))
            out.append(list(distinct.values())[:k])
        return out

    def calibrate(self, X: Any, y: Any, *, cv: int | None = None, n: int = 5) -> Self:
        """Learn how far scores can be trusted; `predict_confidence` and others then work.

        Parameters
        ----------
        X, y : data
            Pairs that the model was not trained on; or, with `cv`, the training data.
        cv : int, optional
            Number of folds: each is scored by a model trained on the others.
        n : int
            Number of best alignments that are listed for each pair.
        """
        super().calibrate(X, y, cv=cv, n=n)
        self.column_temperature_ = column_temperature(self, X, y, cv)
        return self

    def predict_confidence(self, X: Any) -> list[Floats]:
        """Probability that each column of the predicted alignment is right.

        It is a sum over all alignments, see `calibrate`, which has to be called first.

        Returns
        -------
        list of array (k,)
            One number per column of ``predict(X)``; for a gap, the probability that the
            position is matched with nothing.

        Examples
        --------
        >>> X = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW")]
        >>> y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW")]
        >>> model = AlignmentSVM(C=10.0).fit(X, y).calibrate(X, y)
        >>> [len(row) for row in model.predict_confidence(X)]
        [11, 6]
        """
        check_is_fitted(self, "coef_")
        if not hasattr(self, "column_temperature_"):
            raise NotFittedError(
                "confidence needs a calibrated model: call calibrate(X, y) with pairs "
                "that were not in training, or calibrate(X, y, cv=5) with those that were"
            )
        return column_confidence(self, X)

    def p_values(self, X: Any) -> Floats:
        """Probability that two random sequences of these lengths score as high.

        `fit_evalues` has to be called first.
        """
        return self._flat_p_values(X)[0]

    def evalues(self, X: Any, database: int | None = None) -> Floats:
        """Number of random pairs that would score as high among all that are compared.

        Parameters
        ----------
        X : sequence of (first, second)
        database : int, optional
            Number of comparisons, such as the size of a database; default ``len(X)``.

        Examples
        --------
        >>> from maxmargin.datasets import make_homologs
        >>> searches, found = make_homologs(10)
        >>> X = [(a, others[c]) for (a, others), (c, _) in zip(searches, found)]
        >>> model = AlignmentSVM(mode="local").fit(X, [columns for _, columns in found])
        >>> model = model.as_local(X).fit_evalues(X, n=50)
        >>> bool((model.evalues(X) >= model.p_values(X)).all())
        True
        """
        return self.p_values(X) * (len(X) if database is None else database)

    def as_local(self, X: Any) -> Self:
        """A copy that aligns locally, though it was trained to align globally.

        Adding a number to each match, and half of it to each letter in a gap, leaves the
        best global alignment as it is, but not the best local one. The copy has the
        largest scores at which random sequences, those of X shuffled, are hardly aligned.
        """
        check_is_fitted(self, "coef_")
        pairs, _ = self._all_pairs(X)
        new = copy(self)
        new.__dict__.pop("score_distribution_", None)
        new.set_params(mode="local")
        shift = local_shift(new.structure_, self.coef_, pairs)
        new.coef_ = shifted(new.structure_, self.coef_, shift)
        new.result_ = replace(self.result_, w=new.coef_)
        return new

    def _adopt(self, structure: Structure, result: Result) -> None:
        super()._adopt(structure, result)
        self.__dict__.pop("column_temperature_", None)

    def _local_alignment(self) -> Alignment:
        return self.structure_

    def _all_pairs(self, X: Any) -> tuple[list[Any], list[int]]:
        pairs = [plain_pair(pair) for pair in listed_pairs(X)[0]]
        return pairs, [1] * len(pairs)

    def _with_settings(self, changed: Mapping[str, Any]) -> Structure:
        if changed.get("mode", "global") not in MODES:
            names = ", ".join(map(repr, MODES))
            raise ValueError(f"mode={changed['mode']!r} is not one of {names}")
        return super()._with_settings(changed)

    def substitution_matrix(self, track: str = "residue") -> tuple[Any, Floats]:
        """Letters of a track and the learned score of each pair of them."""
        check_is_fitted(self, "coef_")
        return self.structure_.substitution(self.coef_, track)

    def scoring(self, codes: bool = True) -> Scoring:
        """Matrix and gap costs for other programs: `Scoring.aligner`, `Scoring.integers`.

        Scores agree with `alignment_scores`, which divides by the total length of both
        sequences if ``normalize=True``. Models of one track of letters have one.

        Parameters
        ----------
        codes : bool
            Whether the matrix has rows for codes such as X, B and Z, too, with the
            scores that the model has for them by its rule `unknown`.

        Examples
        --------
        >>> X, y = [("HEAGAW", "EAAW")], [("HEAGAW", "-EA-AW")]
        >>> model = AlignmentSVM(C=10.0, alphabets="protein").fit(X, y)
        >>> "".join(model.scoring().letters)
        'ACDEFGHIKLMNPQRSTVWYBJOUXZ*'
        """
        check_is_fitted(self, "coef_")
        if self.kernel is not None:
            raise ValueError("models with a kernel are not a matrix and gap costs")
        return scoring_of(self.structure_, self.coef_, codes)

    def _learned(self) -> Sequence[str]:
        tables = substitution_tables(self.structure_, self.coef_)
        return [*tables, *super()._learned()]

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        near = 1.0 - float(np.mean(self.losses(X, y, shift=4)))
        return [("Q4: up to 4 positions away", near)]

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        first, second = plain_pair(x)
        return draw_alignment(first, second, output, truth)


def substitution_tables(structure: Alignment, w: Floats) -> list[str]:
    """The learned substitution scores of each track, as pieces of HTML."""
    out = []
    for track in structure.symbols.letters:
        try:
            out.append(substitution_table(track, *structure.substitution(w, track)))
        except ValueError:  # the features do not pair this track with itself
            continue
    return out


def draw_alignment(first: Any, second: Any, output: Any, truth: Any) -> str:
    """An alignment as SVG; matches that the truth does not have are red."""
    reference = None if truth is None else columns_of(truth, "the true alignment")
    drawn = alignment_svg(first, second, output, reference)
    if reference is None:
        return drawn
    legend = "green: as in the truth; yellow: up to 4 positions away; red: wrong"
    return f'{drawn}<p class="faint">{legend}</p>'


def alignment_structure(
    estimator: Any, sequences: Sequence[Any], end_gaps: bool = False
) -> Alignment:
    """The structure described by the parameters of an estimator."""
    tracks: dict[str, Any] = {}
    if sequences:
        where = record_name(sequences[0], "pair 0, first sequence")
        tracks = tracks_of(sequences[0], where)
    letters = [name for name, values in tracks.items() if not is_real(values)]
    vectors = [name for name, values in tracks.items() if is_real(values)]
    gaps = _named_gaps(estimator.gaps, letters)
    if end_gaps:
        gaps = replace(gaps, ends=True)
    return Alignment(
        mode=estimator.mode,
        model=_named_model(estimator, letters, vectors),
        gaps=gaps,
        symmetric=estimator.symmetric,
        normalize=estimator.normalize,
        band=estimator.band,
        alphabets=estimator.alphabets,
        unknown=estimator.unknown,
    )


def _named_model(
    estimator: Any, letters: Sequence[str], vectors: Sequence[str]
) -> tuple[Pair, ...]:
    """The pairs of views; there may be none where a kernel compares positions."""
    features, kernel = estimator.features, vars(estimator).get("kernel")
    if not isinstance(features, str):
        listed = isinstance(features, list | tuple)
        if not listed or (len(features) == 0 and kernel is None):
            raise ValueError(
                f"features={features!r:.80}: a name, or a list of pairs of views, is needed"
            )
        return tuple(features)
    profiles = tuple(p for track in vectors for p in profile(track, letters))
    everything = simple(letters) + anova2(letters) + tensor(letters) + profiles
    reaches = {track: k + 1 for k, track in enumerate(letters)}
    windows = everything + window(reaches, {"residue": RESIDUE_BINS})
    known: dict[str, tuple[Pair, ...]] = {
        "simple": simple(letters) + profiles,
        "anova2": anova2(letters),
        "tensor": tensor(letters),
        "all": everything,
        "window": windows,
        "profile": windows,
    }
    if features not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"features={features!r} is not known: choose from {names}")
    if vectors and features in ("anova2", "tensor"):
        warn(
            f"features={features!r} is about letters: the real-valued tracks "
            f"{', '.join(map(repr, vectors))} are not used; features='simple' or 'all' "
            "uses them",
        )
    if not known[features]:
        raise ValueError(
            f"features={features!r} needs more tracks of letters than {list(letters)}"
        )
    return known[features]


def _named_gaps(gaps: Any, letters: Sequence[str]) -> Gaps:
    if not isinstance(gaps, str):
        return cast(Gaps, gaps)
    known: dict[str, Callable[[], Gaps]] = {
        "affine": Gaps,
        "linear": lambda: Gaps(affine=False),
        "structural": lambda: structural_gaps(letters[0], letters[1:] or letters),
    }
    if gaps not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"gaps={gaps!r} is not known: choose from {names}")
    return known[gaps]()
