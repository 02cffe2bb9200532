"""Spanish named entities: a small network under five losses, side by side.

    MAXMARGIN_DATA=... python -m benchmarks.neural.ner [--seeds 0 1 2] [--epochs 5]
    ... --dev --sentences 4000 --seeds 0 --kinds hinge --rate 4e-3 --dropout 0.5    a trial

The network is the same throughout: embeddings of the word, its first and last letters
and its shape, a convolution over five words, a score per label. Only the loss changes:
softmax per token, the CRF likelihood of pytorch-crf (if installed) and ours, the
structured hinge and the hinge with a smooth maximum (softmax-margin). All are tested
with a running average of the weights. Figures: span F1 on testb, mean and standard error
over seeds, and CPU seconds of an epoch, on one thread. `SETTINGS` were chosen on testa by
thirteen trials of the hinge and eleven of the likelihood; the softmax-margin has those of
the likelihood, and the best margin of eight trials.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from maxmargin.decode import Chain
from maxmargin.io.sequences import read_conll
from maxmargin.metrics import span_f1
from maxmargin.torch import structured_loss

KINDS = ("softmax", "pytorch-crf", "log-likelihood", "hinge", "softmax-margin")
PARTS = (("word", 40), ("prefix", 16), ("suffix", 16), ("shape", 8))


class Setting(NamedTuple):
    """What is tuned."""

    rate: float = 4e-3
    dropout: float = 0.5
    start: float = 0.03  # size of the embeddings at the start
    margin: float = 1.0  # cost of a wrong label, of hinge and softmax-margin
    missed: float = 1.0  # that much more for O inside an entity, of these, too
    temperature: float = 1.0  # of the softmax-margin
    penalty: str = "linear"  # of the hinge
    decay: float = 0.0  # of the weights that are not embeddings
    end: float = 0.05  # the rate of the last epoch, as a part of the first one's
    average: float = 0.98  # running average of the weights, updated every tenth step
    batch: int = 10  # sentences, as in Ma and Hovy 2016
    epochs: int = 5


LIKELIHOOD = Setting(decay=0.01)
SETTINGS = {  # softmax: Setting()
    "hinge": Setting(dropout=0.4, missed=2.0),
    "log-likelihood": LIKELIHOOD,
    "pytorch-crf": LIKELIHOOD,
    "softmax-margin": LIKELIHOOD._replace(margin=0.5),
}
EVERY = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--sentences", type=int, help="train on the first ones only")
    parser.add_argument("--dev", action="store_true", help="test on testa")
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--json", help="add the figures to this file")
    for name, default in Setting._field_defaults.items():
        parser.add_argument(f"--{name}", type=type(default), help="not as in SETTINGS")
    args = parser.parse_args()
    given = {k: getattr(args, k) for k in Setting._fields}
    given = {k: v for k, v in given.items() if v is not None}
    torch.set_num_threads(1)
    sets, labels = read("testa" if args.dev else "testb", args.sentences)
    for kind in args.kinds:
        setting = SETTINGS.get(kind, Setting())._replace(**given)
        runs = {}
        for seed in args.seeds:
            runs[str(seed)] = run(kind, seed, sets, labels, setting)
            if args.json:
                keep(Path(args.json), kind, setting, runs)
        show(kind, list(runs.values()))


def read(test: str, limit: int | None = None) -> tuple[list[Any], list[str]]:
    """Training sentences and those of a test file, encoded, and the labels."""
    folder = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data")) / "conll2002_esp"
    whole = sentences(folder / "esp.train.txt.gz")
    labels = sorted({label for _, y in whole for label in y})
    train = whole[:limit]
    vocabulary = [known(train, part) for part in range(len(PARTS))]
    some = (train, sentences(folder / f"esp.{test}.txt.gz"))
    return [encode(part, vocabulary, labels) for part in some], labels


def keep(path: Path, kind: str, setting: Setting, runs: dict[str, Any]) -> None:
    """Add runs to a file, by kind and seed."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    row = kept.setdefault(kind, {"runs": {}})
    row["setting"] = setting._asdict()
    row["runs"] |= runs
    path.write_text(json.dumps(kept, indent=1) + "\n")


