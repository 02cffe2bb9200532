"""The command line: `maxmargin train`, `predict`, `evaluate`, .. and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from maxmargin.cli import errors
from maxmargin.cli.parser import OVERVIEW, build
from maxmargin.cli.terminal import folded

if TYPE_CHECKING:
    from maxmargin.cli.streams import Inputs


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = build()
    words = list(sys.argv[1:] if argv is None else argv)
    if "--no-color" in words:  # wherever it stands
        words = ["--no-color", *(word for word in words if word != "--no-color")]
    args = parser.parse_args(words)
    if args.no_color:
        os.environ["NO_COLOR"] = "1"
    if args.command is None:
        print(OVERVIEW)
        return errors.USAGE
    return _guarded(args, parser)


def _guarded(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run a command; what goes wrong becomes a sentence and an exit code."""
    from maxmargin.cli.streams import Inputs

    with Inputs() as inputs, warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _warned
        try:
            code = _command(args, inputs, parser)
            sys.stdout.flush()
            return code
        except errors.UsageError as error:
            return _failed(str(error), errors.USAGE)
        except BrokenPipeError:  # as in `maxmargin predict .. | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return errors.DONE
        except OSError as error:
            return _failed(inputs.named(_sentence(error)), errors.FAILED)
        except (ValueError, EOFError) as error:
            return _failed(inputs.named(str(error)), errors.INPUT)
        except MemoryError as error:
            return _failed(str(error) or "there is not enough memory", errors.FAILED)
        except KeyboardInterrupt:
            return _failed("interrupted", errors.INTERRUPTED)


def _command(
    args: argparse.Namespace, inputs: Inputs, parser: argparse.ArgumentParser
) -> int:
    if args.command == "completion":
        from maxmargin.cli.commands.completion import script

        print(script(args.shell, parser), end="")
        return errors.DONE
    if args.command == "new":
        from maxmargin.cli.commands.new_structure import write_skeleton

        return write_skeleton(args.file)
    if args.command == "convert":
        from maxmargin.cli.commands import convert

        return convert.run(args, inputs)
    if args.command == "warmup":
        from maxmargin.cli.commands import warmup

        return warmup.run(args.estimators, args.share)
    from maxmargin.reports.progress import compiling_shown

    with compiling_shown():
        return _compiled_command(args, inputs)


def _compiled_command(args: argparse.Namespace, inputs: Inputs) -> int:
    """A command that runs loops, which may have to be compiled."""
    if args.command == "demo":
        from maxmargin.cli.commands.demo import run

        return run(args.out, args.seed)
    if args.command == "serve":
        from maxmargin.cli.commands import serve

        return serve.run(args)
    if args.command == "train":
        from maxmargin.cli.commands import train

        return train.run(args, inputs)
    from maxmargin.cli.commands import model_commands

    return model_commands.COMMANDS[args.command](args, inputs)


def _sentence(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def _warned(
    message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: TextIO | None = None, line: str | None = None,
) -> None:  # fmt: skip
    """A warning as a sentence, without the place in our sources it comes from."""
    from maxmargin.reports.progress import end_status

    end_status()
    out = file or sys.stderr
    print(folded(f"maxmargin: {message}", out), file=out)


def _failed(message: str, code: int) -> int:
    from maxmargin.reports.progress import end_status

    end_status()
    print(folded(f"maxmargin: {message}", sys.stderr), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
