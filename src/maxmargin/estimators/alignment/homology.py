"""HomologySVM: find the homolog of a sequence among candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.structure import Structure
from maxmargin.estimators.alignment.alignment import (
    AlignmentSVM,
    alignment_structure,
    draw_alignment,
    substitution_tables,
)
from maxmargin.estimators.alignment.exporting import scoring_of
from maxmargin.estimators.alignment.homology_start import TRACK, learn_prior
from maxmargin.estimators.alignment.significance import Significance
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_parameters,
    check_same_length,
    example_C,
    object_array,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.prediction import ask_batches
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.io.biology.scoring import Scoring
from maxmargin.losses.pairs import WrongCandidate
from maxmargin.reports.drawing.marked_text import plain_html
from maxmargin.structures.alignment.homology import (
    Homology,
    candidate_number,
    is_number,
)
from maxmargin.structures.alignment.inputs.views import Prior, matrix
from maxmargin.structures.alignment.paths import check_rows
from maxmargin.structures.alignment.structure import Alignment


@describe_parameters(like=AlignmentSVM)
class HomologySVM(Significance, StructuredEstimator):
    r"""Find the homolog of a native sequence among candidates.

    .. math:: f(x) = \arg\max_c \max_a \langle w, \psi(x, z_c, a) \rangle

    trained so that the homolog scores higher than every decoy (Tsochantaridis et al. 2005,
    section 4.4).

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective.
    alignments : {"hidden", "given"}
        How the homolog is aligned in training. "hidden": the best-scoring
        alignment under the current weights, as in `predict`; alignments in `y` are
        optional and only help to choose `start`.
        "given": as `y` says, as in the paper. That problem is convex, but distant
        relatives can often not be told from decoys in this way.
    start : {"auto", None} or Prior
        Known scores of matches and gaps, to which the model adds what it learns. "auto":
        log-odds of the given alignments, together with BLOSUM62 for proteins, and common
        gap costs. None: everything is learned; alignments must then be given.
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
    >>> model = HomologySVM().fit(X, y)
    >>> model.predict(X).tolist()
    [1, 0]
    >>> HomologySVM().fit(X, [1, 0]).predict(X).tolist()  # without alignments
    [1, 0]
    """

    loss = "zero-one"  # not a parameter: a homolog is found, or it is not
    rescaling = None
    _at_prediction = ("band", "unknown")
    structure_: Homology

    def __init__(
        self,
        C: float = 1e-3,
        *,
        alignments: str = "hidden",
        start: Any = "auto",
        mode: str = "local",
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = False,
        normalize: bool = False,
        band: int | None = None,
        alphabets: Mapping[str, Sequence[Any]] | str | None = None,
        unknown: str | Mapping[str, str] = "warn",
        penalty: str = "squared",
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
        self.alignments = alignments
        self.start = start
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.symmetric = symmetric
        self.normalize = normalize
        self.band = band
        self.alphabets = alphabets
        self.unknown = unknown
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

    def _structure(
        self, X: Any, y: Any, sample_weight: SampleWeight = None
    ) -> Homology:
        if self.alignments not in ("hidden", "given"):
            raise ValueError(
                f"alignments={self.alignments!r} is not known: choose from 'hidden', "
                "'given'"
            )
        alignment = alignment_structure(self, [example[0] for example in X])
        search = Homology(alignment, hidden=self.alignments == "hidden")
        # A factor on C does not change what alignments say, unless it is zero.
        used = (example_C(1.0, sample_weight, len(X)) > 0.0).astype(np.float64)
        start = self._prior(search, X, y, used)
        if start is None:
            return search
        model = (*matrix(start), *(alignment.model or ()))
        return replace(search, alignment=replace(alignment, model=model))

    def _prior(self, search: Homology, X: Any, y: Any, weight: Floats) -> Prior | None:
        """Known scores to start from."""
        if self.start is None or isinstance(self.start, Prior):
            return self.start
        if self.start != "auto":
            raise ValueError(
                f"start={self.start!r} is not known: choose 'auto', None or a Prior"
            )
        bound = search.bind(X, []).alignment
        if TRACK not in bound.symbols.letters:
            return None
        places = _indices(X, y)
        known = [x[2].get(c) for x, c in zip(X, places, strict=True)]
        return learn_prior(bound, X, places, known, weight)

    def _with_settings(self, changed: Mapping[str, Any]) -> Structure:
        alignment = replace(self.structure_.alignment, **changed)
        return replace(self.structure_, alignment=alignment)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"zero-one": WrongCandidate()}

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn from natives with candidates and the homolog of each.

        Parameters
        ----------
        X : sequence of (native, candidates)
        y : sequence of (index of the homolog, its alignment with the native)
            Or just indices, if there are no alignments to start from.
        sample_weight : array (n,), optional
            Factor on C for each example.
        """
        super().fit(X, y, sample_weight)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_same_length(X, y)
        y = _homologs(y)
        check_parameters(self.get_params(deep=False))
        X = rows_of_frame(X, [2, 3], "a sequence and its candidates")
        self._check_container(X)
        X = self._examples_of(X, y)
        y = by_position(y)
        structure = self._structure(X, y, sample_weight).bind(X, y)
        x = structure.encode(X)
        data = TrainingData(
            structure, x, structure.encode_labels(x, y), sample_weight, X, y
        )
        if not structure.hidden:
            return data
        init = structure.start_weights()
        return data._replace(init=init, given=init is None)

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        check_same_length(X, y)
        y = _homologs(y)
        return super()._batch_data(self._examples_of(X, y), y, sample_weight)

    def _examples_of(self, X: Any, y: Any) -> list[tuple[Any, Any, dict[int, Any]]]:
        """Inputs with the alignment of their homolog, where it is given."""
        needed = None
        if self.alignments == "given":
            needed = "with alignments='given'"
        elif self.start is None:
            needed = "with start=None"
        return _aligned(
            rows_of_frame(X, [2, 3], "a sequence and its candidates"),
            _homologs(y),
            needed,
        )

    def _inputs(self, X: Any) -> Any:
        listed = rows_of_frame(X, [2, 3], "a sequence and its candidates")
        return [tuple(x)[:2] for x in listed]

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        if self.structure_.hidden:
            return super()._encoded(X, _indices(X, y))
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

    def p_values(self, X: Any) -> list[Floats]:
        """Probability, for each candidate, that a random one scores as high.

        `fit_evalues` has to be called first.
        """
        found, sizes = self._flat_p_values(X)
        return np.split(found, np.cumsum(sizes)[:-1])

    def evalues(self, X: Any, database: int | None = None) -> list[Floats]:
        """Number of random candidates that would score as high among those of a native.

        Parameters
        ----------
        X : sequence of (native, candidates)
        database : int, optional
            Number of candidates that were compared; default: those of each native.
        """
        return [
            p * (len(p) if database is None else database) for p in self.p_values(X)
        ]

    def _local_alignment(self) -> Alignment:
        return self.structure_.alignment

    def _all_pairs(self, X: Any) -> tuple[list[Any], list[int]]:
        X = self._inputs(X)
        pairs = [(native, one) for native, candidates in X for one in candidates]
        return pairs, [len(candidates) for _, candidates in X]

    def score(self, X: Any, y: Any) -> float:
        """Share of the native sequences whose homolog is found; y as in `fit`, or indices."""
        check_same_length(X, y, "score")
        found = self.predict(X)
        return float(
            np.mean(found == np.array(_indices(self._inputs(X), _homologs(y))))
        )

    def substitution_matrix(self, track: str = "residue") -> tuple[Any, Floats]:
        """Letters of a track and the learned score of each pair of them."""
        check_is_fitted(self, "coef_")
        return self.structure_.alignment.substitution(self.coef_, track)

    def scoring(self, codes: bool = True) -> Scoring:
        """Matrix and gap costs for other programs, to search with what was learned.

        Scores agree with `candidate_scores`, which divides by the total length of both
        sequences if ``normalize=True``. Models of one track of letters have one.

        Parameters
        ----------
        codes : bool
            Whether the matrix has rows for codes such as X, B and Z, too, with the
            scores that the model has for them by its rule `unknown`.

        Examples
        --------
        >>> X = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"])]
        >>> model = HomologySVM().fit(X, [1, 0])
        >>> aligner = model.scoring().aligner()
        >>> bool(abs(aligner.score("ABBA", "ABA") - model.candidate_scores(X)[0][1]) < 1e-9)
        True
        """
        check_is_fitted(self, "coef_")
        return scoring_of(self.structure_.alignment, self.coef_, codes)

    def _learned(self) -> Sequence[str]:
        tables = substitution_tables(self.structure_.alignment, self.coef_)
        return [*tables, *super()._learned()]

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        c, columns = output if np.iterable(output) else self.predict_alignments([x])[0]
        true = next(iter(truth)) if np.iterable(truth) else truth
        name = plain_html(
            f"candidate {c}", None if true is None else f"candidate {true}"
        )
        return name + draw_alignment(x[0], x[1][int(c)], columns, None)


