"""Cost of a pass, of a round trip and of faults; what larger samples would take.

    python -m benchmarks.scale bits       same bits from every engine
    python -m benchmarks.scale speedup    1 and 2 threads, 1 and 2 dask workers (grammar)
    python -m benchmarks.scale overhead   a pass that is too small to be worth sending
    python -m benchmarks.scale linear     seconds per pass, 10^3 .. 10^6 sentences
    python -m benchmarks.scale memory     peak memory, data ten times the bound
    python -m benchmarks.scale faults     10 runs, a worker killed at a random moment
    python -m benchmarks.scale shard_faults   the same, where it holds dual variables
    python -m benchmarks.scale model      costs on OCR, NER and POS, and what follows
    python -m benchmarks.scale passes     16 shards on 2 workers: OCR, NER and POS to 1 %
    python -m benchmarks.scale exchanges  shards with and without rounds of sweeps only
    python -m benchmarks.scale dim        seconds of a round of shards as weights grow
    python -m benchmarks.scale check      the model against runs, 1 and 2 workers

Each part prints a table and stores it in benchmarks/results/scale.json. Clusters are
processes on loopback that this program starts and ends.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from benchmarks.scale.faults import faults, shard_faults
from benchmarks.scale.memory import memory
from benchmarks.scale.model import check, model
from benchmarks.scale.parallel import bits, linear, overhead, speedup
from benchmarks.scale.rounds import dim, exchanges, passes

STORE = Path(__file__).parents[1] / "results" / "scale.json"
PARTS = {
    f.__name__: f
    for f in (
        bits,
        speedup,
        overhead,
        linear,
        memory,
        faults,
        shard_faults,
        model,
        passes,
        exchanges,
        dim,
        check,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="small, and not stored")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in options.parts:
        print(f"--- {name}", flush=True)
        rows = PARTS[name](options.quick)
        if not options.quick:
            store = json.loads(STORE.read_text()) if STORE.exists() else {}
            STORE.write_text(json.dumps({**store, name: rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
