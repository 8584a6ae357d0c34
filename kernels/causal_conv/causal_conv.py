"""Short convolutions along time, one for each channel: y[t] = bias + the sum over j of w[j] * x[t - (TAPS - 1) + j], where x
in front of the sequence is 0."""
import triton
import triton.language as tl


@triton.jit
def term(x_ptr, w_ptr, t, T, channels, exists, x_step, j, taps, REVERSE: tl.constexpr):
    """w[j] * x of the step that it meets, [BLOCK_T, BLOCK]."""
    w = tl.load(w_ptr + channels * taps + j, mask=exists, other=0.0).to(tl.float32)
    if REVERSE:
        at = t + (taps - 1 - j)
    else:
        at = t - (taps - 1 - j)
    inside = ((at >= 0) & (at < T))[:, None] & exists[None, :]
    x = tl.load(x_ptr + at[:, None] * x_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
    return x * w[None, :]


@triton.jit
def causal_conv_kernel(y_ptr, x_ptr, w_ptr, bias_ptr, T, D, x_batch, x_step, taps, TAPS: tl.constexpr,
                       REVERSE: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK: tl.constexpr):
    """Programs (batch * blocks of time * blocks of channels). w [D, TAPS], or of TAPS = 0 [D, taps]. REVERSE: x goes the other way, as gradients do: y[t] is
    the sum over j of w[j] * x[t + (TAPS - 1) - j]."""
    widths = tl.cdiv(D, BLOCK)
    heights = tl.cdiv(T, BLOCK_T)
    block = tl.program_id(0) // widths
    channels = tl.program_id(0) % widths * BLOCK + tl.arange(0, BLOCK)
    t = (block % heights).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    batch = (block // heights).to(tl.int64)
    exists = channels < D
    x_ptr += batch * x_batch
    total = tl.zeros((BLOCK_T, BLOCK), dtype=tl.float32)
    if bias_ptr is not None:
        total += tl.load(bias_ptr + channels, mask=exists, other=0.0).to(tl.float32)[None, :]
    if TAPS == 0:
        for j in range(taps):
            total += term(x_ptr, w_ptr, t, T, channels, exists, x_step, j, taps, REVERSE)
    else:
        for j in tl.static_range(TAPS):
            total += term(x_ptr, w_ptr, t, T, channels, exists, x_step, j, TAPS, REVERSE)
    y_ptrs = y_ptr + (batch * T + t[:, None]) * D + channels[None, :]
    tl.store(y_ptrs, total, mask=(t < T)[:, None] & exists[None, :])


@triton.jit
def of_tap(x_ptr, dy, t, channels, inside, x_step, j, taps):
    """dw[j] of these steps."""
    at = t - (taps - 1 - j)
    x = tl.load(x_ptr + at[:, None] * x_step + channels[None, :], mask=inside & (at >= 0)[:, None], other=0.0)
    return tl.sum(dy * x.to(tl.float32), axis=0)


@triton.jit
def taps_backward_kernel(dw_ptr, dbias_ptr, dy_ptr, x_ptr, T, D, share, dy_batch, dy_step, x_batch, x_step, count,
                         TAPS: tl.constexpr, WIDTH: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK: tl.constexpr):
    """dw [parts, D, TAPS] and dbias [parts, D]: sums over `share` steps of one sequence, from part % shares * share on.
    Programs (parts * blocks of channels). WIDTH: at least TAPS, a power of two. TAPS = 0: `count` taps."""
    if TAPS > 0:
        count = TAPS
    shares = tl.cdiv(T, share)
    blocks = tl.cdiv(D, BLOCK)
    part = (tl.program_id(0) // blocks).to(tl.int64)
    batch = part // shares
    first = part % shares * share
    last = min(first + share, T)
    channels = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    exists = channels < D
    taps = tl.arange(0, WIDTH)
    dw = tl.zeros((BLOCK, WIDTH), dtype=tl.float32)
    dbias = tl.zeros((BLOCK,), dtype=tl.float32)
    x_ptr += batch * x_batch
    dy_ptr += batch * dy_batch
    for start in range(first, last, BLOCK_T):
        t = (start + tl.arange(0, BLOCK_T)).to(tl.int64)
        inside = (t < last)[:, None] & exists[None, :]
        dy = tl.load(dy_ptr + t[:, None] * dy_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        dbias += tl.sum(dy, axis=0)
        if TAPS == 0:
            for j in range(count):
                sums = of_tap(x_ptr, dy, t, channels, inside, x_step, j, count)
                dw += tl.where((taps == j)[None, :], sums[:, None], 0.0)
        else:
            for j in tl.static_range(TAPS):
                sums = of_tap(x_ptr, dy, t, channels, inside, x_step, j, TAPS)
                dw += tl.where((taps == j)[None, :], sums[:, None], 0.0)
    if dw_ptr is not None:
        tl.store(dw_ptr + (part * D + channels[:, None]) * count + taps[None, :], dw,
                 mask=exists[:, None] & (taps < count)[None, :])
    if dbias_ptr is not None:
        tl.store(dbias_ptr + part * D + channels, dbias, mask=exists)