def show(kind: str, runs: list[dict[str, float]]) -> None:
    figure = {key: [r[key] for r in runs] for key in runs[0]}
    f1 = 100 * np.array(figure["f1"])
    error = f1.std(ddof=1) / np.sqrt(len(f1)) if len(f1) > 1 else np.nan
    print(
        f"{kind:15} F1 {f1.mean():.2f} +- {error:.2f}   "
        f"{np.mean(figure['seconds']):.2f} CPU s an epoch   "
        f"{np.mean(figure['illegal']):.1f} % illegal sentences",
        flush=True,
    )


def sentences(path: Path) -> list[tuple[list[str], list[str]]]:
    """Words and labels of each sentence; an entity that begins with I- gets a B-."""
    out = []
    for rows in read_conll(path):
        labels = [row[-1] for row in rows]
        for t, (before, label) in enumerate(zip(["O", *labels], labels, strict=False)):
            if label[0] == "I" and before[1:] != label[1:]:
                labels[t] = "B" + label[1:]
        out.append(([row[0] for row in rows], labels))
    return out


def pieces(word: str) -> tuple[str, ...]:
    """What the network sees of a word."""
    shape = "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        for c in word
    )
    short = "".join(c for k, c in enumerate(shape) if k == 0 or c != shape[k - 1])
    return word.lower(), word[:3], word[-3:], short


def known(some: Any, part: int, least: int = 2) -> dict[str, int]:
    """Numbers of the strings that occur at least twice; 0 is padding, 1 unknown."""
    counts: dict[str, int] = {}
    for words, _ in some:
        for word in words:
            text = pieces(word)[part]
            counts[text] = counts.get(text, 0) + 1
    frequent = sorted(text for text, n in counts.items() if n >= least)
    return {text: k for k, text in enumerate(frequent, 2)}


def encode(
    some: Any, vocabulary: Any, labels: list[str]
) -> list[tuple[Tensor, Tensor]]:
    """Numbers of the parts (words, 4) and of the labels (words,)."""
    number = {label: k for k, label in enumerate(labels)}
    out = []
    for words, y in some:
        rows = [
            [
                table.get(text, 1)
                for table, text in zip(vocabulary, pieces(w), strict=True)
            ]
            for w in words
        ]
        out.append((torch.tensor(rows), torch.tensor([number[k] for k in y])))
    return out


