"""What a result proves, in words: the one place that knows.

Pages, summaries and the command line take their sentences from `meaning`.
"""

from __future__ import annotations

MEANINGS = {
    "exact": "Inference is exact: no weights have an objective below the dual.",
    "relaxed": "Inference is relaxed: the gap is that of the relaxed problem, an upper "
    "bound on the exact one.",
    "bound": "Inference, or the search that slack rescaling and squared slacks need, is "
    "approximate: primal and gap are upper bounds, and what remains of the gap may be due "
    "to it. A structure with `argmax_by_loss` makes this search exact.",
    "reduced": "The certificate is that of the problem over the outputs found so far; "
    "outputs not found yet may raise the objective.",
    "local": "Outputs have hidden parts, so the problem is not convex: dual and gap "
    "certify the last convex problem only, with the hidden parts held fixed. Another "
    "start (restarts, random_state) may reach a lower objective.",
    "basis": "Primal, dual and gap are those of the problem over the chosen basis of "
    "the kernel: with more basis points the objective may be lower.",
    "estimate": "The dual is estimated from a sample of the examples: the gap is an "
    "estimate, not a bound.",
    "none": "The dual is no lower bound here: nothing is known about the distance to "
    "the best weights.",
}


def meaning(certificate: str) -> str:
    """What a certificate of this name proves about the weights, as sentences.

    Examples
    --------
    >>> meaning("exact")
    'Inference is exact: no weights have an objective below the dual.'
    """
    return MEANINGS[certificate]
