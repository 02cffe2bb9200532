"""Draw the two pictures of docs/architecture.md: ``python tests/draw_rooms.py``.

`rooms.svg` has a box for each room and an arrow for each import between rooms, read off
the sources. Arrows that follow from others are left out (a -> c where a -> b -> c), and so
are those to the array shapes at the bottom and from the command line at the top, which
go to and come from everywhere. `PLACES` says where boxes are; arrows have to point down.

`data.svg` shows the way of data through `fit`: its steps are in `STEPS`.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "maxmargin"
PICTURES = ROOT / "docs" / "pictures"

# Of core: used everywhere.
SHAPES = ("data", "compiled", "jit")
BASE, TOP = "core shapes", "cli"
ALWAYS = [("solvers", "core")]  # drawn although it follows from others


class Place(NamedTuple):
    """A box on the grid, from column `left` to column `right`."""

    row: int
    left: int
    right: int
    says: str


PLACES = {
    "cli": Place(0, 0, 6, "the command line: may import every room"),
    "plots": Place(2, 0, 0, "figures"),
    "serve": Place(1, 1, 2, "a page and an API for a model"),
    "torch": Place(1, 4, 4, "losses on tensors"),
    "jax": Place(1, 5, 5, "the same for JAX"),
    "estimators": Place(2, 1, 4, "scikit-learn estimators: one file per task"),
    "decode": Place(2, 5, 5, "score arrays"),
    "baselines": Place(2, 6, 6, "to compare with"),
    "reports": Place(3, 0, 0, "pages, pictures"),
    "solvers": Place(4, 2, 2, "planes to weights"),
    "engines": Place(3, 3, 3, "where it runs"),
    "bounds": Place(3, 4, 4, "theorems"),
    "structures": Place(4, 4, 4, "what an output is"),
    "datasets": Place(3, 6, 6, "loaders"),
    "calibration": Place(4, 0, 0, "probabilities"),
    "metrics": Place(5, 0, 0, "scores"),
    "features": Place(5, 5, 5, "text to features"),
    "io": Place(6, 5, 5, "file formats"),
    "kernels": Place(5, 1, 1, "Gram, maps"),
    "losses": Place(5, 4, 4, "how wrong"),
    "core": Place(
        6, 2, 4, "Problem, Formulation; contracts of Structure, Loss, Engine"
    ),
    "inference": Place(7, 3, 3, "best of a table"),
    BASE: Place(
        8, 0, 6, "core.data, core.compiled, core.jit: every room may import these"
    ),
}
WIDTH, HEIGHT, GAP, DOWN = 122, 52, 14, 44  # of a box, and the space between boxes


def room_of(parts: list[str]) -> str | None:
    """The room of a module, given as its path below `maxmargin`."""
    if parts[0] == "core":
        if len(parts) == 1:
            return None
        return BASE if parts[1] in SHAPES else "core"
    return parts[0]


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    out: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = list(path.relative_to(SOURCE).with_suffix("").parts)
        if parts[-1] in ("__init__", "__main__") or parts == ["runtime"]:
            continue
        here = room_of(parts)
        assert here is not None
        found = out.setdefault(here, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                name = node.module.split(".")
                if name[0] == "maxmargin" and len(name) > 1:
                    there = room_of(name[1:])
                    found |= {there} - {here, None} if there else set()
    return out


def arrows(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Imports to draw: without those that follow from others, and the two bars."""
    return [
        (here, there)
        for here in PLACES
        for there in PLACES
        if there in graph.get(here, ())
        and here != TOP
        and there != BASE
        and (
            (here, there) in ALWAYS
            or not any(there in reach(graph, via) for via in graph[here] - {there})
        )
    ]


