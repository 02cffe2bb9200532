"""What Tsochantaridis et al. 2005 say of their tables and figures."""

from __future__ import annotations

from typing import Any

from experiments.statements import Statement, error, first, row

Record = dict[str, Any]
SENTENCES = 314  # of a training part in table 5: 393, five folds


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


def _least(record: Record) -> bool:
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return bool(e["SVM"] < min(e["Perceptron"], e["CRF"]))


def _generative(record: Record) -> bool:
    e = {r["method"]: r["test error"] for r in record["rows"]}
    return bool(max(e["CRF"], e["Perceptron"], e["SVM"]) < 0.75 * e["HMM"])


def _alike(record: Record) -> bool:
    tests = [r["test"] for r in record["rows"]]
    means = [first(t) for t in tests]
    return max(means) - min(means) <= max(error(t) for t in tests)


def _better_when_few(record: Record) -> bool:
    few = [r for r in record["rows"] if r["n"] <= 10]
    return all(first(r["test SVM2"]) < first(r["test Gen (letters)"]) for r in few)


def _level_when_many(record: Record) -> bool:
    last = max(record["rows"], key=lambda r: r["n"])
    apart = abs(first(last["test SVM2"]) - first(last["test Gen (letters)"]))
    return apart <= 2 * max(error(last["test SVM2"]), error(last["test Gen (letters)"]))


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


def _exact(record: Record) -> bool:
    by = _f1(record, "rules")
    return bool(by["SVM2 zero-one"]["test exact"] > by["PCFG"]["test exact"])


def _few_constraints(record: Record) -> bool:
    """About twice the number of training sentences: between once and three times."""
    counts = [r["const"] for r in record["rows"] if r["const"] not in ("", None)]
    return all(1 <= count / SENTENCES <= 3 for count in counts)


SAME_SET = "which 300 sentences and which features were used is not known"
STATEMENTS = [
    Statement(
        "5.1, table 1", "The taxonomy with the tree loss is more accurate than flat zero-one, at every size",
        ("table1",), lambda r: _taxonomy(r, "accuracy", 1.0),
        "true on 20 Newsgroups; on TREC, whose taxonomy has two levels, the flat machine is as good or better",
    ),
    Statement(
        "5.1, table 1", "... and the lower tree loss, at every size",
        ("table1",), lambda r: _taxonomy(r, "tree loss", -1.0),
        "true on 20 Newsgroups, not on TREC",
    ),
    Statement(
        "5.1, table 1", "The figures of WIPO-alpha",
        why="the corpus is not free",
    ),
    Statement(
        "5.2, table 2", "All discriminative methods substantially outperform the HMM (a quarter fewer errors at least)",
        ("table2",), _generative,
    ),
    Statement(
        "5.2, table 2", "The SVM performs slightly better than the perceptron and CRFs",
        ("table2",), _least,
        f"the CRF is best here, and the perceptron is averaged, which the paper's is not said to be; {SAME_SET}",
    ),
    Statement(
        "5.2, table 3", "All formulations of the SVM perform comparably (within a standard deviation)",
        ("table3",), _alike,
    ),
    Statement(
        "5.2, table 3", "The vast majority of support sequences have Hamming distance 1",
        why="the record counts all constraints of the working set; support sequences are not recorded yet",
    ),
    Statement(
        "5.3, table 4", "With few examples (up to 10) SVM2 errs less than the generative model",
        ("table4",), _better_when_few,
        "at n = 10 the generative model is ahead at C = 0.01; see the table for C = 0.1 and for other backgrounds",
    ),
    Statement(
        "5.3, table 4", "With many examples (80) both are level (two standard errors)",
        ("table4",), _level_when_many,
        "at C = 0.01 SVM2 is still behind with 80 examples; C = 0.1 is level",
    ),
    Statement(
        "Table 4", "The error rates of SVM2 themselves, within two standard errors",
        ("table4",), _close,
        "our scale of C seems to be another one: with C = 0.1 most of them agree (`tsochantaridis2005.table4_scale`)",
    ),
    Statement(
        "5.3, figure 2", "The number of constraints grows sub-linearly with n",
        ("figure2",), _sublinear,
    ),
    Statement(
        "5.3, figure 2", "It grows more slowly with 1 / epsilon than Theorem 18 allows",
        ("figure2",), _below_bound,
    ),
    Statement(
        "5.3, figure 2", "epsilon = 0.1 is good: larger values predict worse, smaller ones no better",
        ("figure2",), _good_epsilon,
    ),
    Statement(
        "5.4, table 5", "Trained for F1, the SVM has a substantially better F1 than the PCFG, significant by McNemar's test",
        ("table5",), _significant,
        "393 sentences of up to ten words instead of 4098: the difference has the same sign and is not significant",
    ),
    Statement(
        "5.4, table 5", "Trained for zero-one, it predicts more complete trees correctly than the PCFG",
        ("table5",), _exact,
        "not with 393 sentences and plain rules",
    ),
    Statement(
        "5.4, table 5", "The working set has about twice as many constraints as there are training examples",
        ("table5",), _few_constraints,
    ),
    Statement(
        "5.4", "All C from 0.1 to 100 predict comparably",
        why="C is chosen on a validation part here; the scores of all values are not recorded",
    ),
]  # fmt: skip
