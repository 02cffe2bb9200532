"""Files of sequences, alignments, substitution matrices and motifs.

fasta.py         FASTA: sequences by name, and annotation tracks from several files
pairs.py         Aligned pairs in FASTA: two records each
alignments.py    Alignments: FASTA with gaps, Clustal, Stockholm and PIR
substitution.py  Substitution matrices in the text layout of NCBI
blosum.py        The substitution matrix BLOSUM62
scoring.py       A learned scoring system: matrix, gap costs, aligner of Biopython
biopython.py     Records and alignments of Biopython, in and out
searches.py      Searches for a homolog as JSON lines, each with its candidates
meme.py          Motifs in MEME text format, as Tomtom and FIMO read them
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
