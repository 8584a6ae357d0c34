"""Arrays for kernels: poisoned outputs, guarded surroundings, strided views.

An array lives in pages of its own. Two placements:

  aligned   starts at a 64-byte boundary; 4 KiB of guard bytes before and after
            it must survive the launch
  edge      ends where an unreadable page begins, so that reading or writing a
            single byte past the end is a segmentation fault; its start has the
            alignment of an element only, which also turns the specialization
            on aligned pointers off

Everything around an input reads as NaN (0xff bytes), so that a masked-off load
that leaks into a result shows. An output is filled with 0xab: what the kernel
must not write keeps that pattern.
"""

import ctypes
import mmap
import sys
from pathlib import Path

import numpy as np

from numbers_model import bf16_bits, bf16_values

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
import bridge  # noqa: E402

GUARD = 4096
POISON = 0xAB

STORAGE = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": np.uint16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "i1": np.uint8,
}

_libc = ctypes.CDLL(None, use_errno=True)


def is_float(dtype):
    return dtype in ("fp64", "fp32", "fp16", "bf16")


def encode(values, dtype):
    """Numbers as the elements that are stored, rounded to nearest even."""
    if dtype == "bf16":
        return bf16_bits(np.asarray(values, np.float32))
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(STORAGE[dtype])


def decode(stored, dtype):
    """Stored elements as numbers: float64, or the integers themselves."""
    if dtype == "bf16":
        return bf16_values(stored).astype(np.float64)
    return stored.astype(np.float64) if is_float(dtype) else stored


class _Pages:
    """Whole pages followed by one that cannot be touched."""

    def __init__(self, size):
        page = mmap.PAGESIZE
        body = (size + page - 1) // page * page
        self.map = mmap.mmap(-1, body + page)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.body = body
        if _libc.mprotect(ctypes.c_void_p(self.address + body), ctypes.c_size_t(page), 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def bytes(self):
        return np.frombuffer(self.map, np.uint8, self.body)


class Array:
    """One tensor argument of a case: In, Out or InOut below."""

    written = False

    def __init__(self, shape, dtype, strides=None, offset_elements=0):
        self.shape, self.dtype = tuple(shape), dtype
        self.strides = tuple(strides) if strides else bridge.row_major(self.shape)
        self.item = np.dtype(STORAGE[dtype]).itemsize
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides)) if 0 not in self.shape else -1
        self.extent = max(last + 1, 1)

    def initial(self):
        """Stored elements at the start, or None: poison."""
        return None

    def place(self, placement):
        size = self.extent * self.item
        if placement == "edge":
            pages = _Pages(size)
            start = pages.body - size
        else:
            pages = _Pages(size + 2 * GUARD)
            start = GUARD
        raw = pages.bytes()
        raw[:] = POISON if self.written else 0xFF
        self._pages, self._raw, self._start, self._size = pages, raw, start, size
        self.address = self.kernel_address = pages.address + start
        flat = raw[start:start + size].view(STORAGE[self.dtype])
        byte_strides = [s * self.item for s in self.strides]
        self.view = np.lib.stride_tricks.as_strided(flat, self.shape, byte_strides)
        values = self.initial()
        if values is not None:
            self.view[...] = values
        self._before = raw.copy()
        return bridge.Tensor(self.address, self.dtype, self.shape, self.strides)

    @property
    def raw(self):
        """All bytes, those around the array included."""
        return self._raw

    def untouched_message(self, written=None):
        """Bytes outside `written` (a bool array of the view's shape) changed?"""
        allowed = np.zeros(self._raw.size, bool)
        if written is not None:
            flat = allowed[self._start:self._start + self._size].reshape(self.extent, self.item)
            index = sum((np.arange(n).reshape([-1] + [1] * (len(self.shape) - 1 - d)) * s
                         for d, (n, s) in enumerate(zip(self.shape, self.strides))),
                        np.zeros((1,) * len(self.shape), np.int64))
            flat[np.broadcast_to(index, self.shape)[written].ravel()] = True
        changed = np.flatnonzero((self._raw != self._before) & ~allowed)
        if not changed.size:
            return None
        element = (int(changed[0]) - self._start) // self.item
        where = "before the array" if element < 0 else (
            "after the array" if element >= self.extent else "inside, but not to be written")
        return f"{changed.size} bytes changed {where} (first: element {element} of {self.extent})"


class In(Array):
    """An input; `values` are numbers, rounded to the dtype."""

    def __init__(self, values, dtype, strides=None):
        self._stored = encode(values, dtype)
        super().__init__(self._stored.shape, dtype, strides)

    def initial(self):
        return self._stored

    @property
    def values(self):
        """What the kernel reads, exactly: float64 or integers."""
        return decode(self._stored, self.dtype)


class Out(Array):
    """An output, poisoned."""

    written = True


class InOut(In):
    """Read and written."""

    written = True
