"""Figure 1 of Taskar, Guestrin, Koller 2003: the percentages that the text gives."""

from __future__ import annotations

from experiments.side_by_side import Printed, Record

LETTERS = {  # fewer errors, of whom, than whom
    "M3N linear against CRF": ("16 %", "M3N linear", "CRF"),
    "M3N cubic against CRF": ("45 %", "M3N cubic", "CRF"),
    "M3N cubic against the best previous one (SVM cubic)":
        ("33 %", "M3N cubic", "SVM cubic"),
}  # fmt: skip
PAGES = {
    "M3N against RMN": ("40 %", "M3N", "RMN"),
    "M3N against SVM": ("51 %", "M3N", "SVM"),
}


def _letters(record: Record, label: str, column: str) -> str:
    _, ours, other = LETTERS[label]
    return fewer(record, ours, other)


def _pages(record: Record, label: str, column: str) -> str:
    _, ours, other = PAGES[label]
    return fewer(record, ours, other)


def fewer(record: Record, ours: str, other: str) -> str:
    """How many per cent fewer errors, and the errors themselves."""
    a, b = (record["errors"][name] for name in (ours, other))
    more = "" if a <= b else " more"
    share = abs(100 * (1 - a / b))
    return f"{share:.0f} %{more} ({100 * a:.1f} against {100 * b:.1f} % wrong)"


TABLES = [
    Printed(
        "Figure 1(b)", "handwritten letters, fewer errors", "figure1b", ("fewer errors",),
        {label: (cell[0],) for label, cell in LETTERS.items()}, _letters,
        told="The same data and folds. The prior of our CRF is tuned; rows `CRF, sigma` of "
        "the record have narrower priors of the paper's range.",
    ),
    Printed(
        "Figure 1(c)", "web pages, fewer errors, mean over schools", "figure1c",
        ("fewer errors",), {label: (cell[0],) for label, cell in PAGES.items()}, _pages,
        told="Another version of WebKB, without anchor text; our RMN is trained by "
        "pseudo-likelihood.",
    ),
]  # fmt: skip
