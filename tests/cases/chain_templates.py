"""A tiny chain over words: features by templates, some of them of label pairs."""

from cases.chain import LOSSES, outputs
from maxmargin.features import Column, Templates
from maxmargin.structures.chain import Chain

__all__ = ["LOSSES", "outputs", "tiny"]


def tiny(rng):
    """Five sentences of 0 to 4 words, three labels; a matrix beside them or not."""
    word = Column()
    bigrams = [word & word[-1], "B:%x[1,0]"][: int(rng.integers(3))]
    templates = Templates([word, word[-1], word.prefix(1)], bigrams)
    lengths = [3, 0, 1, 2, 4]
    words = [list(rng.choice(["la", "los", "va", "vi"], size=n)) for n in lengths]
    X = [[str(word) for word in row] for row in words]
    Y = [rng.integers(3, size=n).tolist() for n in lengths]
    Y[0] = [2, 0, 1]  # every label occurs
    if rng.integers(2):
        X = [(row, rng.normal(size=(len(row), 2))) for row in X]
    structure = Chain(
        eta=0.8,
        order=int(rng.integers(1, 3)),
        start_end=bool(rng.integers(2)),
        bias=bool(rng.integers(2)),
        templates=templates,
    )
    return structure, X, Y
