"""Certificates compared with exact rational arithmetic over all outputs.

problems.py       tiny problems with features and losses of their own
more_problems.py  segments, dependency trees, cliques, joint kernels
searched_problems.py  trees, alignments, rankings, clusters, classes of the user's own
kernel_problems.py    classes with a kernel, by all methods
exact.py          the objective of a model as a fraction
checks.py         fits by all trainers, and whether their certificates are true

    python -m benchmarks.certificates [--fits 2000] [--seed 0] [--json FILE]
"""
