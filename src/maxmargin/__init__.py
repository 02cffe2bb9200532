"""Max-margin structured prediction with a certificate of optimality on every fit.

`__init__.pyi` lists the public names and where they live. They are imported when first
asked for, so `import maxmargin` costs nothing and Numba is loaded only where it is used.
"""

import lazy_loader as lazy

__version__ = "0.2.0.dev0"
__getattr__, _, __all__ = lazy.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    return sorted(__all__)
