"""Names that help and completion show: tasks and formats, without importing them."""

TASK_NAMES = (
    "multiclass", "sequences", "segments", "trees", "dependencies", "alignments", "ranking",
    "graphs", "motifs", "coreference",
)  # fmt: skip
FORMAT_NAMES = (
    "svmlight", "conll", "conllu", "svm_hmm", "crfsuite", "penn", "pairs", "alignment", "letor",
    "jsonl", "fasta", "conll2012", "corefud",
)  # fmt: skip
SEQUENCE_FORMATS = ("conll", "svm_hmm", "crfsuite")
