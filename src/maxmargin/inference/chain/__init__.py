"""The best label sequences.

variants.py  The best of a chain's tables: per cost, k best, and best with a given label
"""
