"""Trainers for kernels.

binary_smo.py          SMO: the exact dual of a binary kernel machine
cpsp_as_written.py     Cutting-plane subspace pursuit, Algorithm 6.3 of Yu as printed
cuts.py                Cuts in the coordinates of kernels: pairs (input row, label)
moving_points.py       Points, coefficients and weights down the objective together
result.py              What training with a kernel leads to: an expansion with a certificate
sampled_as_written.py  Sampled cuts, Algorithm 6.2 of Yu as printed
sampled_cuts.py        Sampled planes: kernels in time linear in the number of rows
subspace.py            Cutting-plane subspace pursuit: a shared basis that grows
theorems.py            Theorems of Yu as numbers: how many cuts, how far from the optimum
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
