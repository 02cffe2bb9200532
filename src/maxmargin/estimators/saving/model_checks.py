"""What a loaded estimator must be like before it may predict.

Structures, losses and maps validate themselves; here they are compared with each other
and with the weights: compiled loops would read weights that are too few past their end.
"""

from __future__ import annotations

from typing import Any, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.core.data.arrays import check_size
from maxmargin.core.data.validation import check_shape, mismatch, require
from maxmargin.core.loss import Loss
from maxmargin.core.structure import Structure
from maxmargin.estimators.calibrating.calibration import Calibration
from maxmargin.estimators.fitting.inputs import check_parameters
from maxmargin.io.model_file.archive import ModelFileError
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import Result
from maxmargin.structures.classes.label_sets import LabelSets
from maxmargin.structures.classes.structure import Multiclass
from maxmargin.structures.joint.structure import ClassPairs, PairStructure

# The structures that each estimator works with, by name; others take any.
STRUCTURES = {
    "AlignmentSVM": ("Alignment",),
    "ChainSVM": ("Chain", "Partial"),
    "CoreferenceSVM": ("Coreference",),
    "CorrelationSVM": ("Correlation",),
    "DependencySVM": ("Dependency",),
    "GrammarSVM": ("Grammar", "KernelGrammar"),
    "HomologySVM": ("Homology",),
    "KernelSVM": ("Multiclass",),
    "MotifSVM": ("Motif",),
    "MulticlassSVM": ("Multiclass", "ClassPairs"),
    "MultilabelSVM": ("LabelSets",),
    "NetworkSVM": ("Network", "CliqueNetwork", "KernelNetwork", "PartialNetwork"),
    "RankingSVM": ("Ranking", "FullOrder"),
    "SegmentSVM": ("Segments",),
}
CLASSIFIERS = ("KernelSVM", "MulticlassSVM")  # whose weights are tables by class
FREE_SIZE = 10**6  # weights of a structure that is a parameter, not bound to data
AT_PREDICTION = ("n_jobs",)  # parameters that predictions read; files may have old ones
NEEDED = {  # what predictions read; the weights are coef_ where nothing is said
    "KernelSVM": ("classes_",), "MulticlassSVM": ("classes_",),
    "MotifSVM": ("coef_", "classes_"), "MultilabelSVM": ("labels_",),
}  # fmt: skip
INNER = ("estimator", "estimator_")  # what an estimator around another holds
FLOATS = ("coef_", "dual_coef_", "intercept_", "init_coef_")


