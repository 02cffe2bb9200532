"""Best, best other and best counted paths against enumeration, and against peers."""

import numpy as np
import pytest
from cases.alignment import paths
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import Ragged
from maxmargin.datasets import BLOSUM62
from maxmargin.inference.alignment import (
    COLUMNS,
    DELETE,
    INSERT,
    MATCH,
    MODES,
    AlignmentTables,
    affine_paths,
    band,
    linear_paths,
    other_paths,
    path_of_cells,
    paths_by_count,
    table_hypergraph,
)
from maxmargin.inference.hypergraph import k_best, sum_product
from maxmargin.io.biology import parse_substitution

modes = pytest.mark.parametrize("mode", MODES)
seeds = st.integers(0, 2**31)


def random_tables(rng):
    """Three tables with random scores, sometimes banded."""
    rows, cols = rng.integers(1, 5, 3), rng.integers(1, 5, 3)
    width = int(rng.choice([0, 1, 99]))
    lo, hi, start = band(rows, cols, width)
    low = rng.choice([0.0, 0.7])
    gaps = [rng.normal(size=(4, int(k.sum()) + 3)) - low for k in (rows, cols)]
    return AlignmentTables(rows, cols, lo, hi, start, rng.normal(size=start[-1]), *gaps)


def allowed(tables, b, mode):
    """Paths of table b within its band, and what is needed to value them."""
    r, s = int(tables.rows[:b].sum()), int(tables.rows[:b].sum()) + b
    c = int(tables.cols[:b].sum()) + b
    m, n = int(tables.rows[b]), int(tables.cols[b])
    lo, hi, start = tables.lo[r : r + m], tables.hi[r : r + m], tables.start[r : r + m]

    def inside(path):
        i, j = path[:2]
        cells = [(i, j)] if mode != "local" else []
        for move in path[2:]:
            i, j = i + (move != INSERT), j + (move != DELETE)
            cells.append((i, j))
        return all(
            j <= hi[0]
            if i == 0
            else lo[i - 1] == 0
            if j == 0
            else lo[i - 1] < j <= hi[i - 1]
            for i, j in cells
        )

    def value(path, affine=True, count=None):
        i, j = path[:2]
        before, total = -1, 0.0
        for move in path[2:]:
            k = int(affine and move == before)
            if move == MATCH:
                cell = start[i] + j - lo[i]
                total += tables.match[cell] if count is None else count[cell]
            elif count is None and move == DELETE:
                total += tables.row_gap[k, s + i] + tables.col_gap[2 + k, c + j]
            elif count is None:
                total += tables.col_gap[k, c + j] + tables.row_gap[2 + k, s + i]
            i, j, before = i + (move != INSERT), j + (move != DELETE), move
        return total

    return [p for p in paths(m, n, mode) if inside(p)], value


@modes
@given(seed=seeds)
@settings(max_examples=25)
def test_paths_are_the_best_of_all(mode, seed):
    tables = random_tables(np.random.default_rng(seed))
    for affine, find in ((True, affine_paths), (False, linear_paths)):
        found, score = find(tables, MODES[mode])
        for b in range(3):
            every, value = allowed(tables, b, mode)
            path = found.row(b).tolist()
            assert path in every
            assert value(path, affine) == pytest.approx(score[b])
            assert score[b] == pytest.approx(max(value(p, affine) for p in every))