def _homologs(y: Any) -> Any:
    """The outputs, those of a data frame row by row."""
    return rows_of_frame(y, [1, 2], "the homolog, perhaps with its alignment", "y")


def _indices(X: Any, y: Any) -> list[int]:
    """The candidate of each output."""
    sizes = [len(example[1]) for example in X]
    return [candidate_number(q, *z) for q, z in enumerate(zip(y, sizes, strict=True))]


def _aligned(
    X: Any, y: Any, needed: str | None
) -> list[tuple[Any, Any, dict[int, Any]]]:
    """Inputs with the alignment of their homolog, which must spell both sequences."""
    out: list[tuple[Any, Any, dict[int, Any]]] = []
    for q, (example, written) in enumerate(zip(X, y, strict=True)):
        alone = is_number(written)
        if alone and needed is not None:
            raise ValueError(
                f"example {q}: {needed} the output must be (candidate, alignment)"
            )
        if not isinstance(example, tuple | list) or len(example) < 2:
            raise ValueError(f"example {q}: the input must be (native, candidates)")
        native, candidates = example[0], example[1]
        if isinstance(candidates, str):
            raise ValueError(
                f"example {q}: the candidates are one string, not a list of sequences"
            )
        if len(candidates) == 0:
            raise ValueError(f"example {q} has no candidates")
        c = candidate_number(q, written, len(candidates))
        if alone or written[1] is None:
            out.append((native, candidates, {}))
            continue
        check_rows(written[1], (native, candidates[c]), f"example {q}")
        out.append((native, candidates, {c: written[1]}))
    if out and all(len(candidates) == 1 for _, candidates, _ in out):
        raise ValueError(
            "every example has one candidate: there is nothing to learn without others, "
            "such as sequences of other families"
        )
    return out