def reach(graph: dict[str, set[str]], start: str) -> set[str]:
    """All rooms that `start` imports, directly or through others."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - seen
        seen |= new
        ahead += new
    return seen


def rooms_svg() -> str:
    """The picture of the rooms."""
    graph = imports()
    missing = set(graph) - set(PLACES)
    assert not missing, f"give {missing} a place in tests/draw_rooms.py"
    for here, found in graph.items():
        for there in found:
            down = PLACES[here].row < PLACES[there].row
            assert down, f"the arrow {here} -> {there} would not point down"
    lines = [_arrow(*_ends(a, b)) for a, b in arrows(graph)]
    boxes = [_room(name, place) for name, place in PLACES.items()]
    return _svg(
        7 * (WIDTH + GAP) + GAP, 7 * (HEIGHT + DOWN) - DOWN + 2 * GAP, lines + boxes
    )


def _corner(place: Place) -> tuple[int, int]:
    return GAP + place.left * (WIDTH + GAP), GAP + place.row * (HEIGHT + DOWN)


def _width(place: Place) -> int:
    return (place.right - place.left + 1) * (WIDTH + GAP) - GAP


def _ends(here: str, there: str) -> tuple[float, float, float, float]:
    """Straight down where the boxes overlap; otherwise from edge to edge."""
    a, b = PLACES[here], PLACES[there]
    left, right = max(a.left, b.left), min(a.right, b.right)
    if left <= right:
        x = GAP + (left + right) / 2 * (WIDTH + GAP) + WIDTH / 2
        start = end = x
    else:
        aside = 0.3 * WIDTH if b.left > a.right else -0.3 * WIDTH
        start = _column(a.right if aside > 0 else a.left) + aside
        end = _column(b.left if aside > 0 else b.right) - aside
    return start, _corner(a)[1] + HEIGHT, end, _corner(b)[1]


def _column(k: int) -> float:
    return GAP + k * (WIDTH + GAP) + WIDTH / 2


def _room(name: str, place: Place) -> str:
    title = "" if name == BASE else name
    bar = name in (TOP, BASE)
    return _box(*_corner(place), _width(place), HEIGHT, title, place.says, bar)


class Step(NamedTuple):
    """A step of `fit`: what happens, in which file, and what comes out."""

    text: str
    where: str  # file and name, checked against the sources
    gives: str


STEPS = [
    Step(
        "read settings",
        "estimators/fitting/base.py:fit",
        "structure, loss, formulation",
    ),
    Step("bind, encode", "core/structure.py:encode", "x, truth: flat arrays"),
    Step("put together", "core/problem.py:Problem", "one immutable Problem"),
    Step("ask for planes", "core/problem.py:cuts", "w goes out, in chunks"),
    Step("run the oracle", "core/engine.py:ask", "on threads, processes, a cluster"),
    Step("most violated output", "core/structure.py:cuts", "psi(truth) - psi(y), loss"),
    Step("loss becomes a plane", "core/formulations.py:plane", "a, b of each example"),
    Step("improve the dual", "solvers/base.py:step", "alpha, w"),
    Step("certify", "solvers/base.py:certify", "primal, dual, gap"),
]
BACK = 7  # step after which training goes on with step LOOP
LOOP = 3
LINE, COLUMN = 58, 250


def data_svg() -> str:
    """The picture of the way that data take through `fit`."""
    out, x = [], 60
    for k, step in enumerate(STEPS):
        y = GAP + k * LINE
        out.append(
            _box(x, y, COLUMN, 40, step.text, step.where.replace(":", ": "), False)
        )
        out.append(_text(x + COLUMN + 20, y + 25, step.gives, 13, "start", "#345"))
        if k + 1 < len(STEPS):
            middle = x + COLUMN / 2
            out.append(_arrow(middle, y + 40, middle, y + LINE))
    low, high = GAP + BACK * LINE + 20, GAP + LOOP * LINE + 20
    curve = f"M {x} {low} C {x - 50} {low}, {x - 50} {high}, {x} {high}"
    out.append(f'<path class="line" d="{curve}" marker-end="url(#head)"/>')
    turn = f'transform="rotate(-90 {x - 46} {(low + high) / 2})"'
    out.append(
        _text(
            x - 46,
            (low + high) / 2,
            "until the gap is small",
            12,
            "middle",
            "#345",
            turn,
        )
    )
    return _svg(x + COLUMN + 280, GAP + len(STEPS) * LINE, out)


def _box(
    x: float, y: float, width: float, height: float, title: str, says: str, bar: bool
) -> str:
    fill = "#e8edf2" if bar else "#f7f4ea"
    shape = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
        'stroke="#567"/>'
    )
    middle = x + width / 2
    if not title:
        return shape + _text(middle, y + height / 2 + 4, says, 12)
    first = _text(middle, y + height / 2 - 4, title, 15, more='font-weight="bold"')
    return shape + first + _text(middle, y + height / 2 + 14, says, 11, color="#345")


def _text(
    x: float, y: float, text: str, size: int, anchor: str = "middle",
    color: str = "#123", more: str = "",
) -> str:  # fmt: skip
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{color}" {more}>{escape(text)}</text>'
    )


def _arrow(x: float, y: float, x2: float, y2: float) -> str:
    bend = (y2 - y) / 2
    curve = (
        f"M {x:g} {y:g} C {x:g} {y + bend:g}, {x2:g} {y2 - bend:g}, {x2:g} {y2 - 2:g}"
    )
    return f'<path class="line" d="{curve}" marker-end="url(#head)"/>'


def _svg(width: float, height: float, body: list[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="sans-serif">',
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" fill="#567"/>'
            "</marker></defs>",
            "<style>.line { fill: none; stroke: #567; stroke-width: 1.4; }</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


DRAWN = {"rooms.svg": rooms_svg, "data.svg": data_svg}


def main() -> None:
    """Write the pictures."""
    for name, draw in DRAWN.items():
        (PICTURES / name).write_text(draw(), encoding="utf8")


if __name__ == "__main__":
    main()
