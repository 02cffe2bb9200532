"""Run all of it: `python -m benchmarks.certificates`."""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.certificates.checks import PROBLEMS, STEPS, check, fits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most")
    parser.add_argument("--problems", nargs="*", help="names, such as Chains")
    parser.add_argument("--trainers", nargs="*")
    parser.add_argument("--json")
    args = parser.parse_args()
    outcomes, bad, begin, done = Counter(), [], time.time(), 0
    trainers, forms = Counter(), Counter()

    def summary():
        return {
            "fits": done,
            "outcomes": {f"{a}: {b}": n for (a, b), n in sorted(outcomes.items())},
            "fits by trainer": dict(sorted(trainers.items())),
            "fits by formulation": dict(sorted(forms.items())),
            "seed": args.seed,
            "false": len(bad),
            "seconds": round(time.time() - begin, 1),
        }

    problems = [
        p for p in PROBLEMS if args.problems is None or p.__name__ in args.problems
    ]
    known = fits(args.fits, args.seed, problems)
    for k, (problem, C, form, tol) in enumerate(known):
        steps = STEPS[k // len(problems) % len(STEPS)]
        for trainer, told in check(problem, C, form, tol, args.trainers, steps):
            outcomes[problem.name, told.split(":")[0]] += 1
            if told.startswith("refused"):
                continue
            done += 1
            trainers[trainer] += 1
            forms[", ".join(form)] += 1
            if told.startswith("false"):
                bad.append((problem.name, trainer, C, form, tol, told))
                print(*bad[-1], file=sys.stderr, flush=True)
        if args.json:
            Path(args.json).write_text(json.dumps(summary(), indent=1) + "\n")
        if done >= args.fits or time.time() - begin > args.seconds:
            break
    print(json.dumps(summary(), indent=1))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
