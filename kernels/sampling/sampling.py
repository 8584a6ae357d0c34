"""A token a row of logits: temperature, the k most probable, the most probable of a total probability."""
import triton
import triton.language as tl


@triton.jit
def scores(x_ptr, start, at, N, scale):
    return tl.load(x_ptr + start + at, mask=at < N - start, other=float("-inf")).to(tl.float32) * scale


@triton.jit
def ordered(x):
    """Bits that compare as unsigned integers as the floats do."""
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) | -2147483648)).to(tl.uint32, bitcast=True)


@triton.jit
def weight_from(x_ptr, least, N, scale, most, floor, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """How many logits have at least these bits; unless COUNTS, the sum of exp(x - most) of those that are >= floor, too."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, ), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = scores(x_ptr, start, at, N, scale)
        bits = ordered(x)
        inside = (at < N - start) & (bits >= least) & (bits >= floor)
        total += tl.where(inside, 1.0 if COUNTS else tl.exp(x - most), 0.0)
    return tl.sum(total, axis=0)


@triton.jit
def least_bits(x_ptr, wanted, N, scale, most, floor, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest bits from which on logits weigh at least `wanted`, one bit after the other."""
    found = tl.full((), 0, tl.uint32)
    for i in range(32):
        bit = tl.full((), 1, tl.uint32) << (31 - i).to(tl.uint32)
        tried = found | bit
        weight = weight_from(x_ptr, tried, N, scale, most, floor, COUNTS, BLOCK)
        found = tl.where(weight >= wanted, tried, found)
    return found


@triton.jit
def sampling_kernel(y_ptr, x_ptr, positions_ptr, steps_ptr, history_ptr, x_stride, N, scale, k, p, seed, offset, ring,
                    TOP_K: tl.constexpr, TOP_P: tl.constexpr, DRAWS: tl.constexpr, BLOCK: tl.constexpr):
    """argmax of x * scale + g over the logits that are kept, g of the Gumbel distribution: what softmax draws.

    g of element (row, column) comes from tl.rand(seed, offset + row * N + column). With steps_ptr, the offset is
    2**40 times what it holds for the row; the step and the position of the row are then one further, and the token is
    kept in history [ring, rows] at the step, too.
    """
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    at = tl.arange(0, BLOCK)
    floor = tl.full((), 0, tl.uint32)
    if TOP_K:
        floor = least_bits(x_ptr, k, N, scale, 0.0, floor, True, BLOCK)
    if TOP_P:
        highest = tl.full((BLOCK, ), float("-inf"), tl.float32)
        for start in range(0, N, BLOCK):
            highest = tl.maximum(highest, scores(x_ptr, start, at, N, scale))
        most = tl.max(highest, axis=0)
        total = weight_from(x_ptr, floor, N, scale, most, floor, False, BLOCK)
        floor = tl.maximum(floor, least_bits(x_ptr, total * p, N, scale, most, floor, False, BLOCK))
    step = tl.full((), 0, tl.int64)
    if steps_ptr is not None:
        step = tl.load(steps_ptr + row).to(tl.int64)
        offset = step << 40
    best = tl.full((BLOCK, ), float("-inf"), tl.float32)
    index = tl.full((BLOCK, ), 0, tl.int32)
    for start in range(0, N, BLOCK):
        x = scores(x_ptr, start, at, N, scale)
        kept = (at < N - start) & (ordered(x) >= floor)
        if DRAWS:
            uniform = tl.rand(seed, offset + row * N + start + at)
            x += -tl.log(-tl.log(uniform))
        x = tl.where(kept, x, float("-inf"))
        better = x > best
        best = tl.where(better, x, best)
        index = tl.where(better, start + at, index)
    chosen = tl.where(best == tl.max(best, axis=0), index, 2147483647)
    token = tl.minimum(tl.min(chosen, axis=0), N - 1)
    tl.store(y_ptr + row, token)
    if steps_ptr is not None:
        tl.store(history_ptr + step % ring * tl.num_programs(0) + row, token)
        tl.store(steps_ptr + row, (step + 1).to(tl.int32))
        tl.store(positions_ptr + row, tl.load(positions_ptr + row) + 1)
