"""A mixture of experts: rows put in the order of their experts, one product for each expert, rows put back as weighted sums.

Groups of rows follow each other: group e has the rows from starts[e] to starts[e + 1]. As blocks of rows, which begin again
with each group, it has those from starts[e] // BLOCK + e on, some of them past its end. So a program finds its group,
no host has to know how many rows an expert has, and experts without rows cost one program. Rows after the last group are 0.
"""
import triton
import triton.language as tl


@triton.jit
def order_kernel(order_ptr, places_ptr, starts_ptr, experts_ptr, n, experts, BLOCK: tl.constexpr):
    """A stable sort by counting: program e counts the choices of experts in front of e, which is where e's begin, and gives
    each choice of e its place after that. What is no expert has place -1. Program `experts` writes the end."""
    e = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    below = tl.zeros((BLOCK,), dtype=tl.int32)
    for first in range(0, n, BLOCK):
        chosen = tl.load(experts_ptr + first + at, mask=at < n - first, other=-1)
        below += ((chosen >= 0) & (chosen < e)).to(tl.int32)
    begin = tl.sum(below, axis=0)
    tl.store(starts_ptr + e, begin)
    if e < experts:
        for first in range(0, n, BLOCK):
            chosen = tl.load(experts_ptr + first + at, mask=at < n - first, other=-1)
            own = chosen == e
            place = begin + tl.cumsum(own.to(tl.int32), axis=0) - 1
            tl.store(order_ptr + place, first + at, mask=own)
            tl.store(places_ptr + first + at, place, mask=own)
            begin += tl.sum(own.to(tl.int32), axis=0)


