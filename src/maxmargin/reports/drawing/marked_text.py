"""Marked text as HTML: labelled words, motif sites, ranked lists, clusters.

Colours come from the page (`reports.style.OUTPUT_CSS`), which knows light and dark.
With a truth beside it, what differs is underlined, and the true label is shown.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from maxmargin.reports.explanation import shortened
from maxmargin.reports.style import OUTPUT_CSS

HUES = 10  # colours that the style sheet has
WORD_KEYS = ("word", "w", "form", "token", "text", "w[0]", "word.lower()", "lemma")
PREFIXES = ("w=", "word=", "w[0]=", "c0=", "U00:", "form=", "wl=")
DRAWN = 400  # tokens that are drawn; longer inputs are cut


@dataclass(frozen=True)
class Drawing:
    """A drawn output: notebooks show it, `save` writes it to a page.

    Examples
    --------
    >>> Drawing(tagging_html(["Ana"], ["B-PER"]))._repr_html_().count("B-PER")
    1
    """

    html: str

    def _repr_html_(self) -> str:
        return f'<style>{OUTPUT_CSS}</style><div class="drawn">{self.html}</div>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as an HTML page of its own."""
        head = '<!doctype html><html lang="en"><meta charset="utf-8">'
        dark = "<style>:root { color-scheme: light dark; }</style>"
        Path(path).write_text(head + dark + self._repr_html_(), encoding="utf8")


def words_of(tokens: Any) -> list[str]:
    """A word for each token of an input, as far as its features show one.

    Tokens may be words, dicts with a key such as "word", or lists of features such as
    "w=Ana". Tokens without a word are called by their numbers, from 1.

    Examples
    --------
    >>> words_of([{"word": "Ana"}, ["bias", "w=vive"], [0.5, 1.0]])
    ['Ana', 'vive', '3']
    """
    return [_word(token) or str(t + 1) for t, token in enumerate(tokens)]


def _word(token: Any) -> str | None:
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        for key in WORD_KEYS:
            if isinstance(token.get(key), str):
                return str(token[key])
        token = list(token)
    if isinstance(token, list | tuple):
        names = [name for name in token if isinstance(name, str)]
        for prefix in PREFIXES:
            for name in names:
                if name.startswith(prefix):
                    return name[len(prefix) :]
    return None


def hue_of(label: Hashable, labels: Sequence[Hashable]) -> int | None:
    """Number of the colour of a label; None for "O", which has none.

    B-PER and I-PER have the same colour.

    Examples
    --------
    >>> labels = ["B-LOC", "B-PER", "I-PER", "O"]
    >>> [hue_of(label, labels) for label in labels]
    [0, 1, 1, None]
    """
    kinds = sorted({_kind(other) for other in labels} - {"O"})
    kind = _kind(label)
    return kinds.index(kind) % HUES if kind in kinds else None


