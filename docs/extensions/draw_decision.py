"""Draw the picture of "Which estimator do I need?": python docs/extensions/draw_decision.py."""

from html import escape
from pathlib import Path

TARGET = Path(__file__).parents[1] / "pictures" / "which_estimator.svg"
ROWS = [
    ("one class", "a straight boundary will do", "MulticlassSVM"),
    ("one class", "the boundary is curved", "KernelSVM"),
    ("labels", "a set of them, in any number", "MultilabelSVM"),
    ("labels", "in a row: words, frames, letters", "ChainSVM"),
    ("labels", "spans of several words, as wholes", "SegmentSVM"),
    ("labels", "in a graph: pixels, pages, atoms", "NetworkSVM"),
    ("a shape", "a tree of phrases over a sentence", "GrammarSVM"),
    ("a shape", "a tree of words and their heads", "DependencySVM"),
    ("a shape", "which positions of two match", "AlignmentSVM"),
    ("a shape", "which candidate is related, and how", "HomologySVM"),
    ("a shape", "where a pattern lies", "MotifSVM"),
    ("an arrangement", "documents, the best first", "RankingSVM"),
    ("an arrangement", "groups of mentions", "CoreferenceSVM"),
    ("none of these", "you can score it and find the best", "StructuralSVM"),
]
STEP, TOP = 40, 46
FIRST, SECOND, THIRD = 190, 380, 690


def picture():
    """The picture as SVG."""
    height = TOP + STEP * len(ROWS) + 6
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {height}" '
        'font-family="system-ui, sans-serif" font-size="15" role="img">',
        "<title>Which estimator do I need?</title>",
        f'<rect width="880" height="{height}" fill="#ffffff"/>',
        '<text x="20" y="26" fill="#5d6875">An output is</text>',
        f'<text x="{SECOND}" y="26" fill="#5d6875">more exactly</text>',
        f'<text x="{THIRD}" y="26" fill="#5d6875">take</text>',
    ]
    kinds = list(dict.fromkeys(kind for kind, _, _ in ROWS))
    for kind in kinds:
        rows = [k for k, row in enumerate(ROWS) if row[0] == kind]
        middle = TOP + STEP * (sum(rows) / len(rows) + 0.5)
        out.append(
            f'<rect x="16" y="{middle - 17}" width="{FIRST - 30}" height="34" rx="8" '
            f'fill="#e3eef9"/><text x="28" y="{middle + 5}" fill="#1c2430" '
            f'font-weight="600">{escape(kind)}</text>'
        )
        for k in rows:
            y = TOP + STEP * (k + 0.5)
            out.append(
                f'<path d="M{FIRST - 14} {middle} C{FIRST + 70} {middle} {SECOND - 90} {y} '
                f'{SECOND - 12} {y}" fill="none" stroke="#9aa6b4" stroke-width="1.5"/>'
            )
    for k, (_, text, name) in enumerate(ROWS):
        y = TOP + STEP * (k + 0.5)
        out.append(
            f'<text x="{SECOND}" y="{y + 5}" fill="#1c2430">{escape(text)}</text>'
            f'<rect x="{THIRD - 10}" y="{y - 15}" width="176" height="30" rx="6" '
            f'fill="#1d6fb8"/><text x="{THIRD + 4}" y="{y + 5}" fill="#ffffff" '
            f'font-family="ui-monospace, monospace">{escape(name)}</text>'
        )
    return "\n".join([*out, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf8")
