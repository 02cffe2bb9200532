"""Mercer kernels."""