def check_whole(estimator: Any) -> None:
    """Refuse an estimator whose parts do not fit together; ModelFileError says why."""
    try:
        _check(estimator)
    except ModelFileError:
        raise
    except Exception as error:  # wrong fields may lead to anything
        raise ModelFileError(f"the model is not whole ({error})") from error


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has a structure of its own, or of an estimator inside."""
    return bool({"structure_", "estimator_"} & set(vars(estimator)))


def validated_later(value: Any) -> bool:
    """Structures are validated here, when their size is known to be that of the weights."""
    return isinstance(value, Structure)


def _check(estimator: Any) -> None:
    held = vars(estimator)
    _check_parameters(estimator)
    _check_learnt(estimator)
    for name, value in held.items():
        if name in INNER or isinstance(value, BaseEstimator):
            require(isinstance(value, BaseEstimator), f"{name} is not an estimator")
            learnt = is_fitted(value) or not name.endswith("_")
            require(learnt, f"the {type(value).__name__} in {name} is not fitted")
            _check(value)
        elif name == "tagger_":  # of the user's, perhaps
            require(callable(getattr(value, "predict", None)), "there is no tagger")
        elif isinstance(value, Structure) and name != "structure_":
            require(0 <= value.dim <= FREE_SIZE, f"{name} claims {value.dim} weights")
            value.validate()
        elif isinstance(value, Loss):
            value.validate()
    if "structure_" in held and held.get("tagger") is not None:
        require("tagger_" in held, "there is no tagger")
    if "structure_" not in held and "result_" not in held:
        require(not set(FLOATS) & set(held), "there are weights, but no structure")
        return
    structure, result = held["structure_"], held["result_"]
    require(isinstance(structure, Structure), "structure_ is not a structure")
    require(isinstance(result, Result), "result_ is not a result")
    elsewhere = "expansion_" in held or isinstance(structure, PairStructure)
    require(elsewhere or {"coef_", "dual_coef_"} & set(held), "there are no weights")
    expected = STRUCTURES.get(type(estimator).__name__)
    kind = type(structure).__name__
    require(expected is None or kind in expected, f"structure_ is a {kind}")
    for name in NEEDED.get(type(estimator).__name__, ("coef_",)):
        require(name in held, f"there is no {name}")
    w = result.w
    _check_floats(w, "weights")
    fits = w.shape == (structure.dim,)
    require(fits, f"the weights do not fit the structure ({structure.dim} wide)")
    structure.validate()
    if "calibration_" in held:
        require(isinstance(held["calibration_"], Calibration), "it is not calibrated")
        held["calibration_"].check_labels(structure.label_count())
    for name in FLOATS:
        if name in held:
            _check_floats(held[name], name)
    if isinstance(structure, LabelSets) and expected is not None:
        _check_label_sets(held, structure)
    _check_shapes(held, structure, type(estimator).__name__ in CLASSIFIERS)


def _check_parameters(estimator: Any) -> None:
    """Parameters are of the types that the constructor names, and predictions can run."""
    hints = _hints(type(estimator).__init__)
    given = estimator.get_params(deep=False)
    for name, value in given.items():
        wrong = mismatch(value, hints.get(name, Any))
        require(not wrong, f"parameter {name} is {wrong}")
    check_parameters({k: given[k] for k in AT_PREDICTION if k in given})


def _check_learnt(estimator: Any) -> None:
    """What was learnt is of the types that the class names; structures are checked above."""
    hints = _hints(type(estimator))
    for name, value in vars(estimator).items():
        if name.endswith("_") and name != "structure_":
            wrong = mismatch(value, hints.get(name, Any))
            require(not wrong, f"{name} is {wrong}")


_KNOWN: dict[Any, dict[str, Any]] = {}


def _hints(thing: Any) -> dict[str, Any]:
    """Annotations of a class or function, looked up once."""
    if thing not in _KNOWN:
        _KNOWN[thing] = get_type_hints(thing)
    return _KNOWN[thing]


def _check_floats(array: Any, what: str) -> None:
    plain = isinstance(array, np.ndarray) and array.dtype == np.float64
    require(plain and array.flags.c_contiguous, f"{what} is not an array of floats")
    check_size(array, what)


def _check_shapes(held: dict[str, Any], structure: Structure, by_class: bool) -> None:
    """Weights by class for classifiers, one vector for all others."""
    if "expansion_" in held:
        require(isinstance(held["expansion_"], Expansion), "expansion_ is not one")
    if not (by_class and isinstance(structure, Multiclass)):
        if isinstance(structure, ClassPairs) and "n_features_in_" in held:
            inputs = np.asarray(structure.inputs)
            fits = inputs.shape == (structure.dim, held["n_features_in_"])
            require(fits or not structure.dim, "support pairs are misshapen")
        if "coef_" in held:
            check_shape(held["coef_"], (structure.dim,), "coef_")
        if "classes_" in held:
            _check_classes(held["classes_"], structure.label_count())
        return
    lifted = held.get("kernel") is not None
    require(lifted == ("expansion_" in held), "the points of the kernel are missing")
    _check_classes(held["classes_"], structure.k)
    rows, columns = 1 if structure.k == 2 else structure.k, int(held["n_features_in_"])
    check_shape(held["intercept_"], (rows,), "intercept_")
    if "expansion_" in held:
        points = len(held["expansion_"].beta)
        check_shape(held["dual_coef_"], (points, rows), "dual_coef_")
        require(held["expansion_"].inputs in (None, columns), "points are misshapen")
        require("coef_" not in held, "a kernel machine has no coef_")
    else:
        check_shape(held["coef_"], (rows, columns), "coef_")
        require(columns + (structure.bias != 0.0) == structure.width, "wrong width")


def _check_label_sets(held: dict[str, Any], structure: LabelSets) -> None:
    """Numbers for each label, and the labels of the structure."""
    labels = held["labels_"]
    require(len(labels.names) == structure.k, "the labels do not fit the structure")
    require(labels.parents == structure.parents, "labels have other parents")
    columns = int(held["n_features_in_"]) + (structure.bias != 0.0)
    require(columns == structure.inputs.width, "wrong width")
    for name, shape in (("thresholds_", ()), ("sigmoids_", (2,))):
        if name in held or name == "thresholds_":
            _check_floats(held[name], name)
            check_shape(held[name], (*shape, structure.k), name)


def _check_classes(classes: Any, number: int) -> None:
    require(isinstance(classes, np.ndarray), "classes_ is not an array")
    check_shape(classes, (number,), "classes_")
