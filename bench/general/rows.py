"""Rows: reductions along the fastest dimension, in the forms that people write."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_backward_kernel(dx_ptr, dw_ptr, dy_ptr, x_ptr, w_ptr, rstd_ptr, M, N, stride, ROWS: tl.constexpr,
                             BLOCK: tl.constexpr):
    """dx of [M, N]; a program adds its ROWS rows' part of dw [N] (fp32, zero before) by atomics."""
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    w = tl.load(w_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    part = tl.zeros([BLOCK], tl.float32)
    first = tl.program_id(0) * ROWS
    for row in range(first, min(first + ROWS, M)):
        x = tl.load(x_ptr + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normed = x * rstd
        wdy = w * dy
        dot = tl.sum(wdy * normed, axis=0) / N
        tl.store(dx_ptr + row * stride + columns, (wdy - normed * dot) * rstd, mask=inside)
        part += dy * normed
    tl.atomic_add(dw_ptr + columns, part, mask=inside)


@triton.jit
def quantize_rows_kernel(q_ptr, scale_ptr, x_ptr, N, stride, BLOCK: tl.constexpr):
    """[M, N] to fp8 (e4m3), a scale for each row: the largest magnitude over 448."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    x = tl.load(x_ptr + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-12) / 448.0
    q = tl.clamp(x / scale, -448.0, 448.0)
    tl.store(q_ptr + row * stride + columns, q.to(q_ptr.dtype.element_ty), mask=inside)
    tl.store(scale_ptr + row, scale)


@triton.jit
def persistent_softmax_kernel(y_ptr, x_ptr, M, N, stride, BLOCK: tl.constexpr):
    """Each program takes every num_programs-th row."""
    columns = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), M, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=columns < N)


@triton.jit
def looped_layer_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, N, stride, eps, BLOCK: tl.constexpr):
    """A row in pieces of BLOCK columns: a pass for the mean, one for the variance, one for the result."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
        x = tl.where(columns < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < N
        x = tl.load(x_ptr + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + columns, mask=inside).to(tl.float32)
        b = tl.load(b_ptr + columns, mask=inside).to(tl.float32)
        tl.store(y_ptr + row * stride + columns, (x - mean) * rstd * w + b, mask=inside)


@triton.jit
def cross_entropy_kernel(loss_ptr, logits_ptr, target_ptr, N, stride, BLOCK: tl.constexpr):
    """-log softmax at the target, the largest and the sum of exponentials kept over pieces of BLOCK columns."""
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * stride + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger), axis=0)
        largest = larger
    target = tl.load(target_ptr + row)
    chosen = tl.load(logits_ptr + row * stride + target).to(tl.float32)
    tl.store(loss_ptr + row, largest + tl.log(total) - chosen)


@triton.jit
def top_k_kernel(values_ptr, indices_ptr, x_ptr, N, stride, K: tl.constexpr, BLOCK: tl.constexpr):
    """The K largest of each row, one after the other."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
    for k in range(K):
        value, index = tl.max(x, axis=0, return_indices=True)
        tl.store(values_ptr + row * K + k, value)
        tl.store(indices_ptr + row * K + k, index)
        x = tl.where(columns == index, -float("inf"), x)


@triton.jit
def group_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, C, S, GROUPS, eps, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """[B, C, S], groups of C / GROUPS = GROUP channels: a program normalises one group."""
    batch = tl.program_id(0) // GROUPS
    group = tl.program_id(0) % GROUPS
    channels = group * GROUP + tl.arange(0, GROUP)
    spots = tl.arange(0, BLOCK)
    places = (batch * C + channels[:, None]) * S + spots[None, :]
    inside = (spots < S)[None, :]
    x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
    count = GROUP * S
    mean = tl.sum(tl.sum(x, axis=1), axis=0) / count
    centred = tl.where(inside, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(tl.sum(centred * centred, axis=1), axis=0) / count + eps)
    w = tl.load(w_ptr + channels).to(tl.float32)
    b = tl.load(b_ptr + channels).to(tl.float32)
    tl.store(y_ptr + places, centred * rstd * w[:, None] + b[:, None], mask=inside)
