"""The scikit-learn estimators, one file per task.

alignment.py         AlignmentSVM: learn to align sequences from reference alignments
alignment_kernel.py  Kernels between positions of sequences, for AlignmentSVM
chain.py             ChainSVM: label sequences
class_inputs.py      Checks of the inputs of classifiers
coreference.py       CoreferenceSVM, CorrelationSVM: cluster the mentions of a document
grammar.py           GrammarSVM: parse sentences
homology.py          HomologySVM: find the homolog of a sequence among candidates
kernel_svm.py        KernelSVM: classify with kernels
motif.py             MotifSVM: find a motif in DNA sequences
multiclass.py        MulticlassSVM: classify, with or without a taxonomy
network.py           NetworkSVM: label the nodes of graphs together
path_cv.py           PathCV: choose C by cross-validation
ranking.py           RankingSVM: rank documents
structural.py        StructuralSVM: any structure, the package's or your own
explaining/          Explanations and reports of a fitted model
fitting/             What all estimators share: fitting, prediction, callbacks, files
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
