"""Kernels compiled by an executor's threads while the program goes on: triton.AsyncCompileMode."""
import contextvars

active_mode = contextvars.ContextVar("AsyncCompileMode", default=None)


class FutureKernel:
    """What `warmup` gives within the mode: stands for the compiled kernel, and waits for it where it is used."""

    def __init__(self, future):
        self._future = future

    def result(self, ignore_errors=False):
        """The compiled kernel. None if it failed and `ignore_errors`."""
        try:
            return self._future.result()
        except Exception:
            if not ignore_errors:
                raise
            return None

    def __getattr__(self, name):
        return getattr(self.result(), name)


class AsyncCompileMode:
    """`with triton.AsyncCompileMode(executor):` kernel.warmup(...) gives the compilation to `executor` (concurrent.futures) and returns. A
    launch of a kernel that is underway waits for it; the end of the block waits for all, and raises what the first failed one did, unless
    `ignore_errors`."""

    def __init__(self, executor, *, ignore_errors=False):
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"triton.AsyncCompileMode: expected an executor of concurrent.futures, got {type(executor).__name__}")
        self.executor, self.ignore_errors = executor, ignore_errors
        self.future_kernels = {}

    def submit(self, key, compile):
        """The one future of `key`; `compile` is called without arguments."""
        if key not in self.future_kernels:
            self.future_kernels[key] = FutureKernel(self.executor.submit(compile))
        return self.future_kernels[key]

    def __enter__(self):
        if active_mode.get() is not None:
            raise RuntimeError("triton.AsyncCompileMode: expected not to be within another one")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, kind, value, traceback):
        active_mode.reset(self._token)
        for kernel in self.future_kernels.values():
            kernel.result(ignore_errors=self.ignore_errors or kind is not None)


def key_of(function, args, kwargs):
    """Equal for calls of `function` that compile to the same form."""

    def part(value):
        if hasattr(value, "data_ptr"):
            return ("array", str(value.dtype), value.data_ptr() % 16 == 0, str(getattr(value, "device", None)))
        return (type(value), repr(value))

    return (function, tuple(map(part, args)), tuple((name, part(value)) for name, value in sorted(kwargs.items())))
