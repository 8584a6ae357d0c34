"""TRITON_INTERPRET=1 runs kernels on Nereid's interpreter; they are jit functions as others are."""


class InterpretedFunction:
    """Upstream's class of this name, for isinstance: no function is one here."""
