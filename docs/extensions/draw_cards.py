"""Draw the pictures of the task cards and the logo: python docs/extensions/draw_cards.py.

Backgrounds are transparent, and the colours can be read on white and on black.
"""

import math
import random
from html import escape
from pathlib import Path

DOCS = Path(__file__).parents[1]
INK, BLUE, ORANGE, GREEN, PINK = "#7d8896", "#2f86d6", "#e07b1a", "#2a9d5c", "#c2418f"
WIDE, HIGH = 240, 130


def text(x, y, words, colour=INK, size=15, anchor="middle", weight=500):
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def line(x1, y1, x2, y2, colour=INK, width=1.5, more=""):
    return (
        f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" stroke-width="{width}" '
        f'fill="none" {more}/>'
    )


def box(x, y, width, height, colour, strength=0.25, round_by=6):
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{round_by}" '
        f'fill="{colour}" fill-opacity="{strength}"/>'
    )


def dot(x, y, colour, r=4.5):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}"/>'


def cloud(rng, x, y, colour, n=11, spread=13):
    return [dot(rng.gauss(x, spread), rng.gauss(y, spread), colour) for _ in range(n)]


def multiclass():
    rng = random.Random(1)
    return [
        line(120, 62, 120, 4), line(120, 62, 30, 126), line(120, 62, 210, 126),
        *cloud(rng, 66, 42, BLUE), *cloud(rng, 176, 42, ORANGE),
        *cloud(rng, 120, 104, GREEN, spread=10),
    ]  # fmt: skip


def kernel():
    rng = random.Random(2)
    ring = [k * math.tau / 17 for k in range(17)]
    return [
        f'<circle cx="120" cy="65" r="36" fill="{BLUE}" fill-opacity=".15" stroke="{INK}" '
        'stroke-width="1.5"/>',
        *cloud(rng, 120, 65, BLUE, 12, 12),
        *(dot(120 + 56 * math.cos(a) + rng.gauss(0, 3),
              65 + 53 * math.sin(a) + rng.gauss(0, 2), ORANGE) for a in ring),
    ]  # fmt: skip


def multilabel():
    out = [box(18, 30, 66, 70, INK, 0.18), dot(66, 48, ORANGE, 8)]
    out += [f'<path d="M18 94l22-34 16 22 10-12 18 24v6h-66z" fill="{INK}"/>']
    out.append(line(92, 65, 108, 65, INK, 2))
    for k, (word, colour) in enumerate(
        [("sunset", ORANGE), ("mountain", BLUE), ("field", GREEN)]
    ):
        out += [box(116, 22 + 31 * k, 96, 25, colour), text(164, 39 + 31 * k, word)]
    return out


def sequence():
    words = [("Ana", "NOUN", BLUE), ("sings", "VERB", GREEN), ("very", "ADV", PINK),
             ("well", "ADV", PINK)]  # fmt: skip
    out = []
    for k, (word, label, colour) in enumerate(words):
        x = 33 + 58 * k
        out += [text(x, 52, word, size=16), box(x - 26, 66, 52, 26, colour)]
        out.append(text(x, 84, label, colour, 13, weight=600))
        if k:
            out.append(line(x - 32, 79, x - 26, 79, INK, 2))
    return out


def spans():
    out = [text(120, 60, "vive en", size=16)]
    for x, width, words, label, colour in (
        (8, 76, "Ana Ruiz", "PER", BLUE), (152, 82, "San Juan", "LOC", ORANGE),
    ):  # fmt: skip
        out += [box(x, 40, width, 30, colour), text(x + width / 2, 60, words, size=16)]
        out.append(text(x + width / 2, 90, label, colour, 13, weight=600))
    return out


def tree():
    nodes = {"S": (120, 18), "NP": (66, 48), "VP": (172, 48), "NP ": (200, 78)}
    leaves = [
        ("the", 34, "NP"),
        ("dog", 92, "NP"),
        ("saw", 144, "VP"),
        ("it", 200, "NP "),
    ]
    out = [
        line(120, 23, *_above(nodes[name]), INK) for name in ("NP", "VP")
    ] + [line(172, 53, 200, 66)]  # fmt: skip
    for word, x, parent in leaves:
        px, py = nodes[parent]
        out += [line(px, py + 5, x, 102), text(x, 117, word, size=15)]
    out += [
        text(x, y + 2, name.strip(), BLUE, 14, weight=700)
        for name, (x, y) in nodes.items()
    ]
    return out


def _above(point):
    return point[0], point[1] - 12


def dependencies():
    words = [("I", 30), ("saw", 90), ("a", 148), ("dog", 204)]
    out = [text(x, 112, word, size=16) for word, x in words]
    for start, end, high, label in ((90, 30, 62, "nsubj"), (204, 148, 68, "det"),
                                    (92, 206, 26, "obj")):  # fmt: skip
        out.append(
            f'<path d="M{start} 94C{start} {high} {end} {high} {end} 92" stroke="{BLUE}" '
            f'stroke-width="1.8" fill="none"/><path d="M{end - 4} 88h8l-4 8z" fill="{BLUE}"/>'
        )
        middle = 0.25 * 94 + 0.75 * high
        out.append(text((start + end) / 2, middle - 5, label, size=12))
    return out


