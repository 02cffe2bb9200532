"""AlignmentSVM: learn to align annotated sequences from reference alignments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.core.loss import ZeroOne
from maxmargin.core.memory import MEMORY
from maxmargin.core.structure import Structure
from maxmargin.estimators.alignment_kernel import with_kernel
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import check_same_length
from maxmargin.estimators.fitting.parameter_types import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.losses.pairs import AlignedPairs
from maxmargin.reports.learned import substitution_table
from maxmargin.structures.alignment.inputs import is_real, record_name, tracks_of
from maxmargin.structures.alignment.paths import check_rows
from maxmargin.structures.alignment.structure import Alignment
from maxmargin.structures.alignment.views import (
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


@describe_parameters()
class AlignmentSVM(StructuredEstimator):
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
        Smith-Waterman.
    features : str or tuple of Pair
        Features of a match. "simple": every track against every track. "anova2":
        every two tracks of letters against every two. "tensor": all tracks of letters
        together against all together. "all": these three. "window": "all" and windows
        of neighbours. "profile": "window" and the real-valued tracks. Real-valued tracks
        enter "simple", "all", "window" and "profile". Or pairs of views.
    gaps : {"affine", "linear", "structural"} or Gaps
        Cost of gaps; "structural": opening depends on the neighbouring letters.
    symmetric : bool
        Whether scores stay the same when the two sequences are exchanged.
    normalize : bool
        Whether features are divided by the total length of both sequences.
    band : int
        Largest distance from the diagonal.
    alphabets : mapping from track to letters
        Letters that may occur; by default those of the training data.
    kernel : {"rbf", "quadratic", "cubic", "poly", "linear"}, Kernel or callable
        Add scores phi(s_i)' W phi(t_j) to matches, with phi the feature map of a kernel
        between positions (letters as indicators, vectors as they are, all tracks
        together): an expansion over pairs of basis positions.
    kernel_method : {"cholesky", "nystroem", "exact"}
        How basis positions are chosen. "cholesky": one by one, where the approximation is
        worst. "nystroem": at random. "exact": all distinct positions.
    n_basis : int
        Number of basis positions m; there are m * m weights.
    loss : {"Q", "Q4", "zero-one"} or Loss
        "Q": share of the reference pairs that are missed. "Q4": pairs shifted by up to 4
        positions count as found. ``AlignedPairs(shift)`` allows any shift.

    Attributes
    ----------
    coef_ : array
        Weights, named by `structure_.feature_names()`.
    result_ : Result
        Certificate: status, primal, dual, gap, history.

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

    _at_prediction = ("band",)
    structure_: Alignment

    def __init__(
        self,
        C: float = 50.0,
        *,
        mode: str = "global",
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = False,
        normalize: bool = True,
        band: int | None = None,
        alphabets: Mapping[str, Sequence[Any]] | None = None,
        kernel: KernelChoice = None,
        kernel_method: str = "cholesky",
        n_basis: int = 20,
        memory: float = MEMORY,
        loss: LossChoice = "Q",
        rescaling: str | None = "margin",
        penalty: str = "linear",
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
        self.symmetric = symmetric
        self.normalize = normalize
        self.band = band
        self.alphabets = alphabets
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
        self.memory = memory
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
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
        sequences = [sequence for pair in X for sequence in pair]
        structure = alignment_structure(self, sequences)
        if self.kernel is None:
            return structure
        return with_kernel(structure, sequences, self, self._seed())

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"Q": AlignedPairs(), "Q4": AlignedPairs(4), "zero-one": ZeroOne()}

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn from pairs of sequences and their alignments.

        Parameters
        ----------
        X : sequence of (first, second)
            Sequences: strings, or mappings from track to letters or real vectors.
        y : sequence of alignments
            Two strings with "-" for gaps, both from their first letter on, or an array
            (k, 2) of positions, -1 for a gap. Local alignments may begin anywhere.
        sample_weight : array (n,), optional
            Factor on C for each pair.
        """
        super().fit(X, y, sample_weight)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_same_length(X, y)
        self._check_container(X)
        for q, (pair, written) in enumerate(zip(X, y, strict=True)):
            if _is_pair(pair):
                check_rows(written, pair, f"pair {q}")
        return super()._training_data(X, y, sample_weight)

    def score(self, X: Any, y: Any) -> float:
        """Mean Q score: share of the reference pairs that are found."""
        return float(np.mean(1.0 - self.losses(X, y)))

    def losses(self, X: Any, y: Any, shift: int = 0) -> Floats:
        """Loss of each pair: 1 - Q, or 1 - Q4 with ``shift=4``."""
        check_is_fitted(self, "coef_")
        check_same_length(X, y)
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        return AlignedPairs(shift).value(truth, predict_found(self, x).labels)

    def alignment_scores(self, X: Any) -> Floats:
        """Score of the best alignment of each pair."""
        check_is_fitted(self, "coef_")
        return predict_found(self, self.structure_.encode(X)).score

    def substitution_matrix(self, track: str = "residue") -> tuple[Any, Floats]:
        """Letters of a track and the learned score of each pair of them."""
        check_is_fitted(self, "coef_")
        return self.structure_.substitution(self.coef_, track)

    def _learned(self) -> Sequence[str]:
        tables = substitution_tables(self.structure_, self.coef_)
        return [*tables, *super()._learned()]


def substitution_tables(structure: Alignment, w: Floats) -> list[str]:
    """The learned substitution scores of each track, as pieces of HTML."""
    out = []
    for track in structure.symbols.letters:
        try:
            out.append(substitution_table(track, *structure.substitution(w, track)))
        except ValueError:  # the features do not pair this track with itself
            continue
    return out


def _is_pair(pair: Any) -> bool:
    two = isinstance(pair, tuple | list) and len(pair) == 2
    return two and pair[0] is not None and pair[1] is not None


def alignment_structure(estimator: Any, sequences: Sequence[Any]) -> Alignment:
    """The structure described by the parameters of an estimator."""
    tracks: dict[str, Any] = {}
    if sequences:
        where = record_name(sequences[0], "pair 0, first sequence")
        tracks = tracks_of(sequences[0], where)
    letters = [name for name, values in tracks.items() if not is_real(values)]
    vectors = [name for name, values in tracks.items() if is_real(values)]
    return Alignment(
        mode=estimator.mode,
        model=_named_model(estimator.features, letters, vectors),
        gaps=_named_gaps(estimator.gaps, letters),
        symmetric=estimator.symmetric,
        normalize=estimator.normalize,
        band=estimator.band,
        alphabets=estimator.alphabets,
    )


def _named_model(
    features: Any, letters: Sequence[str], vectors: Sequence[str]
) -> tuple[Pair, ...]:
    if not isinstance(features, str):
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
        warnings.warn(
            f"features={features!r} is about letters: the real-valued tracks "
            f"{', '.join(map(repr, vectors))} are not used; features='simple' or 'all' "
            "uses them",
            stacklevel=2,
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
