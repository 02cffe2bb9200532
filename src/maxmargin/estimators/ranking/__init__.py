"""Rankings of documents.

ranking.py       RankingSVM: rank the documents of queries
query_tables.py  Tables of documents with a query for each row
scorer.py        NDCG, MAP and precision at k as scorers of scikit-learn
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
