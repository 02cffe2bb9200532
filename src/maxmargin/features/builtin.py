"""Built-in templates: "ner" for names, "pos" for parts of speech, "chunk" for phrases.

`ner` reads, of the token: the word, the word in lower case, its shape, prefixes and
suffixes of 1 to 3 characters, whether it is in capitals, begins with one, is a number,
has a digit or a hyphen; of the tokens before and after: lower case, shape, capital; of
those two away: lower case; whether the sentence begins or ends here. With a second
column (part of speech): the tag and its first two characters, and the tags up to two
tokens away.

`pos` reads words in lower case up to two tokens away, prefixes and suffixes of 1 to 4
characters, suffixes of 3 of the neighbours, shape and the tests of `ner`.

`chunk` reads words and parts of speech up to two tokens away, pairs of neighbouring
words, and pairs and triples of parts of speech, as the example of CRF++ does; and the
suffix and shape of the word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from maxmargin.features.columns import Column, Conjunction
from maxmargin.features.slots import Template
from maxmargin.features.templates import Templates

NAMES = ("ner", "pos", "chunk")
_TESTS = {
    "allcaps": "upper", "initcap": "title", "digit": "digit", "hasdigit": "hasdigit",
    "hyphen": "hyphen",
}  # fmt: skip


def builtin_templates(name: str, width: int = 1) -> Templates:
    """The built-in templates of a name for tokens with `width` columns.

    Parameters
    ----------
    name : {"ner", "pos", "chunk"}
    width : int
        Columns without the label: 0 is the word, 1 (if there is one) its part of speech.

    Examples
    --------
    >>> ner = builtin_templates("ner", width=2)
    >>> fitted = ner.fit([[("Ana", "NP"), ("ríe", "VB")]])
    >>> fitted.named([[("Ana", "NP")]])[0][0][:4]
    ['w=Ana', 'wl=ana', 'sh=Xx', 'pre1=A']
    """
    made: dict[str, Callable[[bool], Any]] = {"ner": _ner, "pos": _pos, "chunk": _chunk}
    if name not in made:
        raise ValueError(f"there are no templates {name!r}; known: {', '.join(NAMES)}")
    if width < 1:
        raise ValueError("tokens have no column to read")
    return Templates(made[name](width > 1))


def templates_of(features: Any, X: Any) -> Templates:
    """Templates from what users may say: `Templates`, a built-in name, or a file.

    Parameters
    ----------
    features : Templates, str or path
        "ner", "pos", "chunk", or the path of a template file of CRF++ or Wapiti.
    X : sentences
        Built-in templates read as many columns as the first token has.

    Examples
    --------
    >>> templates_of("pos", [["La", "vida"]])
    Templates(27 unigrams, 0 bigrams, 1 columns)
    >>> templates_of("nre", [["La", "vida"]])
    Traceback (most recent call last):
    ...
    ValueError: features='nre' is neither a built-in template (ner, pos, chunk) nor a file
    """
    if isinstance(features, Templates):
        return features
    if isinstance(features, str) and features in NAMES:
        return builtin_templates(features, _width(X))
    if not isinstance(features, str | Path):
        raise TypeError(
            f"features={features!r:.80} is not a Templates, the name of built-in "
            f"templates ({', '.join(NAMES)}) or the path of a template file"
        )
    if not Path(features).is_file():
        raise ValueError(
            f"features={str(features)!r} is neither a built-in template "
            f"({', '.join(NAMES)}) nor a file"
        )
    return Templates.read(features)


def _width(X: Any) -> int:
    """Number of columns of the first token."""
    first = next((row[0] for row in X if isinstance(row, Sequence) and len(row)), "")
    if isinstance(first, Mapping):
        raise ValueError(
            "tokens are dicts, but built-in templates read columns by number: give "
            "tokens as strings or rows, or Templates(.., columns=[..])"
        )
    return (
        1 if isinstance(first, str) or not isinstance(first, Sequence) else len(first)
    )


def _ner(tagged: bool) -> list[Column | Template]:
    word, tag = Column(0), Column(1)
    low, shape = word.lower(), word.shape()
    items: list[Column | Template] = [Template(("bias",))]
    items += [word.titled("w="), low.titled("wl="), shape.titled("sh=")]
    if tagged:
        items += [tag.titled("p="), tag.prefix(2).titled("p2=")]
    for n in (1, 2, 3):
        items += [word.prefix(n).titled(f"pre{n}="), word.suffix(n).titled(f"suf{n}=")]
    items += [word.is_(kind).titled(text) for text, kind in _TESTS.items()]
    for d in (-1, 1):
        items.append(word[d].outside_only().titled("BOS" if d < 0 else "EOS"))
        items += [low[d].titled(f"w{d:+d}="), shape[d].titled(f"sh{d:+d}=")]
        items.append(word[d].is_("title").titled(f"cap{d:+d}"))
        items.append(low[2 * d].titled(f"w{2 * d:+d}="))
        if tagged:
            items += [tag[d].titled(f"p{d:+d}="), tag[2 * d].titled(f"p{2 * d:+d}=")]
    return items


def _pos(tagged: bool) -> list[Column | Template]:
    word = Column(0)
    low = word.lower()
    items: list[Column | Template] = [Template(("bias",))]
    items += [word.titled("w="), low.titled("wl="), word.shape().titled("sh=")]
    for n in (1, 2, 3, 4):
        items += [low.prefix(n).titled(f"pre{n}="), low.suffix(n).titled(f"suf{n}=")]
    items += [word.is_(kind).titled(text) for text, kind in _TESTS.items()]
    for d in (-2, -1, 1, 2):
        items.append(low[d].titled(f"w{d:+d}="))
        items.append(word[d].outside_only().titled(f"w{d:+d}=<none>"))
        if abs(d) == 1:
            items.append(low.suffix(3)[d].titled(f"suf{d:+d}="))
    return items


def _chunk(tagged: bool) -> list[Column | Conjunction | Template]:
    word, tag = Column(0), Column(1)
    items: list[Column | Conjunction | Template] = [Template(("bias",))]
    items += [word[d].titled(f"w{d:+d}=") for d in (-2, -1, 0, 1, 2)]
    items += [(word[d] & word[d + 1]).titled(f"w{d:+d}w{d + 1:+d}=") for d in (-1, 0)]
    items += [word.lower().suffix(n).titled(f"suf{n}=") for n in (2, 3)]
    items += [word.shape().titled("sh=")]
    items += [word[d].outside_only().titled(f"w{d:+d}=<none>") for d in (-2, -1, 1, 2)]
    if tagged:
        items += [tag[d].titled(f"p{d:+d}=") for d in (-2, -1, 0, 1, 2)]
        for n in (2, 3):
            for d in range(-2, 4 - n):
                parts = Conjunction(tuple(tag[d + k] for k in range(n)))
                items.append(
                    parts.titled("".join(f"p{d + k:+d}" for k in range(n)) + "=")
                )
    return items
