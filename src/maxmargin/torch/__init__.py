"""Structured losses and exact decoders on tensors of scores.

hugging_face.py  Token classification: word pieces, -100, legal decoding of any logits
last_layer.py    Frozen features, the last layer trained convexly, with its gap
layers.py        What all losses share: parameters, masks, devices, decoding
losses.py        Hinge, perceptron, log-likelihood, perturbation, SparseMAP

PyTorch is imported in this folder only: pip install 'maxmargin[torch]'.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
