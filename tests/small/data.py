"""Small data files of all tasks, as text, and ways to run commands on them."""

import json
from pathlib import Path

import numpy as np

from maxmargin.cli.main import main

CONLL = """\
Ana NP B-PER
vive V O
en P O
Lima NP B-LOC

Eva NP B-PER
va V O
a P O
Puno NP B-LOC

Juan NP B-PER
vive V O
"""
HMM = "1 qid:1 1:1 3:1\n2 qid:1 2:1\n1 qid:2 1:1\n2 qid:2 2:1 3:0.5\n"
CRF = "B\tw=Ana\tcap\nO\tw=va\n\nB\tw=Eva\tcap\nO\tw=ve\n\n"
PENN = "( (S (NP (DT the) (NN cat)) (VP (VBD sat))))\n(S (NP (PRP I)) (VP (VBD saw)))\n"
PAIRS = ">a\nHEAGAWGHE-E\n>b\n--P-AW-HEAE\n>c\nHEAGAW\n>d\n-EA-AW\n"
JSONL = "\n".join(
    json.dumps({"nodes": [[v], [0.0]], "edges": [[0, 1]], "labels": labels, "id": k})
    for k, (v, labels) in enumerate([(1.0, ["hot", "warm"]), (-1.0, ["cold", "cool"])])
)
FASTA = "".join(
    f">s{k} {label}\n{letters}\n"
    for k, (label, letters) in enumerate(
        zip(
            "+++---",
            ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"],
        )
    )
)


def svmlight(seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(30):
        x = np.eye(3)[i % 3] + 0.2 * rng.normal(size=3)
        rows.append(
            f"{i % 3 + 1} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(x))
        )
    return "\n".join(rows) + "\n"


def letor():
    rng = np.random.default_rng(0)
    rows = []
    for q in range(6):
        for x in rng.normal(size=(8, 2)):
            rows.append(
                f"{int(x[0] > 0.3)} qid:{q} 1:{x[0]:.6g} 2:{x[1]:.6g} #docid = 1"
            )
    return "\n".join(rows) + "\n"


UD = "".join(
    f"1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
    "3\tsat\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    for noun in ("cat", "dog", "cow", "fox")
)
COREFERENCE = "".join(
    f"#begin document ({name}); part 000\n{name}\t0\t0\t{name}\tNNP\t(0)\n"
    f"{name}\t0\t1\tmet\tVBD\t-\n{name}\t0\t2\tEve\tNNP\t(1)\n\n"
    f"{name}\t0\t0\t{name}\tNNP\t(0)\n{name}\t0\t1\tslept\tVBD\t-\n\n#end document\n"
    for name in ("Ann", "Bob", "Cid", "Dan")
)
FILES = {
    "multiclass": (svmlight(), "accuracy", []),
    "sequences": (CONLL, "token_accuracy", []),
    "trees": (PENN, "collins_f1", []),
    "dependencies": (UD, "las", ["--set", "rare=0"]),
    "alignments": (PAIRS, "q", []),
    "ranking": (letor(), "ndcg@5", ["--set", "k=3"]),
    "graphs": (JSONL, "node_accuracy", []),
    "motifs": (FASTA, "accuracy", ["--set", "length=4", "--set", "order=0"]),
    "coreference": (COREFERENCE, "conll", []),
}


def trained(tmp_path, text, *flags):
    data, model = str(tmp_path / "data.txt"), str(tmp_path / "m.mm")
    Path(data).write_text(text)
    assert main(["train", *flags, data, model, "--quiet"]) in (0, 4)
    return data, model


def predicted(model, data, capsys):
    capsys.readouterr()
    assert main(["predict", model, data]) == 0
    return capsys.readouterr().out
