"""`maxmargin serve`: a model behind a local page and a JSON API."""

from __future__ import annotations

import argparse
import os
from functools import partial
from importlib.util import find_spec

import maxmargin
from maxmargin.cli.errors import DONE, UsageError
from maxmargin.cli.streams import model_source


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError("serve needs two packages: pip install 'maxmargin[serve]'")
    from maxmargin.serve.app import Limits
    from maxmargin.serve.server import serve

    model = maxmargin.load(model_source(args.model))
    limits = Limits(
        body=args.max_bytes, inputs=args.max_inputs, size=args.max_size,
        seconds=args.timeout,
    )  # fmt: skip
    name = "model" if args.model == "-" else os.path.basename(args.model)
    serve(
        model, host=args.host, port=args.port, name=name, limits=limits,
        browser=args.open, say=partial(print, flush=True),
    )  # fmt: skip
    return DONE
