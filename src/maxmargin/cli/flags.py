"""From flags to an estimator: ours, and those people know from svm_struct_learn.

svm_struct divides C by the number of examples n, so its -c is n times our C. Its -e
is the violation of a constraint it puts up with, in units of the loss per example, so
it stands for a duality gap of c * e in absolute terms.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
from collections.abc import Iterable
from typing import Any

from maxmargin.cli.errors import UsageError

TRAINERS = {
    0: ("n-slack", "n-slack, all planes after each constraint"),
    1: ("n-slack-block", "n-slack, one example's planes after each constraint"),
    2: ("one-slack", "1-slack"),
    3: ("one-slack", "1-slack (the dual is what is solved here)"),
    4: ("one-slack", "1-slack (planes are always kept here)"),
}


def parameters(args: argparse.Namespace, made: type, n: int) -> dict[str, Any]:
    """Constructor parameters for the flags given; `n` examples."""
    out: dict[str, Any] = {}
    for name in ("loss", "solver", "tol", "max_iter", "max_time", "checkpoint"):
        if getattr(args, name) is not None:
            out[name] = getattr(args, name)
    out |= _formulation(args)
    out |= _penalty(args, n)
    if args.jobs is not None:
        out["n_jobs"] = args.jobs
    elif "n_jobs" in inspect.signature(made).parameters:
        out["n_jobs"] = -1
    if args.seed is not None:
        out["random_state"] = args.seed
    if args.trainer is not None:
        out["solver"] = TRAINERS[args.trainer][0]
    kernel = _kernel(args)
    if kernel is not None:
        out["kernel"] = kernel
    known = inspect.signature(made).parameters
    flagged = set(out) - ({"n_jobs"} if args.jobs is None else set())
    for pair in args.set:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: write NAME=VALUE, as in --set order=2")
        if name in flagged:
            raise UsageError(
                f"--set {pair}: another flag gives {name}, too; leave one out"
            )
        out[name] = _literal(value)
    strange = [name for name in out if name not in known]
    if strange:
        raise UsageError(
            f"{made.__name__} has no parameter {strange[0]!r}"
            f"{meant(strange[0], known)}; it has {', '.join(sorted(known))}"
        )
    return out


def meant(name: str, known: Iterable[str]) -> str:
    """A question about a misspelt name.

    Examples
    --------
    >>> meant("ordr", ["loss", "order"]), meant("x", ["loss", "order"])
    (" (did you mean 'order'?)", '')
    """
    near = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _formulation(args: argparse.Namespace) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if args.rescaling is not None:
        out["rescaling"] = None if args.rescaling == "none" else args.rescaling
    if args.loss_type is not None:
        out["rescaling"] = {1: "slack", 2: "margin"}[args.loss_type]
    if args.penalty is not None:
        out["penalty"] = args.penalty
    if args.slack_norm is not None:
        out["penalty"] = {1: "linear", 2: "squared"}[args.slack_norm]
    return out


def _penalty(args: argparse.Namespace, n: int) -> dict[str, Any]:
    if args.C is not None and args.c is not None:
        raise UsageError("--C is our scale and -c that of svm_struct: give one of them")
    if args.C == "auto":
        if args.e is not None:
            raise UsageError("-e depends on C: give --tol, or a number for --C")
        return {}
    if args.C is not None:
        return {"C": args.C}
    return {} if args.c is None else {"C": args.c / n}


def _kernel(args: argparse.Namespace) -> Any:
    if args.kernel is None or args.kernel == 0:
        if args.gamma is not None or args.degree is not None:
            raise UsageError("-d and -g belong to a kernel: -t 1 or -t 2")
        return None
    from maxmargin.kernels.functions import Polynomial, Rbf

    gamma = 1.0 if args.gamma is None else args.gamma
    if args.kernel == 2:
        return Rbf(gamma)
    return Polynomial(3 if args.degree is None else args.degree, gamma)


def stopper(args: argparse.Namespace, C: float, n: int) -> Any:
    """For -e: stop when primal - dual is at most n * C * e."""
    if args.e is None:
        return None

    def stop(row: Any) -> bool:
        return bool(row["primal"] - row["dual"] <= n * C * args.e)

    return stop


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def explained(args: argparse.Namespace, n: int) -> list[str]:
    """What the flags of svm_struct mean here, a sentence each."""
    out = []
    if args.c is not None:
        out.append(f"-c {args.c:g} divided by {n} examples: C={args.c / n:g}")
    if args.e is not None:
        out.append(f"-e {args.e:g}: stops at a duality gap of c * e, or at --tol")
    if args.loss_type is not None:
        out.append(f"-o {args.loss_type}: {['slack', 'margin'][args.loss_type - 1]} "
                   "rescaling")  # fmt: skip
    if args.slack_norm is not None:
        out.append(f"-p {args.slack_norm}: {['linear', 'squared'][args.slack_norm - 1]} "
                   "slacks")  # fmt: skip
    if args.kernel:
        shown = {"d": args.degree, "g": args.gamma}
        more = "".join(f" -{k} {v:g}" for k, v in shown.items() if v is not None)
        out.append(f"-t {args.kernel}{more}: {_kernel(args)!r}")
    if args.trainer is not None:
        out.append(f"-w {args.trainer}: {TRAINERS[args.trainer][1]}")
    return out
