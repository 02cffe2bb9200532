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

from maxmargin.reports.drawing.svg import aligned
from maxmargin.reports.explanation import shortened
from maxmargin.reports.style import OUTPUT_CSS

HUES = 12  # colours that the style sheet has
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

    Documents without a title are named by their rows, which count from 0. Those with a
    grade above zero are marked, and those of them that the list lacks are named below.

    Examples
    --------
    >>> html = ranking_html([1, 0], [0.2, 0.9], titles=["old", "new"])
    >>> html.index("new") < html.index("old")
    True
    """

    def title(d: int) -> str:
        return escape(titles[d] if titles is not None else f"document {d}")

    rows, shown = [], list(order)[:most]
    grades = None if grades is None else list(grades)  # by position, whatever the index
    numbers = [] if scores is None else aligned([float(scores[d]) for d in shown])
    for place, d in enumerate(shown):
        score = f'<i class="n">{numbers[place]}</i>' if numbers else ""
        grade, good = "", ""
        if grades is not None:
            grade = f'<em class="n">grade {grades[d]:g}</em>'
            good = ' class="good"' if grades[d] > 0 else ""
        rows.append(f"<li{good}><span>{title(d)}</span>{score}{grade}</li>")
    more = len(order) - most
    cut = f'<p class="faint">{more} more are not shown.</p>' if more > 0 else ""
    if grades is not None:
        left = [d for d, g in enumerate(grades) if g > 0 and d not in set(order)]
        named = ", ".join(f"{title(d)} (grade {grades[d]:g})" for d in left[:8])
        named += f" and {len(left) - 8} more" if len(left) > 8 else ""
        cut += f'<p class="faint">Relevant, but not here: {named}.</p>' if left else ""
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


def label_set_html(
    found: Sequence[Hashable],
    truth: Sequence[Hashable] | None = None,
    known: Sequence[Hashable] = (),
) -> str:
    """A set of labels; those that are wrong, and those that lack, are marked.

    Examples
    --------
    >>> html = label_set_html(["cat", "pet"], ["pet", "dog"])
    >>> html.count("wrong"), html.count("too many"), html.count("missing")
    (2, 1, 1)
    """
    names = list(known) or sorted({*found, *(truth or ())}, key=str)
    right = None if truth is None else set(truth)
    out = []
    for label in [*found, *(v for v in truth or () if v not in set(found))]:
        said = ""
        if right is not None and label not in right:
            said = "too many"
        elif label not in found:
            said = "missing"
        hue = f" hue{names.index(label) % HUES}" if label in names else ""
        kind = (
            f"token wrong{hue if said == 'too many' else ''}" if said else f"token{hue}"
        )
        below = f"<small><em>{said}</em></small>" if said else ""
        out.append(f'<span class="{kind}"><b>{escape(str(label))}</b>{below}</span>')
    return f'<div class="tagging">{" ".join(out) or "(no label)"}</div>'


def beside_html(found: str, truth: str) -> str:
    """Two drawings side by side.

    Examples
    --------
    >>> beside_html("a", "b").count("<h4>")
    2
    """
    return (
        f'<div class="sides"><div><h4>found</h4>{found}</div>'
        f"<div><h4>truth</h4>{truth}</div></div>"
    )


def clusters_html(mentions: Sequence[str], clusters: Sequence[Hashable]) -> str:
    """Mentions in the order of the text, those of a cluster in one colour.

    Examples
    --------
    >>> clusters_html(["Ana", "her dog", "she"], [0, 1, 0]).count("hue0")
    2
    """
    hues = _cluster_hues(clusters)
    order = list(dict.fromkeys(clusters))
    out = []
    for mention, cluster in zip(mentions, clusters, strict=True):
        kind = f" hue{hues[cluster]}" if cluster in hues else ""
        out.append(
            f'<span class="token{kind}"><b>{escape(mention)}</b>'
            f"<small>{order.index(cluster) + 1}</small></span>"
        )
    return f'<div class="tagging">{" ".join(out)}</div>'


def clustered_text(
    sentences: Sequence[Sequence[str]],
    spans: Sequence[tuple[int, int, int]],
    clusters: Sequence[Hashable],
) -> str:
    """A text whose mentions have the colour and the number of their cluster.

    Parameters
    ----------
    sentences : sequence of sequences of words
    spans : sequence of (sentence, first word, last word)
    clusters : sequence
        Cluster of each span; those with a single mention are not coloured.

    Examples
    --------
    >>> clustered_text([["Ana", "knows", "her"]], [(0, 0, 0), (0, 2, 2)], [5, 5]).count("hue0")
    2
    """
    hues = _cluster_hues(clusters)
    opens: dict[tuple[int, int], list[tuple[int, int]]] = {}
    closes: dict[tuple[int, int], int] = {}
    for (place, first, last), cluster in zip(spans, clusters, strict=True):
        if cluster in hues:
            opens.setdefault((place, first), []).append((last, hues[cluster]))
            closes[place, last] = closes.get((place, last), 0) + 1
    out, drawn = [], 0
    for place, words in enumerate(sentences):
        for t, word in enumerate(words):
            for _, hue in sorted(opens.get((place, t), ()), reverse=True):
                out.append(f'<span class="mention hue{hue}">')
            out.append(escape(word))
            out.append("</span>" * closes.get((place, t), 0) + " ")
        drawn += len(words)
        out.append("<br>")
        if drawn > DRAWN:
            out.append('<span class="faint">The rest is not drawn.</span>')
            break
    return f'<div class="clusters">{"".join(out)}</div>'


def _cluster_hues(clusters: Sequence[Hashable]) -> dict[Hashable, int]:
    """A number for each cluster with several mentions, in the order of the text."""
    several = [c for c in dict.fromkeys(clusters) if list(clusters).count(c) > 1]
    return {cluster: k % HUES for k, cluster in enumerate(several)}
