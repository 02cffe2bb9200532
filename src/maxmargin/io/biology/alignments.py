"""Read and write alignments: FASTA with gaps, Clustal, Stockholm and PIR.

An `Aligned` has rows of one length with "-" for gaps, and per row perhaps further
tracks (Stockholm `#=GR`; PIR entries of one name with other descriptions, as in the JOY
templates of HOMSTRAD). Any two rows are a pairwise alignment: columns (k, 2) of
positions with -1 for a gap, where not both have a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.io.text import read_lines

GAPS = str.maketrans(".~", "--")


class Aligned(NamedTuple):
    """Rows of an alignment by name, and further tracks by name."""

    rows: dict[str, str]
    tracks: dict[str, dict[str, str]]

    def pair(self, first: str, second: str) -> tuple[Any, Any]:
        """Input and output for `AlignmentSVM`: two records, and their columns.

        Examples
        --------
        >>> aligned = Aligned({"a": "AC-D", "b": "A-GD", "c": "-CGD"}, {})
        >>> (s, t), columns = aligned.pair("a", "b")
        >>> s["residue"], t["residue"], columns.tolist()
        ('ACD', 'AGD', [[0, 0], [1, -1], [-1, 1], [2, 2]])
        """
        records = []
        for name in (first, second):
            gapped = {"residue": self.rows[name], **self.tracks.get(name, {})}
            keep = [k for k, letter in enumerate(self.rows[name]) if letter != "-"]
            record: dict[str, Any] = {"name": name}
            for track, text in gapped.items():
                record[track] = "".join(text[k] for k in keep)
            records.append(record)
        columns = columns_of_rows(self.rows[first], self.rows[second])
        return (records[0], records[1]), columns


def columns_of_rows(first: str, second: str) -> NDArray[np.int32]:
    """Columns (k, 2) of two rows with gaps."""
    filled = np.array(
        [[a != "-", b != "-"] for a, b in zip(first, second, strict=True)]
    )
    filled = filled.reshape(-1, 2)
    columns = np.where(filled, np.cumsum(filled, axis=0) - 1, -1)
    return columns[filled.any(axis=1)].astype(np.int32)


def rows_of_columns(columns: ArrayLike, first: str, second: str) -> tuple[str, str]:
    """Two rows with gaps from columns and the sequences.

    Examples
    --------
    >>> rows_of_columns([[0, 0], [1, -1], [2, 1]], "ACD", "AD")
    ('ACD', 'A-D')
    """
    pairs = np.asarray(columns).reshape(-1, 2).tolist()
    a = "".join(first[i] if i >= 0 else "-" for i, _ in pairs)
    b = "".join(second[j] if j >= 0 else "-" for _, j in pairs)
    return a, b


def columns_of_pairs(pairs: ArrayLike, rows: int, cols: int) -> NDArray[np.int32]:
    """Columns of the alignment of sequences of lengths (rows, cols) with these matches.

    Examples
    --------
    >>> columns_of_pairs([[0, 1]], 2, 2).tolist()
    [[-1, 0], [0, 1], [1, -1]]
    """
    out: list[tuple[int, int]] = []
    i = j = 0
    for u, v in [*np.asarray(pairs).reshape(-1, 2).tolist(), (rows, cols)]:
        if u < i or v < j or u > rows or v > cols:
            raise ValueError(f"match ({u}, {v}) is out of order or out of range")
        out += [(k, -1) for k in range(i, u)] + [(-1, k) for k in range(j, v)]
        if u < rows and v < cols:
            out.append((u, v))
        i, j = u + 1, v + 1
    return np.array(out, np.int32).reshape(-1, 2)


def read_alignment(path: str | Path) -> Aligned:
    """Read FASTA, Clustal, Stockholm or PIR, told apart by the first lines."""
    return parse_alignment(read_lines(path), str(path))


def parse_alignment(lines: Sequence[str], where: str = "alignment") -> Aligned:
    """Rows and tracks from lines in any of the four formats."""
    head = next((line for line in lines if line.strip()), "")
    if head.startswith("# STOCKHOLM"):
        aligned = _stockholm(lines, where)
    elif head.upper().startswith(("CLUSTAL", "MUSCLE")):
        aligned = _clustal(lines, where)
    elif _is_pir(head):
        aligned = _pir(lines, where)
    elif head.startswith(">"):
        aligned = _fasta(lines, where)
    else:
        raise ValueError(
            f"{where}: neither FASTA, Clustal, Stockholm nor PIR: {head[:30]!r}"
        )
    return _checked(aligned, where)


def write_alignment(aligned: Aligned, path: str | Path, layout: str = "fasta") -> None:
    """Write as "fasta", "clustal", "stockholm" or "pir"; tracks in the last two."""
    writers = {
        "fasta": _fasta_lines,
        "clustal": _clustal_lines,
        "stockholm": _stockholm_lines,
        "pir": _pir_lines,
    }
    if layout not in writers:
        raise ValueError(f"layout={layout!r} is not one of {', '.join(writers)}")
    Path(path).write_text("\n".join(writers[layout](aligned)) + "\n")


def _checked(aligned: Aligned, where: str) -> Aligned:
    if not aligned.rows:
        raise ValueError(f"{where}: there are no sequences")
    rows = {name: text.translate(GAPS) for name, text in aligned.rows.items()}
    first, size = next((name, len(text)) for name, text in rows.items())
    for name, text in rows.items():
        if len(text) != size:
            raise ValueError(
                f"{where}: {name!r} has {len(text)} columns, {first!r} has {size}"
            )
        if not text.strip("-"):
            raise ValueError(f"{where}: {name!r} has no letters")
        for track, row in aligned.tracks.get(name, {}).items():
            if len(row) != size:
                raise ValueError(
                    f"{where}: track {track!r} of {name!r} has {len(row)} columns, not "
                    f"{size}"
                )
    return Aligned(rows, aligned.tracks)


def _fasta(lines: Sequence[str], where: str) -> Aligned:
    rows: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            name = (line[1:].split() or [""])[0]
            if not name or name in rows:
                raise ValueError(
                    f"{where}, line {number}: {name!r} is empty or repeated"
                )
            rows[name] = ""
        elif line.strip():
            rows[name] += line.strip()
    return Aligned(rows, {})


def _clustal(lines: Sequence[str], where: str) -> Aligned:
    rows: dict[str, str] = {}
    for line in lines[1:]:
        words = line.split()
        if len(words) >= 2 and not line[0].isspace():
            rows[words[0]] = rows.get(words[0], "") + words[1]
    return Aligned(rows, {})


def _stockholm(lines: Sequence[str], where: str) -> Aligned:
    rows: dict[str, str] = {}
    tracks: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if line.startswith("//"):
            break
        if line.startswith("#=GR"):
            if len(words) != 4:
                raise ValueError(f"{where}, line {number}: #=GR has 3 fields")
            own = tracks.setdefault(words[1], {})
            own[words[2]] = own.get(words[2], "") + words[3]
        elif words and not line.startswith("#"):
            if len(words) != 2:
                raise ValueError(f"{where}, line {number}: a name and a row expected")
            rows[words[0]] = rows.get(words[0], "") + words[1]
    return Aligned(rows, tracks)


def _is_pir(line: str) -> bool:
    return len(line) > 4 and line[0] == ">" and line[3] == ";"


def _pir(lines: Sequence[str], where: str) -> Aligned:
    rows: dict[str, str] = {}
    tracks: dict[str, dict[str, str]] = {}
    entries: list[list[str]] = []
    for number, line in enumerate(lines, 1):
        if _is_pir(line):
            entries.append([line[4:].strip()])
        elif entries:
            entries[-1].append(line.strip())
        elif line.strip() and not line.startswith("C;"):
            raise ValueError(f"{where}, line {number}: '>P1;name' expected")
    for entry in entries:
        if len(entry) < 3 or "*" not in "".join(entry[2:]):
            raise ValueError(f"{where}: entry {entry[0]!r} does not end with '*'")
        name, text = entry[0], "".join(entry[2:]).split("*")[0].replace(" ", "")
        if name not in rows:
            rows[name] = text
        else:
            tracks.setdefault(name, {})[entry[1]] = text
    return Aligned(rows, tracks)


def _fasta_lines(aligned: Aligned) -> list[str]:
    return [line for name, row in aligned.rows.items() for line in (f">{name}", row)]


def _clustal_lines(aligned: Aligned, width: int = 60) -> list[str]:
    size = len(next(iter(aligned.rows.values())))
    margin = max(len(name) for name in aligned.rows) + 6
    lines = ["CLUSTAL W multiple sequence alignment", ""]
    for k in range(0, size, width):
        lines.append("")
        for name, row in aligned.rows.items():
            lines.append(f"{name:<{margin}}{row[k : k + width]}")
        same = (len({row[q] for row in aligned.rows.values()}) == 1
                for q in range(k, min(k + width, size)))  # fmt: skip
        lines.append(" " * margin + "".join("*" if s else " " for s in same))
    return lines


def _stockholm_lines(aligned: Aligned) -> list[str]:
    lines = ["# STOCKHOLM 1.0"]
    for name, row in aligned.rows.items():
        lines.append(f"{name} {row}")
        for track, text in aligned.tracks.get(name, {}).items():
            lines.append(f"#=GR {name} {track} {text}")
    return [*lines, "//"]


def _pir_lines(aligned: Aligned) -> list[str]:
    lines: list[str] = []
    for name, row in aligned.rows.items():
        lines += [f">P1;{name}", "sequence", f"{row}*"]
        for track, text in aligned.tracks.get(name, {}).items():
            lines += [f">P1;{name}", track, f"{text}*"]
    return lines
