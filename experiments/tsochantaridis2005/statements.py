"""What Tsochantaridis et al. 2005 say of their tables and figures."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from experiments.statements import Statement, error, first, row, told

Record = dict[str, Any]
SENTENCES = 314  # of a training part in table 5: 393, five folds


def _over_flat(record: Record, column: str) -> str:
    """Taxonomy and tree loss against flat zero-one, by corpus and size."""
    cells = []
    for corpus in dict.fromkeys(r["corpus"] for r in record["rows"]):
        own = [r for r in record["rows"] if r["corpus"] == corpus]
        sizes = sorted({r["per class"] for r in own})
        by = {(r["per class"], r["method"]): r[column] for r in own}
        gains = [by[n, "tax tree"] - by[n, "flt 0/1"] for n in sizes]
        words = ", ".join(f"{gain:+.2g}" for gain in gains)
        cells.append(f"{corpus} {words}")
    return f"{column}, difference at {', '.join(map(str, sizes))} per class: {'; '.join(cells)}"


def _homologs(record: Record, least: int = 0, most: int = 100) -> str:
    """Test errors of both models by n."""
    cells = [
        f"n = {r['n']} {r['test SVM2']} (C = 0.1: {r['test SVM2, C = 0.1']}) and {_model(r)}"
        for r in record["rows"] if least <= r["n"] <= most
    ]  # fmt: skip
    return f"SVM2 and the generative model: {', '.join(cells)}"


def _away(record: Record, ours: Any, paper: str) -> str:
    """Test errors more than two standard errors from the paper's."""
    cells = [
        f"n = {r['n']} {ours(r)}, paper {r[paper]}"
        for r in record["rows"]
        if abs(first(ours(r)) - first(r[paper]))
        > 2 * (error(ours(r)) ** 2 + error(r[paper]) ** 2) ** 0.5
    ]
    return "; ".join(cells)


def _taxonomy(record: Record, column: str, sign: float) -> bool:
    """Taxonomies with the tree loss against flat zero-one, on every corpus and size."""
    sizes = {(r["corpus"], r["per class"]) for r in record["rows"]}
    for corpus, size in sorted(sizes):
        both = {"corpus": corpus, "per class": size}
        new = row(record, method="tax tree", **both)[column]
        old = row(record, method="flt 0/1", **both)[column]
        if sign * (new - old) <= 0:
            return False
    return True


def _generative(record: Record) -> bool:
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return bool(max(e["CRF"], e["Perceptron"], e["SVM"]) < 0.75 * e["HMM"])


def _alike(record: Record) -> bool:
    tests = [r["test"] for r in record["rows"]]
    means = [first(t) for t in tests]
    return max(means) - min(means) <= max(error(t) for t in tests)


def _published_errors(record: Record) -> bool:
    return all(
        abs(first(r["test"]) - first(r["(test)"]))
        <= max(error(r["test"]), error(r["(test)"]))
        for r in record["rows"]
    )


def _model(row: dict[str, Any]) -> Any:
    """The generative model: decoys counted, as far as the record has it."""
    return row.get("test Gen (decoys)", row["test Gen (letters)"])


def _better_when_few(record: Record) -> bool:
    few = [r for r in record["rows"] if r["n"] <= 10]
    return all(first(r["test SVM2"]) < first(_model(r)) for r in few)


def _level_when_many(record: Record) -> bool:
    last = max(record["rows"], key=lambda r: r["n"])
    apart = abs(first(last["test SVM2"]) - first(_model(last)))
    return apart <= 2 * max(error(last["test SVM2"]), error(_model(last)))


def _generative_figures(record: Record) -> bool:
    return all(
        abs(first(_model(r)) - first(r["test Gen, paper"]))
        <= 2 * (error(_model(r)) ** 2 + error(r["test Gen, paper"]) ** 2) ** 0.5
        for r in record["rows"]
    )


def _close(record: Record) -> bool:
    return all(
        abs(first(r["test SVM2"]) - first(r["test SVM2, paper"]))
        <= 2 * (error(r["test SVM2"]) ** 2 + error(r["test SVM2, paper"]) ** 2) ** 0.5
        for r in record["rows"]
    )


def _sublinear(record: Record) -> bool:
    by = {r["n"]: first(r["|S|"]) for r in record["rows"] if r["varied"] == "n"}
    few, many = min(by), max(by)
    return by[many] / by[few] < many / few


def _below_bound(record: Record) -> bool:
    """Theorem 18 has 1 / epsilon^2: growth between the ends, of positive sizes."""
    by = {
        r["epsilon"]: first(r["|S|"])
        for r in record["rows"]
        if r["varied"] == "epsilon" and first(r["|S|"]) > 0
    }
    coarse, fine = max(by), min(by)
    return by[fine] / by[coarse] < (coarse / fine) ** 2


