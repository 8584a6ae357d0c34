"""What is wrong with a kernel's source."""
from triton.errors import TritonError


class CompilationError(TritonError):
    """str() is the message with the line and a caret. `filename`, `lineno` and `col_offset` say where, `hint` what to
    do, `diagnostics` has all of it."""

    def __init__(self, message="", diagnostics=()):
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else None
        self.filename = first.filename if first else None
        self.lineno = first.lineno if first else None
        self.col_offset = first.col_offset if first else None
        self.error_message = first.message if first else message
        self.hint = first.hint if first else None

    def __reduce__(self):
        return type(self), (self.message, self.diagnostics)


class CompileTimeAssertionFailure(CompilationError):
    """A static_assert does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that kernels may not have."""
