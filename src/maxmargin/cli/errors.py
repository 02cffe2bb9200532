"""Exit codes, and errors that end a command with one."""

from __future__ import annotations

DONE, FAILED, USAGE, INPUT, UNFINISHED, INTERRUPTED = 0, 1, 2, 3, 4, 130

CODES = """\
exit codes:
  0    done
  1    something failed: a file cannot be read or written, a bug
  2    wrong usage
  3    bad input: data or model file, with file and line or record in the message
  4    training ended before the tolerance; the model is written
  130  interrupted (Ctrl-C, SIGTERM); the best model so far is written"""


class UsageError(Exception):
    """Flags that do not go together."""


class InputError(ValueError):
    """Data that cannot be used."""
