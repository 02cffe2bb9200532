"""Engines by name."""

from __future__ import annotations

from typing import Any

from maxmargin.core.engine import Engine, Serial
from maxmargin.engines.threads import Threads

SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")


def choose_engine(engine: Any, n_jobs: int) -> Engine:
    """The engine object for a name, a scheduler's address, None or an object.

    Examples
    --------
    >>> type(choose_engine(None, 1)).__name__, choose_engine("threads", 2).workers
    ('Serial', 2)
    """
    if isinstance(engine, Engine):
        return engine
    if engine is None:
        engine = "threads" if n_jobs > 1 else "serial"
    if not isinstance(engine, str):
        raise TypeError(
            f"engine={engine!r} is neither a name, nor an address, nor an Engine: a "
            "dask client goes in as DaskEngine(client)"
        )
    if engine == "serial":
        return Serial()
    if engine == "threads":
        return Threads(n_jobs)
    if engine == "processes":
        from maxmargin.engines.processes import Processes

        return Processes(n_jobs)
    if engine.startswith(SCHEMES):
        try:
            from maxmargin.engines.dask import DaskEngine
        except ImportError as error:
            raise ImportError(
                f"engine={engine!r} needs dask: pip install 'maxmargin[dask]'"
            ) from error
        return DaskEngine(engine)
    raise ValueError(
        f"engine={engine!r} is not known: choose 'serial', 'threads', 'processes', the "
        "address of a dask scheduler ('tcp://host:8786'), or an Engine object"
    )
