"""Functions of triton.language.math, by name."""
from .core import _fill

_fill(globals(), "triton.language.math")
del _fill
