"""Small inputs that many tests share: data files, graphs, models, model files, problems."""
