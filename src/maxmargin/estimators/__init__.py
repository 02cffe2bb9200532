"""The scikit-learn estimators, one file per task.

structural.py             StructuralSVM: any structure, the package's or your own
multiclass.py             MulticlassSVM: classify, with or without a taxonomy
class_inputs.py           Checks of the inputs of classifiers
kernel_svm.py             KernelSVM: classify with kernels
network.py                NetworkSVM: label the nodes of graphs together
network_probabilities.py  Probabilities of the labels of nodes
path_cv.py                PathCV: choose C by cross-validation
label_sets/               MultilabelSVM
ranking/                  RankingSVM
sequences/                ChainSVM, SegmentSVM, MotifSVM
language/                 GrammarSVM, DependencySVM, CoreferenceSVM, CorrelationSVM
alignment/                AlignmentSVM, HomologySVM
calibrating/              Probabilities and sets from n-best outputs
explaining/               Explanations and reports of a fitted model
fitting/                  What all estimators share: fitting, prediction, callbacks
saving/                   Estimators in files: checkpoints and model files
quick_import.py           scikit-learn, imported without what its base classes do not use
"""

import lazy_loader as lazy

from maxmargin.estimators.quick_import import import_scikit_learn

import_scikit_learn()
__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
