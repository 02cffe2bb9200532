"""The best label sequences.

viterbi.py   Viterbi: the best label sequence of one chain, as loops
variants.py  The best of a chain's tables: per cost, k best, and best with a given label
"""
