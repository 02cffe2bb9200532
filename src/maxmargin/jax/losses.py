"""Losses of label sequences on JAX arrays, with their gradients, and decoding.

The compiled loops of `maxmargin.decode` run on the CPU behind `jax.pure_callback`, so
`jit`, `grad` and `vmap` work; arrays on another device are copied to the CPU and back. The
gradient is a difference of indicator tables (hinge, perceptron) or of expected ones
(log-likelihood, softmax-margin): the forward pass keeps the most violated labels of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from maxmargin.core.data.arrays import Ragged, is_number
from maxmargin.core.formulations import Formulation
from maxmargin.decode.machinery.batch import ScoreBatch
from maxmargin.decode.machinery.oracle import default_loss, loss_augmented, search
from maxmargin.decode.sequences.chain import Chain

LOSSES = ("hinge", "perceptron", "log-likelihood", "softmax-margin")
REDUCTIONS = ("mean", "sum", "none")
Scores: TypeAlias = "jax.Array | Mapping[str, jax.Array]"
Loss = Callable[..., jax.Array]


class _Settings(NamedTuple):
    """What a loss is made of."""

    kind: str
    chain: Chain
    loss: Any
    formulation: Formulation
    temperature: float
    n_jobs: int


def structured_loss(
    name: str,
    structure: Chain,
    *,
    loss: Any = None,
    rescaling: str = "margin",
    penalty: str = "linear",
    temperature: float = 1.0,
    reduction: str = "mean",
    n_jobs: int = 1,
) -> Loss:
    """A loss of label sequences by name, as a function of scores, target and mask.

    Parameters
    ----------
    name : {"hinge", "perceptron", "log-likelihood", "softmax-margin"}
    structure : Chain
        With its scheme, allowed transitions and order: see `maxmargin.decode.Chain`.
    loss : str or array, optional
        Of hinge and softmax-margin: "hamming", or costs (labels, labels), [true, said];
        of the hinge "zero-one", too.
    rescaling : {"margin", "slack"}, default="margin"
    penalty : {"linear", "squared"}, default="linear"
        Of the hinge, as in `maxmargin.torch.StructuredHinge`.
    temperature : float, default=1.0
        Of the softmax-margin, as in `maxmargin.torch.SoftmaxMargin`.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over the rows of the batch.
    n_jobs : int, default=1
        Threads over the batch.

    Returns
    -------
    function of (scores, target, mask=None)
        `scores` are emissions (rows, tokens, labels), or a mapping with these and
        "transitions", "start", "end", "triples". `mask` is True at valid tokens, or has
        the length of each row. It can be differentiated by the scores, once.

    Examples
    --------
    >>> from maxmargin.decode import Chain
    >>> hinge = structured_loss("hinge", Chain())
    >>> scores = jnp.array([[[1.0, 0.0], [0.0, 0.5]]])
    >>> value, slope = jax.value_and_grad(hinge)(scores, jnp.array([[0, 1]]))
    >>> float(value), slope.tolist()
    (0.5, [[[0.0, 0.0], [1.0, -1.0]]])
    """
    if name not in LOSSES:
        raise ValueError(f"{name!r} is not one of {', '.join(map(repr, LOSSES))}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction={reduction!r} is not one of {REDUCTIONS}")
    if penalty not in ("linear", "squared"):
        raise ValueError(f"penalty={penalty!r} is not 'linear' or 'squared'")
    _check_chain(structure)
    if name != "hinge" and (rescaling, penalty) != ("margin", "linear"):
        raise ValueError(f"rescaling and penalty are of the hinge, not of {name}")
    if name not in ("hinge", "softmax-margin") and loss is not None:
        raise ValueError(f"loss is of hinge and softmax-margin, not of {name}")
    if name != "softmax-margin" and temperature != 1.0:
        raise ValueError(f"temperature is of softmax-margin, not of {name}")
    if not is_number(temperature) or not 0 < float(temperature) < np.inf:
        raise ValueError(f"temperature={temperature!r} must be a positive number")
    given = default_loss(structure) if loss is None else loss
    formulation = Formulation(rescaling, penalty)
    each = _differentiable(
        _Settings(name, structure, given, formulation, float(temperature), n_jobs)
    )

    def value(scores: Scores, target: Any, mask: Any = None) -> jax.Array:
        tables, mask = _prepared(scores, mask)
        rows = each(tables, jnp.asarray(target), mask)
        if reduction == "none":
            return rows
        return rows.mean() if reduction == "mean" else rows.sum()

    return value


def decode(
    structure: Chain, scores: Scores, mask: Any = None, n_jobs: int = 1
) -> jax.Array:
    """Best label sequence of each row: integers (rows, tokens), -1 behind each row.

    Examples
    --------
    >>> from maxmargin.decode import Chain
    >>> chain = Chain(labels=("O", "B-X", "I-X"), scheme="bio")
    >>> scores = jnp.array([[[0.0, 0.0, 3.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]])
    >>> decode(chain, scores).tolist()
    [[1, 2, 0]]
    """
    _check_chain(structure)
    tables, mask = _prepared(scores, mask)
    tables = jax.lax.stop_gradient(tables)

    def find(tables: dict[str, Any], mask: Any) -> Any:
        best = structure.best(_arrays(tables), np.asarray(mask), n_jobs)
        return best.outputs.astype(np.int32)

    main = tables["emissions"]
    shape = jax.ShapeDtypeStruct(main.shape[:2], jnp.int32)
    found: jax.Array = jax.pure_callback(
        find, shape, tables, mask, vmap_method="sequential"
    )
    return found


def _check_chain(structure: Any) -> None:
    if not isinstance(structure, Chain):
        raise TypeError(
            f"maxmargin.jax has label sequences only: structure must be a Chain, not "
            f"{type(structure).__name__}; maxmargin.torch has the others"
        )


def _prepared(scores: Scores, mask: Any) -> tuple[dict[str, jax.Array], jax.Array]:
    """Tables by name, and a mask or lengths, all as JAX arrays."""
    given = scores if isinstance(scores, Mapping) else {"emissions": scores}
    if "emissions" not in given:
        raise ValueError("scores: the table 'emissions' is missing")
    tables = {name: jnp.asarray(table) for name, table in given.items()}
    main = tables["emissions"]
    if main.ndim != 3:
        raise ValueError(
            f"emissions has shape {main.shape}, but it must be (rows, tokens, labels)"
        )
    if not jnp.issubdtype(main.dtype, jnp.floating):
        tables["emissions"] = main.astype(float)
    lengths = jnp.full(main.shape[0], main.shape[1], dtype=jnp.int32)
    return tables, lengths if mask is None else jnp.asarray(mask)


def _arrays(tables: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy arrays; half precision becomes float32."""
    out = {name: np.asarray(table) for name, table in tables.items()}
    return {
        k: v if v.dtype.itemsize > 2 else v.astype(np.float32) for k, v in out.items()
    }


def _differentiable(settings: _Settings) -> Loss:
    """Loss of each row, with its derivative by the tables."""

    def answers(tables: dict[str, jax.Array]) -> tuple[Any, Any, Any]:
        main = tables["emissions"]
        wide = jnp.float64 if main.dtype == jnp.float64 else jnp.float32
        rows = jax.ShapeDtypeStruct(main.shape[:1], wide)
        return rows, jax.ShapeDtypeStruct(main.shape[:2], jnp.int32), rows

    def search_rows(tables: Any, target: Any, mask: Any) -> tuple[Any, Any, Any]:
        batch = settings.chain.read(_arrays(tables), np.asarray(mask))
        value, labels, scale = _evaluate(settings, batch, np.asarray(target))
        wide = np.float64 if batch.main.dtype == np.float64 else np.float32
        return value.astype(wide), labels.astype(np.int32), scale.astype(wide)

    def differentiate(
        tables: Any, target: Any, mask: Any, labels: Any, weight: Any
    ) -> dict[str, Any]:
        batch = settings.chain.read(_arrays(tables), np.asarray(mask))
        factor = np.asarray(weight, np.float64)
        found = _gradient(
            settings, batch, np.asarray(target), np.asarray(labels), factor
        )
        return {
            name: found[name].reshape(np.shape(table)).astype(table.dtype)
            for name, table in tables.items()
        }

    @jax.custom_vjp
    def value(tables: Any, target: Any, mask: Any) -> Any:
        return forward(tables, target, mask)[0]

    def forward(tables: Any, target: Any, mask: Any) -> tuple[Any, Any]:
        found, labels, scale = jax.pure_callback(
            search_rows, answers(tables), tables, target, mask, vmap_method="sequential"
        )
        return found, (tables, target, mask, labels, scale)

    def backward(kept: Any, upstream: Any) -> tuple[Any, None, None]:
        tables, target, mask, labels, scale = kept
        like = {k: jax.ShapeDtypeStruct(t.shape, t.dtype) for k, t in tables.items()}
        arguments = tables, target, mask, labels, upstream * scale
        grads = jax.pure_callback(
            differentiate, like, *arguments, vmap_method="sequential"
        )
        return grads, None, None

    value.defvjp(forward, backward)
    loss: Loss = value
    return loss


def _evaluate(
    settings: _Settings, batch: ScoreBatch, target: Any
) -> tuple[Any, Any, Any]:
    """Loss of each row, the labels whose indicator its gradient has, and its factor."""
    kind, chain, loss, formulation, temperature, n_jobs = settings
    scale = np.ones(batch.rows)
    if kind == "hinge":
        found = search(chain, batch, target, loss, formulation, n_jobs)
        value = found.value
        if formulation.scales:
            scale = formulation.plane_offset(found.delta)
        if formulation.penalty == "squared":
            scale, value = scale * found.value, 0.5 * found.value**2
        return value, chain.outputs(batch, found.rows), scale * (found.value > 0)
    truth, own = chain.read_target(batch, target)
    if kind == "perceptron":
        rows, best = chain.find_best(batch, n_jobs)
        chain.check_found(best)
        return np.maximum(best - own, 0.0), chain.outputs(batch, rows), scale
    summed, constant = _summed(settings, batch, truth)
    log_z = chain.log_partition(summed, n_jobs)
    chain.check_found(log_z)
    value = temperature * log_z + constant - own
    return value, chain.outputs(batch, truth), scale


def _summed(
    settings: _Settings, batch: ScoreBatch, truth: Ragged
) -> tuple[ScoreBatch, Any]:
    """Scores under which all label sequences are summed, and a constant of each row."""
    if settings.kind == "log-likelihood":
        return batch, 0.0
    chain, loss, temperature = settings.chain, settings.loss, settings.temperature
    return loss_augmented(chain, batch, truth, loss, temperature)


def _gradient(
    settings: _Settings, batch: ScoreBatch, target: Any, labels: Any, factor: Any
) -> dict[str, Any]:
    """Sum over rows of factor times the gradient, by table."""
    chain = settings.chain
    out: Any = tuple(np.zeros(a.shape) for a in batch.arrays)
    truth = chain.encode(batch, target)
    if settings.kind in ("log-likelihood", "softmax-margin"):
        summed, _ = _summed(settings, batch, truth)
        _, out = chain.weighted_marginals(summed, factor, settings.n_jobs)
    else:
        chain.add_indicators(batch, chain.encode(batch, labels), factor, out)
    chain.add_indicators(batch, truth, -factor, out)
    return dict(zip(chain.tables, out, strict=True))
