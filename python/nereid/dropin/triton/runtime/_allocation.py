"""Allocators that scripts set. Nereid's kernels need no memory of theirs: it is remembered, and not called."""

_allocator = None


def set_allocator(allocator):
    """`allocator(size, alignment, stream)` of memory for kernels; None: none."""
    global _allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(f"triton.set_allocator: expected a function or None, got {type(allocator).__name__}")
    _allocator = allocator


class NullAllocator:
    """No memory, as where none was set."""

    def __call__(self, size, alignment, stream):
        raise RuntimeError("Kernel requires a runtime memory allocation, but no allocator was set. Use triton.set_allocator to specify an allocator.")