def _kind(label: Hashable) -> str:
    text = str(label)
    return text[2:] if text[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else text


def tagging_html(
    words: Sequence[str],
    labels: Sequence[Hashable],
    truth: Sequence[Hashable] | None = None,
    margins: Sequence[float] | None = None,
    known: Sequence[Hashable] = (),
) -> str:
    """Words with their labels below them.

    Parameters
    ----------
    words, labels : sequences of one length
    truth : sequence, optional
        True labels; tokens that differ are underlined and show both.
    margins : sequence of float, optional
        How sure the model is of each token; shown on hover, unsure labels are pale.
    known : sequence, optional
        All labels of the model, so that a label has the same colour everywhere.

    Examples
    --------
    >>> html = tagging_html(["Ana", "ríe"], ["B-PER", "O"], truth=["B-PER", "B-PER"])
    >>> html.count("wrong"), "true: B-PER" in html
    (1, True)
    """
    names = list(known) or [*labels, *(() if truth is None else truth)]
    out = []
    for t, (word, label) in enumerate(zip(words[:DRAWN], labels)):
        true = truth[t] if truth is not None else None
        wrong = true is not None and true != label
        hue = hue_of(label, names)
        kind = "token" + (f" hue{hue}" if hue is not None else "")
        title, pale = "", ""
        if margins is not None:
            title = f' title="margin {margins[t]:.3g}"'
            pale = f' style="--sure:{min(max(margins[t], 0.0), 1.0):.2f}"'
        below = escape(str(label)) if hue is not None or wrong else "&nbsp;"
        if wrong:
            kind += " wrong"
            below += f"<em>true: {escape(str(true))}</em>"
        out.append(
            f'<span class="{kind}"{title}{pale}><b>{escape(word)}</b>'
            f"<small>{below}</small></span>"
        )
    more = len(words) - DRAWN
    cut = f'<p class="faint">{more} more tokens are not drawn.</p>' if more > 0 else ""
    return f'<div class="tagging">{" ".join(out)}</div>{cut}'


def ranking_html(
    order: Sequence[int],
    scores: Sequence[float] | None = None,
    titles: Sequence[str] | None = None,
    grades: Sequence[float] | None = None,
    most: int = 20,
) -> str:
    """A ranked list: place, title, score, and the true grade where it is known.

    Examples
    --------
    >>> html = ranking_html([1, 0], [0.2, 0.9], titles=["old", "new"])
    >>> html.index("new") < html.index("old")
    True
    """
    rows = []
    for d in list(order)[:most]:
        title = titles[d] if titles is not None else f"document {d + 1}"
        score = f'<i class="n">{scores[d]:.3g}</i>' if scores is not None else ""
        grade = f'<em class="n">grade {grades[d]:g}</em>' if grades is not None else ""
        rows.append(f"<li><span>{escape(title)}</span>{score}{grade}</li>")
    more = len(order) - most
    cut = f'<p class="faint">{more} more are not shown.</p>' if more > 0 else ""
    return f'<ol class="ranked">{"".join(rows)}</ol>{cut}'


def site_html(sequence: str, start: int, length: int, strand: str = "+") -> str:
    """A sequence with the site of a motif marked.

    Examples
    --------
    >>> site_html("ccTATAgc", 2, 4)
    '<code class="site">cc<mark title="site at 3, strand +">TATA</mark>gc</code>'
    """
    parts = (
        sequence[:start],
        sequence[start : start + length],
        sequence[start + length :],
    )
    before, site, after = map(escape, parts)
    return (
        f'<code class="site">{before}<mark title="site at {start + 1}, strand '
        f'{escape(strand)}">{site}</mark>{after}</code>'
    )


def plain_html(output: Any, truth: Any = None) -> str:
    """An output without a picture of its own: its text, and the truth if it differs.

    Examples
    --------
    >>> plain_html("bee", "ant")
    '<p class="plain wrong">bee <em>true: ant</em></p>'
    """
    text = escape(shortened(output, 400))
    true = "" if truth is None else escape(shortened(truth, 400))
    if not true or true == text:
        return f'<p class="plain">{text}</p>'
    return f'<p class="plain wrong">{text} <em>true: {true}</em></p>'


def clusters_html(mentions: Sequence[str], clusters: Sequence[Hashable]) -> str:
    """Mentions in the order of the text, those of a cluster in one colour.

    Examples
    --------
    >>> clusters_html(["Ana", "her dog", "she"], [0, 1, 0]).count("hue0")
    2
    """
    order = list(dict.fromkeys(clusters))
    out = []
    for mention, cluster in zip(mentions, clusters, strict=True):
        k = order.index(cluster)
        alone = sum(c == cluster for c in clusters) == 1
        kind = "" if alone else f" hue{k % HUES}"
        out.append(
            f'<span class="token{kind}"><b>{escape(mention)}</b>'
            f"<small>{k + 1}</small></span>"
        )
    return f'<div class="tagging">{" ".join(out)}</div>'
