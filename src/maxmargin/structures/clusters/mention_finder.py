"""Mentions by rules: pronouns, names and noun phrases of a text.

With tags (of the Penn Treebank or of Universal Dependencies) a noun phrase is a longest
run of determiners, adjectives, numbers, nouns and possessive marks that ends with a
noun. Without tags, it is a run of capitalised words, or an article or possessive and the
words after it, up to the first word that cannot be part of a noun phrase (a preposition,
a known verb form, a conjunction or a punctuation mark). Possessors are mentions, too
("her" in "her dog", "Ann" in "Ann 's dog").
"""

from __future__ import annotations

from collections.abc import Sequence

from maxmargin.structures.clusters.mentions import PERSON, Mention


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS", "NOUN", "PROPN"))
INSIDE = NOUNS | frozenset((
    "DT", "PDT", "JJ", "JJR", "JJS", "CD", "POS", "PRP$", "VBG", "DET", "ADJ", "NUM",
    "HYPH",
))  # fmt: skip
PRONOUN_TAGS = frozenset(("PRP", "PRP$", "PRON"))
OPENERS = _set(
    "the a an this that these those my your his her its our their some any every each no "
    "another both all"
)
CLOSERS = _set(
    "of in on at to for from with by as into upon over under after before about against "
    "between through during without within and or but nor if when while because than that "
    "which who whom whose where is are was were be been being am has have had do does did "
    "will would shall should can could may might must not said says went came made took saw "
    "looked seemed became there here then so very too also only just"
)
LONGEST = 6  # words of a noun phrase without tags


def find_mentions(
    sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None
) -> list[Mention]:
    """Mentions of a text in text order.

    Parameters
    ----------
    sentences : sequence of sequences of words
    tags : sequence of sequences of tags, optional
        Parts of speech of all words; much better than words alone.

    Examples
    --------
    >>> text = [["Ann", "fed", "her", "old", "dog", "."], ["It", "slept", "."]]
    >>> [(m.sentence, m.first, m.last) for m in find_mentions(text)]
    [(0, 0, 0), (0, 2, 4), (0, 2, 2), (1, 0, 0)]
    """
    if tags is not None and [len(s) for s in tags] != [len(s) for s in sentences]:
        raise ValueError("tags and words do not have the same lengths")
    out = []
    for s, words in enumerate(sentences):
        found = _tagged(words, tags[s]) if tags is not None else _bare(words)
        for first, last in sorted(found, key=lambda span: (span[0], -span[1])):
            out.append(Mention(s, first, last, "", _category(words, first, last)))
    return out


def _category(words: Sequence[str], first: int, last: int) -> str:
    if first == last and words[first].lower() in PERSON:
        return "PRON"
    return "PROP" if words[last][:1].isupper() else "NOM"


def _tagged(words: Sequence[str], tags: Sequence[str]) -> set[tuple[int, int]]:
    plain = [tag.split("-")[0] for tag in tags]
    found = _pronouns(words)
    found |= {(t, t) for t, tag in enumerate(plain) if tag in PRONOUN_TAGS}
    t = 0
    while t < len(words):
        end = t
        while end < len(words) and plain[end] in INSIDE:
            end += 1
        last = end - 1
        while last >= t and plain[last] not in NOUNS:
            last -= 1
        if last >= t:
            start = t
            while plain[start] in ("POS", "VBG", "HYPH") and start < last:
                start += 1
            found.add((start, last))
            found |= {
                (start, p - 1)
                for p in range(start + 1, last)
                if plain[p] == "POS" and plain[p - 1] in NOUNS
            }
        t = max(end, t + 1)
    return found


def _bare(words: Sequence[str]) -> set[tuple[int, int]]:
    found, t = _pronouns(words), 0
    while t < len(words):
        low = words[t].lower()
        if low in OPENERS:
            last = t
            while last + 1 < len(words) and last - t < LONGEST - 1:
                word = words[last + 1]
                if word.lower() in CLOSERS or not (word[0].isalpha() or word == "'s"):
                    break
                last += 1
                if word.lower().endswith(("ed", "ly")) and last > t + 1:
                    last -= 1
                    break
            if last > t:
                found.add((t, last))
                t = last
        elif _is_name(words, t):
            last = t
            while last + 1 < len(words) and words[last + 1][:1].isupper():
                last += 1
            found.add((t, last))
            t = last
        t += 1
    return found


def _is_name(words: Sequence[str], t: int) -> bool:
    """A capitalised word that is none of the small words, which begin sentences."""
    low = words[t].lower()
    if not words[t][:1].isupper() or low in PERSON or low in CLOSERS:
        return False
    return t > 0 or not low.endswith(("ly", "ing", "ed"))


def _pronouns(words: Sequence[str]) -> set[tuple[int, int]]:
    return {(t, t) for t, word in enumerate(words) if word.lower() in PERSON}
