"""Figures for papers, with matplotlib; see `maxmargin.reports.plots`."""

from maxmargin.reports.plots import (
    confusion,
    convergence,
    path,
    reliability,
    substitutions,
    transitions,
)

__all__ = [
    "confusion",
    "convergence",
    "path",
    "reliability",
    "substitutions",
    "transitions",
]
