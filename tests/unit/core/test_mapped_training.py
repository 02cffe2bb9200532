"""Memory of training stays under a tenth of the data, which lie in files."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maxmargin.core import Ragged, Vectors, pointers
from maxmargin.structures.chain import Chain, Tokens, write_encoded

LABELS, FEATURES, WIDTH, LENGTH = 5, 680, 2000, 5
RUN = """
import json, sys, threading
from pathlib import Path
import numpy as np
from maxmargin.core import Formulation
from maxmargin.losses import Hamming
from maxmargin.core import Problem
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.solvers.n_slack import BlockDual
from maxmargin.solvers import OneSlack
from maxmargin.structures.chain import Chain
from maxmargin.structures.chain import open_encoded

def problem(folder):
    data = open_encoded(folder)
    return Problem(
        data.bind(Chain()), Hamming().bind(len(data.labels)),
        Formulation("margin", "linear"), data.x, data.truth, np.full(data.n, 0.01),
    )

def now(kind):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(l for l in lines if l.startswith(kind)).split()[1])

small, large, solver = sys.argv[1:]
bound = open_encoded(large).nbytes / 10
train = {
    "one-slack": lambda memory: OneSlack(max_iter=3),
    "block-dual": lambda memory: BlockDual(max_iter=3, memory=memory),
    "bcfw": lambda memory: BCFW(max_iter=3, memory=memory),
}[solver]
for memory in (1e9, 0.05 * bound):  # imports and compiled code are not counted;
    train(memory).solve(problem(small))  # little memory needs loops of its own
Path("/proc/self/clear_refs").write_text("5")
own, everything, over, seen = now("RssAnon"), now("VmHWM"), threading.Event(), []
watch = threading.Thread(
    target=lambda: [seen.append(now("RssAnon")) for _ in iter(lambda: over.wait(0.002), True)],
    daemon=True,
)
watch.start()
result = train(0.5 * bound).solve(problem(large))[0]
over.set()
watch.join()
print(json.dumps([max(seen) - own, now("VmHWM") - everything, bound, result.dual]))
"""


def batches(n, seed=0):
    rng = np.random.default_rng(seed)
    for s in range(0, n, 500):
        m = LENGTH * min(500, n - s)
        label = rng.integers(LABELS, size=m).astype(np.int32)
        idx = rng.integers(WIDTH, size=(m, FEATURES)).astype(np.int32)
        idx[:, 0] = np.where(rng.random(m) < 0.9, label, idx[:, 0])
        rows = FEATURES * np.arange(m + 1)
        vectors = Vectors(rows, idx.ravel(), np.ones(idx.size), WIDTH)
        ptr = pointers(np.full(m // LENGTH, LENGTH))
        yield Tokens(vectors, ptr, np.empty(0, np.int32)), Ragged(ptr, label)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    chain = Chain().sized(tuple(range(LABELS)), None, WIDTH, True)
    here = tmp_path_factory.mktemp("encoded")
    for name, n in (("small", 300), ("large", 3000)):
        write_encoded(batches(n), here / name, chain)
    return here


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc"
)
@pytest.mark.parametrize("solver", ["one-slack", "block-dual", "bcfw"])
def test_training_takes_a_tenth_of_the_data(folders, solver):
    out = subprocess.run(
        [sys.executable, "-c", RUN, folders / "small", folders / "large", solver],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    own, with_files, bound, dual = json.loads(out.stdout)
    assert bound > 1e7 and dual > 0.0
    assert own <= bound
    assert with_files <= 8 * bound  # pages of files, which the system may take back
