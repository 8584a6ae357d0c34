"""Compiled launches done by upstream's interpreter, without TRITON_INTERPRET.

Programs that insist on compiled functions (FlagGems wraps them) then run on a machine without a GPU. For trying programs
out, and for tests. With RECORD_DRY=1 a launch does nothing, which finds the mistakes of a driver quickly.
"""
import contextlib
import os
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from triton.runtime import interpreter, jit

from record.arguments import live_tensors, owner_of


class Operators(TorchDispatchMode):
    """Operators that a program registers for CUDA, called for tensors of the CPU, except inside of a launch: the
    interpreter itself works on tensors of the CPU."""

    table, active = {}, True

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function._schema.name.split("::")[-1]
        overload = function._overloadname
        own = self.table.get(name if overload == "default" else f"{name}.{overload}")
        if own and Operators.active:
            with self:
                return own(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

    @staticmethod
    @contextlib.contextmanager
    def paused():
        before, Operators.active = Operators.active, False
        try:
            yield
        finally:
            Operators.active = before


class Again:
    """In place of a compiled kernel: kernel[grid](every argument)."""

    def __init__(self, function, options):
        self.function, self.options = function, options
        self.n_regs = self.n_spills = 0

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.function.run(*args, grid=grid, warmup=False, **self.options)


def tensor_at(value):
    """A tensor in place of an object that has an address and a type only; the interpreter needs no more of it."""
    if isinstance(value, torch.Tensor) or not hasattr(value, "data_ptr") or hasattr(value, "base"):
        return value
    owner = owner_of(value.data_ptr(), live_tensors())
    if owner is None:
        return value
    storage = owner.untyped_storage()
    return torch.empty(0, dtype=value.dtype).set_(storage, (value.data_ptr() - storage.data_ptr()) // value.dtype.itemsize, (1,))


def install():
    made = {}
    original = torch.library.Library.impl

    def impl(self, name, function, dispatch_key="", **options):
        if "CUDA" not in dispatch_key or self.ns != "aten":
            return original(self, name, function, dispatch_key, **options)
        name = str(name).split("::")[-1]
        Operators.table[name] = function
        weakref.finalize(self, Operators.table.pop, name, None)

    torch.library.Library.impl = impl
    patch_tensor = interpreter._patch_lang_tensor

    def with_index(tensor, scope):
        """Since NumPy 2.5 an array of one element and one dimension is no index."""
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = with_index
    Operators().__enter__()

    def interpreted(self):
        if self.fn not in made:
            made[self.fn] = interpreter.InterpretedFunction(self.fn)
        return made[self.fn]

    def run(self, *args, grid, warmup, **kwargs):
        names = {p.name for p in self.params}
        if not warmup and not os.environ.get("RECORD_DRY"):
            with Operators.paused():
                interpreted(self).run(*map(tensor_at, args), grid=grid, warmup=False,
                                      **{k: tensor_at(v) for k, v in kwargs.items()})
        return Again(self, {k: v for k, v in kwargs.items() if k not in names})

    jit.JITFunction.run = run
    jit.JITFunction.__call__ = lambda self, *args, **kwargs: interpreted(self)(*args, **kwargs)
