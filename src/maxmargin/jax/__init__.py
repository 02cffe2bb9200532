"""Structured losses and exact decoders of label sequences for JAX.

losses.py  Hinge, perceptron and log-likelihood of chains, with their gradients; decoding

JAX is imported in this folder only: pip install 'maxmargin[jax]'.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