def alignment():
    top, bottom = "HEAGAWGHE", "-PA--WHEA"
    out = []
    for k, (a, b) in enumerate(zip(top, bottom, strict=True)):
        x = 24 + 24 * k
        if b != "-":
            same = a == b
            out += [
                box(x - 11, 30, 22, 72, GREEN if same else INK, 0.3 if same else 0.14)
            ]
            out += [line(x, 57, x, 73, GREEN if same else INK, 2)]
        out += [text(x, 51, a, size=17), text(x, 91, b, size=17)]
    return out


def network():
    rows = ["001100", "011110", "011100", "000000"]
    at = {(r, c): (30 + 36 * c, 17 + 32 * r) for r in range(4) for c in range(6)}
    out = [line(*p, *at[r, c + 1]) for (r, c), p in at.items() if c < 5]
    out += [line(*p, *at[r + 1, c]) for (r, c), p in at.items() if r < 3]
    return out + [
        dot(*p, ORANGE if rows[r][c] == "1" else BLUE, 8) for (r, c), p in at.items()
    ]


def motif():
    out = []
    for k, (before, after) in enumerate(
        (("gcta", "ccg"), ("a", "gcgtac"), ("ttgac", "ga"))
    ):
        y = 32 + 36 * k
        x = 54 + 12 * (len(before) - 4) + 30
        out.append(box(x + 4, y - 19, 62, 27, ORANGE, 0.3))
        out.append(text(x, y, before, size=18, anchor="end"))
        out.append(text(x + 35, y, "TATA", ORANGE, 18, weight=700))
        out.append(text(x + 70, y, after, size=18, anchor="start"))
    return out


def ranking():
    out = []
    for k, (width, good) in enumerate(((150, 1), (124, 1), (112, 0), (84, 1), (50, 0))):
        y = 14 + 22 * k
        out += [text(24, y + 13, str(k + 1), size=13)]
        out += [box(42, y, width, 15, GREEN if good else INK, 0.75 if good else 0.3, 4)]
        if good:
            out.append(text(42 + width + 14, y + 13, "✓", GREEN, 15, weight=700))
    return [*out, line(34, 78, 222, 78, INK, 1.2, 'stroke-dasharray="4 3"')]


def coreference():
    out = []
    rows = [[("Eva Ruiz", BLUE), ("saw", ""), ("Bonn", ORANGE), (".", "")],
            [("She", BLUE), ("loves", ""), ("the city", ORANGE), (".", "")]]  # fmt: skip
    for k, row in enumerate(rows):
        x, y = 14, 48 + 46 * k
        for word, colour in row:
            width = 9.0 * len(word) + 10
            if colour:
                out.append(box(x, y - 20, width, 29, colour, 0.3))
            out.append(text(x + width / 2, y, word, size=16))
            x += width + 5
    return out


def own():
    left, right = [22, 51, 80, 109], [22, 51, 80, 109]
    pairs, out = [1, 0, 3, 2], []
    for k, j in enumerate(pairs):
        out.append(line(70, left[k], 170, right[j], GREEN, 2.4))
        for other in (k, (k + 2) % 4):
            out.append(line(70, left[k], 170, right[other], INK, 0.8))
    out += [dot(70, y, BLUE, 8) for y in left] + [dot(170, y, ORANGE, 8) for y in right]
    return out


def gap():
    """The primal falls, the dual rises, until they nearly meet."""
    rounds = [k / 40 for k in range(41)]
    primal = [(26 + 150 * t, 62 - 52 * math.exp(-5 * t)) for t in rounds]
    dual = [(26 + 150 * t, 66 + 52 * math.exp(-4 * t)) for t in rounds]
    out = [line(26, 8, 26, 122), line(26, 122, 188, 122)]
    for points, colour in ((primal, BLUE), (dual, ORANGE)):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(
            f'<path d="M{path}" stroke="{colour}" stroke-width="2.5" fill="none"/>'
        )
    out += [
        line(51, 42, 51, 90, INK, 1.2, 'stroke-dasharray="3 3"'),
        text(67, 70, "gap", size=12),
    ]
    out += [
        text(181, 58, "primal", BLUE, 13, "start"),
        text(181, 77, "dual", ORANGE, 13, "start"),
    ]
    return [*out, text(107, 119, "training", size=11)]


CARDS = (gap, multiclass, kernel, multilabel, sequence, spans, tree, dependencies, alignment,
         network, motif, ranking, coreference, own)  # fmt: skip


def picture(parts, width=WIDE, height=HIGH):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif">' + "\n".join(parts) + "</svg>\n"
    )


def logo(colour):
    """Two classes and the margin between them."""
    return picture(
        [line(7, 25, 25, 7, colour, 2.4),
         line(1, 21, 21, 1, colour, 1.2, 'stroke-dasharray="3 2"'),
         line(11, 31, 31, 11, colour, 1.2, 'stroke-dasharray="3 2"'),
         dot(5.5, 6, colour, 3), dot(26.5, 26, colour, 3)], 32, 32,
    )  # fmt: skip


def main():
    folder = DOCS / "pictures" / "cards"
    folder.mkdir(exist_ok=True)
    for card in CARDS:
        (folder / f"{card.__name__}.svg").write_text(picture(card()), encoding="utf8")
    (DOCS / "assets" / "logo.svg").write_text(logo("#ffffff"), encoding="utf8")
    (DOCS / "assets" / "favicon.svg").write_text(logo("#1d6fb8"), encoding="utf8")


if __name__ == "__main__":
    main()
