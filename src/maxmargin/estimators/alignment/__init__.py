"""Estimators of alignments, and what goes with them.

alignment.py        AlignmentSVM: learn to align sequences from reference alignments
pair_inputs.py      Pairs of sequences, also from alignments of Biopython
partial.py          References of which only some columns are known
exporting.py        Learned scores for other programs
homology.py         HomologySVM: find the homolog of a sequence among candidates
homology_start.py   Weights that HomologySVM begins with
position_kernel.py  Kernels between positions of sequences, for AlignmentSVM
confidence.py       How sure each column of an alignment is
significance.py     P-values and E-values of alignment scores
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
