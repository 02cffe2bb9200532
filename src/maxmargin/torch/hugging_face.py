"""Token classification with word pieces: structured loss, legal decoding of any logits.

A tokenizer cuts words into pieces and adds special tokens; labels belong to words. The
first piece of a word stands for it, the others have the label -100 or the word number
of the piece before (`BatchEncoding.word_ids`). Here the pieces that stand for words are
gathered into a sequence of words, which is what the chain sees, so a transition leads
from word to word and not from piece to piece. The package transformers is not needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin.core.data.arrays import is_whole
from maxmargin.decode.sequences.chain import Chain
from maxmargin.decode.sequences.labels import label_names
from maxmargin.torch.losses import structured_loss

IGNORED = -100
WordIds = Sequence[Sequence[int | None]] | Tensor


class HeadOutput(NamedTuple):
    """What the head returns; a loss in front, as the Trainer expects."""

    loss: Tensor | None
    logits: Tensor


def first_pieces(word_ids: WordIds) -> list[list[int]]:
    """Positions of the first piece of each word, row by row.

    What belongs to no word is None, or in a tensor a negative number.

    Examples
    --------
    >>> first_pieces([[None, 0, 0, 1, None]])
    [[1, 3]]
    """
    rows = []
    for b, row in enumerate(_listed(word_ids)):
        before: int | None = None
        places = []
        for t, word in enumerate(row):
            _check(
                word is None or type(word) is int or is_whole(word),
                f"row {b}, piece {t}: word_ids holds {word!r}, which is neither a word "
                "number nor None",
            )
            if word is not None and word >= 0 and word != before:
                places.append(t)
            before = word
        rows.append(places)
    return rows


def _listed(word_ids: WordIds) -> list[list[int | None]]:
    """Word numbers as lists; refuses what is not one list per row."""
    arrays = (Tensor, np.ndarray)
    rows: Any = word_ids.tolist() if isinstance(word_ids, arrays) else word_ids
    _check(
        isinstance(rows, list | tuple)
        and all(isinstance(row, (list, tuple, *arrays)) for row in rows),
        "word_ids must be a list with the word numbers of each row: "
        "[encoding.word_ids(b) for b in range(rows)]",
    )
    return [row.tolist() if isinstance(row, arrays) else row for row in rows]


def decode_logits(
    logits: Tensor,
    labels: Sequence[Hashable] | Mapping[int, Hashable],
    word_ids: WordIds | None = None,
    mask: Tensor | None = None,
    scheme: str | None = "bio",
    n_jobs: int = 1,
) -> list[list[Any]]:
    """Legal labels of the words of each row, from the logits of any model.

    Parameters
    ----------
    logits : tensor (rows, pieces, labels)
        As token-classification models return them.
    labels : sequence, or mapping from numbers
        Names of the labels, for instance `model.config.id2label`.
    word_ids : list of lists, optional
        Word of each piece, None for special tokens: `encoding.word_ids(row)`.
    mask : tensor (rows, pieces), optional
        Which pieces have a label, where there are no word numbers.
    scheme : {"bio", "iob1", "bioes", "bilou"} or None, default="bio"
        How entities are written.
    n_jobs : int, default=1
        Threads.

    Examples
    --------
    >>> logits = torch.tensor([[[0.0, 0, 0], [0, 0, 5], [0, 0, 3], [9, 0, 0]]])
    >>> decode_logits(logits, ["O", "B-X", "I-X"], [[None, 0, 1, 2]])
    [['B-X', 'I-X', 'O']]
    """
    names = label_names(labels)
    places = _places(logits, None, word_ids, mask)
    words, sizes = _gather(logits.detach().float(), places)
    chain = Chain(labels=names, scheme=scheme)
    found = chain.best(words.cpu().numpy(), sizes, n_jobs).outputs
    return [[names[k] for k in row[:n]] for row, n in zip(found, sizes, strict=True)]


class TokenClassificationHead(nn.Module):
    """The last layer of a tagger: a linear map to label scores and a chain on words.

    Parameters
    ----------
    labels : sequence, or mapping from numbers
        Names of the labels, in the order of the columns.
    hidden_size : int, optional
        Size of the hidden states. None: the inputs are logits already.
    scheme : {"bio", "iob1", "bioes", "bilou"} or None, default="bio"
        What is legal, in training and decoding.
    loss : str, default="hinge"
        One of `maxmargin.torch.LOSSES`.
    dropout : float, default=0.1
        On the hidden states.
    **options
        Of the loss.

    Examples
    --------
    >>> head = TokenClassificationHead(["O", "B-X", "I-X"], hidden_size=8)
    >>> hidden = torch.zeros(1, 4, 8)
    >>> labels = torch.tensor([[-100, 1, -100, 2]])
    >>> head(hidden, labels).loss.shape
    torch.Size([])
    >>> head.eval().decode(hidden, word_ids=[[None, 0, 0, 1]])
    [['O', 'O']]
    """

    def __init__(
        self,
        labels: Sequence[Hashable] | Mapping[int, Hashable],
        hidden_size: int | None = None,
        *,
        scheme: str | None = "bio",
        loss: str = "hinge",
        dropout: float = 0.1,
        **options: Any,
    ) -> None:
        super().__init__()
        self.labels = label_names(labels)
        self.classifier: nn.Module = nn.Identity()
        if hidden_size is not None:
            linear = nn.Linear(hidden_size, len(self.labels))
            nn.init.zeros_(linear.bias)
            self.classifier = nn.Sequential(nn.Dropout(dropout), linear)
        self.chain = structured_loss(
            loss, Chain(labels=self.labels, scheme=scheme), **options
        )

    def forward(
        self,
        hidden: Tensor,
        labels: Tensor | None = None,
        word_ids: WordIds | None = None,
        mask: Tensor | None = None,
    ) -> HeadOutput:
        """Loss, if there are labels, and logits of all pieces.

        Pieces whose label is -100 do not count.
        """
        logits = self.classifier(hidden)
        if labels is None:
            return HeadOutput(None, logits)
        places = _places(logits, labels, word_ids, mask)
        words, sizes = _gather(logits, places)
        target = torch.zeros(words.shape[:2], dtype=torch.long)
        for b, row in enumerate(places):
            target[b, : len(row)] = labels[b, row].cpu()
        return HeadOutput(self.chain(words, target, sizes), logits)

    @torch.no_grad()
    def decode(
        self,
        hidden: Tensor,
        word_ids: WordIds | None = None,
        mask: Tensor | None = None,
    ) -> list[list[Any]]:
        """Names of the labels of the words of each row."""
        return self.decode_logits(self.classifier(hidden), word_ids, mask)

    @torch.no_grad()
    def decode_logits(
        self,
        logits: Tensor,
        word_ids: WordIds | None = None,
        mask: Tensor | None = None,
    ) -> list[list[Any]]:
        """As `decode`, from the logits that `forward` has returned."""
        words, sizes = _gather(logits, _places(logits, None, word_ids, mask))
        found = self.chain.decode(words, sizes).tolist()
        names = self.labels
        return [
            [names[k] for k in row[:n]] for row, n in zip(found, sizes, strict=True)
        ]


def _places(
    logits: Tensor, labels: Tensor | None, word_ids: WordIds | None, mask: Any
) -> list[list[int]]:
    """Pieces that count: with a label, first of their word, or unmasked."""
    _check(
        isinstance(logits, Tensor) and logits.ndim == 3,
        f"logits is a {_shown(logits)}: a tensor (rows, pieces, labels) is needed",
    )
    rows, pieces = logits.shape[:2]
    if word_ids is not None:
        places = first_pieces(word_ids)
        _check(
            len(places) == rows, f"word_ids of {len(places)} rows for {rows} of logits"
        )
        for b, row in enumerate(word_ids):
            _check(
                len(row) <= pieces,
                f"row {b}: word_ids has {len(row)} pieces, the logits have {pieces}",
            )
    elif mask is not None:
        _check(
            tuple(mask.shape) == (rows, pieces),
            f"mask has shape {tuple(mask.shape)}, not ({rows}, {pieces})",
        )
        _check(
            bool(((mask == 0) | (mask == 1)).all()),
            "mask must hold True and False, or 1 and 0",
        )
        places = [torch.nonzero(row).flatten().tolist() for row in mask]
    else:
        places = [list(range(pieces)) for _ in range(rows)]
    if labels is not None:
        _check(
            tuple(labels.shape) == (rows, pieces),
            f"labels have shape {tuple(labels.shape)}, not ({rows}, {pieces})",
        )
        _check(
            labels.dtype in (torch.int64, torch.int32, torch.int16, torch.int8),
            f"labels must be whole numbers, not {labels.dtype}",
        )
        known = (labels != IGNORED).tolist()
        places = [[t for t in row if known[b][t]] for b, row in enumerate(places)]
    for b, row in enumerate(places):
        _check(bool(row), f"row {b} is empty: none of its pieces has a label")
    return places


def _shown(value: Any) -> str:
    """Type and, of a tensor or an array, shape."""
    known = isinstance(value, Tensor | np.ndarray)
    shape = f" of shape {tuple(value.shape)}" if known else ""
    return f"{type(value).__name__}{shape}"


def _check(fine: bool, message: str) -> None:
    if not fine:
        raise ValueError(message)


def _gather(logits: Tensor, places: list[list[int]]) -> tuple[Tensor, Any]:
    """Logits of the given pieces, padded at the end, and the number of each row."""
    sizes = torch.tensor([len(row) for row in places], dtype=torch.long)
    longest = max(map(len, places), default=1)
    index = torch.zeros(len(places), longest, dtype=torch.long)
    for b, row in enumerate(places):
        index[b, : len(row)] = torch.tensor(row)
    wide = index.to(logits.device)[:, :, None].expand(-1, -1, logits.shape[2])
    return logits.gather(1, wide), sizes.numpy()