def _good_epsilon(record: Record) -> bool:
    by = {
        r["epsilon"]: r["test error"]
        for r in record["rows"]
        if r["varied"] == "epsilon"
    }
    here = by[0.1]
    worse = all(first(by[e]) > first(here) for e in by if e > 0.1)
    no_gain = all(
        first(here) - first(by[e]) <= 2 * max(error(here), error(by[e]))
        for e in by
        if e < 0.1
    )
    return worse and no_gain


def _costlier(record: Record) -> bool:
    """More constraints for every smaller epsilon, from 0.1 down."""
    some = [r for r in record["rows"] if r["varied"] == "epsilon"]
    some.sort(key=lambda r: -r["epsilon"])
    sizes = [first(r["|S|"]) for r in some if r["epsilon"] <= 0.1]
    return len(sizes) > 1 and all(a < b for a, b in pairwise(sizes))


def _f1(record: Record, kind: str) -> dict[str, dict[str, Any]]:
    mine = [r for r in record["rows"] if r["method"].endswith(f", {kind}")]
    return {r["method"].removesuffix(f", {kind}"): r for r in mine}


def _significant(record: Record) -> bool:
    """F1 training against the PCFG by McNemar's test at 5 %, for both rescalings."""
    by = _f1(record, "rules")
    for name in ("SVM2 slack F1", "SVM2 margin F1"):
        p = float(by[name]["against PCFG"].split("p = ")[1].rstrip(")"))
        if not (by[name]["test f1"] > by["PCFG"]["test f1"] and p < 0.05):
            return False
    return True


def _mcnemar(record: Record) -> str:
    """F1 of both rescalings and of the PCFG; sentences with a better and a worse F1."""
    by = _f1(record, "rules")
    return "PCFG {}, ".format(by["PCFG"]["test f1"]) + ", ".join(
        f"{name} {by[name]['test f1']}, {by[name]['against PCFG']}"
        for name in ("SVM2 slack F1", "SVM2 margin F1")
    )


def _complete(record: Record) -> str:
    """Complete trees that are right."""
    by = _f1(record, "rules")
    return ", ".join(f"{k} {by[k]['test exact']} %" for k in ("SVM2 zero-one", "PCFG"))


def _exact(record: Record) -> bool:
    by = _f1(record, "rules")
    return bool(by["SVM2 zero-one"]["test exact"] > by["PCFG"]["test exact"])


def _few_constraints(record: Record) -> bool:
    """About twice the number of training sentences: between once and three times."""
    counts = [r["const"] for r in record["rows"] if r["const"] not in ("", None)]
    return all(1 <= count / SENTENCES <= 3 for count in counts)


def _majority(record: Record) -> bool:
    """Nine of ten support sequences at distance 1, in every formulation."""
    return all(first(r["at distance 1"]) >= 90.0 for r in record["rows"])


def _same_C(record: Record) -> bool:
    """F1 on held-out trees within two points for all C from 0.1 to 100."""
    rows = [r for r in record["rows"] if r["method"].endswith("F1, rules")]
    for r in rows:
        words = r["held-out f1 by C"].replace(":", "").split()
        by = {
            float(C): float(f1) for C, f1 in zip(words[::2], words[1::2], strict=True)
        }
        some = [f1 for C, f1 in by.items() if 0.1 <= C <= 100.0]
        if max(some) - min(some) > 2.0:
            return False
    return bool(rows)


def _perceptron(record: Record) -> bool:
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return bool(e["SVM"] < e["Perceptron"])


def _crf(record: Record) -> bool:
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return bool(e["SVM"] < e["CRF"])


def _marginal(record: Record) -> bool:
    """Zero-one training: F1 at most a point above the PCFG."""
    by = _f1(record, "rules")
    return bool(0 <= by["SVM2 zero-one"]["test f1"] - by["PCFG"]["test f1"] <= 1.0)


def _faster(record: Record) -> bool:
    by = _f1(record, "rules")
    others = [by[n]["CPU s"] for n in ("SVM2 slack F1", "SVM2 margin F1")]
    return bool(by["SVM2 zero-one"]["CPU s"] < min(others))


def _programs(record: Record) -> dict[str, float]:
    """Seconds in the quadratic programs, by method."""
    by = _f1(record, "rules")
    names = [n for n in by if by[n]["CPU s"] != ""]
    return {n: by[n]["CPU s"] * by[n]["%SVM"] / 100.0 for n in names}


