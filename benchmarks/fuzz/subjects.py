"""What is mutated: model files of every kind, with inputs for them to predict."""

import io
import warnings

from benchmarks.fuzz.mutate import mutated_archive
from maxmargin import ModelFileError, load, save


class ModelFile:
    """A model file: a mutant is refused, or predicts."""

    def __init__(self, name, model, X, own=()):
        self.name, self.X, self.own = f"model {name}", X, own
        out = io.BytesIO()
        save(model, out)
        self.data = out.getvalue()

    def original(self):
        return self.data

    def mutant(self, rng):
        return mutated_archive(self.data, rng)

    def use(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = load(io.BytesIO(data), own=self.own)
            except ModelFileError as error:
                return "refused" if str(error) else "BAD: an error without words"
            model.predict(self.X)
            model.structure_.feature_names() if hasattr(model, "structure_") else None
            return "used"


def every(names=None):
    """All subjects, or those of the given names."""
    return models(names)


def models(names=None):
    """Model files of all kinds that the tests know."""
    from small.models import MODELS, OWN

    out = []
    for name, made in MODELS.items():
        if names is None or name in names:
            model, X = made()
            out.append(ModelFile(name, model, X, OWN.get(name, ())))
    return out
