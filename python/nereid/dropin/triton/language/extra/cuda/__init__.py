"""Functions of triton.language.extra.cuda, by name."""
from ...core import _fill

_fill(globals(), "triton.language.extra.cuda")
del _fill
from . import libdevice  # noqa: E402, F401
