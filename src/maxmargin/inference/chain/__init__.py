"""Best label sequences.

score_tables.py  Batches of plain score tables: Viterbi, forward-backward
segments.py      Segmentations (semi-Markov) of plain score tables
viterbi.py       Viterbi for one chain, as loops that other loops call
semi_markov.py   The best segmentation, as loops that other loops call
segment_variants.py  Segmentations: best per cost, k best, best with a given code
variants.py      Best per cost, k best, and best with a given label
"""
