"""A stand-in for genbmm, which torch-struct's alignments import, for processors without CUDA.

genbmm is not on PyPI and its kernels need CUDA; without them it multiplies banded
matrices entry by entry in Python. Here are the calls that torch-struct makes, with whole
tensors at a time, which is much faster than that fallback.

    data[b, i, j] = entry (i, i + j - lu) of matrix b,    0 <= j <= lu + ld
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor


def install() -> None:
    """Let `import genbmm` find this; call it before torch-struct is imported."""
    module = ModuleType("genbmm")
    module.BandedMatrix = BandedMatrix  # type: ignore[attr-defined]
    sys.modules.setdefault("genbmm", module)


class BandedMatrix:
    """A batch of banded matrices; entries off the matrix hold `fill`."""

    def __init__(self, data: Tensor, lu: int, ld: int, fill: float = 0.0) -> None:
        self.data, self.lu, self.ld, self.fill = data, lu, ld, fill
        self.width = lu + ld + 1

    def transpose(self) -> BandedMatrix:
        """Entry (i, c) becomes entry (c, i)."""
        columns = [
            _shifted(self.data[:, :, self.width - 1 - j], j - self.ld, self.fill)
            for j in range(self.width)
        ]
        return BandedMatrix(torch.stack(columns, dim=2), self.ld, self.lu, self.fill)

    def col_shift(self, t: int) -> BandedMatrix:
        """Rows move up by t."""
        data = _shifted(self.data, t, self.fill)
        return BandedMatrix(data, self.lu - t, self.ld + t, self.fill)

    def band_shift(self, t: int) -> BandedMatrix:
        """Entries move to the left by t within the band."""
        data = _shifted(self.data.transpose(1, 2), t, self.fill).transpose(1, 2)
        return BandedMatrix(data, self.lu + t, self.ld - t, self.fill)

    def band_pad(self, t: int) -> BandedMatrix:
        """A wider band."""
        data = torch.nn.functional.pad(self.data, (t, t), value=self.fill)
        return BandedMatrix(data, self.lu + t, self.ld + t, self.fill)

    def multiply_log(self, other: BandedMatrix) -> BandedMatrix:
        """log sum_k exp(self[i, k] + other[o, k])."""
        return self._multiply(other, lambda x: x.logsumexp(2))

    def multiply_max(self, other: BandedMatrix) -> BandedMatrix:
        """max_k self[i, k] + other[o, k]."""
        return self._multiply(other, lambda x: x.max(2).values)

    def _multiply(
        self, other: BandedMatrix, total: Callable[[Tensor], Tensor]
    ) -> BandedMatrix:
        lu, ld, last = self.lu + other.ld, self.ld + other.lu, other.width - 1
        columns = []
        for j in range(lu + ld + 1):
            row = _shifted(other.data, j - lu, self.fill)
            first, end = max(0, j - last), min(self.width, j + 1)
            terms = (
                self.data[:, :, first:end]
                + row[:, :, first - j + last : end - j + last]
            )
            columns.append(total(terms))
        return BandedMatrix(torch.stack(columns, dim=2), lu, ld, self.fill)


def _shifted(x: Tensor, t: int, fill: float) -> Tensor:
    """Row i + t of x at row i, along the second dimension."""
    n = x.shape[1]
    if t == 0:
        return x
    if abs(t) >= n:
        return torch.full_like(x, fill)
    pad = torch.full_like(x[:, : abs(t)], fill)
    return torch.cat([x[:, t:], pad] if t > 0 else [pad, x[:, :t]], dim=1)
