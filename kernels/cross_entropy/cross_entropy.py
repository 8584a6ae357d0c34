"""Cross-entropy of rows of logits with a class each, and its gradient; arithmetic in float32.

    loss = lse - (1 - smoothing) * x[target] - smoothing * mean(x),   lse = log(sum(exp(x)))
    dx   = exp(x) / sum(exp(x)) - smoothing / N - (1 - smoothing) * (column == target)

A row whose target is `ignored` has neither. A target outside of the row has the loss NaN.
"""
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(loss_ptr, lse_ptr, dx_ptr, x_ptr, target_ptr, count_ptr, x_stride, dx_stride, ignored, smoothing,
                         N, BLOCK: tl.constexpr, SMOOTHS: tl.constexpr, GROUP: tl.constexpr):
    """One pass for the maximum and the sum, which are kept from block to block, and a second one for dx, divided by count,
    unless dx_ptr is None. dx may lie where x does. The second pass finds the row in a GPU's last cache, unless what is
    read no more, and dx, take its place there.

    GROUP > 1: each GROUP neighbours of a block keep a maximum and a sum of their own, so that a GPU's threads wait for
    each other after the last block alone.
    """
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    if GROUP > 1:
        mosts = tl.full((BLOCK // GROUP,), float("-inf"), dtype=tl.float32)
        totals = tl.zeros((BLOCK // GROUP,), dtype=tl.float32)
        plains = tl.zeros((BLOCK // GROUP,), dtype=tl.float32)
        for start in range(0, N, BLOCK):
            inside = cols < N - start
            x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=float("-inf"),
                        eviction_policy="evict_last").to(tl.float32)
            if SMOOTHS:
                plains += tl.sum(tl.reshape(tl.where(inside, x, 0.0), (BLOCK // GROUP, GROUP)), axis=1)
            x = tl.reshape(x, (BLOCK // GROUP, GROUP))
            before = mosts
            mosts = tl.maximum(mosts, tl.max(x, axis=1))
            base = tl.where(mosts == float("-inf"), 0.0, mosts)
            totals = totals * tl.exp(before - base) + tl.sum(tl.exp(x - base[:, None]), axis=1)
        most = tl.max(mosts, axis=0)
        total = tl.sum(totals * tl.exp(mosts - tl.where(most == float("-inf"), 0.0, most)), axis=0)
        plain = tl.sum(plains, axis=0)
    else:
        most = float("-inf")
        total = 0.0
        plain = 0.0
        for start in range(0, N, BLOCK):
            inside = cols < N - start
            x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=float("-inf")).to(tl.float32)
            before = most
            most = tl.maximum(most, tl.max(x, axis=0))
            base = tl.where(most == float("-inf"), 0.0, most)
            total = total * tl.exp(before - base) + tl.sum(tl.exp(x - base), axis=0)
            if SMOOTHS:
                plain += tl.sum(tl.where(inside, x, 0.0), axis=0)
    lse = tl.where(most == float("-inf"), 0.0, most) + tl.log(total)
    target = tl.load(target_ptr + row).to(tl.int64)
    counts = target != ignored
    exists = (target >= 0) & (target < N)
    picked = tl.load(x_ptr + row * x_stride + target, mask=counts & exists, other=float("nan")).to(tl.float32)
    loss = lse - (1.0 - smoothing) * picked
    if SMOOTHS:
        loss -= smoothing * (plain / N)
    tl.store(loss_ptr + row, tl.where(counts, loss, 0.0))
    if lse_ptr is not None:
        tl.store(lse_ptr + row, lse)
    if dx_ptr is not None:
        factor = tl.where(counts, 1.0 / tl.load(count_ptr), 0.0)
        # x[target] has been read by all threads.
        tl.debug_barrier()
        for start in range(0, N, BLOCK):
            inside = cols < N - start
            x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=float("-inf"),
                        eviction_policy="evict_first").to(tl.float32)
            d = tl.exp(x - lse) - tl.where(cols == target - start, 1.0 - smoothing, 0.0)
            if SMOOTHS:
                d -= smoothing / N
            tl.store(dx_ptr + row * dx_stride + start + cols, tl.where(counts, d * factor, 0.0), mask=inside,
                     eviction_policy="evict_first")


@triton.jit
def cross_entropy_rows_kernel(loss_ptr, lse_ptr, dx_ptr, x_ptr, target_ptr, count_ptr, x_stride, dx_stride, ignored,
                              smoothing, M, N: tl.constexpr, ROWS: tl.constexpr, SMOOTHS: tl.constexpr):
    """The same of ROWS rows a program, of few classes: of one row a program would be all that it costs."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = rows < M
    at = rows.to(tl.int64)[:, None]
    x = tl.load(x_ptr + at * x_stride + cols[None, :], mask=exists[:, None], other=0.0).to(tl.float32)
    most = tl.max(x, axis=1)
    base = tl.where(most == float("-inf"), 0.0, most)
    lse = base + tl.log(tl.sum(tl.exp(x - base[:, None]), axis=1))
    target = tl.load(target_ptr + rows, mask=exists, other=0).to(tl.int64)
    counts = target != ignored
    takes = cols[None, :] == target[:, None]
    picked = tl.sum(tl.where(takes, x, 0.0), axis=1)
    picked = tl.where((target >= 0) & (target < N), picked, float("nan"))
    loss = lse - (1.0 - smoothing) * picked
    if SMOOTHS:
        loss -= smoothing * (tl.sum(x, axis=1) / N)
    tl.store(loss_ptr + rows, tl.where(counts, loss, 0.0), mask=exists)
    if lse_ptr is not None:
        tl.store(lse_ptr + rows, lse, mask=exists)
    if dx_ptr is not None:
        factor = 1.0 / tl.load(count_ptr)
        d = tl.exp(x - lse[:, None]) - tl.where(takes, 1.0 - smoothing, 0.0)
        if SMOOTHS:
            d -= smoothing / N
        tl.store(dx_ptr + at * dx_stride + cols[None, :], tl.where(counts[:, None], d * factor, 0.0), mask=exists[:, None])


@triton.jit
def cross_entropy_backward_kernel(dx_ptr, x_ptr, target_ptr, lse_ptr, dloss_ptr, count_ptr, x_stride, dloss_stride, ignored,
                                  smoothing, N, BLOCK: tl.constexpr, SMOOTHS: tl.constexpr):
    """dx of a block of a row from lse, times the row's dloss (dloss_stride 0: that of all of them), divided by count. The
    programs of a row follow one another."""
    blocks = tl.cdiv(N, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64)
    cols = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = cols < N
    target = tl.load(target_ptr + row).to(tl.int64)
    counts = target != ignored
    factor = tl.load(dloss_ptr + row * dloss_stride).to(tl.float32)
    if count_ptr is not None:
        factor /= tl.load(count_ptr)
    x = tl.load(x_ptr + row * x_stride + cols, mask=inside, other=float("-inf")).to(tl.float32)
    d = tl.exp(x - tl.load(lse_ptr + row)) - tl.where(cols == target, 1.0 - smoothing, 0.0)
    if SMOOTHS:
        d -= smoothing / N
    tl.store(dx_ptr + row * N + cols, tl.where(counts, d * factor, 0.0), mask=inside)


@triton.jit
def cross_entropy_count_kernel(count_ptr, target_ptr, ignored, M, BLOCK: tl.constexpr):
    """How many rows have a loss, and at least 1. One program."""
    rows = tl.arange(0, BLOCK)
    counts = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, M, BLOCK):
        exists = rows < M - start
        target = tl.load(target_ptr + start + rows, mask=exists, other=0).to(tl.int64)
        counts += tl.where(exists & (target != ignored), 1.0, 0.0)
    tl.store(count_ptr, tl.maximum(tl.sum(counts, axis=0), 1.0))


@triton.jit
def cross_entropy_sum_kernel(sum_ptr, loss_ptr, count_ptr, M, BLOCK: tl.constexpr):
    """The sum of the rows' losses, divided by count unless that is None. One program."""
    rows = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, M, BLOCK):
        sums += tl.load(loss_ptr + start + rows, mask=rows < M - start, other=0.0)
    total = tl.sum(sums, axis=0)
    if count_ptr is not None:
        total /= tl.load(count_ptr)
    tl.store(sum_ptr, total)


@triton.jit
def cross_entropy_scale_kernel(x_ptr, factor_ptr, n, BLOCK: tl.constexpr):
    """x *= factor in place; reads and writes nothing where the factor is 1, as it is after `loss.backward()`."""
    factor = tl.load(factor_ptr).to(tl.float32)
    if factor != 1.0:
        first = tl.program_id(0).to(tl.int64) * BLOCK
        for start in range(first, n, tl.num_programs(0) * BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
            tl.store(x_ptr + at, x * factor, mask=at < n)
