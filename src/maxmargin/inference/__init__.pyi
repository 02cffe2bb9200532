from .motif_sampler import markov as markov
