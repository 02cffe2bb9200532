"""Plain features of pairs of mentions: strings, heads, distance, agreement.

A document is its sentences and its mentions in text order. `pair_features` makes one
sparse row of indicators per pair i < j (j the later one), at j (j - 1) / 2 + i: each
plain indicator once, and once more with the kinds of the two mentions (name, noun
phrase, pronoun), because a match of names tells other things than one of pronouns.

After the features of Ng and Cardie 2002, used in Yu 2011, section 5.4.2, as far as
they need no parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.structures.clusters.coreference import PairFeatures


class Mention(NamedTuple):
    """A mention: tokens first .. last (inclusive) of a sentence."""

    sentence: int
    first: int
    last: int
    kind: str = ""  # PER, LOC, ..., if known
    category: str = ""  # PROP, NOM or PRON; guessed if empty


class Document(NamedTuple):
    """Sentences of tokens, and mentions in text order."""

    sentences: Sequence[Sequence[str]]
    mentions: Sequence[Mention]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MALE = _set(
    "he him his himself mr mr. sir lord king prince father brother son uncle "
    "husband boy man gentleman mister duke count monsieur"
)
FEMALE = _set(
    "she her hers herself mrs mrs. miss ms. lady queen princess mother sister "
    "daughter aunt wife girl woman madam madame"
)
THING = _set("it its itself which this that")
PLURAL = _set(
    "they them their theirs themselves we us our ours ourselves these those "
    "people men women children"
)
THIRD = _set(
    "he him his himself she her hers herself it its itself they them their theirs "
    "themselves"
)
PERSON = {
    **dict.fromkeys(_set("i me my mine myself we us our ours ourselves"), 1),
    **dict.fromkeys(_set("you your yours yourself thou thee thy thine ye"), 2),
    **dict.fromkeys(THIRD, 3),
}
PRONOUNS = set(PERSON) | {"who", "whom", "whose", "which", "this", "that"}
SMALL = _set("the a an of in on at to and 's ' my his her their our your its this "
            "that these those , .")  # fmt: skip
PLAIN: tuple[str, ...] = (
    "bias", "same string", "same head", "words shared", "one inside the other",
    "no word shared", "same kind", "other kind", "gender agrees", "gender differs",
    "number agrees", "number differs", "same pronoun", "person agrees",
    "person differs", "same sentence", "next sentence", "2-3 sentences",
    "4-8 sentences", "further", "next mention", "2-3 mentions", "4-10 mentions",
    "apposition", "copula", "nested", "second definite", "second indefinite",
)  # fmt: skip
FIRST_PLAIN = len(PLAIN)  # those of version 0.1
PLAIN += (
    "same first word", "same last word", "same words", "second adds words", "acronym",
    "nearest that agrees", "both quoted", "one quoted", "first persons, both quoted",
    "first persons, one quoted", "same first letter of names",
)  # fmt: skip
KINDS = ("PROP", "NOM", "PRON")


def _names(plain: Sequence[str]) -> tuple[str, ...]:
    pairs = (f"{name} [{a}, {b}]" for a in KINDS for b in KINDS for name in plain)
    return (*plain, *pairs)


NAMES = _names(PLAIN)
FIRST_NAMES = _names(PLAIN[:FIRST_PLAIN])  # models of version 0.1 have these


class _Facts(NamedTuple):
    string: np.ndarray
    head: np.ndarray
    words: list[frozenset[str]]
    kind: np.ndarray
    category: np.ndarray
    gender: np.ndarray  # 0 unknown, 1 male, 2 female, 3 thing
    number: np.ndarray  # 0 unknown, 1 one, 2 many
    person: np.ndarray  # 0 for what is not a personal pronoun
    sentence: np.ndarray
    first: np.ndarray
    last: np.ndarray
    article: np.ndarray  # 1 definite, 2 indefinite


def pair_features(document: Document, plain: int = len(PLAIN)) -> PairFeatures:
    """Indicators of all pairs of mentions; columns are named in `NAMES`.

    Examples
    --------
    >>> text = [["Ann", "saw", "Bob", "."], ["She", "ran", "."]]
    >>> pairs = pair_features(Document(text, [Mention(0, 0, 0), Mention(0, 2, 2),
    ...                                       Mention(1, 0, 0)]))
    >>> pairs.features.shape == (3, len(NAMES))
    True
    """
    mentions = [_mention(t, given) for t, given in enumerate(document.mentions)]
    document = document._replace(mentions=mentions)
    facts = _facts(document)
    m = len(document.mentions)
    j, i = np.tril_indices(m, -1)
    found = np.concatenate(
        (_plain(document, facts, i, j), _further(document, facts, i, j))
    )
    base = sp.csr_array(found[:plain].T.astype(np.float64))
    cell = 3 * facts.category[i] + facts.category[j]
    entries = base.tocoo()
    shifted = entries.col + plain * (1 + cell[entries.row])
    whole = sp.csr_array(
        (
            np.concatenate((entries.data, entries.data)),
            (
                np.concatenate((entries.row, entries.row)),
                np.concatenate((entries.col, shifted)),
            ),
        ),
        shape=(len(i), 10 * plain),
    )
    return PairFeatures(m, whole)


def _mention(t: int, given: Any) -> Mention:
    """Mention t, which may be a plain tuple."""
    numbers = not isinstance(given, str) and len(given) >= 3
    if not numbers or not all(isinstance(v, int | np.integer) for v in given[:3]):
        raise ValueError(
            f"mention {t}: {given!r:.40} is not (sentence, first token, last token)"
        )
    return Mention(*given)


def _facts(document: Document) -> _Facts:
    strings, heads, words, rows = [], [], [], []
    for t, mention in enumerate(document.mentions):
        if not 0 <= mention.sentence < len(document.sentences):
            raise ValueError(f"mention {t}: there is no sentence {mention.sentence}")
        sentence = document.sentences[mention.sentence]
        if not 0 <= mention.first <= mention.last < len(sentence):
            raise ValueError(
                f"mention {t}: tokens {mention.first} to {mention.last} are not in "
                f"its sentence of {len(sentence)}"
            )
        tokens = [w.lower() for w in sentence[mention.first : mention.last + 1]]
        head = _head(tokens)
        strings.append(" ".join(w for w in tokens if w not in ("the", "a", "an")))
        heads.append(head)
        words.append(frozenset(w for w in tokens if w not in SMALL))
        rows.append((
            _category(mention, sentence, tokens), _gender(tokens, mention.kind),
            _number(tokens, head), PERSON.get(tokens[0], 0) if len(tokens) == 1 else 0,
            mention.sentence, mention.first, mention.last,
            1 if tokens[0] in ("the", "this", "that", "these") else
            2 if tokens[0] in ("a", "an", "some", "another") else 0,
        ))  # fmt: skip
    columns = np.array(rows, np.int64).reshape(-1, 8).T
    kinds = _codes([mention.kind for mention in document.mentions])
    return _Facts(_codes(strings), _codes(heads), words, kinds, *columns)


def _codes(names: list[str]) -> np.ndarray:
    known: dict[str, int] = {}
    return np.array([known.setdefault(n, len(known)) for n in names], np.int64)


def _head(tokens: list[str]) -> str:
    for t in range(1, len(tokens)):
        if tokens[t] in ("of", "in", "who", "that", ",", "with", "at", "on", "from"):
            return tokens[t - 1]
    return tokens[-1]


def _category(mention: Mention, sentence: Sequence[str], tokens: list[str]) -> int:
    if mention.category:
        if mention.category not in KINDS:
            raise ValueError(
                f"category {mention.category!r} is not one of {', '.join(KINDS)}"
            )
        return KINDS.index(mention.category)
    if len(tokens) == 1 and tokens[0] in PRONOUNS:
        return 2
    return 0 if sentence[mention.last][:1].isupper() else 1


def _gender(tokens: list[str], kind: str) -> int:
    for word in tokens:
        if word in MALE:
            return 1
        if word in FEMALE:
            return 2
    if tokens[0] in THING or kind not in ("", "PER"):
        return 3
    return 0


def _number(tokens: list[str], head: str) -> int:
    if tokens[0] in PLURAL or head in PLURAL or "and" in tokens:
        return 2
    if len(tokens) == 1 and tokens[0] in PERSON:
        return 0 if PERSON[tokens[0]] == 2 else 1
    if tokens[0] in ("a", "an") or head in MALE or head in FEMALE:
        return 1
    return 2 if head.endswith("s") and not head.endswith(("ss", "'s")) else 1


def _plain(document: Document, f: _Facts, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Indicators (features, pairs) in the order of `PLAIN`."""
    share, inside = _words(f.words, i, j)
    apart, between = f.sentence[j] - f.sentence[i], j - i
    pronouns = (f.category[i] == 2) & (f.category[j] == 2)
    gender = (f.gender[i] > 0) & (f.gender[j] > 0)
    number = (f.number[i] > 0) & (f.number[j] > 0)
    person = (f.person[i] > 0) & (f.person[j] > 0)
    here = apart == 0
    gap = f.first[j] - f.last[i]
    return np.array([
        np.ones(len(i), bool), f.string[i] == f.string[j], f.head[i] == f.head[j],
        share, inside, ~share, f.kind[i] == f.kind[j], f.kind[i] != f.kind[j],
        gender & (f.gender[i] == f.gender[j]), gender & (f.gender[i] != f.gender[j]),
        number & (f.number[i] == f.number[j]), number & (f.number[i] != f.number[j]),
        pronouns & (f.string[i] == f.string[j]),
        person & (f.person[i] == f.person[j]), person & (f.person[i] != f.person[j]),
        here, apart == 1, (apart >= 2) & (apart <= 3), (apart >= 4) & (apart <= 8),
        apart > 8, between == 1, (between >= 2) & (between <= 3),
        (between >= 4) & (between <= 10), here & _joined(document, f, i, gap, {","}),
        here & _joined(document, f, i, gap, {"is", "was", "be", "are", "were"}),
        here & (f.first[j] <= f.last[i]), f.article[j] == 1, f.article[j] == 2,
    ])  # fmt: skip