def _oracle(record: Record) -> bool:
    """Most of the time of the rescalings goes into the argmax."""
    by = _f1(record, "rules")
    return all(by[n]["%SVM"] < 50.0 for n in ("SVM2 slack F1", "SVM2 margin F1"))


def _errors(record: Record, *methods: str) -> str:
    """Test errors of some methods."""
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return ", ".join(f"{m} {e[m]} %" for m in methods)


def _scores(record: Record, *methods: str) -> str:
    """Test F1 of some methods."""
    by = _f1(record, "rules")
    return ", ".join(f"{m} {by[m]['test f1']}" for m in methods)


SAME_SET = "which 300 sentences and which features were used is not known"
SHORT = "393 sentences of up to ten words instead of 4098"
STATEMENTS = [
    Statement("2.2, propositions 1 and 2", "Mean slacks of both rescalings bound the empirical risk",
              suite="contracts/test_formulations.py::test_propositions_1_and_2_slacks_bound_the_loss"),
    Statement("2.2, proposition 3", "Slack rescaling does not depend on the scale of the loss",
              suite="contracts/test_formulations.py::test_proposition_3_slack_rescaling_is_invariant_to_the_scale_of_the_loss"),
    Statement("3.1, propositions 4 to 9", "The dual programs: trainers reach the dense QP over all constraints",
              suite="unit/solvers/test_solvers_from_papers.py::test_agrees_with_the_dense_qp"),
    Statement("3.3, propositions 14 to 17", "How much each added constraint raises the dual at least",
              suite="unit/bounds/test_bounds.py::test_propositions_14_to_17_and_theorem_18"),
    Statement("3.3, theorem 18", "At most so many constraints are added (2004: theorem 1)",
              suite="contracts/test_solvers.py::test_theorem_18_bounds_the_working_set"),
    Statement("4.1.3 and 4.2.3, propositions 20 and 24", "Norms of differences of psi: classes, output features",
              suite="unit/bounds/test_bounds.py::test_propositions_20_and_24_by_enumeration"),
    Statement("4.3.3, proposition 25", "... of label sequences",
              suite="unit/bounds/test_bounds.py::test_proposition_25_by_enumeration"),
    Statement("4.4.3", "... of alignments", suite="unit/bounds/test_bounds.py::test_norm_of_alignments_by_enumeration"),
    Statement("4.5.3", "... of trees", suite="unit/bounds/test_bounds.py::test_norm_of_trees_by_enumeration"),
    Statement("4.2, propositions 21 to 23; 4.3.1", "Products of input and output kernels: the linear joint kernel has the linear machine's dual",
              suite="contracts/test_joint_kernels.py::test_the_linear_joint_kernel_has_the_dual_of_the_machine_with_weights"),
    Statement(
        "5.1, table 1 (2004: table 1)", "The taxonomy with the tree loss is more accurate than flat zero-one, at every size",
        ("table1",), lambda r: _taxonomy(r, "accuracy", 1.0),
        lambda r: _over_flat(r, "accuracy"),
    ),
    Statement(
        "5.1, table 1", "... and the lower tree loss, at every size",
        ("table1",), lambda r: _taxonomy(r, "tree loss", -1.0),
        lambda r: _over_flat(r, "tree loss"),
    ),
    Statement(
        "5.1, table 1", "The figures of WIPO-alpha",
        why="the corpus is not free",
    ),
    Statement(
        "5.2, table 2", "All discriminative methods substantially outperform the HMM (a quarter fewer errors at least)",
        ("table2",), _generative,
        told("test error"),
    ),
    Statement(
        "5.2, table 2", "The SVM performs slightly better than the perceptron",
        ("table2",), _perceptron,
        lambda r: f"{_errors(r, 'SVM', 'Perceptron')}; {SAME_SET}",
    ),
    Statement(
        "5.2, table 2", "... and slightly better than CRFs",
        ("table2",), _crf,
        lambda r: f"{_errors(r, 'SVM', 'CRF')}; {SAME_SET}",
    ),
    Statement(
        "5.2, table 3", "All formulations of the SVM perform comparably (within a standard deviation)",
        ("table3",), _alike,
        told("test"),
    ),
    Statement(
        "Table 3", "The test errors themselves (within a standard deviation over folds)",
        ("table3",), _published_errors,
        lambda r: ", ".join(f"{x['method']} {x['test']}, paper {x['(test)']}" for x in r["rows"]) + f"; {SAME_SET}",
    ),
    Statement(
        "5.2, table 3", "The vast majority of support sequences have Hamming distance 1 (nine of ten in each formulation)",
        ("table3",), _majority,
        lambda r: ", ".join(f"{x['method']} {first(x['at distance 1']):.0f} %" for x in r["rows"]),
    ),
    Statement("5.2", "For zero-one losses all three formulations are equivalent",
              suite="contracts/test_formulations.py::test_with_the_zero_one_loss_all_formulations_are_one"),
    Statement(
        "5.3, table 4", "With few examples (up to 10) SVM2 errs less than the generative model",
        ("table4",), _better_when_few,
        lambda r: _homologs(r, most=10),
    ),
    Statement(
        "5.3, table 4", "With many examples (80) both are level (two standard errors)",
        ("table4",), _level_when_many,
        lambda r: _homologs(r, least=80),
    ),
    Statement(
        "5.3, table 4", "... with a small preference for the generative model (20 examples or more)",
        ("table4",), lambda r: all(first(_model(x)) < first(x["test SVM2"]) for x in r["rows"] if x["n"] >= 20),
        lambda r: _homologs(r, least=20),
    ),
    Statement(
        "Table 4", "The error rates of SVM2 themselves, within two standard errors",
        ("table4",), _close,
        lambda r: f"{_away(r, lambda one: one['test SVM2'], 'test SVM2, paper')}; the scale of C is not known (`table4_scale` has others)",
    ),
    Statement(
        "Table 4", "The error rates of the generative model, within two standard errors",
        ("table4",), _generative_figures,
        lambda r: f"{_away(r, _model, 'test Gen, paper')}; what P is counted on is not said, the table has several ways",
    ),
    Statement(
        "5.3, figure 2", "The number of constraints grows sub-linearly with n",
        ("figure2",), _sublinear,
        told("|S|", "varied", "n"),
    ),
    Statement(
        "5.3, figure 2", "It grows more slowly with 1 / epsilon than Theorem 18 allows",
        ("figure2",), _below_bound,
        told("|S|", "varied", "epsilon"),
    ),
    Statement(
        "5.3, figure 2", "epsilon = 0.1 is good: larger values predict worse, smaller ones no better",
        ("figure2",), _good_epsilon,
        told("test error", "varied", "epsilon"),
    ),
    Statement(
        "5.3, figure 2", "Smaller values of epsilon decrease efficiency (more constraints at each step down)",
        ("figure2",), _costlier,
        told("|S|", "varied", "epsilon"),
    ),
    Statement(
        "5.4, table 5", "Trained for F1, the SVM has a substantially better F1 than the PCFG, significant by McNemar's test",
        ("table5",), _significant,
        lambda r: f"{_mcnemar(r)}; {SHORT}",
    ),
    Statement(
        "5.4, table 5", "Trained for zero-one, it predicts more complete trees correctly than the PCFG",
        ("table5",), _exact,
        lambda r: f"{_complete(r)}; {SHORT}",
    ),
    Statement(
        "5.4, table 5", "... but its F1 is only marginally better than the PCFG's (by a point at most)",
        ("table5",), _marginal,
        lambda r: f"{_scores(r, 'SVM2 zero-one', 'PCFG')}; {SHORT}",
    ),
    Statement(
        "5.4, table 5", "The working set has about twice as many constraints as there are training examples",
        ("table5",), _few_constraints,
        told("const", "method"),
    ),
    Statement(
        "5.4, table 5", "Training is faster for the zero-one loss",
        ("table5",), _faster,
        lambda r: ", ".join(f"{n}: {x['CPU s']} s" for n, x in _f1(r, "rules").items() if x["CPU s"] != ""),
    ),
    Statement(
        "5.4, table 5", "The time for the quadratic programs is roughly comparable (within a factor of three, as in the table)",
        ("table5",), lambda r: max(_programs(r).values()) <= 3 * min(_programs(r).values()),
        lambda r: ", ".join(f"{n} {v:.2g} s" for n, v in _programs(r).items()),
    ),
    Statement(
        "5.4, table 5", "The rescalings lose time mostly on the argmax",
        ("table5",), _oracle,
        lambda r: ", ".join(f"{n}: {x['%SVM']} % in the programs" for n, x in _f1(r, "rules").items() if x["%SVM"] != ""),
    ),
    Statement(
        "5.4", "All C from 0.1 to 100 predict comparably (F1 on held-out trees within two points)",
        ("table5",), _same_C,
        lambda r: ", ".join(f"{x['method']}: {x['held-out f1 by C']}" for x in r["rows"] if x["method"].endswith("F1, rules")),
    ),
    Statement(
        "5.4", "More complex features bring further gains",
        ("table5",), lambda r: _f1(r, "markov")["SVM2 margin F1, anchored"]["test f1"] > _f1(r, "markov")["SVM2 margin F1"]["test f1"],
        told("test f1", "method"),
    ),
]  # fmt: skip
