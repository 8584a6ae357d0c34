"""Functions of triton.language.target_info, by name."""
from .core import _fill

_fill(globals(), "triton.language.target_info")
del _fill
