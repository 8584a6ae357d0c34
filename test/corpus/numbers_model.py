"""The arithmetic of references: float64, and a naive loop in the kernel's type.

A reference is written once, as a function of a `Numbers` object, and evaluated
by both kinds. `exact` computes in float64 and never rounds. A `naive` one
computes in float32 (float64 for fp64 kernels) as a plain loop would: one
accumulator, one element after the other, and rounds where the kernel's source
rounds. The error of `naive` is what a kernel may make, times two, plus one
rounding of the output's type (README.md here has the reasons). There are
several naive ones, which differ in the order of the elements: one alone may be
right by luck.
"""

import numpy as np


def bf16_bits(values):
    """float32 -> the 16 bits of bfloat16, to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def bf16_values(bits):
    return (np.ascontiguousarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


MANTISSA = {"fp64": 52, "fp32": 23, "fp16": 10, "bf16": 7}
MIN_EXPONENT = {"fp64": -1022, "fp32": -126, "fp16": -14, "bf16": -126}


def spacing(values, dtype):
    """The distance between neighbouring numbers of `dtype` at each value."""
    magnitude = np.abs(np.where(np.isfinite(values), values, 1.0))
    _, exponent = np.frexp(magnitude)
    exponent = np.where(magnitude == 0, MIN_EXPONENT[dtype], np.maximum(exponent - 1, MIN_EXPONENT[dtype]))
    return np.ldexp(1.0, exponent - MANTISSA[dtype])


def tf32_values(values):
    """Rounded to nearest, ties away from zero, as cvt.rna does."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64) + 0x1000
    return (bits & 0xffffe000).astype(np.uint32).view(np.float32)


class Numbers:
    def __init__(self, exact, dtype=np.float64, order=0, tf32=False):
        """`tf32`: products of matrices read float32 with 10 bits of mantissa,
        as the language lets a GPU do unless the kernel says otherwise."""
        self.exact, self.dtype, self.order, self.tf32 = exact, dtype, order, tf32

    def of(self, values):
        return np.asarray(values).astype(self.dtype)

    def full(self, shape, value=0.0):
        return np.full(shape, value, self.dtype)

    def round(self, values, dtype):
        """Where the kernel's source converts to a narrower type."""
        if self.exact or dtype == "fp32" or dtype == "fp64":
            return values
        if dtype == "bf16":
            return bf16_values(bf16_bits(values)).astype(self.dtype)
        return values.astype(np.float16).astype(self.dtype)

    def sum(self, values, axis=-1, keepdims=False):
        if self.exact:
            return values.sum(axis=axis, keepdims=keepdims)
        values = values.take(self.order_of(values.shape[axis]), axis=axis)
        total = np.add.accumulate(values, axis=axis, dtype=self.dtype).take([-1], axis=axis)
        return total if keepdims else np.squeeze(total, axis)

    def order_of(self, count):
        """Forwards, backwards, then shuffled."""
        indices = np.arange(count)
        if self.order < 2:
            return indices[::1 - 2 * self.order]
        return np.random.default_rng(self.order).permutation(count)

    def dot(self, a, b):
        """[..., M, K] @ [..., K, N], accumulated over K in order."""
        if self.exact:
            return a @ b
        if self.tf32:
            a, b = tf32_values(a), tf32_values(b)
        total = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1]), self.dtype)
        for k in self.order_of(a.shape[-1]):
            total += a[..., :, k, None] * b[..., None, k, :]
        return total

    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))


EXACT = Numbers(True)
EXACT80 = Numbers(True, np.longdouble)  # for kernels that compute in float64
NAIVE = [Numbers(False, np.float32, order) for order in range(5)]
NAIVE_TF32 = [Numbers(False, np.float32, order, tf32=True) for order in range(5)]
NAIVE64 = [Numbers(False, np.float64, order) for order in range(5)]
