"""The compiler's and the runtime's failures as Python's exceptions."""
import re
import typing

from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.errors import OutOfResources


class Diagnostic(typing.NamedTuple):
    """One message about a place in a kernel."""
    severity: str
    filename: str
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int
    message: str
    source_line: str
    hint: str
    notes: tuple = ()

    def __str__(self):
        text = f"{self.filename}:{self.lineno}:{self.col_offset + 1}: {self.severity}: {self.message}" if self.filename else f"{self.severity}: {self.message}"
        if self.source_line:
            end = self.end_col_offset if self.end_lineno == self.lineno else len(self.source_line)
            text += f"\n  {self.source_line}\n  {' ' * self.col_offset}{'^' * max(1, end - self.col_offset)}"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return "\n".join([text, *map(str, self.notes)])


def _diagnostic(fields, lines):
    severity, filename, line, column, end_line, end_column, message, source_line, hint, notes = fields
    shift = 0
    if lines is not None and filename == lines.path:
        filename, mapped = lines.place(line)
        shift = mapped - line
    return Diagnostic(severity, filename, line + shift, max(column, 1) - 1, end_line + shift, max(end_column, 1) - 1, message,
                      source_line, hint, tuple(_diagnostic(note, lines) for note in notes))


#: Messages, and what upstream says of the same mistake: for those who search for its words.
_UPSTREAMS_WORDS = (
    (r"operator '(&|\||\^|<<|>>)' is not defined for floats", "invalid operands of type"),
    (r"cannot divide .* differ in signedness", "Cannot use this operator because they have different signedness"),
    (r"tl\.store: argument 'pointer': expected a pointer that may be written", "Cannot store to a constant pointer"),
)


def _upstreams_words(message):
    return "".join(f"\n  upstream: {words}" for pattern, words in _UPSTREAMS_WORDS if re.search(pattern, message))


class KernelFault(RuntimeError):
    """A device_assert, or an access that a check or the system found."""


class Unsupported(OutOfResources):
    """Understood, but not on this device: also what needs more of it than it has."""

    def __init__(self, message):
        Exception.__init__(self, message)
        self.required = self.limit = None
        self.name = message

    def __reduce__(self):
        return type(self), (self.name,)


def make(code, message, diagnostics, lines):
    """For nereid._native: the exception that stands for a Failure."""
    places = [_diagnostic(fields, lines) for fields in diagnostics]
    text = "\n".join([message] * bool(message) + [str(place) for place in places])
    if code == "compile error":
        is_assertion = bool(places) and places[0].message.startswith("static assertion failed")
        found = "\n".join(map(str, places)) or message
        return (CompileTimeAssertionFailure if is_assertion else CompilationError)(found + _upstreams_words(found), places)
    warps = re.search(r"launch option 'num_warps': expected .*, got the int (\d+)", text)
    if warps and int(warps[1]) > 32 and int(warps[1]).bit_count() == 1:
        # More threads than any device has: a configuration that a tuner passes over.
        return Unsupported(f"out of resource: threads, Required: {32 * int(warps[1])}, Hardware limit: 1024. {text}")
    types = {
        "invalid argument": ValueError,
        "out of memory": MemoryError,
        "input/output error": OSError,
        "kernel fault": KernelFault,
        "unsupported": Unsupported,
    }
    return types.get(code, RuntimeError)(text)
