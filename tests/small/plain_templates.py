"""Template lines applied by plain Python, one character after the other: the reference.

Written from the behaviour of CRF++ (feature.cpp) and Wapiti (pattern.c), and sharing
nothing with `maxmargin.features`: every feature of every token is a string.
"""

import unicodedata

CLASSES = {
    "a": str.isalpha,
    "d": str.isdigit,
    "l": str.islower,
    "p": lambda c: unicodedata.category(c)[0] in "PS",
    "s": str.isspace,
    "u": str.isupper,
    "w": str.isalnum,
}


def pieces(line, sentence, t, dialect):
    """What a template line makes of token t: literals and values in turn."""
    if dialect == "wapiti":
        line = line[0].lower() + line[1:]
    out, at = [""], 0
    while at < len(line):
        if line[at] != "%":
            out[-1] += line[at]
            at += 1
            continue
        command, at = line[at + 1], at + 3
        mark = ""
        while line[at] in "@* ":
            mark += line[at].strip()
            at += 1
        offset, at = number(line, at)
        column, at = number(line, at + 1)
        pattern = ""
        if command in "tTmM":
            at += 2
            while line[at] != '"':
                if line[at] == "\\":
                    pattern += line[at]
                    at += 1
                pattern += line[at]
                at += 1
            at += 1
        assert line[at] == "]", line
        at += 1
        value = token(sentence, t, offset, column, mark, dialect)
        if command in "tT":
            value = "true" if match(pattern, value) is not None else "false"
        elif command in "mM":
            value = match(pattern, value) or ""
        out += [value.lower() if command.isupper() else value, ""]
    return out


def number(line, at):
    text = ""
    while line[at] in "+-0123456789 ":
        text += line[at]
        at += 1
    return int(text), at


def token(sentence, t, offset, column, mark, dialect):
    """What stands in a column of a token, or the symbol for the outside."""
    n = len(sentence)
    if mark == "@":
        place = offset + n if offset < 0 else offset - 1
    elif mark == "*":
        place = t + leading_integer(sentence[t][offset])
    else:
        place = t + offset
    if 0 <= place < n:
        return sentence[place][column]
    distance = -place if place < 0 else place - n + 1
    sign = "-" if place < 0 else "+"
    if dialect == "crf++":
        return f"_B{sign}{distance}"
    return f"_x{sign}{distance if distance < 5 else '#'}"


def leading_integer(text):
    text, sign = text.lstrip(), 1
    if text[:1] in ("-", "+"):
        sign, text = (-1 if text[0] == "-" else 1), text[1:]
    digits = ""
    while text[len(digits) : len(digits) + 1].isdecimal() and text.isascii():
        digits += text[len(digits)]
    return sign * int(digits or 0)


def match(pattern, text):
    """What Wapiti's regular expression matches first, or None."""
    starts = range(1) if pattern[:1] == "^" else range(len(text) + 1)
    for start in starts:
        size = here(pattern[pattern[:1] == "^" :], text[start:])
        if size is not None:
            return text[start : start + size]
    return None


def here(pattern, text):
    """Length of the match at the beginning of the text, or None."""
    if pattern == "":
        return 0
    if pattern == "$":
        return 0 if text == "" else None
    size = 2 if pattern[0] == "\\" else 1
    char, rest = pattern[:size], pattern[size:]
    if rest[:1] == "*":
        for n in range(len(text) + 1):
            more = here(rest[1:], text[n:])
            if more is not None:
                return n + more
            if not one(char, text[n : n + 1]):
                return None
        return None
    fits = one(char, text[:1])
    if rest[:1] == "?":
        more = here(rest[1:], text[1:]) if fits else None
        return 1 + more if more is not None else here(rest[1:], text)
    more = here(rest, text[1:]) if fits else None
    return None if more is None else 1 + more


def one(char, text):
    if text == "":
        return False
    if char[0] != "\\":
        return char in (".", text)
    kind = CLASSES.get(char[1].lower())
    if kind is None:
        return char[1] == text
    return bool(kind(text)) != char[1].isupper()


def features(lines, sentences, dialect, kind="U"):
    """Pieces of the features of all tokens: those that meet one label, or (B) two."""
    kept = [line for line in lines if line[0].upper() in (kind, "*")]
    if kind == "B":  # plain ones are weights of label pairs, which chains have anyway
        kept = [line for line in kept if "%" in line]
    return [
        [
            [] if kind == "B" and t == 0
            else [tuple(pieces(line, sentence, t, dialect)) for line in kept]
            for t in range(len(sentence))
        ]
        for sentence in sentences
    ]  # fmt: skip


def strings(lines, sentences, dialect, kind="U"):
    """The same as strings, as CRF++ and Wapiti know features."""
    rows = features(lines, sentences, dialect, kind)
    return [[["".join(f) for f in token] for token in sentence] for sentence in rows]
