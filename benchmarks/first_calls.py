"""What the first call of a layer waits for, after another program has run.

    python -m benchmarks.first_calls

Microseconds of `decode` of one batch of chains and one of span trees, the least of many,
and page faults, right after: the same call; a sweep over 40 MB, which fills the
processor's caches with other data; the peer on a tiny batch, which fills them with other
code; both; and the peer on the same batch. One thread throughout, and no thread is
started. Needs pytorch-crf and torch-struct.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.torch_layers import MAKERS, TITLES

PEERS = {"chain": "pytorch-crf decode", "trees": "torch-struct decode"}
OURS = "maxmargin decode"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=40)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the peers about old PyTorch calls
    torch.set_num_threads(1)
    for name, peer in PEERS.items():
        make, small, large = MAKERS[name]
        tasks = make(np.random.default_rng(0), *large)
        tiny = make(np.random.default_rng(0), *small)[peer]
        print(TITLES[name].format(*large))
        for title, before in programs(tiny, tasks[peer]).items():
            least, faults = first_call(before, tasks[OURS], args.passes)
            print(f"  {title:32}{least:7.0f} us{faults:6.0f} page faults", flush=True)


def programs(tiny: Any, peer: Any) -> dict[str, Callable[[], Any]]:
    """What runs before."""
    numbers = np.zeros(5_000_000)

    def sweep() -> None:
        np.add(numbers, 1.0, out=numbers)

    return {
        "after the same call": lambda: None,
        "after other data (40 MB)": sweep,
        "after other code (tiny batch)": tiny,
        "after other data and code": lambda: (sweep(), tiny()),
        "after the peer": peer,
    }


def first_call(
    before: Callable[[], Any], task: Callable[[], Any], passes: int
) -> tuple[float, float]:
    """Microseconds, the least of several calls; page faults, in the median."""
    task()
    spent, faults = [], []
    for _ in range(passes):
        before()
        had = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = time.perf_counter()
        task()
        spent.append(time.perf_counter() - begin)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - had)
    return 1e6 * min(spent), float(np.median(faults))


if __name__ == "__main__":
    main()
