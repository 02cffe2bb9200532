"""Hostile files: whatever is opened must end in an object or in an error of ours.

texts.py     the readers of data formats, and model files with bytes turned
mutate.py    a leaf of the JSON or an entry of an array changed, all checksums right
subjects.py  what is mutated: model files, checkpoints, encoded folders of every kind
kinds.py     further models, runs.py further runs, for classes that few files contain
trials.py    trials in child processes with bounded seconds and memory

    python -m benchmarks.fuzz [--mutants 100000] [--seconds S] [--seed 0] [--json FILE]
    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=/tmp/checked python -m benchmarks.fuzz ...
"""
