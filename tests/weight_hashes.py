"""Hashes of what every trainer makes of the contract cases, to compare two versions.

    python tests/weight_hashes.py > now.json
    git worktree add --detach /tmp/before fb05be3
    cp tests/weight_hashes.py /tmp/before/tests
    (cd /tmp/before && PYTHONPATH=src python tests/weight_hashes.py) > before.json
    python tests/weight_hashes.py before.json now.json

A key is a case, a formulation and a trainer; its value has a hash of the weights, the
iterations, the status, primal and dual. It works on every version since 0.1.0.
"""

import hashlib
import json
import sys
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent


def hashes() -> dict[str, list]:
    sys.path[:0] = [str(HERE), str(HERE / "contracts")]
    import _pytest.outcomes
    from dense import ROWS, make
    from test_formulations import CASES, usable
    from test_solvers import ALL, trainer

    out: dict[str, list] = {}
    for key, case in CASES.items():
        for name in ROWS:
            try:
                usable(case, name)
                problem, _ = make(case, 1, name, loss=-1)
            except _pytest.outcomes.Skipped:
                continue
            for solver in ALL:
                most = 200 if problem.exact else 30
                try:
                    made = trainer(solver, problem, tol=1e-4, max_iter=most)
                except _pytest.outcomes.Skipped:
                    continue
                result, _ = made.solve(problem)
                w = hashlib.sha256(result.w.tobytes()).hexdigest()[:16]
                out[f"{key}, {name}, {solver}"] = [
                    w, result.iterations, result.status.name, result.primal, result.dual,
                ]  # fmt: skip
    return out


def compare(before: str, now: str) -> None:
    old, new = (json.loads(Path(f).read_text()) for f in (before, now))
    both = [k for k in old if k in new]
    told: Counter[str] = Counter()
    for key in both:
        a, b = old[key], new[key]
        kind = (
            "equal" if a == b else "same weights" if a[0] == b[0] else "other weights"
        )
        told[kind] += 1
        if kind != "equal":
            print(f"{key}: {a} -> {b}")
    print(f"{len(both)} in both, {dict(told)}; {len(old)} before, {len(new)} now")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3:
        compare(*sys.argv[1:])
    else:
        json.dump(hashes(), sys.stdout, indent=0)