def _further(document: Document, f: _Facts, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Indicators (features, pairs) that version 0.1 did not have."""
    tokens = [
        [w.lower() for w in document.sentences[m.sentence][m.first : m.last + 1]]
        for m in document.mentions
    ]
    first, last = _codes([t[0] for t in tokens]), _codes([t[-1] for t in tokens])
    bags = _codes([" ".join(sorted(bag)) for bag in f.words])
    sizes = np.array([len(bag) for bag in f.words])
    both, _ = _shared(f.words)
    shared = both[i, j]
    quoted = _quoted(document)
    named = (f.category[i] == 0) & (f.category[j] == 0)
    letters = _codes([t[0][:1] for t in tokens])
    one = quoted[i] != quoted[j]
    persons = (f.person[i] == 1) & (f.person[j] == 1)
    return np.array([
        first[i] == first[j], last[i] == last[j],
        (sizes[i] > 0) & (bags[i] == bags[j]), (sizes[j] > 0) & (shared < sizes[j]),
        named & _acronyms(document, i, j), _nearest(f, i, j),
        quoted[i] & quoted[j], one, persons & quoted[i] & quoted[j], persons & one,
        named & (letters[i] == letters[j]),
    ]).reshape(len(PLAIN) - FIRST_PLAIN, len(i))  # fmt: skip


def _quoted(document: Document) -> np.ndarray:
    """Which mentions stand between quotation marks."""
    inside, where = False, []
    for sentence in document.sentences:
        row = []
        for word in sentence:
            if word in ("``", "\u201c"):
                inside = True
            elif word in ("''", "\u201d"):
                inside = False
            elif word == '"':
                inside = not inside
            row.append(inside)
        where.append(row)
    return np.array([where[m.sentence][m.first] for m in document.mentions], bool)


def _acronyms(document: Document, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether one mention has the first letters of the other."""
    short, initials = [], []
    for m in document.mentions:
        words = document.sentences[m.sentence][m.first : m.last + 1]
        capital = [w[0] for w in words if w[:1].isupper()]
        initials.append("".join(capital) if len(capital) > 1 else "-")
        alone = words[0].replace(".", "")
        short.append(alone if len(words) == 1 and alone.isupper() else "+")
    codes = _codes([*short, *initials])
    a, b = codes[: len(short)], codes[len(short) :]
    found: np.ndarray = (a[i] == b[j]) | (a[j] == b[i])
    return found


def _nearest(f: _Facts, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether i is the last mention before j that may agree with it."""
    clash = np.zeros(len(i), bool)
    for column in (f.gender, f.number, f.person):
        clash |= (column[i] > 0) & (column[j] > 0) & (column[i] != column[j])
    clash |= f.kind[i] != f.kind[j]
    last = np.full(len(f.kind), -1)
    np.maximum.at(last, j[~clash], i[~clash])
    found: np.ndarray = ~clash & (last[j] == i)
    return found


def _words(
    words: list[frozenset[str]], i: np.ndarray, j: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Whether content words are shared, and whether all of one are."""
    table, size = _shared(words)
    both = table[i, j]
    return both > 0, (both > 0) & (both == np.minimum(size[i], size[j]))


def _shared(words: list[frozenset[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Content words that two mentions share, and those of each."""
    known: dict[str, int] = {}
    rows, cols = [], []
    for t, bag in enumerate(words):
        for word in bag:
            rows.append(t)
            cols.append(known.setdefault(word, len(known)))
    shape = (len(words), max(len(known), 1))
    table = sp.csr_array((np.ones(len(rows)), (rows, cols)), shape=shape)
    size = np.array([len(bag) for bag in words], np.int64)
    return (table @ table.T).toarray(), size


def _joined(
    document: Document, f: _Facts, i: np.ndarray, gap: np.ndarray, by: set[str]
) -> np.ndarray:
    """Whether one token, one of `by`, stands between two mentions of a sentence."""
    out = gap == 2
    for p in np.flatnonzero(out):
        sentence = document.sentences[f.sentence[i[p]]]
        at = f.last[i[p]] + 1
        out[p] = at < len(sentence) and sentence[at].lower() in by
    return out
