"""Data frames as lists of examples, one per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def rows_of_frame(
    values: Any, columns: Sequence[int], what: str, name: str = "X"
) -> Any:
    """The rows of a frame of pandas, polars or Arrow; anything else as it is.

    Parameters
    ----------
    values : frame or other
    columns : sequence of int
        How many columns there may be. The row of a single column is its value.
    what : str
        What the columns are, for the message.
    name : str
        What the frame is called there.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"first": ["AC", "A"], "second": ["AG", "C"]}, index=[7, 7])
    >>> rows_of_frame(frame, [2], "the two sequences of each pair")
    [('AC', 'AG'), ('A', 'C')]
    >>> rows_of_frame(frame[["first"]], [1], "a sequence")
    ['AC', 'A']
    """
    lazy = hasattr(values, "collect") and hasattr(values, "lazy")
    if not lazy and not hasattr(values, "columns"):
        return values
    if lazy:
        raise TypeError(
            f"the rows of {name} are not computed yet: write {name}.collect()"
        )
    width = int(values.shape[1])
    if width not in columns:
        raise ValueError(
            f"{name} is a data frame with {width} column{'s' * (width != 1)}, but "
            f"{' or '.join(map(str, columns))} {'is' if columns == [1] else 'are'} "
            f"needed: {what}"
        )
    if hasattr(values, "iloc"):  # pandas
        listed = [values.iloc[:, c].tolist() for c in range(width)]
    elif hasattr(values, "column_names"):  # Arrow
        listed = [column.to_pylist() for column in values.columns]
    else:  # polars
        listed = [column.to_list() for column in values.get_columns()]
    return listed[0] if width == 1 else list(zip(*listed, strict=True))
