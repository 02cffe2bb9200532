"""Pictures of trees, alignments, graphs and motifs as SVG or text.

alignments.py  Alignments to look at: blocks of text, and SVG
arcs.py        Dependency trees: arcs above the words, as text and SVG
graphs.py      Pictures of labelled graphs: grids, graphs, and confusion over edges
graph_svg.py   Labelled graphs as SVG, for pages
logo.py        Sequence logos: stacked letters, as high as they tell
marked_text.py Words with labels, motif sites, ranked lists and clusters as HTML
postcodes.py   The picture of the demo: written postcodes and what two models read
svg.py         Curves, bars and tables of values as SVG and HTML, without any package
trees.py       Trees drawn as text and as SVG
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
