"""Parse trees.

structure.py         Grammar: the structure itself
kernel_structure.py  KernelGrammar: a kernel scores the spans of nodes
anchors.py           Features of a rule that depend on where it is applied
parsing.py           Loss-augmented parsing of one sentence
coarse_to_fine.py    Parts of charts that a coarse grammar keeps
smoothing.py         Trees for sentences that the rules do not derive
f1_parsing.py        The most violated tree under the loss 1 - F1
treebank/            From the trees of a treebank to numbered rules and rows
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
