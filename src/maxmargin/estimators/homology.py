"""HomologySVM: find the homolog of a sequence among candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ints, Ragged
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.alignment import (
    AlignmentSVM,
    alignment_structure,
    substitution_tables,
)
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import check_same_length, object_array
from maxmargin.estimators.fitting.parameter_types import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.prediction import ask_batches
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.structures.alignment.homology import Homology
from maxmargin.structures.alignment.paths import check_rows


@describe_parameters(like=AlignmentSVM)
class HomologySVM(StructuredEstimator):
    r"""Find the homolog of a native sequence among candidates.

    .. math:: f(x) = \arg\max_c \max_a \langle w, \psi(x, z_c, a) \rangle

    trained so that the homolog with its known alignment scores higher than every decoy
    with any alignment (Tsochantaridis et al. 2005, section 4.4).

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective.
    mode : {"local", "semiglobal", "global"}
        "local": Smith-Waterman. "semiglobal": gaps at the ends are free. "global":
        Needleman-Wunsch.

    Attributes
    ----------
    coef_ : array
        Weights, named by `structure_.feature_names()`.
    result_ : Result
        Certificate: status, primal, dual, gap, history.

    Examples
    --------
    >>> from maxmargin import HomologySVM
    >>> X = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"])]
    >>> y = [(1, ("ABBA", "AB-A")), (0, ("BAB", "BA-"))]
    >>> model = HomologySVM(C=10.0).fit(X, y)
    >>> model.predict(X).tolist()
    [1, 0]
    """

    loss = "zero-one"  # not a parameter: a homolog is found, or it is not
    rescaling = None
    _at_prediction = ("band",)
    structure_: Homology

    def __init__(
        self,
        C: float = 0.2,
        *,
        mode: str = "local",
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = False,
        normalize: bool = False,
        band: int | None = None,
        alphabets: Mapping[str, Sequence[Any]] | None = None,
        penalty: str = "squared",
        solver: SolverChoice = "auto",
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
        self.C = C
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.symmetric = symmetric
        self.normalize = normalize
        self.band = band
        self.alphabets = alphabets
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
        return Homology(alignment_structure(self, [example[0] for example in X]))

    def _with_settings(self, changed: Mapping[str, Any]) -> Structure:
        alignment = replace(self.structure_.alignment, **changed)
        return replace(self.structure_, alignment=alignment)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"zero-one": ZeroOne()}

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn from natives with candidates and the homolog of each.

        Parameters
        ----------
        X : sequence of (native, candidates)
        y : sequence of (index of the homolog, its alignment with the native)
        sample_weight : array (n,), optional
            Factor on C for each example.
        """
        super().fit(X, y, sample_weight)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_same_length(X, y)
        self._check_container(X)
        return super()._training_data(_aligned(X, y), y, sample_weight)

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        check_same_length(X, y)
        return super()._batch_data(_aligned(X, y), y, sample_weight)

    def _inputs(self, X: Any) -> Any:
        return [tuple(x)[:2] for x in X]

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        pairs = zip(X, y, strict=True)
        x = self.structure_.encode([(*e[:2], {int(c): a}) for e, (c, a) in pairs])
        return x, self.structure_.encode_labels(x, y)

    def predict(self, X: Any) -> np.ndarray:
        """Index of the best aligned candidate of each native sequence."""
        return np.array([c for c, _ in self.predict_alignments(X)], dtype=np.int64)

    def predict_alignments(self, X: Any) -> np.ndarray:
        """Best candidate and its alignment (columns) for each native sequence."""
        return object_array(list(super().predict(X)))

    def candidate_scores(self, X: Any) -> list[Floats]:
        """Scores of all candidates of each native sequence."""
        check_is_fitted(self, "coef_")
        x = self.structure_.encode(X)
        scores = ask_batches(self, self.structure_, x, Homology.scores)
        return np.split(np.concatenate(scores), x.ptr[1:-1])

    def score(self, X: Any, y: Any) -> float:
        """Share of the native sequences whose homolog is found; y as in `fit`, or indices."""
        check_same_length(X, y)
        true: Ints = np.array([c if np.isscalar(c) else c[0] for c in y])
        return float(np.mean(self.predict(X) == true))

    def substitution_matrix(self, track: str = "residue") -> tuple[Any, Floats]:
        """Letters of a track and the learned score of each pair of them."""
        check_is_fitted(self, "coef_")
        return self.structure_.alignment.substitution(self.coef_, track)

    def _learned(self) -> Sequence[str]:
        tables = substitution_tables(self.structure_.alignment, self.coef_)
        return [*tables, *super()._learned()]


def _aligned(X: Any, y: Any) -> list[tuple[Any, Any, dict[int, Any]]]:
    """Inputs with the alignment of their homolog, which must spell both sequences."""
    out = []
    for q, (example, written) in enumerate(zip(X, y, strict=True)):
        if np.isscalar(written) or len(written) != 2:
            raise ValueError(f"example {q}: the output must be (candidate, alignment)")
        native, candidates, c = example[0], example[1], int(written[0])
        if isinstance(candidates, str):
            raise ValueError(
                f"example {q}: the candidates are one string, not a list of sequences"
            )
        if 0 <= c < len(candidates):
            check_rows(written[1], (native, candidates[c]), f"example {q}")
        out.append((native, candidates, {c: written[1]}))
    return out
