"""Sums over one dimension, in float32, in a fixed order."""
import triton
import triton.language as tl


@triton.jit
def inner_sums_kernel(y_ptr, x_ptr, rows, N, part_size, parts, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[i, p] = sum of x[i, j] for j in part p, x contiguous. Programs (row blocks, parts)."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, N)
    cols = tl.arange(0, BLOCK_N)
    exists = row < rows
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        inside = exists[:, None] & (cols < end - start)[None, :]
        total += tl.load(x_ptr + (row * N + start)[:, None] + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * parts + part, tl.sum(total, axis=1), mask=exists)


@triton.jit
def outer_sums_kernel(y_ptr, x_ptr, M, N, part_size, parts, column_blocks, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr):
    """y[b, p, j] = sum of x[b, i, j] for i in part p, x contiguous. Programs (b * column blocks, parts)."""
    batch = (tl.program_id(0) // column_blocks).to(tl.int64)
    cols = (tl.program_id(0) % column_blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, M)
    rows = tl.arange(0, BLOCK_M)
    exists = cols < N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(begin, end, BLOCK_M):
        inside = (rows < tl.minimum(end - start, BLOCK_M).to(tl.int32))[:, None] & exists[None, :]
        row = (batch * M + start + rows) * N
        total += tl.load(x_ptr + row[:, None] + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + (batch * parts + part) * N + cols, tl.sum(total, axis=0), mask=exists)


@triton.jit
def widened(x, WIDE: tl.constexpr):
    """What is reduced in: float32, float64, int64 or uint64."""
    if WIDE == "double":
        x = x.to(tl.float64)
    elif WIDE == "signed":
        x = x.to(tl.int64)
    elif WIDE == "unsigned":
        x = x.to(tl.uint64)
    else:
        x = x.to(tl.float32)
    return x


@triton.jit
def inner_totals_kernel(y_ptr, x_ptr, mean_ptr, rows, N, part_size, parts, divisor, WIDE: tl.constexpr,
                        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[i, p] = sum of x[i, j] / divisor for j in part p, or of (x[i, j] - mean[i])^2. As inner_sums_kernel."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, N)
    cols = tl.arange(0, BLOCK_N)
    exists = row < rows
    total = widened(tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32), WIDE)
    for start in range(begin, end, BLOCK_N):
        inside = exists[:, None] & (cols < end - start)[None, :]
        x = widened(tl.load(x_ptr + (row * N + start)[:, None] + cols[None, :], mask=inside, other=0), WIDE)
        if mean_ptr is not None:
            x -= widened(tl.load(mean_ptr + row, mask=exists, other=0), WIDE)[:, None]
            x = tl.where(inside, x * x, 0.0)
        total += x
    y = tl.sum(total, axis=1)
    if WIDE == "float" or WIDE == "double":
        y = y / divisor
    tl.store(y_ptr + row * parts + part, y, mask=exists)


@triton.jit
def outer_totals_kernel(y_ptr, x_ptr, mean_ptr, M, N, part_size, parts, column_blocks, divisor, WIDE: tl.constexpr,
                        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The same over the middle of x[b, i, j]. As outer_sums_kernel."""
    batch = (tl.program_id(0) // column_blocks).to(tl.int64)
    cols = (tl.program_id(0) % column_blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, M)
    rows = tl.arange(0, BLOCK_M)
    exists = cols < N
    total = widened(tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32), WIDE)
    for start in range(begin, end, BLOCK_M):
        inside = (rows < tl.minimum(end - start, BLOCK_M).to(tl.int32))[:, None] & exists[None, :]
        row = (batch * M + start + rows) * N
        x = widened(tl.load(x_ptr + row[:, None] + cols[None, :], mask=inside, other=0), WIDE)
        if mean_ptr is not None:
            x -= widened(tl.load(mean_ptr + batch * N + cols, mask=exists, other=0), WIDE)[None, :]
            x = tl.where(inside, x * x, 0.0)
        total += x
    y = tl.sum(total, axis=0)
    if WIDE == "float" or WIDE == "double":
        y = y / divisor
    tl.store(y_ptr + (batch * parts + part) * N + cols, y, mask=exists)


@triton.jit
def larger(a, i, b, j):
    """Of (value, place) the larger value; of equal ones, the first place. NaN is above all; no place: -1."""
    ties = (a == b) | ((a != a) & (b != b))
    takes = (i < 0) | ((j >= 0) & ((b > a) | ((b != b) & (a == a)) | (ties & (j < i))))
    return tl.where(takes, b, a), tl.where(takes, j, i)


@triton.jit
def smaller(a, i, b, j):
    """The same for the smaller value; NaN is below all."""
    ties = (a == b) | ((a != a) & (b != b))
    takes = (i < 0) | ((j >= 0) & ((b < a) | ((b != b) & (a == a)) | (ties & (j < i))))
    return tl.where(takes, b, a), tl.where(takes, j, i)


@triton.jit
def inner_extremes_kernel(y_ptr, place_ptr, x_ptr, from_ptr, rows, N, part_size, parts, LEAST: tl.constexpr,
                          WIDE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[i, p]: the largest (LEAST: the smallest) x[i, j] for j in part p; place[i, p]: its first j, or from[i, j]."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, N)
    cols = tl.arange(0, BLOCK_N)
    exists = row < rows
    value = widened(tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32), WIDE)
    place = tl.full((BLOCK_M, BLOCK_N), -1, dtype=tl.int64)
    for start in range(begin, end, BLOCK_N):
        inside = exists[:, None] & (cols < end - start)[None, :]
        at = (row * N + start)[:, None] + cols[None, :]
        x = widened(tl.load(x_ptr + at, mask=inside, other=0), WIDE)
        if from_ptr is not None:
            own = tl.load(from_ptr + at, mask=inside, other=-1)
        else:
            own = tl.where(inside, (start + cols)[None, :], -1).to(tl.int64)
        if LEAST:
            value, place = smaller(value, place, x, own)
        else:
            value, place = larger(value, place, x, own)
    if LEAST:
        y, first = tl.reduce((value, place), 1, smaller)
    else:
        y, first = tl.reduce((value, place), 1, larger)
    tl.store(y_ptr + row * parts + part, y, mask=exists)
    if place_ptr is not None:
        tl.store(place_ptr + row * parts + part, first, mask=exists)


@triton.jit
def outer_extremes_kernel(y_ptr, place_ptr, x_ptr, from_ptr, M, N, part_size, parts, column_blocks, LEAST: tl.constexpr,
                          WIDE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The same over the middle of x[b, i, j]."""
    batch = (tl.program_id(0) // column_blocks).to(tl.int64)
    cols = (tl.program_id(0) % column_blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, M)
    rows = tl.arange(0, BLOCK_M)
    exists = cols < N
    value = widened(tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32), WIDE)
    place = tl.full((BLOCK_M, BLOCK_N), -1, dtype=tl.int64)
    for start in range(begin, end, BLOCK_M):
        inside = (rows < tl.minimum(end - start, BLOCK_M).to(tl.int32))[:, None] & exists[None, :]
        at = ((batch * M + start + rows) * N)[:, None] + cols[None, :]
        x = widened(tl.load(x_ptr + at, mask=inside, other=0), WIDE)
        if from_ptr is not None:
            own = tl.load(from_ptr + at, mask=inside, other=-1)
        else:
            own = tl.where(inside, (start + rows)[:, None], -1).to(tl.int64)
        if LEAST:
            value, place = smaller(value, place, x, own)
        else:
            value, place = larger(value, place, x, own)
    if LEAST:
        y, first = tl.reduce((value, place), 0, smaller)
    else:
        y, first = tl.reduce((value, place), 0, larger)
    tl.store(y_ptr + (batch * parts + part) * N + cols, y, mask=exists)
    if place_ptr is not None:
        tl.store(place_ptr + (batch * parts + part) * N + cols, first, mask=exists)
