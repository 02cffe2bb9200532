"""What an output is: features, encoding and loss-augmented inference per task.

check.py             `check_structure`: what is wrong with a structure of your own
matching.py          Bipartite matching: a structure in one file, to copy from
motif.py             A motif at an unknown place in a DNA sequence
python_structure.py  A structure of one's own, from three Python methods
alignment/           Alignments of two annotated sequences, and homology detection
chain/               Label sequences
classes/             Classes, with output features and taxonomies
clusters/            Clusterings of mentions and other items
dependency/          Dependency trees
grammar/             Parse trees of weighted context-free grammars
joint/               Pairs (input, output) that a joint kernel compares
latent/              Outputs of which some labels are not known
network/             Labels of all nodes of a graph: pairwise Markov networks
ranking/             Rankings of the documents of a query
segments/            Labelled spans of tokens, scored as wholes
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
