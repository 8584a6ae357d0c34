"""Functions of triton.language.extra.libdevice, by name."""
from ..core import _fill

_fill(globals(), "triton.language.extra.libdevice")
del _fill
