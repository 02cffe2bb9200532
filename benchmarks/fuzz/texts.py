"""Model files with bytes turned, and mutated inputs of every format reader.

Whatever is read must end in an object or in one of our own exceptions: ModelFileError
for model files, a ValueError that says where for data. Anything else (another
exception, more than LIMIT seconds for one file, more than MEMORY bytes of growth) is
counted as bad. Model files that still load must be the model: half of
the mutations keep all checksums right, so that they get past them to the decoder.
"""

import gzip
import hashlib
import io
import json
import resource
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import maxmargin
from maxmargin.io import graphs_jsonl, letor, svmlight, treebank
from maxmargin.io.biology import alignments, fasta, meme, pairs, substitution
from maxmargin.io.sequences import conll, crfsuite, svm_hmm

LIMIT, MEMORY = 5.0, 300e6
FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "models"

TEXTS = {
    "conll": (conll.read_conll, "Ana NP B-PER\nvive V O\n\nEva NP B-PER\n"),
    "crfsuite": (crfsuite.read_crfsuite, "B\tw=a\tv:0.5\nO\ta\\:b\n\nB\tx\n"),
    "svm_hmm": (svm_hmm.read_svm_hmm, "1 qid:1 1:1 3:0.5 # c\n2 qid:1 2:1\n1 qid:2 1:1\n"),
    "svmlight": (svmlight.read_svmlight, "1 1:0.5 7:1 # c\n-1 2:1e3\nabc 1:1\n"),
    "letor": (letor.read_letor, "2 qid:7 1:0.5 2:1 # a\n0 qid:7 2:3\n1 qid:8 1:2\n"),
    "penn": (treebank.read_treebank, "( (S (NP-SBJ (DT the)) (VP (VBD sat))))\n"),
    "fasta": (fasta.read_fasta, ">a first\nHEAG\nAW\n>b\nPAW\n"),
    "labelled fasta": (fasta.read_labelled_fasta, ">a +\nACGT\nAC\n>b -\nGGT\n"),
    "pairs": (pairs.read_pairs, ">a\nHEAG-AW\n>b\n-EAGGA-\n"),
    "alignment fasta": (alignments.read_alignment, ">a\nHEAG-AW\n>b\n-EAGGA-\n"),
    "pir": (alignments.read_alignment, ">P1;a\nsequence:a::::::::\nHEA-G*\n>P1;b\n\nHEAAG*\n"),
    "clustal": (alignments.read_alignment, "CLUSTAL W\n\na   HEA-G\nb   HEAAG\n"),
    "stockholm": (alignments.read_alignment, "# STOCKHOLM 1.0\na HEA-G\nb HEAAG\n//\n"),
    "graphs": (
        graphs_jsonl.read_graphs,
        '{"nodes": [[0.2, 1], [1, 2]], "edges": [[0, 1]], "labels": ["a", "b"], '
        '"edge_features": [[1.5]], "node_types": ["w", "t"], "edge_types": [3]}\n',
    ),
}  # fmt: skip
TEXTS |= {
    "meme": (
        meme.read_meme,
        "MEME version 4\n\nALPHABET= ACGT\n\nMOTIF m\nletter-probability matrix: "
        "alength= 4 w= 2 nsites= 5\n0.1 0.2 0.3 0.4\n0.25 0.25 0.25 0.25\n",
    ),
    "substitution": (
        substitution.read_substitution,
        "# c\n   A  C\nA  4 -1\nC -1  9\n",
    ),
}

ODD = [b"", b"\x00", b"\xff\xfe", b"1e999", b"nan", b"-1", b"99999999999999999999", b"(",
       b")" * 50, b"(" * 3000, b"\t", b"\n\n", b":", b"qid:", b">", b"{",
       b"[" * 3000]  # fmt: skip


def mutated(data, rng):
    """A few bytes turned, cut, repeated, moved or put in."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(out) + 1))
        way = int(rng.integers(6))
        if way == 0 and at < len(out):
            out[at] ^= 1 << int(rng.integers(8))
        elif way == 1 and at < len(out):
            out[at] = int(rng.integers(256))
        elif way == 2:
            del out[at : at + int(rng.integers(1, 40))]
        elif way == 3:
            out[at:at] = out[at : at + int(rng.integers(1, 40))]
        elif way == 4:
            out[at:at] = ODD[int(rng.integers(len(ODD)))]
        else:
            del out[at:]
    return bytes(out)


VALUES = [None, True, -1, 0, 2**70, 1.5, "x", [], {}, [[]], {"!": "array", "v": 0},
          {"!": "tuple", "v": []}, {"!": "float", "v": "nan"}, {"!": "dict", "v": []},
          {"!": "new", "class": "chain.Chain", "v": {}}, "A" * 10**5]  # fmt: skip


def resealed(data, rng):
    """A node of the manifest, or bytes of an array, changed; all checksums right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(parts["manifest.json"])
    if rng.random() < 0.7:
        holder, key = head, "root"
        for _ in range(int(rng.integers(0, 10))):
            node = holder[key]
            if not isinstance(node, dict | list) or not node:
                break
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            holder, key = node, keys[int(rng.integers(len(keys)))]
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    else:
        k = int(rng.integers(len(parts) - 2))
        name = f"arrays/{k}.npy"
        parts[name] = mutated(parts[name], rng)
        body = parts[name]
        head["arrays"][k] = {
            "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
    text = json.dumps(head).encode()
    parts["manifest.json"] = text
    parts["manifest.sha256"] = hashlib.sha256(text).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return out.getvalue()


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Tally:
    """Outcomes, and what must not happen."""

    def __init__(self):
        self.counts, self.bad, self.slowest = Counter(), [], 0.0

    def run(self, kind, call, data, allowed):
        begin, before = time.process_time(), memory()
        try:
            call()
            outcome = "read"
        except allowed as error:
            outcome = type(error).__name__
            if not str(error):
                self.bad.append((kind, "an error without words", data[:200]))
        except Exception as error:
            outcome = "BAD"
            self.bad.append((kind, f"{type(error).__name__}: {error}", data[:300]))
        took = time.process_time() - begin
        self.slowest = max(self.slowest, took)
        if took > LIMIT:
            self.bad.append((kind, f"{took:.1f} s", data[:200]))
        if memory() - before > MEMORY:
            self.bad.append((kind, f"{(memory() - before) / 1e6:.0f} MB", data[:200]))
        self.counts[kind, outcome] += 1


def fuzz_models(number, rng, tally):
    files = {path.stem: path.read_bytes() for path in sorted(FIXTURES.glob("*.mm"))}
    if not files:
        raise SystemExit(f"no model files under {FIXTURES}")
    own = [type("Knapsack", (), {})]
    names = list(files)
    for k in range(number):
        name = names[k % len(names)]
        change = mutated if k % 2 else resealed
        data = change(files[name], rng)
        tally.run(
            f"model, {'bytes' if k % 2 else 'checksums kept'}",
            lambda data=data: maxmargin.load(io.BytesIO(data), own=own),
            data, maxmargin.ModelFileError,
        )  # fmt: skip


def fuzz_texts(number, rng, tally):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for kind, (read, text) in TEXTS.items():
            path.write_text(text)
            read(path)  # the text itself must be good
            for k in range(number):
                data = mutated(text.encode() * int(rng.integers(1, 4)), rng)
                path.write_bytes(gzip.compress(data) if k % 50 == 0 else data)
                tally.run(kind, lambda read=read: read(path), data, ValueError)
