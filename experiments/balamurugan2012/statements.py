"""What Balamurugan, Shevade and Babu 2012 say of their tables and figures."""

from __future__ import annotations

from typing import Any

from experiments.statements import Statement, row

Record = dict[str, Any]
CS = (0.01, 0.1, 1.0)


def _ratio(record: Record, level: str) -> float:
    """Seconds of the cutting planes over those of SDCD, to a level."""
    slow, fast = (row(record, method=m)[level] for m in ("CP", "SDCD"))
    return float(slow / fast)


def _ten_times(record: Record) -> bool:
    pairs = [
        (row(record, data=name, method="CP"), row(record, data=name, method="SDCD"))
        for name in sorted({r["data"] for r in record["rows"]})
    ]
    return all(slow["s to dual"] >= 10 * fast["s to dual"] for slow, fast in pairs)


def _earlier(record: Record) -> bool:
    names = sorted({r["data"] for r in record["rows"]})
    return all(
        row(record, data=n, method="SDCD")["s to accuracy"]
        < row(record, data=n, method="CP")["s to accuracy"]
        for n in names
    )


def _seconds(record: Record, method: str) -> list[float]:
    return [row(record, C=C, method=method)["seconds"] for C in CS]


def _grows(record: Record) -> bool:
    return all(a < b < c for a, b, c in (_seconds(record, m) for m in ("SDCD", "CP")))


def _grows_less(record: Record) -> bool:
    fast, slow = (_seconds(record, m) for m in ("SDCD", "CP"))
    return fast[-1] / fast[0] < slow[-1] / slow[0]


def _falls(record: Record) -> bool:
    both = (
        [row(record, C=C, method=m)["accuracy"] for C in CS] for m in ("SDCD", "CP")
    )
    return all(a > b > c for a, b, c in both)


def _published(record: Record) -> bool:
    """Every mean accuracy within two standard errors of the published one."""
    return all(
        abs(r["accuracy"] - r["published accuracy"])
        <= 2 * (r["accuracy +-"] ** 2 + r["published accuracy +-"] ** 2) ** 0.5
        for r in record["rows"]
    )


def _slower(record: Record, column: str) -> bool:
    sdcd = [r for r in record["rows"] if r["method"] == "SDCD"]
    return all(r[column] > 1.0 for r in sdcd)


def _comparable(record: Record) -> bool:
    pairs = [
        abs(row(record, C=C, method="SDCD")["accuracy"] - row(record, C=C, method="CP")["accuracy"])
        for C in CS
    ]  # fmt: skip
    return max(pairs) <= 1.0


STATEMENTS = [
    Statement(
        "V.A, figure 1",
        "On Covertype and Sector, SDCD reaches the optimum an order of magnitude faster than the cutting planes (10 times)",
        ("figure1",), lambda r: _ratio(r, "s to 0.001") >= 10,
        "on Covertype it is about twice as fast with our SDCD; Sector is not to be had. `python -m benchmarks.as_written` has the literal algorithms beside ours",
    ),
    Statement(
        "V.B.1, figure 2",
        "SDCD is an order of magnitude faster to a given dual value, on all data sets",
        ("figure2",), _ten_times,
        "true for the WSJ sample, not for fold 0 of OCR",
    ),
    Statement(
        "V.B.1 and 2, figure 2",
        "SDCD reaches the final accuracy of the cutting planes earlier, on all data sets",
        ("figure2",), _earlier,
    ),
    Statement(
        "V.B.3, table III", "Training time of both methods grows with C",
        ("table3",), _grows,
        "time of SDCD hardly changes, because our block steps solve each example exactly; cutting planes are stopped at six times the time of SDCD",
    ),
    Statement(
        "V.B.3, table III", "It grows less for SDCD than for the cutting planes",
        ("table3",), _grows_less,
    ),
    Statement(
        "V.B.3, table IV", "Accuracy falls as C grows, for both methods",
        ("table3",), _falls,
    ),
    Statement(
        "VI", "SDCD is as accurate as the cutting planes (to a point)",
        ("table3",), _comparable,
    ),
    Statement(
        "Table IV", "The accuracies themselves, within two standard errors",
        ("table3",), _published,
    ),
    Statement(
        "V.B.4, table V", "SDCD for the summed error takes longer than SDM for the largest error",
        ("table5",), lambda r: _slower(r, "seconds / SDM"),
    ),
    Statement(
        "V.B.4, table V", "Its working sets are larger",
        ("table5",), lambda r: _slower(r, "planes / SDM"),
    ),
    Statement(
        "Figures 1 and 2, table V", "The same on Sector, POS, WSJPOS and Brown",
        why="the data are not at hand: 5 % of WSJ stands in for WSJPOS, Covertype has 15 120 rows",
    ),
]  # fmt: skip
