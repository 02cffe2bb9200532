"""What all structured losses share: parameters, masks, devices, decoding.

A loss is a function of score tables, value(scores, target), whose derivative by a table
is a difference of indicator tables (hinge, perceptron) or of expected ones. A subclass
computes both with NumPy; this module carries tensors there and gradients back. CPU
tensors of float32 and float64 are shared, not copied; others are moved to the CPU and
the gradient is moved back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from maxmargin.core.data.arrays import Floats
from maxmargin.decode.machinery.base import NBest, ScoreStructure
from maxmargin.decode.machinery.batch import ScoreBatch, Table

Scores = Tensor | PackedSequence | Mapping[str, Tensor]
Gradient = Callable[[Floats, Sequence[Table]], None]
REDUCTIONS = ("mean", "sum", "none")


class StructuredLoss(nn.Module):
    """Base of all structured losses.

    Parameters
    ----------
    structure : ScoreStructure
        What an output is: see `maxmargin.decode`.
    n_labels : int, optional
        Number of labels, where tables such as transitions are parameters of this layer;
        not needed if the structure has names of labels.
    learn : bool, str or sequence of str, default=True
        Which of the structure's further tables (transitions, start, gap scores, ...) are
        parameters of this layer. Tables given with the scores take their place.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over the rows of the batch.
    n_jobs : int, optional
        Threads over the batch; by default `torch.get_num_threads()`.
    """

    def __init__(
        self,
        structure: ScoreStructure,
        *,
        n_labels: int | None = None,
        learn: bool | str | Sequence[str] = True,
        reduction: str = "mean",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(structure, ScoreStructure):
            raise TypeError(
                f"structure={structure!r} must be an object such as Chain() or "
                "SpanTree() of maxmargin.decode"
            )
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction={reduction!r} is not one of {REDUCTIONS}")
        _check_labels(n_labels, structure.label_count())
        self.structure = structure
        self.reduction = reduction
        self.n_jobs = n_jobs
        self.gap: Floats = np.zeros(0)
        for name, shape in self._learned(n_labels, learn).items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))

    def _learned(
        self, n_labels: int | None, learn: bool | str | Sequence[str]
    ) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters."""
        if learn is False:
            return {}
        labels = n_labels if n_labels is not None else self.structure.label_count()
        shapes = self.structure.side_shapes((-1 if labels is None else labels,))
        names = list(shapes) if learn is True else _names(learn)
        for name in names:
            if name not in shapes:
                raise ValueError(
                    f"learn: {name!r} is not a table of {type(self.structure).__name__}; "
                    f"there are {', '.join(map(repr, shapes)) or 'none to learn'}"
                )
            if -1 in shapes[name]:
                raise ValueError(
                    f"the size of {name!r} is not known: give n_labels=..., or "
                    "learn=False"
                )
        return {name: shapes[name] for name in names if 0 not in shapes[name]}

    @abstractmethod
    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """Loss of each row, and a function that adds factor[b] * its gradient.

        `wanted` tells whether that function will be called.
        """

    @torch.compiler.disable
    def forward(self, scores: Scores, target: Any, mask: Any = None) -> Tensor:
        """Loss of targets under scores.

        Parameters
        ----------
        scores : tensor, or mapping of tensors
            The first table of the structure, or tables by name.
        target : tensor or list
            Outputs as the structure describes them; what is masked does not count.
        mask : tensor, optional
            True at valid positions, or lengths; a pair of them for two sides.
        """
        tables, mask = self._tables(scores, mask)
        names = list(tables)
        loss: Tensor = _Evaluate.apply(self, names, target, mask, *tables.values())
        return loss

    @torch.compiler.disable
    @torch.no_grad()
    def decode(self, scores: Scores, mask: Any = None) -> Any:
        """Best outputs: a tensor padded with -1, or a list, as the structure says."""
        tables, mask = self._tables(scores, mask)
        found = self.structure.best(_arrays(tables), _plain(mask), self.threads())
        self.gap = found.bound - found.score
        return _like(found.outputs, next(iter(tables.values())))

    @torch.compiler.disable
    @torch.no_grad()
    def nbest(self, scores: Scores, n: int, mask: Any = None) -> NBest:
        """The n best outputs of each row, with their scores."""
        tables, mask = self._tables(scores, mask)
        return self.structure.nbest(_arrays(tables), n, _plain(mask), self.threads())

    @torch.compiler.disable
    @torch.no_grad()
    def max_marginals(self, scores: Scores, mask: Any = None) -> Tensor:
        """Score of the best output with each cell of the first table."""
        tables, mask = self._tables(scores, mask)
        found = self.structure.max_marginals(
            _arrays(tables), _plain(mask), self.threads()
        )
        main = next(iter(tables.values()))
        return torch.from_numpy(found).to(main.device, main.dtype)

    @torch.compiler.disable
    @torch.no_grad()
    def marginals(self, scores: Scores, mask: Any = None) -> Tensor:
        """Probability of each cell of the first table, where the sum exists."""
        tables, mask = self._tables(scores, mask)
        found = self.structure.marginals(_arrays(tables), _plain(mask), self.threads())
        main = next(iter(tables.values()))
        table = found.tables[self.structure.tables[0]]
        return torch.from_numpy(table).to(main.device, main.dtype)

    def threads(self) -> int:
        """Number of threads over the batch."""
        return torch.get_num_threads() if self.n_jobs is None else self.n_jobs

    def extra_repr(self) -> str:
        """The structure."""
        return repr(self.structure)

    def _tables(self, scores: Scores, mask: Any) -> tuple[dict[str, Tensor], Any]:
        """All tables by name, the first of the structure in front; the mask."""
        first = self.structure.tables[0]
        given: dict[str, Any] = dict(scores) if isinstance(scores, Mapping) else {}
        main = given.get(first) if isinstance(scores, Mapping) else scores
        if main is None:
            raise ValueError(f"scores: the table {first!r} is missing")
        if isinstance(main, Tensor) and main.is_nested:
            raise TypeError(
                f"scores: {first!r} is a nested tensor; pad it with "
                "torch.nested.to_padded_tensor and give the lengths as mask"
            )
        if isinstance(main, PackedSequence):
            if mask is not None:
                raise ValueError("packed scores know their lengths: give no mask")
            main, mask = pad_packed_sequence(main, batch_first=True)
        own = {k: p for k, p in self._parameters.items() if p is not None}
        tables = {first: main} | own | given | {first: main}
        for name, table in tables.items():
            if not isinstance(table, Tensor):
                raise TypeError(
                    f"scores: {name!r} is a {type(table).__name__}, not a tensor; "
                    "maxmargin.decode takes arrays"
                )
        return tables, mask


