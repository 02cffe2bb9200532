"""Scores that people report."""
