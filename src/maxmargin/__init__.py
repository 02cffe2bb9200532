"""Max-margin structured prediction with a certificate of optimality on every fit."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Each public name and where it lives. Names are imported when first asked for, so
# that `import maxmargin` costs nothing and Numba is loaded only where it is used.
_HOME = {
    "AlignmentSVM": "maxmargin.estimators.alignment",
    "ChainSVM": "maxmargin.estimators.chain",
    "Checkpoint": "maxmargin.estimators.checkpoint",
    "CoreferenceSVM": "maxmargin.estimators.coreference",
    "GrammarSVM": "maxmargin.estimators.grammar",
    "HomologySVM": "maxmargin.estimators.homology",
    "KernelSVM": "maxmargin.estimators.kernel",
    "ModelFileError": "maxmargin.io.archive",
    "MotifSVM": "maxmargin.estimators.motif",
    "MulticlassSVM": "maxmargin.estimators.multiclass",
    "NetworkSVM": "maxmargin.estimators.network",
    "PathCV": "maxmargin.estimators.cv",
    "RankingSVM": "maxmargin.estimators.ranking",
    "Sequences": "maxmargin.sequences",
    "StructuralSVM": "maxmargin.estimators.structural",
    "check_structure": "maxmargin.structures.check",
    "encode_sequences": "maxmargin.structures.encoded",
    "open_encoded": "maxmargin.structures.encoded",
    "load": "maxmargin.estimators.files",
    "save": "maxmargin.estimators.files",
}

_MODULES = {"plots": "maxmargin.plots"}

__all__ = ["__version__", *sorted([*_HOME, *_MODULES])]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names."""
    return sorted(__all__)
