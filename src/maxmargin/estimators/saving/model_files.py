"""`save` and `load`: estimators in model files."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import maxmargin
from maxmargin.estimators.saving.model_checks import (
    check_whole,
    is_fitted,
    validated_later,
)
from maxmargin.estimators.saving.model_tags import TAGS
from maxmargin.io.model_file.archive import MOST_BYTES, ModelFileError
from maxmargin.io.model_file.model import Place, read_model, versions, write_model

E = TypeVar("E")
NAMES = {home: tag for tag, home in TAGS.items()}  # the table, the other way round


def save(
    estimator: object, path: Place, *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to one model file, atomically.

    The file is a zip of JSON and arrays: no pickle, nothing that could run. Labels and
    vocabularies travel along; `callbacks`, `engine`, `checkpoint`, the dual state and
    the completed outputs of training do not.

    Parameters
    ----------
    estimator : estimator of the package
    path : str, path or binary file
        By custom ``something.mm``.
    notes : mapping, optional
        JSON that travels along, say the command; in `provenance_` after loading, with
        the versions that wrote the file.

    Examples
    --------
    >>> import io
    >>> from maxmargin import MulticlassSVM, load, save
    >>> model = MulticlassSVM().fit([[-2.0], [2.0], [-1.0], [3.0]], list("abab"))
    >>> file = io.BytesIO()
    >>> save(model, file)
    >>> load(io.BytesIO(file.getvalue())).predict([[-1.0], [1.0]]).tolist()
    ['a', 'b']
    """
    if tag_of(type(estimator)) is None or not isinstance(estimator, BaseEstimator):
        raise TypeError(
            f"{type(estimator).__name__} is not an estimator of maxmargin: model files "
            "hold those only"
        )
    if not any(name.endswith("_") for name in vars(estimator)):
        raise NotFittedError(
            f"this {type(estimator).__name__} is not fitted: there is nothing to save"
        )
    known = {**versions(), "maxmargin": maxmargin.__version__}
    earlier = vars(estimator).get("provenance_", {})
    told = {**known, **earlier, **(notes or {})}
    # A file that `load` would refuse is of no use to anyone.
    write_model(estimator, path, tag_of, told, check=check_whole)


def load(path: Place, *, own: Any = (), max_bytes: int = MOST_BYTES) -> Any:
    """Read an estimator that `save` wrote; it predicts bit for bit the same.

    Parameters
    ----------
    path : str, path or binary file
    own : class, function or object, or several
        What the model uses that is not part of the package, say the structure given to
        `StructuralSVM`. A class gets back the attributes that its object had; an object
        is used as it is.
    max_bytes : int
        Bytes that the arrays of the file may take together; a file that claims more is
        refused before memory is taken.

    Returns
    -------
    estimator
        Fitted, with `provenance_`: the versions that wrote the file, and notes.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, too new, or needs `own`.

    Examples
    --------
    >>> import io
    >>> from maxmargin import ChainSVM
    >>> file = io.BytesIO()
    >>> save(ChainSVM().fit([[["a"], ["b"]]], [["N", "V"]]), file)
    >>> list(load(io.BytesIO(file.getvalue())).predict([[["a"]]])[0])
    ['N']
    """
    given = [own] if not isinstance(own, list | tuple | set | frozenset) else own
    named = {getattr(o, "__name__", type(o).__name__): o for o in given}
    estimator, notes = read_model(
        path, class_of, named, max_bytes, _check_loaded, validated_later
    )
    vars(estimator)["provenance_"] = notes
    return estimator


def load_as(
    kind: type[E], path: Place, *, own: Any = (), max_bytes: int = MOST_BYTES
) -> E:
    """Read an estimator of this class; see `load`."""
    estimator = load(path, own=own, max_bytes=max_bytes)
    if not isinstance(estimator, kind):
        raise ModelFileError(
            f"the file holds a {type(estimator).__name__}, not a {kind.__name__}"
        )
    return estimator


def _check_loaded(estimator: Any) -> None:
    if not isinstance(estimator, BaseEstimator):
        raise ModelFileError(f"the file holds a {type(estimator).__name__}, no model")
    if not is_fitted(estimator):
        raise ModelFileError("the estimator in the file is not fitted")
    check_whole(estimator)


def class_of(name: str) -> type:
    """The class behind a name in a file."""
    if name not in TAGS:
        raise ModelFileError(f"the file names a class {name!r:.80} that is not known")
    module, _, attribute = TAGS[name].partition(":")
    found: type = getattr(importlib.import_module(module), attribute)
    return found


def tag_of(made: type) -> str | None:
    """The name of a class in files; None if it is not one of ours."""
    return NAMES.get(f"{made.__module__}:{made.__name__}")
