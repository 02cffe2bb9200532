"""BLOSUM62, half-bit scores of Henikoff and Henikoff 1992, in the layout of NCBI."""

from maxmargin.io.biology.blosum import BLOSUM62

__all__ = ["BLOSUM62"]
