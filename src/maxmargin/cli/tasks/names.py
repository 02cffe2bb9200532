"""Names that help and completion show: tasks and formats, without importing them."""

TASK_NAMES = (
    "multiclass", "multilabel", "sequences", "segments", "trees", "dependencies", "alignments",
    "homology", "ranking", "graphs", "motifs", "coreference",
)  # fmt: skip
FORMAT_NAMES = (
    "svmlight", "svmlight_sets", "conll", "conllu", "svm_hmm", "crfsuite", "penn", "pairs",
    "alignment", "letor", "jsonl", "fasta", "conll2012", "corefud", "annotated",
    "searches", "text",
)  # fmt: skip
SEQUENCE_FORMATS = ("conll", "svm_hmm", "crfsuite")
