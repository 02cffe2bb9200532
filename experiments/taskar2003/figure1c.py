"""Figure 1(c) of taskar2003: pages of four departments, linked or one by one."""

from __future__ import annotations

import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from experiments import choices
from experiments.protocol import Setting
from maxmargin import NetworkSVM
from maxmargin.baselines import MarkovNetwork
from maxmargin.structures.network import Graph

TITLE = "Figure 1(c): test error by school, trained on the other three"
# The figure is a bar chart; the text says: M3N makes 40 % fewer errors than the network
# trained by likelihood, and 51 % fewer than the multiclass SVM. The data there are
# another version (five classes with `other`, anchor text of incoming links).
PUBLISHED = {"M3N against SVM": 0.51, "M3N against RMN": 0.40}
NOTES = ["In brackets: the paper. Seconds include the choice of the penalty."]
SCHOOLS = ("cornell", "texas", "washington", "wisconsin")
# C of the margins, c2 of the likelihood; each school's is chosen on the other three.
GRIDS = {
    "SVM": (0.001, 0.003, 0.01, 0.03, 0.1),
    "RMN": (0.125, 0.5, 2.0, 8.0, 32.0),
    "M3N": (0.002, 0.004, 0.008, 0.016, 0.032),
}
TOL = 1e-2
PROTOCOL = [
    Setting("data", "WebKB with the class `other`; words of pages and anchor text of "
            "incoming links", "WebKB of LINQS, 877 pages, five classes; words of pages"),
    Setting("split", "train on three schools, test on the fourth",
            "train on three schools, test on the fourth"),
    Setting("choice", "not said", GRIDS | {
        "rule": "least error when one of the three schools is left out in turn",
    }),
    Setting("links", "one kind of link", "one-way and mutual links have weights of their own"),
    Setting("method", "RMN: likelihood with loopy BP; M3N: relaxed dual, loopy BP to predict",
            f"RMN: pseudo-likelihood; M3N: relaxed dual to a gap of {TOL:g}, TRW-S to "
            "predict"),
]  # fmt: skip


def load(data: Path, school: str) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Words, classes, and links (u, v) without repeats."""
    archive = np.load(data / "webkb" / f"{school}.npz")
    words = np.unpackbits(archive["X_bits"], axis=1)[:, :1703]
    links = archive["cites"].astype(np.int64)
    return (
        sp.csr_array(words.astype(float)),
        archive["y"],
        links[links[:, 0] != links[:, 1]],
    )


def graph(words: sp.csr_array, links: np.ndarray, linked: bool) -> Graph:
    """One edge per linked pair; its type tells one-way from mutual links."""
    if not linked:
        return Graph(words, np.empty((0, 2), np.int64))
    there = {(int(u), int(v)) for u, v in links}
    edges = sorted((u, v) for u, v in there if (v, u) not in there or u < v)
    kinds = ["mutual" if (v, u) in there else "one-way" for u, v in edges]
    return Graph(words, np.array(edges, dtype=np.int64), None, None, kinds)


def train(method: str, schools: list, penalties: tuple) -> list:
    """SVM: pages by themselves; RMN: pseudo-likelihood; M3N: margins, both linked.

    A model for each penalty; those of the margins in a path, from one C to the next.
    """
    linked = method != "SVM"
    X = [graph(words, links, linked) for words, _, links in schools]
    y = [labels for _, labels, _ in schools]
    if method == "RMN":
        return [MarkovNetwork(c2=c).fit(X, y) for c in penalties]
    model = NetworkSVM(tol=TOL, max_iter=300, max_time=60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = model.fit_path(X, y, penalties)
    models = [copy(model) for _ in path]
    for one, result in zip(models, path, strict=True):
        one.coef_, one.result_ = result.w, result
    return models


def chosen(method: str, schools: list) -> float:
    """The penalty of the smallest error when one of the schools is left out in turn."""
    wrong = np.zeros(len(GRIDS[method]))
    for s, school in enumerate(schools):
        rest = schools[:s] + schools[s + 1 :]
        models = train(method, rest, GRIDS[method])
        wrong += [error(m, school, method != "SVM") for m in models]
    value = GRIDS[method][int(wrong.argmin())]
    return choices.note(f"penalty of {method}", value, GRIDS[method]).value


def error(model, school: tuple, linked: bool) -> float:
    words, labels, links = school
    return float((model.predict([graph(words, links, linked)])[0] != labels).mean())


def run(data: Path, quick: bool = False, seed: int = 0, parts=None) -> dict:
    schools = {name: load(data, name) for name in SCHOOLS}
    rows, mean = [], {"SVM": [], "RMN": [], "M3N": []}
    for name in parts or (SCHOOLS[:1] if quick else SCHOOLS):
        rest = [schools[s] for s in SCHOOLS if s != name]
        row = {"school": name}
        for method in mean:
            start = time.process_time()
            penalty = GRIDS[method][2] if quick else chosen(method, rest)
            (model,) = train(method, rest, (penalty,))
            value = error(model, schools[name], method != "SVM")
            mean[method].append(value)
            pages = len(schools[name][1])
            row |= {method: f"{value:.4f}", f"{method} penalty": penalty}
            row |= {f"{method} wrong": f"{round(value * pages)} of {pages}"}
            row |= {f"{method} seconds": f"{time.process_time() - start:.1f}"}
            if method != "RMN":
                gap = f"{model.result_.gap:.1e} {model.certificate_}"
                row |= {f"{method} gap": gap}
        rows.append(row)
    average = {method: float(np.mean(values)) for method, values in mean.items()}
    notes = [", ".join(f"{m}: mean error {e:.4f}" for m, e in average.items())]
    for other, published in (("SVM", "51 %"), ("RMN", "40 %")):
        gain = 1.0 - average["M3N"] / average[other]
        notes.append(f"M3N makes {gain:.0%} fewer errors than {other} ({published})")
    notes += NOTES
    return {"rows": rows, "notes": notes, "errors": average}


def claims(result: dict) -> dict[str, bool]:
    """The order of the paper."""
    e = result["errors"]
    return {
        "links help: RMN < SVM": e["RMN"] < e["SVM"],
        "margins help: M3N < RMN": e["M3N"] < e["RMN"],
        "M3N < SVM": e["M3N"] < e["SVM"],
    }


def quick_claims(result: dict) -> dict[str, bool]:
    """One school: links help; margins are level with likelihood to a fifth."""
    e = result["errors"]
    held = {text: yes for text, yes in claims(result).items() if "margins" not in text}
    return held | {"M3N is within a fifth of RMN": e["M3N"] < 1.2 * e["RMN"]}
