"""Constructor parameters that estimators share: types, and descriptions written once.

An estimator describes the parameters of its own in the "Parameters" section of its
docstring, without defaults. The decorator `describe_parameters` completes the section:
every parameter of the signature, in that order, with the default that the signature
has, and the description

1. of the class itself, if it has one,
2. of another class that is named, ``@describe_parameters(like=MulticlassSVM)``,
3. of `SHARED`, the table below.

A parameter that is described nowhere is an error when the class is made, and so is a
description of a parameter that the signature does not have. `help`, editors that
inspect and the API page (docs/extensions/described_parameters.py) show the same text.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from textwrap import dedent, indent
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.tokens.token_features import TokenTemplates
from maxmargin.core.engine import Engine
from maxmargin.core.loss import Loss
from maxmargin.estimators.saving.checkpoint import Checkpoint
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.joint import JointKernel
from maxmargin.solvers.base import Trainer

# Types, under the names that signatures show.
Callback: TypeAlias = Callable[[np.void], object]  # of a row of the history

CallbackChoice: TypeAlias = Callback | Sequence[Callback] | None
CheckpointChoice: TypeAlias = str | os.PathLike[str] | Checkpoint | None
EngineChoice: TypeAlias = str | Engine | None
FeaturesChoice: TypeAlias = str | os.PathLike[str] | TokenTemplates | None
KernelChoice: TypeAlias = (
    str | Kernel | JointKernel | Callable[[Any, Any], ArrayLike] | None
)
LossChoice: TypeAlias = str | ArrayLike | Mapping[Any, float] | Loss
SampleWeight: TypeAlias = ArrayLike | None
Seed: TypeAlias = int | np.random.RandomState | None
SolverChoice: TypeAlias = str | Trainer
LossesByName: TypeAlias = dict[str, Loss]

T = TypeVar("T", bound=type)


class Entry(NamedTuple):
    """What a docstring says about one parameter."""

    kind: str  # its type, or the values it may have
    text: str


SHARED_TEXT = """
C : float
    Weight of the training errors in the objective, ``1/2 ||w||^2 + C * sum(slacks)``.
    Larger values fit the training data more closely.
rescaling : {"margin", "slack", None}
    How the loss of a wrong output enters. "margin": the true output must score more by
    a margin as large as the loss. "slack": the margin is always one, and the slack
    needed for it is multiplied by the loss. None: the zero-one loss replaces `loss`.
penalty : {"linear", "squared", "hard", "summed"}
    What is paid for slacks. "linear": their sum (SVM1). "squared": half the sum of
    their squares (SVM2). "hard": no slack is allowed (SVM0). "summed": every wrong
    output has a slack of its own, and all are added up (linear summed error).
    Outputs with hidden parts need "linear" or "squared".
regularizer : {"l2", "l1"}
    What keeps the weights small. "l2": ``1/2 ||w||^2``. "l1": ``||w||_1``, which leaves
    most weights at zero; with penalty="linear" only, and not with hidden parts.
solver : str or Solver
    The trainer. "auto" chooses one for the problem; others are "block-dual",
    "n-slack", "n-slack-block", "one-slack", "bcfw", ... A Solver object has its own
    `tol` and limits, which are used instead of those given here.
restarts : int
    Outputs with hidden parts: number of starts. The one that reaches the lowest
    objective is kept.
init : array
    Outputs with hidden parts: weights to start from.
tol : float
    Training stops when the relative duality gap, (primal - dual) / primal, is this
    small.
max_iter : int
    Largest number of iterations.
max_time : float
    Largest number of seconds, not counting those in which loops are compiled.
n_jobs : int
    Number of threads (or processes, see `engine`) that search for violated constraints
    and predict, as in scikit-learn: -1 uses all cores, -2 all but one. None is 1, or
    what ``joblib.parallel_config`` says; all cores if `engine` is given by name.
engine : str or Engine
    Where this work is done: "serial", "threads", "processes" (for structures written
    in Python), the address of a Dask scheduler, or an Engine. None: `n_jobs` threads.
random_state : int or RandomState
    Seed of random choices such as the order in which examples are visited. None is 0,
    so that runs repeat.
warm_start : bool
    Whether `fit` continues from the dual solution of the previous `fit`, if the data
    are the same.
callbacks : callable or list of callables
    Called with each row of the history; training stops when one returns a true value.
    Callbacks of scikit-learn (1.9 or later) are set by `set_callbacks`; their
    `fitted_estimator` is the model as if training had ended with that step.
checkpoint : path or Checkpoint
    File to which the state of training is saved from time to time. If the file exists,
    training continues from it. It is removed when `tol` is reached.
