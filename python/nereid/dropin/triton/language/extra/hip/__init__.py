"""Functions of triton.language.extra.hip, by name."""
from ...core import _fill

_fill(globals(), "triton.language.extra.hip")
del _fill
from . import libdevice  # noqa: E402, F401
