"""Reading and writing files, one module per format.

graphs_jsonl.py  Graphs as JSON lines: one graph per line
letor.py         LETOR files: `grade qid:Q 1:v 2:v ... # comment`, one document per line
streams.py       Files of any size, a batch of sequences at a time
svmlight.py      svmlight files: `LABEL FEATURE:VALUE FEATURE:VALUE .. # comment`, one
text.py          Lines of a text file, plain or gzip, with the place for error messages
treebank.py      Penn Treebank bracketing: trees in and out of text
biology/         Files of sequences, alignments, substitution matrices and motifs
model_file/      Model files: an archive of JSON and arrays
sequences/       Files of labelled sequences
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
