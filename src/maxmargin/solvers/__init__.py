"""From cutting planes to weights: the training algorithms.

base.py         What a trainer is; the loop that runs all: stopping rules, certificate
cccp.py         Latent structural SVM: the concave-convex procedure (CCCP)
certificate.py  Result: weights, why training ended, what is proved; the gap as a picture
choose.py       Solvers by name, and `auto`, which chooses by what the problem costs
resting.py      Examples that sit out passes because visiting them has changed nothing
resume.py       The dual state as plain data, and back: what a checkpoint holds
smo.py          SMO on the factored dual of max-margin Markov networks
subgradient.py  Stochastic subgradient steps (Pegasos), averaged: a baseline
distributed/    Trainers for data spread over several machines
enumerated/     Trainers for problems whose outputs can all be listed
frank_wolfe/    Block-coordinate Frank-Wolfe
kernel/         Trainers for kernels
lanes/          Dual ascent in lanes: the default trainer of label sequences
n_slack/        Trainers with one slack variable per example
one_slack/      One slack variable for the whole sample, and the small dense QP
planes/         The cutting planes of each example, and steps on their dual variables
sparse/         Trainers for L1 regularisation
summed/         Trainers for the linear summed error
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
