"""The scikit-learn estimators, one file per task.

alignment.py         AlignmentSVM: learn to align annotated sequences from reference
alignment_kernel.py  Kernels on the positions of alignments: a map chosen from the
chain.py             ChainSVM: label sequences
class_inputs.py      Checks of what classifiers are given, said by row and by label
coreference.py       Coreference: clusters of mentions by latent spanning forests
grammar.py           GrammarSVM: parse trees
homology.py          HomologySVM: learn alignment scores that tell a homolog from decoys
kernel_svm.py        KernelSVM: classification with kernels
motif.py             Motif finding: which sequences hold the motif, what it is, and
multiclass.py        Multiclass classification as scikit-learn knows it
network.py           The estimator for networks: nodes of a graph that are labelled
path_cv.py           C by cross-validation along the path
ranking.py           Ranking documents for what stands at the top
structural.py        The estimator for any structure: ours, or one's own
explaining/          Explanations and reports of a fitted model
fitting/             What all estimators share: fitting, checkpoints, callbacks, model
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
