"""Structured layers beside pytorch-crf and torch-struct, in one run.

    python -m benchmarks.torch_layers [--quick] [--only chain trees] [--threads 2]

The same batch of float32 scores for everyone, on one and on two threads: decoding, and
a loss with its gradient (ours: structured hinge, and the log-likelihood that the peers
have). Milliseconds, the least of several passes in turn, so that a busy machine
disturbs all alike: CPU time on one thread, wall-clock time on two. A turn is five calls
in a row. The least of all calls counts, and beside it the least of the first calls, for
which the processor's caches hold the data of whoever came before. Packages that are not
installed are left out. torch-struct aligns with a stand-in for genbmm (`banded.py`).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks import banded
from maxmargin.decode import Alignment, Chain, SpanTree
from maxmargin.torch import structured_loss

Task = Callable[[], Any]
IN_A_ROW = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and few passes")
    parser.add_argument("--only", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the peers about old PyTorch calls
    banded.install()
    passes = 2 if args.quick else 40
    figures: dict[str, dict[str, list[float]]] = {}
    for threads in args.threads:
        torch.set_num_threads(threads)
        for title, tasks in batches(args.quick, args.only).items():
            name = f"{title}, {threads} thread{'s' if threads > 1 else ''}"
            clock = time.process_time if threads == 1 else time.perf_counter
            figures[name] = race(tasks, passes, clock)
            show(name, figures[name])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=1)


def batches(quick: bool, only: list[str]) -> dict[str, dict[str, Task]]:
    rng = np.random.default_rng(0)
    out = {}
    for name in only:
        make, small, large = MAKERS[name]
        title, sizes = TITLES[name], small if quick else large
        out[title.format(*sizes)] = make(rng, *sizes)
    return out


def race(
    tasks: dict[str, Task], passes: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Milliseconds of each task, all taking turns: of any call, of the first of a turn."""
    best = {name: [np.inf, np.inf] for name in tasks}
    for task in tasks.values():
        task()  # compiled, caches warm
    for k in range(passes):
        for name, task in tasks.items():
            least = best[name]
            if least[0] * k > 1.5 and k > 1:
                continue  # enough seconds for this one
            for call in range(1 if least[0] > 0.1 else IN_A_ROW):
                begin = clock()
                task()
                spent = clock() - begin
                least[0] = min(least[0], spent)
                least[1] = min(least[1], spent) if call == 0 else least[1]
    return {name: [1e3 * spent for spent in least] for name, least in best.items()}


def show(title: str, figures: dict[str, list[float]]) -> None:
    print(f"\n{title}{'five in a row':>{60 - len(title)}}{'first of a turn':>24}")
    for what in ("decode", "loss"):
        ours = next(v for k, v in figures.items() if k.startswith(f"maxmargin {what}"))
        for name, spent in figures.items():
            if f" {what}" not in name:
                continue
            line = f"  {name:42}"
            for k in range(2):
                peer = not name.startswith("maxmargin")
                times = f"{spent[k] / ours[k]:9.1f} x" if peer else " " * 11
                line += f"{spent[k]:10.2f} ms{times}"
            print(line.rstrip())


def learn(layer: Any, scores: torch.Tensor, target: Any, mask: Any = None) -> Task:
    def task() -> None:
        scores.grad = None
        layer(scores, target, mask).backward()

    return task


