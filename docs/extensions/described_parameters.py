"""The API page shows the docstrings of estimators as `help` shows them.

mkdocstrings reads the source without running it, but the descriptions of parameters
are put together by `describe_parameters` when a class is made. So the docstring of each
class that has this decorator is taken from the class itself.

griffe takes the first of several values in braces for the default, so
``{"a", "b"}, default="b"`` becomes ``"a" | "b", default="b"`` on the page.
"""

import inspect
import re
from importlib import import_module

import griffe

CHOICES = re.compile(r"^(\w+) : \{(.*?)\}", re.MULTILINE)
DECORATOR = "maxmargin.estimators.fitting.parameters.describe_parameters"


class DescribedParameters(griffe.Extension):
    """Replaces docstrings of the source by those that the decorator has completed."""

    def on_class(self, *, cls: griffe.Class, **_: object) -> None:
        """Take over the docstring of a decorated class."""
        if any(d.callable_path == DECORATOR for d in cls.decorators):
            made = getattr(import_module(cls.module.path), cls.name)
            assert cls.docstring is not None
            cls.docstring.value = CHOICES.sub(_alternatives, inspect.getdoc(made))


def _alternatives(found: re.Match[str]) -> str:
    name, values = found.groups()
    return f"{name} : {values.replace(', ', ' | ')}"
