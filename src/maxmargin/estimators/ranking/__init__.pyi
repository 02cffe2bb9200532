from .ranking import RankingSVM as RankingSVM
from .scorer import RankingScorer as RankingScorer
from .scorer import ranking_scorer as ranking_scorer
