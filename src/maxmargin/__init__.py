"""Max-margin structured prediction with a certificate of optimality on every fit.

`__init__.pyi` lists the public names and where they live. They are imported when first
asked for, so `import maxmargin` costs nothing and Numba is loaded only where it is used.

estimators/   What users call: ChainSVM and the others, one file per task
structures/   Outputs: psi(x, y), encoding, and the most violated output
losses/       How wrong an output is
core/         The problem, its formulations, and the contracts of all others
solvers/      From cutting planes to weights
inference/    The best output under given scores
kernels/      Kernels, Gram matrices, explicit feature maps
engines/      Where inference runs: threads, processes, a cluster
features/     Templates: from words to features
calibration/  Probabilities and sets from scores
bounds/       The theorems of the papers as numbers
decode/       The best outputs for scores of your own model
torch/        Structured losses for PyTorch
jax/          The same for label sequences in JAX
metrics/      How good predictions are
io/           Readers and writers
datasets/     Data to try things on
reports/      Pages, tables, pictures, progress
serve/        A local page and a JSON API for a model
cli/          The command line
baselines/    Methods that the experiments compare with
plots.py      Figures, as `maxmargin.plots`
runtime.py    Which machine code is in use, and why
"""

import lazy_loader as lazy

__version__ = "0.2.0.dev0"
__getattr__, _, __all__ = lazy.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    return sorted(__all__)
