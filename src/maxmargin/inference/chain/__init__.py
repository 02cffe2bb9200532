"""Best label sequences.

viterbi.py   Viterbi for one chain, as loops that other loops call
variants.py  Best per cost, k best, and best with a given label
"""