@modes
@given(seed=seeds)
@settings(max_examples=25)
def test_hypergraph_has_all_paths_once(mode, seed):
    """The n best paths for n beyond their number, and their sum."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(1, 4, 1), rng.integers(1, 4, 1)
    lo, hi, start = band(rows, cols, int(rng.choice([0, 1, 99])))
    gaps = [rng.normal(size=(4, int(k[0]) + 1)) for k in (rows, cols)]
    match = rng.normal(size=start[-1])
    tables = AlignmentTables(rows, cols, lo, hi, start, match, *gaps)
    every, value = allowed(tables, 0, mode)
    graph, score = table_hypergraph(tables, MODES[mode])
    found, scores = k_best(graph, score, len(every) + 3)
    listed = [path_of_cells(found.row(k), tables) for k in range(found.n)]
    assert sorted(listed) == sorted(every)
    assert scores == pytest.approx([value(p) for p in listed])
    assert (np.diff(scores) <= 1e-12).all()
    log_z, share = sum_product(graph, score)
    weights = np.exp([value(p) - log_z for p in every])
    assert weights.sum() == pytest.approx(1.0)
    matched = sum(w * p[2:].count(MATCH) for w, p in zip(weights, every, strict=True))
    assert share[: len(match)].sum() == pytest.approx(matched)


@modes
@given(seed=seeds)
@settings(max_examples=25)
def test_other_paths_are_the_best_but_one(mode, seed):
    rng = np.random.default_rng(seed)
    tables = random_tables(rng)
    sets = [allowed(tables, b, mode) for b in range(3)]
    best = affine_paths(tables, MODES[mode])[0].unpack()
    taken = [
        best[b] if rng.random() < 0.5 else every[rng.integers(len(every))]
        for b, (every, _) in enumerate(sets)
    ]
    found, score = other_paths(tables, Ragged.pack(taken), MODES[mode])
    for b, (every, value) in enumerate(sets):
        rest = [value(p) for p in every if p != taken[b]]
        assert score[b] == pytest.approx(max(rest, default=-np.inf))
        if rest:
            assert found.row(b).tolist() in every
            assert found.row(b).tolist() != taken[b]


@modes
@given(seed=seeds)
@settings(max_examples=25)
def test_counted_paths_are_the_best_for_each_count(mode, seed):
    rng = np.random.default_rng(seed)
    tables = random_tables(rng)
    counts = (rng.random(len(tables.match)) < 0.4).astype(np.uint8)
    layers = np.minimum(tables.rows, tables.cols) + 1
    found = paths_by_count(tables, counts, layers, MODES[mode])
    for b in range(3):
        every, value = allowed(tables, b, mode)
        best = {}
        for path in every:
            c = int(value(path, count=counts))
            best[c] = max(best.get(c, -np.inf), value(path))
        span = range(found.ptr[b], found.ptr[b + 1])
        assert {int(found.hits[q]) for q in span} == best.keys()
        for q in span:
            assert found.score[q] == pytest.approx(best[int(found.hits[q])])
            path = found.paths.row(q).tolist()
            assert int(value(path, count=counts)) == found.hits[q]


@modes
@pytest.mark.parametrize("width", [1, 30, 9999])
def test_tables_of_several_strips(mode, width):
    """Against the only layer of paths counted by nothing, which has no strips."""
    rng = np.random.default_rng(width)
    rows, cols = np.array([20, 30]), np.array([2 * COLUMNS + 70, COLUMNS])
    shape = band(rows, cols, width)
    gaps = [rng.normal(size=(4, int(k.sum()) + 2)) - 0.7 for k in (rows, cols)]
    tables = AlignmentTables(rows, cols, *shape, rng.normal(size=shape[2][-1]), *gaps)
    counts = np.zeros(len(tables.match), np.uint8)
    one_state = {
        name: getattr(tables, name)[[0, 0, 2, 2]]
        for name in AlignmentTables._fields[-2:]
    }
    for find, same in (
        (affine_paths, tables), (linear_paths, tables._replace(**one_state)),
    ):  # fmt: skip
        found, score = find(tables, MODES[mode])
        layers = paths_by_count(same, counts, np.ones(2, np.int64), MODES[mode])
        assert score == pytest.approx(layers.score)
        assert found.unpack() == layers.paths.unpack()


def test_a_wide_band_changes_nothing():
    rng = np.random.default_rng(0)
    rows, cols = np.array([40]), np.array([60])
    match, gap = rng.normal(size=(40, 60)), rng.normal(size=(4, 1)) - 1.0
    gaps = np.repeat(gap, 41, 1), np.repeat(gap, 61, 1)
    scores = []
    for width in (3, 20, 1000):
        lo, hi, start = band(rows, cols, width)
        cells = np.concatenate([match[i, lo[i] : hi[i]] for i in range(40)])
        scores.append(
            affine_paths(AlignmentTables(rows, cols, lo, hi, start, cells, *gaps), 0)[
                1
            ][0]
        )
    assert scores[0] <= scores[1] <= scores[2]
    assert scores[1] == pytest.approx(scores[2], rel=0.2)


def proteins(seed, size=4):
    """Random related proteins and their tables under BLOSUM62, gaps 11 and 1."""
    rng = np.random.default_rng(seed)
    table = parse_substitution(BLOSUM62.splitlines())
    pairs = []
    for _ in range(size):
        m, n = rng.integers(20, 90, 2)
        a = rng.integers(0, 20, m)
        b = np.resize(np.where(rng.random(m) < 0.5, a, rng.integers(0, 20, m)), n)
        pairs.append((a, b))
    rows, cols = (np.array([len(p[k]) for p in pairs]) for k in (0, 1))
    match = np.concatenate([table.scores[np.ix_(a, b)].ravel() for a, b in pairs])
    gap = np.array([[-11.0], [-1.0], [0.0], [0.0]])
    gaps = [np.repeat(gap, int(k.sum()) + size, 1) for k in (rows, cols)]
    tables = AlignmentTables(rows, cols, *band(rows, cols, 1000), match, *gaps)
    texts = [tuple("".join(table.letters[c] for c in v) for v in p) for p in pairs]
    return tables, texts


@modes
@pytest.mark.parametrize("affine", [True, False])
def test_scores_agree_with_biopython(mode, affine):
    Align = pytest.importorskip("Bio.Align", reason="Biopython is not installed")
    opening, extension = (-11.0, -1.0) if affine else (-5.0, -5.0)
    aligner = Align.PairwiseAligner(
        mode="local" if mode == "local" else "global",
        substitution_matrix=Align.substitution_matrices.load("BLOSUM62"),
        open_gap_score=opening,
        extend_gap_score=extension,
    )
    if mode == "semiglobal":
        aligner.end_gap_score = 0.0
    tables, texts = proteins(1)
    gap = np.array([[opening], [extension], [0.0], [0.0]])
    gaps = {name: 0.0 * getattr(tables, name) + gap for name in ("row_gap", "col_gap")}
    find = affine_paths if affine else linear_paths
    score = find(tables._replace(**gaps), MODES[mode])[1]
    expected = [aligner.score(a, b) for a, b in texts]
    assert score.tolist() == [
        max(0.0, v) if mode == "semiglobal" else v for v in expected
    ]


@modes
def test_scores_agree_with_parasail(mode):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    run = {
        "global": parasail.nw_trace_striped_16,
        "semiglobal": parasail.sg_trace_striped_16,
        "local": parasail.sw_trace_striped_16,
    }[mode]
    tables, texts = proteins(2)
    score = affine_paths(tables, MODES[mode])[1]
    expected = [run(a, b, 11, 1, parasail.blosum62).score for a, b in texts]
    assert score.tolist() == [
        max(0.0, v) if mode == "semiglobal" else v for v in expected
    ]
