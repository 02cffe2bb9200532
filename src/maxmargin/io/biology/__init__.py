"""Files of sequences, alignments, substitution matrices and motifs.

alignments.py    Aligned sequences: FASTA with gaps, Clustal, Stockholm and PIR, in and
fasta.py         FASTA: sequences by name, and annotation tracks from several files
meme.py          Motifs in MEME text format (version 4, minimal): what Tomtom and FIMO
pairs.py         Aligned pairs in FASTA: records one and two belong together, three and
substitution.py  Substitution matrices in the text layout of NCBI, in and out
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
