"""NetworkSVM: label the nodes of graphs together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.tokens.sequences import has_hidden
from maxmargin.core.data.warned import warn
from maxmargin.core.loss import Loss, ZeroOne
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Augment, ByLoss, Latent, Layers, Structure
from maxmargin.estimators.calibrating.held_out import LabelScores
from maxmargin.estimators.calibrating.labels import label_probabilities
from maxmargin.estimators.fitting.inputs import (
    check_same_length,
    warn_if_alike,
)
from maxmargin.estimators.fitting.kernels.mapped import (
    KernelMixin,
    kernel_plan,
)
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
    joined_layers,
    token_accuracy,
)
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.estimators.network_probabilities import node_scores
from maxmargin.kernels.functions import Linear, named_kernel
from maxmargin.losses.labels import Hamming
from maxmargin.losses.partial import PartialLoss
from maxmargin.metrics.margins import margin_losses
from maxmargin.reports.drawing.graph_svg import graph_svg
from maxmargin.reports.drawing.marked_text import beside_html
from maxmargin.solvers.base import Result, Trainer, run
from maxmargin.structures.latent.partial_network import PartialNetwork
from maxmargin.structures.network.clique_structure import CliqueNetwork
from maxmargin.structures.network.graphs.graph import Graph, SharedRow, as_graph, plain
from maxmargin.structures.network.kernel_structure import KernelNetwork
from maxmargin.structures.network.structure import Network


@describe_parameters()
class NetworkSVM(KernelMixin):
    r"""Max-margin Markov network on any graph.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle],
              \quad \psi = \sum_v \phi_v \otimes e(y_v)
              + \sum_{uv} \phi_{uv} \otimes e(y_u, y_v)

    Parameters
    ----------
    kernel : {"linear", "quadratic", "cubic", "rbf"}, Kernel or callable
        Kernel between the features of nodes. A callable takes two matrices of rows and
        returns the matrix of kernel values.
    edge_kernel : {"linear", "quadratic", "cubic", "rbf"}, Kernel or callable
        Kernel between the features of edges; without one, edges keep their weights. It
        needs ``kernel_method="exact"``; nodes are then compared by `kernel`, or linearly.
    kernel_method : {"exact", "sampled", "cpsp", "nystroem", "cholesky"}
        How to train with a kernel. "exact" is trained by "smo" with the Gram matrix of all
        nodes (and edges) in memory, at most 4 GB. The others need nodes of one type; see
        `KernelSVM`.
    inference : str
        "auto" is exact on forests and graphs of low treewidth, a graph cut where that is
        exact, and TRW-S with its bound elsewhere. Or one of "forest", "junction", "cut",
        "search" (needs pytoulbar2), "lp" (trains on fractional solutions), "trws",
        "loopy", "expansion".
    pairwise : {"full", "symmetric", "potts"}
        What the weights of an edge distinguish: ordered pairs of labels, unordered pairs,
        or only whether both labels are equal.
    cliques : {"table", "equal"}, tuple or mapping
        What the weights of a clique distinguish, for graphs that have `cliques`:
        every joint label of its nodes; only whether all labels are equal; or, as a tuple
        ``("at most", k, label)``, whether at most k of its nodes have the label. A mapping
        has one of these for each clique type. Cliques need `inference` "auto" or
        "junction" (exact where the graph is narrow), "trws", "loopy" or "lp".
    bias : bool
        Whether a constant is appended to the features of nodes, and of edges that have
        features.
    loss : {"hamming", "hamming-mean", "zero-one"}, array or Loss
        "hamming": number of wrong nodes. "hamming-mean": their share of the graph.
        "zero-one": 1 if any node is wrong. An array is a table of costs, [true label,
        predicted label] in sorted order.
    rescaling : {"margin", "slack", None}
        How the loss of a wrong output enters. "margin": the true output must score more by
        a margin as large as the loss. "slack": the margin is always one, and the slack
        needed for it is multiplied by the loss; this is exact on forests. None: the
        zero-one loss replaces `loss`.
    solver : str or Solver
        The trainer: "auto", "block-dual", "one-slack", ..., or "smo" (the factored dual of
        Taskar et al. 2003).

    Attributes
    ----------
    coef_ : array
        Weights; `structure_.feature_names()` says what each is.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    certificate_ : {"exact", "relaxed", "bound"}
        What inference guarantees on the training graphs.
    classes_ : list
        All labels.
    structure_ : Network
        The structure, bound to the data.

    Examples
    --------
    Two graphs of two nodes; the label of the second node shows only at the first.

    >>> import numpy as np
    >>> from maxmargin import NetworkSVM
    >>> link = [[0, 1]]
    >>> X = [([[1.0], [0.0]], link), ([[-1.0], [0.0]], link)]
    >>> y = [["hot", "warm"], ["cold", "cool"]]
    >>> model = NetworkSVM(C=10.0).fit(X, y)
    >>> model.predict(X)[1].tolist(), model.certificate_
    (['cold', 'cool'], 'exact')
    """

    _predicts_labels = True
    structure_: Network

    def __init__(
        self,
        C: float = 0.2,
        *,
        kernel: KernelChoice = None,
        edge_kernel: KernelChoice = None,
        kernel_method: str = "exact",
        n_basis: int = 200,
        inference: str = "auto",
        pairwise: str = "full",
        cliques: Any = "table",
        bias: bool = True,
        loss: LossChoice = "hamming",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
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
        self.kernel = kernel
        self.edge_kernel = edge_kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
        self.inference = inference
        self.pairwise = pairwise
        self.cliques = cliques
        self.bias = bias
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
        options = (self.inference, self.pairwise, self.bias)
        if any(as_graph(i, x).cliques for i, x in enumerate(X)):
            self._check_plain(y)
            return CliqueNetwork(*options, patterns=self.cliques)
        if self.cliques != "table":
            warn(
                f"cliques={self.cliques!r} is not used: no training graph has cliques; "
                "list their nodes in Graph(cliques=..)",
            )  # fmt: skip
        if has_hidden(y):
            if self.kernel is not None or self.edge_kernel is not None:
                raise ValueError("labels that are None cannot be trained with a kernel")
            return PartialNetwork(*options)
        if not self._factored():
            return Network(*options)
        kernel: KernelChoice = Linear()
        if self.kernel is not None:
            kernel = named_kernel(self.kernel, _stack_nodes(X))
        edge_kernel = self.edge_kernel
        if edge_kernel is not None:
            try:
                edge_kernel = named_kernel(edge_kernel, _stack_edges(X))
            except (TypeError, ValueError) as error:
                raise ValueError(f"edge_{error}") from None
        return KernelNetwork(*options, kernel=kernel, edge_kernel=edge_kernel)

    def _check_plain(self, y: Any) -> None:
        """Refuse what is not available for cliques."""
        if self.kernel is not None or self.edge_kernel is not None:
            raise ValueError(
                "graphs with cliques cannot be trained with a kernel: leave out kernel and "
                "edge_kernel, or leave out cliques, since nodes and edges take kernels"
            )
        if has_hidden(y):
            raise ValueError(
                "labels that are None are not available for graphs with cliques: give all "
                "labels, or use edges in place of the cliques"
            )

    def _factored(self) -> bool:
        """Whether kernels are trained in the factored dual, by "smo"."""
        if self.edge_kernel is not None and self.kernel_method != "exact":
            raise ValueError("edge_kernel needs kernel_method='exact'")
        both = self.kernel, self.edge_kernel
        return self.kernel_method == "exact" and both != (None, None)

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if self.kernel is not None and not self._factored():
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _can_stream(self) -> bool:
        if self.edge_kernel is not None:
            raise AttributeError(
                "partial_fit is not available for kernels, which need all edges at once"
            )
        return super()._can_stream()

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn weights; ends with a certificate in `result_`.

        Parameters
        ----------
        X : sequence of Graph, or of tuples (nodes, edges, ...)
        y : sequence of label sequences, one label per node
            Unknown labels are None: training then alternates between predicting them
            and learning from them (CCCP), starting from weights learned on the known
            nodes.
        sample_weight : array (n,), optional
            Factor on C for each graph.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        warn_if_alike(self.classes_)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        if isinstance(X, Graph):
            raise ValueError("X is one Graph, not a list of graphs: write [X] and [y]")
        data = super()._training_data(X, y, sample_weight)
        if not isinstance(data.structure, KernelNetwork):
            return data
        gram = data.structure.with_gram(data.x)
        return data._replace(x=gram)

    def _trainer(self, problem: Problem, data: TrainingData) -> Trainer:
        """With hidden labels: CCCP, from weights learned on the known nodes."""
        structure = problem.structure
        if not isinstance(structure, PartialNetwork):
            return super()._trainer(problem, data)
        network, known, labels, owner = structure.known(data.X, data.y)
        runs = self._problem(network, known, labels, None)
        runs = replace(runs, C=problem.C[owner], engine=problem.engine)
        rough = replace(super()._trainer(runs, data), tol=max(self.tol, 0.01))
        first = run(rough, runs)
        return super()._trainer(problem, data._replace(init=first.result.w))

    def _adopt(self, structure: Structure, result: Result) -> None:
        if isinstance(structure, PartialNetwork):
            structure = structure.observed()
        super()._adopt(structure, result)

    def _loss(self, structure: Structure) -> Loss:
        loss = super()._loss(structure)
        return PartialLoss(loss) if structure.offers(Latent) is not None else loss

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {
            "hamming": Hamming(),
            "hamming-mean": Hamming(normalize=True),
            "zero-one": ZeroOne(),
        }

    @property
    def certificate_(self) -> str:
        """What inference guarantees on the training graphs."""
        check_is_fitted(self, "coef_")
        return self.structure_.certificate

    @property
    def classes_(self) -> list[Any]:
        """All labels, sorted."""
        check_is_fitted(self, "coef_")
        kinds = self.structure_.kinds
        assert kinds is not None  # of a bound structure
        return list(kinds.classes)

    def score(self, X: Any, y: Any) -> float:
        """Share of nodes with the right label; nodes whose label is None do not count."""
        check_same_length(X, y, "score")
        truth = [plain(row) for row in y]
        return token_accuracy(truth, self.predict(X), self.classes_)

    def predict_proba(self, X: Any) -> list[Floats]:
        """Probability of each label at each node, (nodes, K) per graph.

        Other nodes have their predicted labels; `calibrate` has to be called first. Rows
        sum to one, and columns are in the order of `classes_`.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = [rng.integers(2, size=4) for _ in range(30)]
        >>> link = [[0, 1], [1, 2], [2, 3]]
        >>> X = [(row[:, None] + rng.normal(size=(4, 1)), link) for row in y]
        >>> model = NetworkSVM().fit(X[:20], y[:20]).calibrate(X[20:], y[20:])
        >>> model.predict_proba(X[:1])[0].sum(axis=1).round(6).tolist()
        [1.0, 1.0, 1.0, 1.0]
        """
        return label_probabilities(self, X)

    def _label_scores(self, X: Any) -> LabelScores:
        check_is_fitted(self, "coef_")
        structure = self.structure_
        if isinstance(structure, CliqueNetwork):
            raise ValueError("probabilities are not available for graphs with cliques")
        x = structure.encode(X)
        flat = np.concatenate(ask_batches(self, structure, x, node_scores))
        return LabelScores(flat, x.node_ptr, self.classes_)

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        edges, found = as_graph(0, x).edges, plain(output)
        if truth is None:
            return graph_svg(edges, found, None, self.classes_)
        true = plain(truth)
        drawn = graph_svg(edges, found, true, self.classes_)
        if found == true or None in true:
            return drawn
        return beside_html(drawn, graph_svg(edges, true, None, self.classes_))

    def margin_curve(self, X: Any, y: Any, gammas: Any) -> Floats:
        """Mean gamma-margin per-label loss for each gamma, on forests.

        The worst per-label loss of any classifier whose scores differ from ours by at
        most gamma per wrong label (Taskar et al. 2003, section 6): the first term of
        their bound. At gamma = 0 it is the error itself.
        """
        check_is_fitted(self, "coef_")
        structure = Network(self.inference, self.pairwise, self.bias).bind(X, y)
        if structure.offers(ByLoss) is None:
            raise ValueError("the gamma-margin curve is computed on forests only")
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        loss = Hamming().bind(self.structure_.label_count())
        augment = Augment(truth, loss, np.ones(truth.n))
        asked = _Asked(x, augment)
        layers = joined_layers(ask_batches(self, self.structure_, asked, _by_loss))
        return margin_losses(layers.ptr, layers.loss, layers.score, truth.sizes, gammas)


class _Asked(NamedTuple):
    """Inputs with the loss whose values are to be distinguished."""

    x: Any
    augment: Augment

    @property
    def n(self) -> int:
        return int(self.x.n)


def _by_loss(structure: Network, asked: _Asked, ids: Ints, w: Floats) -> Layers:
    return structure.argmax_by_loss(asked.x, ids, w, asked.augment)


def _stack_nodes(X: Any) -> Any:
    """Features of the nodes of the first graphs, which set the scale of kernels."""
    parts = [as_graph(i, x).nodes for i, x in enumerate(list(X)[:500])]
    parts = [p.matrix() if isinstance(p, SharedRow) else p for p in parts]
    if any(sp.issparse(p) for p in parts):
        return sp.vstack([sp.csr_array(p) for p in parts])
    try:
        return np.concatenate([np.asarray(p, dtype=np.float64) for p in parts])
    except ValueError as wrong:
        raise ValueError(
            "a kernel on nodes needs the same features at all of them"
        ) from wrong


def _stack_edges(X: Any) -> Any:
    """Features of the edges of the first graphs, which set the scale of kernels."""
    parts = [
        np.asarray(g.edge_features, dtype=np.float64).reshape(len(g.edges), -1)
        for g in (Graph(*x) for x in list(X)[:500])
        if g.edge_features is not None and len(g.edges)
    ]
    return np.concatenate(parts) if parts else np.zeros((1, 1))
