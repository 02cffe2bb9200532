"""Public corpora, downloaded once: chunks, names, tagged text, parse trees.

The archives are those of NLTK, at a fixed revision. A file is kept only if it has the
size and checksum listed here, so everybody gets the same sentences. Downloads go to

    MAXMARGIN_DATASETS, or the folder "maxmargin_data" in your home folder

and an archive that you put there yourself is used as well. Nothing is ever downloaded
unless you call one of these functions.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from maxmargin.core.data.safe_files import replace_file
from maxmargin.io.treebank import Tree, parse_trees, strip_tree

REVISION = "005569f5d91002697c5dfd5bced624209af0b3bb"
SOURCE = f"https://raw.githubusercontent.com/nltk/nltk_data/{REVISION}/packages/corpora"
SECONDS = 60.0  # without an answer
LANGUAGES = {"spanish": "esp", "dutch": "ned"}

Columns = list[list[tuple[str, ...]]]  # per sentence and token


class Download(NamedTuple):
    """A file that can be downloaded, and how to recognise it."""

    name: str
    size: int  # bytes
    md5: str  # as NLTK's index lists it

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{SOURCE}/{self.name}"


CONLL2000 = Download("conll2000.zip", 756607, "9529b285edd5fe47271da69df1052301")
CONLL2002 = Download("conll2002.zip", 1867449, "67bb4ca75fa81544d42a159524726e78")
BROWN = Download("brown.zip", 3314357, "a0a8630959d3d937873b1265b0a05497")
TREEBANK = Download("treebank.zip", 1740034, "78c24a97940c2504d0ad35dd3f8a560b")
DEPENDENCIES = Download(
    "dependency_treebank.zip", 457429, "631e959acaa42eea718daf04c5cdfa76"
)


class DownloadError(OSError):
    """A corpus could not be downloaded, or is not what it should be."""


class TaggedText(NamedTuple):
    """Sentences as rows of columns, and a label for each token."""

    X: Columns
    y: list[list[str]]


def fetch_conll2000(folder: str | Path | None = None) -> tuple[TaggedText, TaggedText]:
    """English chunks (CoNLL-2000): training and test part.

    Columns are word and part of speech, labels are BIO: "B-NP", "I-NP", "O".
    8936 and 2012 sentences, 0.8 MB to download.

    Parameters
    ----------
    folder : path, optional
        Where archives are kept; see `data_folder`.

    Examples
    --------
    >>> train, test = fetch_conll2000()  # doctest: +SKIP
    >>> train.X[0][0], train.y[0][0]  # doctest: +SKIP
    (('Confidence', 'NN'), 'B-NP')
    """
    files = _members(CONLL2000, folder)
    return (
        _columns(files, "conll2000/train.txt"),
        _columns(files, "conll2000/test.txt"),
    )


def fetch_conll2002(
    language: str = "spanish", folder: str | Path | None = None
) -> tuple[TaggedText, TaggedText, TaggedText]:
    """Names of people, places and organisations (CoNLL-2002): training, testa, testb.

    Columns are word and part of speech, labels are BIO: "B-PER", "I-ORG", "O".
    1.9 MB to download. For research only.

    Parameters
    ----------
    language : {"spanish", "dutch"}, default="spanish"
    folder : path, optional
        Where archives are kept; see `data_folder`.

    Examples
    --------
    >>> train, testa, testb = fetch_conll2002("dutch")  # doctest: +SKIP
    >>> tagger = ChainSVM(features="ner").fit(train.X, train.y)  # doctest: +SKIP
    """
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r}: choose one of {sorted(LANGUAGES)}")
    files, code = _members(CONLL2002, folder), LANGUAGES[language]
    train, testa, testb = (
        _columns(files, f"conll2002/{code}.{part}")
        for part in ("train", "testa", "testb")
    )
    return train, testa, testb


def fetch_brown(folder: str | Path | None = None) -> TaggedText:
    """The Brown corpus: American English of 1961 with parts of speech.

    The only column is the word. 57 340 sentences, 3.3 MB to download. For
    non-commercial use.

    Parameters
    ----------
    folder : path, optional
        Where archives are kept; see `data_folder`.

    Examples
    --------
    >>> text = fetch_brown()  # doctest: +SKIP
    >>> text.y[0][:3]  # doctest: +SKIP
    ['at', 'np-tl', 'nn-tl']
    """
    text = TaggedText([], [])
    files = _members(BROWN, folder)
    for name in sorted(n for n in files if re.fullmatch(r"brown/c[a-r]\d\d", n)):
        for line in files[name].decode("utf-8").splitlines():
            pairs = [token.rpartition("/") for token in line.split()]
            if pairs:
                text.X.append([(word,) for word, _, _ in pairs])
                text.y.append([tag for _, _, tag in pairs])
    return text


def fetch_penn_trees(folder: str | Path | None = None) -> list[Tree]:
    """Parse trees of the sample of the Penn Treebank, without traces and functions.

    3914 trees of the Wall Street Journal for `GrammarSVM`, 1.7 MB to download. For
    non-commercial use.

    Parameters
    ----------
    folder : path, optional
        Where archives are kept; see `data_folder`.

    Examples
    --------
    >>> trees = fetch_penn_trees()  # doctest: +SKIP
    >>> trees[0][0]  # doctest: +SKIP
    'S'
    """
    files = _members(TREEBANK, folder)
    names = sorted(n for n in files if re.fullmatch(r".*combined/wsj_\d+\.mrg", n))
    found = (
        strip_tree(tree)
        for name in names
        for tree in parse_trees(files[name].decode("utf-8"), name).trees
    )
    return [tree for tree in found if tree is not None]


def fetch_penn_dependencies(
    folder: str | Path | None = None,
) -> tuple[list[list[tuple[str, str]]], list[list[int]]]:
    """Dependency trees of the sample of the Penn Treebank: X, y for `DependencySVM`.

    Each sentence is a list of (word, tag) pairs, each tree a list of heads; head 0 is
    the root. 3914 sentences, 0.5 MB to download. For non-commercial use.

    Parameters
    ----------
    folder : path, optional
        Where archives are kept; see `data_folder`.

    Examples
    --------
    >>> X, y = fetch_penn_dependencies()  # doctest: +SKIP
    """
    X, y = [], []
    files = _members(DEPENDENCIES, folder)
    for name in sorted(n for n in files if n.endswith(".dp")):
        for rows in _sentences(files[name].decode("utf-8"), name, 3):
            X.append([(word, tag) for word, tag, _ in rows])
            y.append([int(head) for _, _, head in rows])
    return X, y


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of downloads: the one given, MAXMARGIN_DATASETS, or one in your home.

    Examples
    --------
    >>> data_folder("corpora").name
    'corpora'
    """
    named = folder or os.environ.get("MAXMARGIN_DATASETS")
    return Path(named) if named else Path.home() / "maxmargin_data"


