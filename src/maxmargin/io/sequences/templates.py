"""Feature templates: columns of a sentence to named features of each token.

`ner` sees, for the token t: the word, lower-cased word, part of speech and its first
two letters, shape, prefixes and suffixes of 1 to 3 letters and what its letters are;
for t - 1 and t + 1 lower-cased word, part of speech, shape and capital; for t - 2 and
t + 2 lower-cased word and part of speech; BOS and EOS at the ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Columns = Sequence[str]
Template = Callable[[Sequence[Columns]], list[list[str]]]


def shape(word: str) -> str:
    """Letters as X and x, digits as 0, runs collapsed.

    Examples
    --------
    >>> shape("McDonald"), shape("B-747"), shape("...")
    ('XxXx', 'X-0', '.')
    """
    out: list[str] = []
    for char in word:
        kind = "X" if char.isupper() else "x" if char.islower() else char
        kind = "0" if char.isdigit() else kind
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


def ner(
    sentence: Sequence[Columns], word: int = 0, pos: int | None = 1
) -> list[list[str]]:
    """Features for names and other spans (see the module docstring).

    Parameters
    ----------
    sentence : sequence of columns
        One row of strings per token.
    word, pos : int
        Columns of the word and its part of speech; where there is no such column, or
        pos=None, parts of speech are left out.

    Examples
    --------
    >>> tokens = ner([("Ana", "NP"), ("ríe", "VB")])
    >>> tokens[0][:5]
    ['bias', 'w=Ana', 'wl=ana', 'p=NP', 'p2=NP']
    >>> tokens[0][-5:]
    ['initcap', 'BOS', 'w+1=ríe', 'p+1=VB', 'sh+1=x']
    """
    words = [row[word] for row in sentence]
    lows = [w.lower() for w in words]
    tagged = pos is not None and all(len(row) > pos for row in sentence)
    tags = [row[pos] for row in sentence] if pos is not None and tagged else []
    shapes = [shape(w) for w in words]
    rows = []
    for t, w in enumerate(words):
        row = ["bias", f"w={w}", f"wl={lows[t]}"]
        if tags:
            row += [f"p={tags[t]}", f"p2={tags[t][:2]}"]
        row.append(f"sh={shapes[t]}")
        for n in (1, 2, 3):
            row += [f"pre{n}={w[:n]}", f"suf{n}={w[-n:]}"]
        row += _letters(w)
        for d in (-1, 1):
            if 0 <= t + d < len(words):
                row.append(f"w{d:+d}={lows[t + d]}")
                if tags:
                    row.append(f"p{d:+d}={tags[t + d]}")
                row.append(f"sh{d:+d}={shapes[t + d]}")
                if words[t + d][:1].isupper():
                    row.append(f"cap{d:+d}")
            else:
                row.append("BOS" if d < 0 else "EOS")
            if 0 <= t + 2 * d < len(words):
                row.append(f"w{2 * d:+d}={lows[t + 2 * d]}")
                if tags:
                    row.append(f"p{2 * d:+d}={tags[t + 2 * d]}")
        rows.append(row)
    return rows


def pos(sentence: Sequence[Columns], word: int = 0) -> list[list[str]]:
    """Features for parts of speech: words around, affixes of 1 to 4 letters, shape.

    Examples
    --------
    >>> pos([("Ana",), ("ríe",)])[1][:3]
    ['bias', 'w=ríe', 'wl=ríe']
    """
    words = [row[word] for row in sentence]
    lows = [w.lower() for w in words]
    rows = []
    for t, w in enumerate(words):
        row = ["bias", f"w={w}", f"wl={lows[t]}", f"sh={shape(w)}"]
        for n in (1, 2, 3, 4):
            row += [f"pre{n}={lows[t][:n]}", f"suf{n}={lows[t][-n:]}"]
        row += _letters(w)
        for d in (-2, -1, 1, 2):
            near = lows[t + d] if 0 <= t + d < len(words) else "<none>"
            row.append(f"w{d:+d}={near}")
            if abs(d) == 1:
                row.append(f"suf{d:+d}={near[-3:]}")
        rows.append(row)
    return rows


def _letters(word: str) -> list[str]:
    """What the characters of a word are."""
    found = {
        "allcaps": word.isupper(),
        "initcap": word[:1].isupper(),
        "digit": word.isdigit(),
        "hasdigit": any(char.isdigit() for char in word),
        "hyphen": "-" in word,
    }
    return [name for name, holds in found.items() if holds]