@triton.jit
def spread_kernel(y_ptr, x_ptr, order_ptr, weights_ptr, x_stride, n, N, shared, SHARED: tl.constexpr,
                  BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """y[p] = x[order[p] // SHARED], times weights[order[p]] where there are weights: SHARED choices of one row follow each
    other, or of SHARED = 0 `shared`. 0 where order[p] is -1."""
    each = shared if SHARED == 0 else SHARED
    blocks = tl.cdiv(N, BLOCK)
    p = (tl.program_id(0) // blocks).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    choice = tl.load(order_ptr + p, mask=p < n, other=-1)
    exists = choice >= 0
    row = tl.where(exists, choice // each, 0).to(tl.int64)
    inside = exists[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + row[:, None] * x_stride + cols[None, :], mask=inside, other=0.0)
    if weights_ptr is not None:
        wide = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
        w = tl.load(weights_ptr + choice, mask=exists, other=0.0).to(wide)
        x = x.to(wide) * w[:, None]
    tl.store(y_ptr + p[:, None] * N + cols[None, :], x, mask=(p < n)[:, None] & (cols < N)[None, :])


@triton.jit
def combine_kernel(y_ptr, x_ptr, places_ptr, weights_ptr, x_stride, tokens, N, shared, SHARED: tl.constexpr,
                   BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """y[t] = the sum over j of x[places[t, j]], times weights[t, j] where there are weights; SHARED values of j, in their
    order, or of SHARED = 0 `shared`."""
    each = shared if SHARED == 0 else SHARED
    blocks = tl.cdiv(N, BLOCK)
    t = (tl.program_id(0) // blocks).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    wide = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK), dtype=wide)
    for j in range(each):
        place = tl.load(places_ptr + t * each + j, mask=t < tokens, other=-1)
        exists = place >= 0
        x_ptrs = x_ptr + tl.where(exists, place, 0).to(tl.int64)[:, None] * x_stride + cols[None, :]
        x = tl.load(x_ptrs, mask=exists[:, None] & (cols < N)[None, :], other=0.0).to(wide)
        if weights_ptr is not None:
            w = tl.load(weights_ptr + t * each + j, mask=t < tokens, other=0.0).to(wide)
            x *= w[:, None]
        total += x
    tl.store(y_ptr + t[:, None] * N + cols[None, :], total, mask=(t < tokens)[:, None] & (cols < N)[None, :])


@triton.jit
def weights_backward_kernel(dw_ptr, dy_ptr, x_ptr, places_ptr, dy_stride, x_stride, n, N, shared, SHARED: tl.constexpr,
                            BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """dw[t, j] = dy[t] . x[places[t, j]], where [t, j] is one of n choices; 0 of one that has no place."""
    each = shared if SHARED == 0 else SHARED
    choice = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK)
    place = tl.load(places_ptr + choice, mask=choice < n, other=-1)
    exists = place >= 0
    x_rows = tl.where(exists, place, 0).to(tl.int64) * x_stride
    dy_rows = (choice // each).to(tl.int64) * dy_stride
    wide = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK), dtype=wide)
    for first in range(0, N, BLOCK):
        inside = exists[:, None] & (cols < N - first)[None, :]
        x = tl.load(x_ptr + x_rows[:, None] + (first + cols)[None, :], mask=inside, other=0.0)
        dy = tl.load(dy_ptr + dy_rows[:, None] + (first + cols)[None, :], mask=inside, other=0.0)
        total += x.to(wide) * dy.to(wide)
    tl.store(dw_ptr + choice, tl.sum(total, axis=1), mask=choice < n)


@triton.jit
def start_of(starts_ptr, group, groups, rows):
    """Where a group begins; `groups` is that of the rows after all others, which ends with the rows."""
    start = tl.load(starts_ptr + min(group, groups))
    return tl.where(group > groups, rows, min(max(start, 0), rows))


@triton.jit
def group_of(block, starts_ptr, groups, rows, BLOCK: tl.constexpr):
    """The group that has a block of rows, its first row there, and where the group ends."""
    low = block * 0
    high = low + groups + 1
    while high - low > 1:
        middle = (low + high) // 2
        is_before = start_of(starts_ptr, middle, groups, rows) // BLOCK + middle <= block
        low = tl.where(is_before, middle, low)
        high = tl.where(is_before, high, middle)
    begin = start_of(starts_ptr, low, groups, rows)
    return low, begin + max(block - begin // BLOCK - low, 0) * BLOCK, start_of(starts_ptr, low + 1, groups, rows)


@triton.jit
def grouped_kernel(y_ptr, a_ptr, b_ptr, starts_ptr, rows, groups, N, K, a_row, a_col, b_group, b_row, b_col,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr):
    """y [rows, N] of a [rows, K] and b [groups, K, N]: each row is multiplied by its group's matrix. Programs that run
    together take all blocks of rows of one block of columns, so that they share matrices in a GPU's last cache."""
    blocks = rows // BLOCK_M + groups + 1
    group, first, end = group_of(tl.program_id(0) % blocks, starts_ptr, groups, rows, BLOCK_M)
    rows_of = tl.arange(0, BLOCK_M)
    first_col = tl.program_id(0) // blocks * BLOCK_N
    cols = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    exists = (rows_of < end - first)[:, None]
    inside = (cols < N - first_col)[None, :]
    # Offsets within a block fit 32 bits.
    a_ptrs = a_ptr + first.to(tl.int64) * a_row + (rows_of[:, None] * a_row + ks[None, :] * a_col)
    b_ptrs = (b_ptr + group.to(tl.int64) * b_group + first_col.to(tl.int64) * b_col
              + (ks[:, None] * b_row + cols[None, :] * b_col))
    wide = tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=wide)
    depth = tl.where((group < groups) & (first < end), K, 0)
    for k in range(0, depth, BLOCK_K):
        a = tl.load(a_ptrs, mask=exists & (ks < K - k)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(ks < K - k)[:, None] & inside, other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=wide)
        a_ptrs += BLOCK_K * a_col
        b_ptrs += BLOCK_K * b_row
    y_ptrs = y_ptr + first.to(tl.int64) * N + first_col + (rows_of[:, None] * N + cols[None, :])
    tl.store(y_ptrs, total, mask=exists & inside)


@triton.jit
def matrices_backward_kernel(db_ptr, a_ptr, dy_ptr, starts_ptr, rows, groups, K, N, a_row, a_col, dy_row, dy_col,
                             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr):
    """db [groups, K, N]: of each group a^T @ dy over its rows, BLOCK_K at a time, in their order."""
    blocks_n = tl.cdiv(N, BLOCK_N)
    blocks = tl.cdiv(K, BLOCK_M) * blocks_n
    group = tl.program_id(0) // blocks
    within = tl.program_id(0) % blocks
    first_out = within // blocks_n * BLOCK_M
    first_col = within % blocks_n * BLOCK_N
    begin = start_of(starts_ptr, group, groups, rows)
    end = max(start_of(starts_ptr, group + 1, groups, rows), begin)
    out = tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    exists = (out < K - first_out)[:, None]
    inside = (cols < N - first_col)[None, :]
    begin64 = begin.to(tl.int64)
    a_ptrs = a_ptr + begin64 * a_row + first_out.to(tl.int64) * a_col + (ks[None, :] * a_row + out[:, None] * a_col)
    dy_ptrs = dy_ptr + begin64 * dy_row + first_col.to(tl.int64) * dy_col + (ks[:, None] * dy_row + cols[None, :] * dy_col)
    wide = tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=wide)
    for first in range(begin, end, BLOCK_K):
        a = tl.load(a_ptrs, mask=exists & (ks < end - first)[None, :], other=0.0)
        dy = tl.load(dy_ptrs, mask=(ks < end - first)[:, None] & inside, other=0.0)
        total = tl.dot(a, dy, total, input_precision=PRECISION, out_dtype=wide)
        a_ptrs += BLOCK_K * a_row
        dy_ptrs += BLOCK_K * dy_row
    at = group.to(tl.int64) * K + first_out
    tl.store(db_ptr + at * N + first_col + (out[:, None] * N + cols[None, :]), total, mask=exists & inside)
