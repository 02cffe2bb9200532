"""What was unsafe in 0.1.0: wrong there, right here.

    git worktree add --detach /tmp/before fb05be3      # the last commit of 0.1.0
    python -m benchmarks.holes --before /tmp/before [--only NAME ..] [--json FILE]

Each case is a few lines of the public API, run in a process of its own with the package
of either tree. It ends in "right", or in "wrong" with what happened; so does a process
that crashes or takes longer than SECONDS. `cases.py` names the test that keeps it right.

    cases.py         names, cases, tests
    model_files.py   model files with right checksums and wrong contents
    inputs.py        encoded folders, sparse matrices, structures of one's own
    runs.py          processes, checkpoints, a package without a home
"""
