"""Common expressions, their derivatives, and each operation alone, for programs without a compiler.

scripts/update-docs writes this file: the expressions are in kernels/testing/ExpressionForms.cpp.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 + x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def subtract_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 - x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def subtract_backward_1_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = -x0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def multiply_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def multiply_backward_0_1_kernel(y0_ptr, y1_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = x0 * x2
    tl.store(y0_ptr + at, t0, mask=inside)
    tl.store(y1_ptr + at, t1, mask=inside)


@triton.jit
def scale_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * c0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def shift_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 + c0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def add_scaled_kernel(y_ptr, x0_ptr, x1_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x1 * c0
    t1 = x0 + t0
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def square_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def square_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = t0 + t0
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def sigmoid_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def sigmoid_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x1)
    t1 = -x1
    t2 = tl.sigmoid(t1)
    t3 = t0 * t2
    t4 = x0 * t3
    tl.store(y_ptr + at, t4, mask=inside)


@triton.jit
def tanh_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = libdevice.tanh(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def tanh_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = libdevice.tanh(x1)
    t1 = t0 * t0
    t2 = 1.0 - t1
    t3 = x0 * t2
    tl.store(y_ptr + at, t3, mask=inside)


@triton.jit
def relu_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.maximum(x0, 0.0, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def relu_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = 0.0 < x0
    t1 = tl.where(t0, x1, 0.0)
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def relu_squared_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.maximum(x0, 0.0, propagate_nan=tl.PropagateNan.ALL)
    t1 = t0 * t0
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def relu_squared_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = 0.0 < x0
    t1 = tl.maximum(x0, 0.0, propagate_nan=tl.PropagateNan.ALL)
    t2 = x1 * t1
    t3 = t2 + t2
    t4 = tl.where(t0, t3, 0.0)
    tl.store(y_ptr + at, t4, mask=inside)


@triton.jit
def silu_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x0)
    t1 = x0 * t0
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def silu_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x1)
    t1 = x0 * t0
    t2 = x0 * x1
    t3 = -x1
    t4 = tl.sigmoid(t3)
    t5 = t0 * t4
    t6 = t2 * t5
    t7 = t1 + t6
    tl.store(y_ptr + at, t7, mask=inside)


@triton.jit
def gelu_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * 0.70710678
    t1 = tl.erf(t0)
    t2 = t1 * 0.5
    t3 = t2 + 0.5
    t4 = x0 * t3
    tl.store(y_ptr + at, t4, mask=inside)


@triton.jit
def gelu_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x1 * 0.70710678
    t1 = tl.erf(t0)
    t2 = t1 * 0.5
    t3 = t2 + 0.5
    t4 = x0 * t3
    t5 = x0 * x1
    t6 = t5 * 0.5
    t7 = t0 * t0
    t8 = -t7
    t9 = tl.exp(t8)
    t10 = t9 * 1.1283792
    t11 = t6 * t10
    t12 = t11 * 0.70710678
    t13 = t4 + t12
    tl.store(y_ptr + at, t13, mask=inside)


@triton.jit
def gelu_tanh_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x0
    t1 = t0 * 0.071354816
    t2 = t1 + 1.59576912
    t3 = x0 * t2
    t4 = tl.sigmoid(t3)
    t5 = x0 * t4
    tl.store(y_ptr + at, t5, mask=inside)


@triton.jit
def gelu_tanh_backward_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x1 * x1
    t1 = t0 * 0.071354816
    t2 = t1 + 1.59576912
    t3 = x1 * t2
    t4 = tl.sigmoid(t3)
    t5 = x0 * t4
    t6 = x0 * x1
    t7 = -t3
    t8 = tl.sigmoid(t7)
    t9 = t4 * t8
    t10 = t6 * t9
    t11 = t10 * t2
    t12 = t5 + t11
    t13 = t10 * x1
    t14 = t13 * 0.071354816
    t15 = t14 * x1
    t16 = t12 + t15
    t17 = t16 + t15
    tl.store(y_ptr + at, t17, mask=inside)


@triton.jit
def swiglu_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x0)
    t1 = x0 * t0
    t2 = t1 * x1
    tl.store(y_ptr + at, t2, mask=inside)


@triton.jit
def swiglu_backward_0_kernel(y_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = tl.sigmoid(x2)
    t2 = t0 * t1
    t3 = t0 * x2
    t4 = -x2
    t5 = tl.sigmoid(t4)
    t6 = t1 * t5
    t7 = t3 * t6
    t8 = t2 + t7
    tl.store(y_ptr + at, t8, mask=inside)


@triton.jit
def swiglu_backward_1_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sigmoid(x1)
    t1 = x1 * t0
    t2 = x0 * t1
    tl.store(y_ptr + at, t2, mask=inside)


@triton.jit
def swiglu_backward_0_1_kernel(y0_ptr, y1_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = tl.sigmoid(x2)
    t2 = t0 * t1
    t3 = t0 * x2
    t4 = -x2
    t5 = tl.sigmoid(t4)
    t6 = t1 * t5
    t7 = t3 * t6
    t8 = t2 + t7
    t9 = x2 * t1
    t10 = x0 * t9
    tl.store(y0_ptr + at, t8, mask=inside)
    tl.store(y1_ptr + at, t10, mask=inside)


@triton.jit
def geglu_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * 0.70710678
    t1 = tl.erf(t0)
    t2 = t1 * 0.5
    t3 = t2 + 0.5
    t4 = x0 * t3
    t5 = t4 * x1
    tl.store(y_ptr + at, t5, mask=inside)


@triton.jit
def geglu_backward_0_kernel(y_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = x2 * 0.70710678
    t2 = tl.erf(t1)
    t3 = t2 * 0.5
    t4 = t3 + 0.5
    t5 = t0 * t4
    t6 = t0 * x2
    t7 = t6 * 0.5
    t8 = t1 * t1
    t9 = -t8
    t10 = tl.exp(t9)
    t11 = t10 * 1.1283792
    t12 = t7 * t11
    t13 = t12 * 0.70710678
    t14 = t5 + t13
    tl.store(y_ptr + at, t14, mask=inside)


@triton.jit
def geglu_backward_1_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x1 * 0.70710678
    t1 = tl.erf(t0)
    t2 = t1 * 0.5
    t3 = t2 + 0.5
    t4 = x1 * t3
    t5 = x0 * t4
    tl.store(y_ptr + at, t5, mask=inside)


@triton.jit
def geglu_backward_0_1_kernel(y0_ptr, y1_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 * x1
    t1 = x2 * 0.70710678
    t2 = tl.erf(t1)
    t3 = t2 * 0.5
    t4 = t3 + 0.5
    t5 = t0 * t4
    t6 = t0 * x2
    t7 = t6 * 0.5
    t8 = t1 * t1
    t9 = -t8
    t10 = tl.exp(t9)
    t11 = t10 * 1.1283792
    t12 = t7 * t11
    t13 = t12 * 0.70710678
    t14 = t5 + t13
    t15 = x2 * t4
    t16 = x0 * t15
    tl.store(y0_ptr + at, t14, mask=inside)
    tl.store(y1_ptr + at, t16, mask=inside)


@triton.jit
def dropout_kernel(y_ptr, x0_ptr, n, c0, c1, c2, c3, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    position = at
    t0 = tl.where(tl.rand(c0, c1 + position) < c2, 0.0, x0 * c3)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def add_dropout_kernel(y_ptr, x0_ptr, x1_ptr, n, c0, c1, c2, c3, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    position = at
    t0 = tl.where(tl.rand(c0, c1 + position) < c2, 0.0, x1 * c3)
    t1 = x0 + t0
    tl.store(y_ptr + at, t1, mask=inside)


@triton.jit
def divide_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 / x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def subtract_number_fp32_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 - c0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def number_subtract_fp32_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = c0 - x0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def divide_number_fp32_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 / c0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def number_divide_fp32_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = c0 / x0
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def exp_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.exp(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def log_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.log(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def sqrt_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sqrt(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def rsqrt_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.rsqrt(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def erf_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.erf(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def abs_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.abs(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def sin_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.sin(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def cos_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.cos(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def log1p_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = libdevice.log1p(x0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def softplus_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.maximum(x0, 0.0, propagate_nan=tl.PropagateNan.ALL) + libdevice.log1p(tl.exp(-tl.abs(x0)))
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def pow_fp32_kernel(y_ptr, x0_ptr, n, c0, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = libdevice.pow(x0, c0)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def less_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 < x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def less_equal_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 <= x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def equal_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 == x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def not_equal_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 != x1
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def maximum_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.maximum(x0, x1, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def minimum_fp32_kernel(y_ptr, x0_ptr, x1_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.minimum(x0, x1, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def where_fp32_kernel(y_ptr, x0_ptr, x1_ptr, x2_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + at, mask=inside).to(tl.float32)
    x2 = tl.load(x2_ptr + at, mask=inside).to(tl.float32)
    t0 = tl.where((x0 != 0), x1, x2)
    tl.store(y_ptr + at, t0, mask=inside)


@triton.jit
def is_not_zero_fp32_kernel(y_ptr, x0_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x0 = tl.load(x0_ptr + at, mask=inside).to(tl.float32)
    t0 = x0 != 0
    tl.store(y_ptr + at, t0, mask=inside)