def installed(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed: left out")
        return None


def chains(rng: Any, rows: int, tokens: int, labels: int) -> dict[str, Task]:
    x = torch.tensor(rng.normal(size=(rows, tokens, labels)), dtype=torch.float32)
    y = torch.tensor(rng.integers(0, labels, (rows, tokens)))
    x.requires_grad_()
    hinge, likelihood = (
        structured_loss(name, Chain(), n_labels=labels)
        for name in ("hinge", "log-likelihood")
    )
    tasks = {
        "maxmargin decode": lambda: hinge.decode(x),
        "maxmargin loss + gradient, hinge": learn(hinge, x, y),
        "maxmargin loss + gradient, likelihood": learn(likelihood, x, y),
    }
    torchcrf, struct = installed("torchcrf"), installed("torch_struct")
    if torchcrf:
        crf = torchcrf.CRF(labels, batch_first=True)

        def crf_loss() -> None:
            x.grad = None
            (-crf(x, y, reduction="mean")).backward()

        tasks["pytorch-crf decode"] = lambda: crf.decode(x)
        tasks["pytorch-crf loss + gradient, likelihood"] = crf_loss
    if struct:
        pairs = torch.zeros(labels, labels, requires_grad=True)

        def potentials() -> torch.Tensor:
            table = x[:, 1:, :, None] + pairs.T
            first = table[:, :1] + x[:, :1, None, :]
            return torch.cat([first, table[:, 1:]], dim=1)

        def struct_loss() -> None:
            x.grad = None
            model = struct.LinearChainCRF(potentials())
            event = struct.LinearChainCRF.struct.to_parts(y, labels).float()
            (-model.log_prob(event)).mean().backward()

        tasks["torch-struct decode"] = lambda: (
            struct.LinearChainCRF(potentials().detach()).argmax
        )
        tasks["torch-struct loss + gradient, likelihood"] = struct_loss
    return tasks


def trees(rng: Any, rows: int, tokens: int, labels: int) -> dict[str, Task]:
    shape = (rows, tokens, tokens, labels)
    x = torch.tensor(rng.normal(size=shape), dtype=torch.float32, requires_grad=True)
    spans = SpanTree().best(rng.normal(size=shape)).outputs
    target = torch.full(shape[:3], -1)
    event = torch.zeros(shape)
    for b, tree in enumerate(spans):
        for i, j, c in tree:
            target[b, i, j], event[b, i, j, c] = c, 1.0
    hinge, likelihood = (
        structured_loss(name, SpanTree()) for name in ("hinge", "log-likelihood")
    )
    tasks = {
        "maxmargin decode": lambda: hinge.decode(x),
        "maxmargin loss + gradient, hinge": learn(hinge, x, target),
        "maxmargin loss + gradient, likelihood": learn(likelihood, x, target),
    }
    struct = installed("torch_struct")
    if struct:

        def struct_loss() -> None:
            x.grad = None
            (-struct.TreeCRF(x).log_prob(event)).mean().backward()

        tasks["torch-struct decode"] = lambda: struct.TreeCRF(x.detach()).argmax
        tasks["torch-struct loss + gradient, likelihood"] = struct_loss
    return tasks


def alignments(rng: Any, rows: int, size: int) -> dict[str, Task]:
    """Gaps cost the same everywhere: what torch-struct can express, too."""
    x = torch.tensor(rng.normal(size=(rows, size, size)), dtype=torch.float32)
    x.requires_grad_()
    gaps = torch.tensor([-0.5, -0.5])
    target = Alignment().best(rng.normal(size=(rows, size, size))).outputs
    layers = [
        structured_loss(name, Alignment(), learn=False)
        for name in ("hinge", "log-likelihood")
    ]
    tables = {"match": x, "deletes": gaps, "inserts": gaps}

    def loss(layer: Any) -> Task:
        def task() -> None:
            x.grad = None
            layer(tables, target).backward()

        return task

    tasks = {
        "maxmargin decode": lambda: layers[0].decode(tables),
        "maxmargin loss + gradient, hinge": loss(layers[0]),
        "maxmargin loss + gradient, likelihood": loss(layers[1]),
    }
    tasks["plain PyTorch decode"] = lambda: wavefront(x, hard=True)
    tasks["plain PyTorch loss + gradient, likelihood"] = lambda: wavefront(x)
    struct = installed("torch_struct")
    if struct:
        skip = torch.full((rows, size, size), -0.5)

        def potentials() -> torch.Tensor:
            return torch.stack([skip, x, skip], dim=3)

        def struct_loss() -> None:
            x.grad = None
            struct.AlignmentCRF(potentials()).partition.mean().backward()

        tasks["torch-struct decode"] = lambda: (
            struct.AlignmentCRF(potentials().detach()).argmax
        )
        tasks["torch-struct loss + gradient, likelihood"] = struct_loss
    return tasks


def wavefront(match: torch.Tensor, hard: bool = False, gap: float = -0.5) -> Any:
    """Alignments in plain PyTorch, one antidiagonal after the other, and the gradient.

    What one writes without a library: all cells (i, j) with i + j = d at once. The
    gradient of the best score is the best alignment, so this decodes, too.
    """
    x = match.detach().clone().requires_grad_()
    rows, n, m = x.shape
    low = torch.full((rows, n + 1), -1e9)
    before, last = low, low.clone()
    last[:, 0] = 0.0
    flat = x.reshape(rows, n * m)
    for d in range(1, n + m + 1):
        i = torch.arange(max(1, d - m), min(n, d - 1) + 1)
        own = flat[:, (i - 1) * m + d - i - 1]
        diagonal = low.index_copy(1, i, before[:, i - 1] + own)
        down = torch.cat([low[:, :1], last[:, :-1]], dim=1) + gap
        options = torch.stack([diagonal, down, last + gap])
        now = options.amax(0) if hard else options.logsumexp(0)
        inside = (torch.arange(n + 1) <= d) & (torch.arange(n + 1) >= d - m)
        before, last = last, torch.where(inside, now, low)
    last[:, n].mean().backward()
    return x.grad


MAKERS: dict[str, Any] = {  # how, and small and large sizes
    "chain": (chains, (4, 16, 5), (64, 128, 20)),
    "trees": (trees, (2, 8, 3), (16, 40, 20)),
    "alignment": (alignments, (2, 8), (8, 64)),
}
TITLES = {
    "chain": "chain {} x {} x {}",
    "trees": "span trees {} x {} x {} labels",
    "alignment": "alignment {0} x {1} x {1}",
}


if __name__ == "__main__":
    main()