class _Evaluate(Function):
    """value(scores) with its derivative; the tables come last."""

    @staticmethod
    def forward(
        ctx: Any, loss: StructuredLoss, names: list[str], target: Any, mask: Any,
        *tables: Tensor,
    ) -> Tensor:  # fmt: skip
        named = dict(zip(names, tables, strict=True))
        batch = loss.structure.read(_arrays(named), _plain(mask))
        if batch.rows == 0:
            raise ValueError("the batch has no rows: there is no loss of nothing")
        wanted = any(ctx.needs_input_grad)
        value, ctx.gradient = loss.evaluate(batch, _plain(target), wanted)
        ctx.save_for_backward(*tables)
        ctx.structure, ctx.batch, ctx.names = loss.structure, batch, names
        ctx.like = [(t.shape, t.dtype, t.device) for t in tables]
        ctx.rows, ctx.share = batch.rows, 1.0
        whole = torch.from_numpy(value)
        if loss.reduction != "none":
            whole = whole.sum()
            ctx.share = 1.0 / batch.rows if loss.reduction == "mean" else 1.0
            whole = whole * ctx.share
        return whole.to(tables[0].device, _result_type(tables[0]))

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # create_graph=True: see _Once
            grads = _Evaluate.gradients(ctx, upstream)
            sources = [t for t in (*ctx.saved_tensors, upstream) if t.requires_grad]
            return (
                None,
                None,
                None,
                None,
                *(None if g is None else _Once.apply(g, *sources) for g in grads),
            )
        return None, None, None, None, *_Evaluate.gradients(ctx, upstream)

    @staticmethod
    @torch.no_grad()
    def gradients(ctx: Any, upstream: Tensor) -> list[Tensor | None]:
        """Gradient by each table, None where none is needed."""
        each = upstream.detach().cpu().double() * ctx.share
        factor = each.expand(ctx.rows).contiguous().numpy()
        arrays = ctx.batch.arrays
        out = tuple(np.zeros(a.shape, a.dtype) for a in arrays)
        ctx.gradient(factor, out)
        by_name = dict(zip(ctx.structure.tables, out, strict=True))
        return [
            torch.from_numpy(by_name[name]).reshape(shape).to(device, dtype)
            if needed
            else None
            for name, needed, (shape, dtype, device) in zip(
                ctx.names, ctx.needs_input_grad[4:], ctx.like, strict=True
            )
        ]


class _Once(Function):
    """A gradient as it is; its own derivative is refused.

    Without this PyTorch would take the gradient for a constant, and a penalty on it
    would silently do nothing.
    """

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *sources: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Any:
        raise RuntimeError(
            "structured losses can be differentiated once, not twice: this gradient has "
            "no derivative. Penalise the scores or the weights, not the gradient"
        )


def _check_labels(n_labels: Any, names: int | None) -> None:
    """Refuse what is no number of labels, or not the number of names."""
    if n_labels is None:
        return
    whole = isinstance(n_labels, int | np.integer) and not isinstance(n_labels, bool)
    if not whole or n_labels < 1:
        raise ValueError(f"n_labels={n_labels!r} must be a whole number from 1 on")
    if names is not None and names != n_labels:
        raise ValueError(f"n_labels={n_labels}, but {names} labels have names")


def _names(learn: Any) -> list[str]:
    """One name, or several."""
    return [learn] if isinstance(learn, str) else list(learn)


def _result_type(main: Tensor) -> torch.dtype:
    """Float64 for float64 scores, else float32."""
    return torch.float64 if main.dtype == torch.float64 else torch.float32


def _arrays(tables: Mapping[str, Tensor]) -> dict[str, Any]:
    """NumPy views of tensors; half precision becomes float32."""
    out = {}
    for name, table in tables.items():
        tensor = table.detach().cpu()
        if tensor.dtype in (torch.float16, torch.bfloat16):
            tensor = tensor.float()
        out[name] = tensor.numpy()
    return out


def _plain(value: Any) -> Any:
    """A tensor, or the tensors of a list or tuple, as arrays; packed rows are padded."""
    if isinstance(value, PackedSequence):
        value = pad_packed_sequence(value, batch_first=True)[0]
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
        return type(value)(_plain(v) for v in value)
    return value


def _like(outputs: Any, main: Tensor) -> Any:
    """Arrays as tensors on the device of the scores; lists as they are."""
    if isinstance(outputs, np.ndarray):
        return torch.from_numpy(outputs).to(main.device)
    return outputs
