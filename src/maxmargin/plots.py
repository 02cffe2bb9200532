"""Figures for papers, with matplotlib; see `maxmargin.reports.plots`."""

from maxmargin.reports.plots import (
    confusion,
    convergence,
    path,
    substitutions,
    transitions,
)

__all__ = ["confusion", "convergence", "path", "substitutions", "transitions"]
