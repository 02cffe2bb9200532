"""The history of a run as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame


def history_frame(history: np.ndarray) -> DataFrame:
    """One row per step: seconds, oracle_calls, planes, primal, dual, gap by iteration.

    Examples
    --------
    >>> from maxmargin.solvers.base import HISTORY
    >>> rows = np.array([(1, 0.1, 20, 5, np.inf, 0.5, 0.4)], HISTORY)
    >>> history_frame(rows).loc[1, "oracle_calls"].item()
    20
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "a data frame needs pandas: pip install 'maxmargin[reports]'; the rows "
            "themselves are in result_.history"
        ) from None
    names = list(history.dtype.names or ())
    return pd.DataFrame({name: history[name] for name in names}).set_index(names[0])
