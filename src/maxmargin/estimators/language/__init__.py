"""Estimators of sentences and documents: trees and clusters.

grammar.py      GrammarSVM: parse sentences
dependency.py   DependencySVM: find the head of each word
tagging.py      A tagger inside a parser, for sentences without tags
coreference.py  CoreferenceSVM, CorrelationSVM: cluster the mentions of a document
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
