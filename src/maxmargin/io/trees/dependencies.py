"""Dependency trees of CoNLL-U files: words with tags, heads and relations.

    1<tab>I<tab>I<tab>PRON<tab>_<tab>_<tab>2<tab>nsubj<tab>_<tab>_
    2<tab>slept<tab>sleep<tab>VERB<tab>_<tab>_<tab>0<tab>root<tab>_<tab>_

A sentence is a list of (word, tag) pairs, a tree a list of (head, relation) pairs, one
for each word; head 0 is the root, head h > 0 is word h, counted from 1 as in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.core.data.validation import check_heads
from maxmargin.io.sequences.conllu import COLUMNS, ConlluSentence, read_conllu
from maxmargin.io.text import open_text

Tree = list[tuple[int, str]]
HEAD, RELATION = COLUMNS.index("head"), COLUMNS.index("deprel")
TAGS = ("upos", "xpos", "none")


class DependencyBank(NamedTuple):
    """Sentences with their trees."""

    X: list[list[Any]]  # (word, tag) pairs, or words
    y: list[Tree] | None  # None if a word of the file has no head
    sentences: list[ConlluSentence]  # as they stand in the file


def read_dependencies(
    path: str | Path,
    *,
    tag: str = "upos",
    subtypes: bool = True,
    encoding: str = "utf-8",
) -> DependencyBank:
    """Sentences and trees of a CoNLL-U file, plain or gzip, for `DependencySVM`.

    Parameters
    ----------
    path : path
    tag : {"upos", "xpos", "none"}, default="upos"
        Column of the tags; "none": words alone.
    subtypes : bool, default=True
        Keep the subtypes of relations, as in "nsubj:pass".
    encoding : str, default="utf-8"
    """
    sentences = read_conllu(path, encoding)
    X = [sentence_tokens(sentence, tag) for sentence in sentences]
    y: list[Tree] | None = []
    for i, sentence in enumerate(sentences):
        tree = sentence_tree(sentence, f"{path}, {sentence_name(sentence, i)}")
        if tree is None or y is None:
            y = None
        else:
            y.append(tree if subtypes else [(h, r.partition(":")[0]) for h, r in tree])
    return DependencyBank(X, y, sentences)


def sentence_tokens(sentence: ConlluSentence, tag: str = "upos") -> list[Any]:
    """(word, tag) pairs of a sentence, or its words if tag="none"."""
    if tag not in TAGS:
        raise ValueError(f"tag={tag!r} is not one of {', '.join(TAGS)}")
    words = sentence.column("form")
    if tag == "none":
        return words
    return list(zip(words, sentence.column(tag), strict=True))


def sentence_name(sentence: ConlluSentence, i: int) -> str:
    """Such as "sentence 3 (weblog-4)", for messages: number from 0, and sent_id."""
    for line in sentence.lines:
        if line is not None and line.startswith("# sent_id"):
            return f"sentence {i} ({line.partition('=')[2].strip()})"
    return f"sentence {i}"


def sentence_tree(sentence: ConlluSentence, where: str = "the sentence") -> Tree | None:
    """(head, relation) of each word; None if no word has a head.

    Heads that go round in a circle are refused.
    """
    heads = sentence.column("head")
    if all(head == "_" for head in heads):
        return None
    tree = []
    for t, (head, relation) in enumerate(
        zip(heads, sentence.column("deprel"), strict=True)
    ):
        if not head.isdecimal() or int(head) > len(heads):
            raise ValueError(
                f"{where}, word {t + 1}: its head is {head!r}, not one of 0 .. {len(heads)}"
            )
        tree.append((int(head), relation))
    check_heads([head for head, _ in tree], where)
    return tree


def dependency_lines(sentence: ConlluSentence, tree: Sequence[Any]) -> list[str]:
    """Lines of a sentence with other heads and relations; all else stays as it is."""
    if len(tree) != len(sentence.words):
        raise ValueError(
            f"the sentence has {len(sentence.words)} words, its tree {len(tree)}"
        )
    arcs, lines = iter(zip(sentence.words, tree, strict=True)), []
    for line in sentence.lines:
        if line is None:
            word, arc = next(arcs)
            cells = list(word)
            if isinstance(arc, tuple | list):
                cells[HEAD], cells[RELATION] = str(arc[0]), str(arc[1])
            else:
                cells[HEAD], cells[RELATION] = str(arc), "root" if arc == 0 else "dep"
            line = "\t".join(cells)
        lines.append(line)
    return lines


def with_tags(
    sentence: ConlluSentence | Sequence[Any],
    tokens: Sequence[Any],
    column: str = "upos",
) -> ConlluSentence:
    """A sentence with the tags of (word, tag) pairs where its column of tags is empty.

    Examples
    --------
    >>> with_tags(["dogs"], [("dogs", "NOUN")]).words[0][:4]
    ('1', 'dogs', '_', 'NOUN')
    """
    whole = conllu_sentence(sentence)
    if column not in TAGS[:-1]:
        return whole
    at, words = COLUMNS.index(column), []
    for word, token in zip(whole.words, tokens, strict=True):
        if word[at] == "_" and not isinstance(token, str):
            word = (*word[:at], str(token[1]), *word[at + 1 :])
        words.append(word)
    return whole._replace(words=words)


def write_dependencies(
    path: str | Path,
    sentences: Iterable[ConlluSentence | Sequence[Any]],
    trees: Iterable[Sequence[Any]],
) -> None:
    """Write sentences with trees as CoNLL-U.

    Parameters
    ----------
    path : path
    sentences : iterable
        Sentences of `read_conllu`, of which comments and other columns are kept, or lists
        of words or (word, tag) pairs.
    trees : iterable
        Of each sentence, heads or (head, relation) pairs.
    """
    with open_text(path, "wt") as file:
        for sentence, tree in zip(sentences, trees, strict=True):
            whole = conllu_sentence(sentence)
            file.write("\n".join(dependency_lines(whole, tree)) + "\n\n")


def conllu_sentence(sentence: ConlluSentence | Sequence[Any]) -> ConlluSentence:
    """A sentence of words or (word, tag) pairs with the columns of CoNLL-U.

    Examples
    --------
    >>> conllu_sentence([("dogs", "NOUN")]).words
    [('1', 'dogs', '_', 'NOUN', '_', '_', '_', '_', '_', '_')]
    """
    if isinstance(sentence, ConlluSentence):
        return sentence
    words = []
    for t, token in enumerate(sentence, 1):
        word, tag = (token, "_") if isinstance(token, str) else token
        words.append((str(t), word, "_", tag, *["_"] * 6))
    return ConlluSentence(words, [None] * len(words))
