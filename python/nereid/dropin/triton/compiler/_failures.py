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


#: Messages, and what upstream says of the same mistake: for those who search for its words. The last ones are causes upstream.
_UPSTREAMS_WORDS = (
    (r"operator '(&|\||\^|<<|>>)' is not defined for floats", "invalid operands of type"),
    (r"cannot divide .* differ in signedness", "Cannot use this operator because they have different signedness"),
    (r"tl\.store: argument 'pointer': expected a pointer that may be written", "Cannot store to a constant pointer"),
    (r"the global '(\w+)' .*is not a compile-time constant", r"Cannot access global variable \1"),
    (r"'(\w+)' is both tl\.constexpr and in do_not_specialize", r"\1 marked as constexpr and listed in do_not_specialize"),
)
_UPSTREAMS_CAUSES = (
    (r"argument 'max_num_imprecise_acc': expected at most K \((\d+)\), got (\d+)", r"max_num_imprecise_acc (\2) must be <= K (\1)"),
    (r"'(?:triton\.language|tl)\.float8(\w+)'", r"type fp8\1 not supported in this architecture"),
)


def _upstreams_words(message, table=_UPSTREAMS_WORDS):
    return [found.expand(words) for pattern, words in table if (found := re.search(pattern, message))]


def warn(fields, lines):
    """A warning of the compiler's as one of Python's, at the kernel's line."""
    import warnings
    place = _diagnostic(fields, lines)
    text = place.message + (f"; hint: {place.hint}" if place.hint else "")
    warnings.warn_explicit(text, UserWarning, place.filename or "<kernel>", place.lineno)


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


def _compilation_error(places, text, lines):
    """The exception of a kernel's function, caused by that of the function it calls, and so on to the one with the mistake."""
    mistake = places[0] if places else None
    text = "\n".join([text, *(f"  upstream: {words}" for words in _upstreams_words(text))])
    kind = CompileTimeAssertionFailure if mistake and mistake.message.startswith("static assertion failed") else CompilationError
    if mistake is None or lines is None:
        return kind(text, places)
    causes = _upstreams_words(mistake.message, _UPSTREAMS_CAUSES)
    cause = ValueError(causes[0]) if causes else None
    frames = [mistake, *(note for note in mistake.notes if note.message.startswith("called from"))]
    for depth, frame in enumerate(frames):
        is_last = depth + 1 == len(frames)
        within = lines.within(frame.filename, frame.lineno, frame.col_offset)
        where = "" if within is None else "\n  in {}, at {}:{}: {}".format(*within, frame.source_line.strip())
        if is_last and not where and cause is None:
            return kind(text, places)
        error = kind((text if is_last else str(frame._replace(notes=(), hint=""))) + where, places if is_last else [frame])
        error.__cause__ = cause
        cause = error
    return cause


def make(code, message, diagnostics, lines):
    """For nereid._native: the exception that stands for a Failure."""
    places = [_diagnostic(fields, lines) for fields in diagnostics]
    text = "\n".join([message] * bool(message) + [str(place) for place in places])
    if code == "compile error":
        return _compilation_error(places, "\n".join(map(str, places)) or message, lines)
    warps = re.search(r"launch option 'num_warps': expected .*, got the int (\d+)", text)
    if warps and int(warps[1]) > 32 and int(warps[1]).bit_count() == 1:
        # More threads than any device has: a configuration that a tuner passes over.
        return Unsupported(f"out of resource: threads, Required: {32 * int(warps[1])}, Hardware limit: 1024. {text}")
    if code == "kernel fault" and re.search("overflow|device_assert|assertion", text):
        text += "\n  upstream: device-side assert triggered"
    types = {
        "invalid argument": ValueError,
        "out of memory": MemoryError,
        "input/output error": OSError,
        "kernel fault": KernelFault,
        "unsupported": Unsupported,
    }
    return types.get(code, RuntimeError)(text)
