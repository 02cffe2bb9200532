"""The scikit-learn estimators, one file per task.

alignment.py               AlignmentSVM: learn to align sequences from reference alignments
alignment_confidence.py    How sure each column of an alignment is
alignment_kernel.py        Kernels between positions of sequences, for AlignmentSVM
alignment_significance.py  P-values and E-values of alignment scores
chain.py                   ChainSVM: label sequences
class_inputs.py            Checks of the inputs of classifiers
coreference.py             CoreferenceSVM, CorrelationSVM: cluster the mentions of a document
dependency.py              DependencySVM: find the head of each word
grammar.py                 GrammarSVM: parse sentences
homology.py                HomologySVM: find the homolog of a sequence among candidates
homology_start.py          Weights that HomologySVM begins with
kernel_svm.py              KernelSVM: classify with kernels
motif.py                   MotifSVM: find a motif in DNA sequences
motif_lengths.py           The length of a motif, by cross-validation
motif_sites.py             All sites of a motif, with p-values
multiclass.py              MulticlassSVM: classify, with or without a taxonomy
network.py                 NetworkSVM: label the nodes of graphs together
network_probabilities.py   Probabilities of the labels of nodes
path_cv.py                 PathCV: choose C by cross-validation
ranking.py                 RankingSVM: rank documents
segment.py                 SegmentSVM: labelled spans of sentences
structural.py              StructuralSVM: any structure, the package's or your own
calibrating/               Probabilities and sets from n-best outputs
explaining/                Explanations and reports of a fitted model
fitting/                   What all estimators share: fitting, prediction, callbacks
saving/                    Estimators in files: checkpoints and model files
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
