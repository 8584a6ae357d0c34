"""What goes wrong when a kernel is loaded or run."""
from triton.errors import TritonError


class InterpreterError(TritonError):

    def __init__(self, error_message=None):
        super().__init__(error_message or "")
        self.error_message = error_message


class OutOfResources(TritonError):
    """A kernel needs more of a device than it has."""

    def __init__(self, required, limit, name):
        super().__init__(f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
                         "Reducing block sizes or `num_stages` may help.")
        self.required, self.limit, self.name = required, limit, name

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name)


class PTXASError(TritonError):

    def __init__(self, error_message=None):
        super().__init__(error_message or "")
        self.error_message = error_message


class AutotunerError(TritonError):

    def __str__(self):
        return f"Autotuner error: {super().__str__()}"
