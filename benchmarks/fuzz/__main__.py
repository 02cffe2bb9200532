"""Run all of it: `python -m benchmarks.fuzz`."""

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from benchmarks.fuzz import subjects, texts, trials


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=20_000, help="model files, bytes")
    parser.add_argument("--texts", type=int, default=20_000, help="per reader")
    parser.add_argument("--only", nargs="*", help="names of subjects")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=np.inf, help="at most, in all")
    parser.add_argument("--json")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rng, begin = np.random.default_rng(args.seed), time.time()
    plain, tally = texts.Tally(), trials.Tally()
    known = subjects.every(args.only)
    for subject in known:  # compile, and see that the file itself is good
        for data in subject.originals():
            outcome = subject.use(data)
            if outcome != "used":
                raise SystemExit(f"{subject.name}: {outcome}")
    missed, ready = subjects.uncovered(known), time.time()

    def tell():
        counts = Counter(tally.counts) + Counter(plain.counts)
        mutants = sum(tally.counts.values())
        told = {
            "boundscheck": os.environ.get("NUMBA_BOUNDSCHECK", "0"),
            "seed": args.seed,
            "trials": sum(counts.values()),
            "mutants": mutants,
            "mutants_per_second": round(mutants / (time.time() - ready), 1),
            "subjects": len(known),
            "classes in no subject": missed,
            "outcomes": {f"{a}: {b}": n for (a, b), n in sorted(counts.items())},
            "slowest_seconds": round(max(tally.slowest, plain.slowest), 3),
            "seconds": round(time.time() - begin, 1),
            "examples": tally.examples,
            "bad": len(tally.bad) + len(plain.bad),
        }
        if args.json:
            Path(args.json).write_text(json.dumps(told, indent=1) + "\n")
        return told

    until = begin + args.seconds
    trials.run(known, args.mutants, args.seed, tally, until=until, after=tell)
    texts.fuzz_texts(args.texts, rng, plain)
    texts.fuzz_models(args.bytes, rng, plain)
    told = tell()
    print(json.dumps(told, indent=1))
    seen = Counter()
    for kind, seed, what in [*tally.bad, *((k, d[:200], w) for k, w, d in plain.bad)]:
        seen[kind, what[:60]] += 1
        if seen[kind, what[:60]] <= 2:
            print(f"{kind} {seed}: {what[:300]}", file=sys.stderr)
    return 1 if told["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
