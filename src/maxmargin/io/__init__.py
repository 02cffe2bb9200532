"""Reading and writing files, one module per format.

text.py          Lines of a text file, plain or gzip, with their numbers
svmlight.py      Classes: `LABEL FEATURE:VALUE ..`
sequences/       Label sequences: CoNLL, SVM-hmm, CRFsuite, feature templates
streams.py       Label sequences in files of any size, a batch at a time
treebank.py      Parse trees: Penn Treebank brackets
trees/           Dependency trees: CoNLL-U, head rules; trees of NLTK
coreference/     Mentions and entities: CoNLL-2012, CorefUD
biology/         Sequences, alignments, substitution matrices and motifs
letor.py         Rankings: `GRADE qid:QUERY FEATURE:VALUE ..`
trec.py          Rankings: judgements and runs of TREC
frames.py        Data frames: sequences, graphs and queries of long tables
graphs_jsonl.py  Graphs: one JSON object per line
model_file/      Model files: an archive of JSON and arrays
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
