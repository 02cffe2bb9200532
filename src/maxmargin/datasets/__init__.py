"""Loaders and synthetic data."""
