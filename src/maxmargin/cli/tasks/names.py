"""Names that help and completion show: tasks and formats, without importing them."""

TASK_NAMES = (
    "multiclass", "sequences", "trees", "alignments", "ranking", "graphs", "motifs",
)  # fmt: skip
FORMAT_NAMES = (
    "svmlight", "conll", "svm_hmm", "crfsuite", "penn", "pairs", "alignment", "letor",
    "jsonl", "fasta",
)  # fmt: skip
SEQUENCE_FORMATS = ("conll", "svm_hmm", "crfsuite")
