"""Exit codes, and errors that end a command with one."""

from __future__ import annotations

DONE, FAILED, USAGE, INPUT, UNFINISHED, INTERRUPTED = 0, 1, 2, 3, 4, 130

CODES = """\
exit codes:
  0    done
  1    failed: a file cannot be read or written, or a bug
  2    wrong usage
  3    bad input; the message names the file and the line
  4    the tolerance was not reached; the model is written
  130  interrupted; the best model so far is written"""


class UsageError(Exception):
    """Flags that do not go together."""


class InputError(ValueError):
    """Data that cannot be used."""