def batches(
    some: Any, size: int, rng: Any = None
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Padded batches of sentences of about the same length, in random order."""
    order = sorted(range(len(some)), key=lambda i: len(some[i][1]))
    groups = [order[k : k + size] for k in range(0, len(order), size)]
    out = []
    for group in groups:
        x = nn.utils.rnn.pad_sequence([some[i][0] for i in group], batch_first=True)
        y = nn.utils.rnn.pad_sequence([some[i][1] for i in group], batch_first=True)
        out.append((x, y, torch.tensor([len(some[i][1]) for i in group])))
    return out


class Network(nn.Module):
    """Embeddings, a convolution, label scores."""

    def __init__(
        self, sizes: list[int], labels: int, setting: Setting, hidden: int = 64
    ) -> None:
        super().__init__()
        widths = [width for _, width in PARTS]
        self.parts = nn.ModuleList(
            nn.Embedding(n, width, padding_idx=0, sparse=True)
            for n, width in zip(sizes, widths, strict=True)
        )
        for part in self.parts:
            part.weight.data *= setting.start
        self.around = nn.Conv1d(sum(widths), hidden, 5, padding=2)
        self.drop = nn.Dropout(setting.dropout)
        self.last = nn.Linear(sum(widths) + hidden, labels)

    def forward(self, x: Tensor) -> Tensor:
        e = torch.cat([part(x[:, :, k]) for k, part in enumerate(self.parts)], dim=2)
        e = self.drop(e)
        h = torch.relu(self.around(e.transpose(1, 2))).transpose(1, 2)
        return self.last(torch.cat([e, h], dim=2))


def costs(labels: list[str], setting: Setting) -> Any:
    """What each mistake costs, [true, said]: one, or more for words of a missed entity."""
    table = 1.0 - np.eye(len(labels))
    outside = labels.index("O")
    table[:, outside] *= setting.missed
    return setting.margin * table


class Head(nn.Module):
    """A loss and its decoder, by name."""

    def __init__(self, kind: str, labels: list[str], setting: Setting) -> None:
        super().__init__()
        self.kind, self.layer = kind, None
        if kind == "pytorch-crf":
            from torchcrf import CRF

            self.layer = CRF(len(labels), batch_first=True)
        elif kind != "softmax":
            options: dict[str, Any] = {}
            if kind in ("hinge", "softmax-margin"):
                options["loss"] = costs(labels, setting)
            if kind == "hinge":
                options["penalty"] = setting.penalty
            if kind == "softmax-margin":
                options["temperature"] = setting.temperature
            chain = Chain(labels=tuple(labels), scheme="bio")
            self.layer = structured_loss(kind, chain, **options)

    def forward(self, scores: Tensor, y: Tensor, lengths: Tensor) -> Tensor:
        if self.layer is None or self.kind == "pytorch-crf":
            mask = torch.arange(y.shape[1]) < lengths[:, None]
        if self.layer is None:
            return cross_entropy(scores[mask], y[mask], reduction="sum") / len(y)
        if self.kind == "pytorch-crf":
            return -self.layer(scores, y, mask, reduction="mean")
        return self.layer(scores, y, lengths)

    def decode(self, scores: Tensor, lengths: Tensor) -> list[list[int]]:
        if self.layer is None:
            rows = scores.argmax(dim=2).tolist()
        elif self.kind == "pytorch-crf":
            mask = torch.arange(scores.shape[1]) < lengths[:, None]
            rows = self.layer.decode(scores, mask)
        else:
            rows = self.layer.decode(scores, lengths).tolist()
        return [row[:n] for row, n in zip(rows, lengths.tolist(), strict=True)]


def run(
    kind: str, seed: int, sets: Any, labels: list[str], setting: Setting
) -> dict[str, float]:
    """Train and test once."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    train, test = sets
    sizes = [2 + max(int(x[:, k].max()) for x, _ in train + test) for k in range(4)]
    network = Network(sizes, len(labels), setting)
    head = Head(kind, labels, setting)
    model = nn.ModuleList([network, head])
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(setting.average))
    embeddings = list(network.parts.parameters())
    dense = [p for p in network.parameters() if all(p is not e for e in embeddings)]
    optimizers = [
        torch.optim.SparseAdam(embeddings, lr=setting.rate),
        torch.optim.AdamW(
            [*dense, *head.parameters()],
            lr=setting.rate, weight_decay=setting.decay, fused=True,
        ),
    ]  # fmt: skip
    schedules = [
        torch.optim.lr_scheduler.LinearLR(o, 1.0, setting.end, setting.epochs)
        for o in optimizers
    ]
    seconds, groups, steps = [], batches(train, setting.batch), 0
    for _ in range(setting.epochs):
        model.train()
        begin = time.process_time()
        rng.shuffle(groups)
        for x, y, lengths in groups:
            model.zero_grad()
            head(network(x), y, lengths).backward()
            for optimizer in optimizers:
                optimizer.step()
            steps += 1
            if steps % EVERY == 0:
                average.update_parameters(model)
        seconds.append(time.process_time() - begin)
        for schedule in schedules:
            schedule.step()
    return {
        "seconds": float(np.median(seconds)),
        **evaluate(*average.module, test, labels),
    }


def evaluate(
    network: Any, head: Head, test: Any, labels: list[str]
) -> dict[str, float]:
    """Span F1, and the share of sentences with an illegal label sequence."""
    network.eval()
    said, true = [], []
    with torch.no_grad():
        for x, y, lengths in batches(test, 64):
            for row, target in zip(
                head.decode(network(x), lengths), y.tolist(), strict=True
            ):
                said.append([labels[k] for k in row])
                true.append([labels[k] for k in target[: len(row)]])
    wrong = [illegal(row) for row in said]
    return {"f1": span_f1(true, said), "illegal": 100.0 * float(np.mean(wrong))}


def illegal(row: list[str]) -> bool:
    """Whether an I- follows neither B- nor I- of its type."""
    before = ["O", *row[:-1]]
    return any(
        b[0] == "I" and (a[1:] != b[1:]) for a, b in zip(before, row, strict=True)
    )


if __name__ == "__main__":
    main()