def _members(archive: Download, folder: str | Path | None) -> dict[str, bytes]:
    """The files of an archive, by their names in it; it is downloaded if need be."""
    path = data_folder(folder) / archive.name
    if not path.exists():
        data = _download(archive, path)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    data = path.read_bytes()
    wrong = _difference(archive, data)
    if wrong:
        raise DownloadError(f"{path}: {wrong}. Delete it and call again")
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {m: packed.read(m) for m in packed.namelist() if not m.endswith("/")}


def _download(archive: Download, path: Path) -> bytes:
    cure = (
        f"Without a connection, download {archive.url} elsewhere and put it at {path}, "
        "or name its folder in MAXMARGIN_DATASETS"
    )
    try:
        with urllib.request.urlopen(archive.url, timeout=SECONDS) as answer:
            data: bytes = answer.read(archive.size + 1)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        why = getattr(error, "reason", error)
        raise DownloadError(
            f"cannot download {archive.name} ({archive.size / 1e6:.1f} MB): {why}. {cure}"
        ) from error
    wrong = _difference(archive, data)
    if wrong:
        raise DownloadError(f"{archive.url}: {wrong}; it was not kept. {cure}")
    return data


def _difference(archive: Download, data: bytes) -> str | None:
    """How data differ from the archive that was listed; None if they are the same."""
    if len(data) != archive.size:
        less = "fewer" if len(data) < archive.size else "more"
        return f"it has {less} than {archive.size} bytes"
    if hashlib.md5(data, usedforsecurity=False).hexdigest() != archive.md5:
        return "it is not the file that was published (the checksum differs)"
    return None


def _columns(files: dict[str, bytes], name: str) -> TaggedText:
    """A file of columns, the last of which is the label."""
    text = TaggedText([], [])
    for rows in _sentences(files[name].decode("utf-8"), name, 3):
        text.X.append([row[:-1] for row in rows])
        text.y.append([row[-1] for row in rows])
    return text


def _sentences(text: str, name: str, width: int) -> Iterator[list[tuple[str, ...]]]:
    """Rows of columns, with an empty line between sentences."""
    rows: list[tuple[str, ...]] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fields = tuple(line.split())
        if fields and fields[0] != "-DOCSTART-":
            if len(fields) != width:
                raise DownloadError(
                    f"{name}, line {number}: {len(fields)} columns, {width} expected"
                )
            rows.append(fields)
        elif rows:
            yield rows
            rows = []