verbose : int
    Progress is shown unless this is 0.
kernel_method : {"exact", "sampled", "cpsp", "nystroem", "cholesky", ...}
    How to train with a kernel: with all training rows ("exact"), or with a basis of
    `n_basis` points. See `KernelSVM` for the differences.
n_basis : int
    Number of basis points, or of rows drawn per iteration ("sampled").
memory : float
    Largest number of bytes for kernel values.
"""


def describe_parameters(like: type | None = None) -> Callable[[T], T]:
    """Complete the section on parameters in the docstring of a class.

    Parameters
    ----------
    like : class, optional
        Its descriptions are used for parameters that the decorated class does not
        describe itself.

    Examples
    --------
    >>> @describe_parameters()
    ... class Small:
    ...     '''Something small.
    ...
    ...     Parameters
    ...     ----------
    ...     size : int
    ...         How small.
    ...     '''
    ...     def __init__(self, size=1, *, verbose=0):
    ...         self.size, self.verbose = size, verbose
    >>> print(Small.__doc__.partition("----------")[2])
    <BLANKLINE>
    size : int, default=1
        How small.
    verbose : int, default=0
        Progress is shown unless this is 0.
    """

    def complete(cls: T) -> T:
        if cls.__doc__ is not None:  # python -OO drops docstrings
            known = {**SHARED, **(entries(like.__doc__ or "") if like else {})}
            cls.__doc__ = completed(cls.__name__, cls.__doc__, signature(cls), known)
        return cls

    return complete


def signature(cls: type) -> Mapping[str, inspect.Parameter]:
    """Parameters of the constructor, `self` left out."""
    return inspect.signature(cls).parameters


def completed(
    name: str,
    doc: str,
    parameters: Mapping[str, inspect.Parameter],
    known: Mapping[str, Entry],
) -> str:
    """The docstring with every parameter described, in the order of the signature."""
    before, section, after = split_section(inspect.cleandoc(doc))
    own = entries_of_section(section)
    for key in own:
        if key not in parameters:
            raise TypeError(f"{name} describes {key!r}, which it does not take")
    out = []
    for key, parameter in parameters.items():
        entry = own.get(key) or known.get(key)
        if entry is None:
            raise TypeError(f"{name} does not describe its parameter {key!r}")
        kind = with_default(entry.kind, parameter.default)
        out.append(f"{key} : {kind}\n{indent(entry.text, '    ')}")
    return f"{before}{TITLE}{chr(10).join(out)}\n{after}".rstrip()


TITLE = "Parameters\n----------\n"
NEXT = re.compile(r"^\n?\w[\w ]*\n-{3,}$", re.MULTILINE)


def split_section(doc: str) -> tuple[str, str, str]:
    """A docstring before, in and after its section on parameters."""
    before, title, rest = doc.partition(TITLE)
    if not title:
        raise TypeError("the docstring has no section 'Parameters'")
    end = NEXT.search(rest)
    at = len(rest) if end is None else end.start()
    return before, rest[:at], rest[at:]


def entries(doc: str) -> dict[str, Entry]:
    """What a docstring says about parameters."""
    return entries_of_section(split_section(inspect.cleandoc(doc))[1]) if doc else {}


def entries_of_section(section: str) -> dict[str, Entry]:
    """Entries ``name : kind`` with the indented lines below them, defaults dropped."""
    out: dict[str, Entry] = {}
    for block in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        if block.strip():
            head, _, text = block.partition("\n")
            name, _, kind = head.partition(" : ")
            kind = re.sub(r", (optional|default=.*)$", "", kind)
            out[name] = Entry(kind, dedent(text).strip())
    return out


def with_default(kind: str, default: Any) -> str:
    """The kind of a parameter, with the default of the signature.

    Examples
    --------
    >>> with_default("int", 3), with_default("array", None), with_default("float", 4e9)
    ('int, default=3', 'array, optional', 'float, default=4e9')
    """
    if default is inspect.Parameter.empty:
        return kind
    if default is None and "None" not in kind:
        return f"{kind}, optional"
    return f"{kind}, default={shown(default)}"


def shown(default: Any) -> str:
    """A default as one would write it; long sequences by their ends."""
    if isinstance(default, str):
        return f'"{default}"'
    if isinstance(default, float) and abs(default) >= 1e6:
        return f"{default:g}".replace("e+0", "e")
    if isinstance(default, tuple) and len(default) > 4:
        return f"({shown(default[0])}, ..., {shown(default[-1])})"
    return repr(default)


SHARED = entries_of_section(SHARED_TEXT)
