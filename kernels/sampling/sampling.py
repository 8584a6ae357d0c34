"""A token a row of logits: temperature, the k most probable, the most probable of a total probability.

`scale` is one over the temperature. Which logits are kept is decided on the logits as they are: from a floor on.
"""
import triton
import triton.language as tl


@triton.jit
def logits(x_ptr, start, at, end):
    return tl.load(x_ptr + start + at, mask=at < end - start, other=float("-inf")).to(tl.float32)


@triton.jit
def from_order(order):
    """The float whose rank among all floats this is; below that of minus infinity there is none."""
    bits = order.to(tl.int32, bitcast=True)
    bits = tl.where(bits < 0, bits ^ -2147483648, ~bits)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def weight_from(x_ptr, floor, least, N, scale, most, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """How many logits are at least `floor`; unless COUNTS, the sum of exp((x - most) * scale) of those that are at least
    `least`, too."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, ), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = logits(x_ptr, start, at, N)
        if COUNTS:
            total += tl.where(x >= floor, 1.0, 0.0)
        else:
            total += tl.where((x >= floor) & (x >= least), tl.exp((x - most) * scale), 0.0)
    return tl.sum(total, axis=0)


@triton.jit
def floor_of(x_ptr, wanted, least, N, scale, most, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest floor from which on logits weigh at least `wanted`, one bit of its rank after the other: as many as the
    logits have."""
    BITS: tl.constexpr = 16 if x_ptr.dtype.element_ty == tl.bfloat16 else 19 if x_ptr.dtype.element_ty == tl.float16 else 32
    found = tl.full((), 0, tl.uint32)
    for i in range(BITS):
        tried = found | (tl.full((), 1, tl.uint32) << (31 - i).to(tl.uint32))
        weight = weight_from(x_ptr, from_order(tried), least, N, scale, most, COUNTS, BLOCK)
        found = tl.where(weight >= wanted, tried, found)
    lowest = tl.full((), 0x007FFFFF, tl.uint32)  # minus infinity's rank
    return tl.where(found > lowest, from_order(found), float("-inf"))


@triton.jit
def kept_floor(x_ptr, N, scale, k, p, TOP_K: tl.constexpr, TOP_P: tl.constexpr, BLOCK: tl.constexpr):
    floor = tl.full((), float("-inf"), tl.float32)
    if TOP_K:
        floor = floor_of(x_ptr, k, floor, N, scale, 0.0, True, BLOCK)
    if TOP_P:
        at = tl.arange(0, BLOCK)
        highest = tl.full((BLOCK, ), float("-inf"), tl.float32)
        for start in range(0, N, BLOCK):
            highest = tl.maximum(highest, logits(x_ptr, start, at, N))
        most = tl.max(highest, axis=0)
        total = weight_from(x_ptr, floor, floor, N, scale, most, False, BLOCK)
        floor = tl.maximum(floor, floor_of(x_ptr, total * p, floor, N, scale, most, False, BLOCK))
    return floor


@triton.jit
def best_of(x_ptr, first, end, floor, scale, seed, offset, DRAWS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest x * scale + g of the logits that are kept, and where the first one is: -1 of NaN, which counts as the
    largest, and where none is above minus infinity. g of element i comes from tl.rand(seed, offset + i)."""
    at = tl.arange(0, BLOCK)
    best = tl.full((BLOCK, ), float("-inf"), tl.float32)
    index = tl.full((BLOCK, ), -1, tl.int32)
    for start in range(first, end, BLOCK):
        x = logits(x_ptr, start, at, end)
        score = x * scale
        if DRAWS:
            uniform = tl.rand(seed, offset + start + at)
            score += -tl.log(-tl.log(uniform))
        score = tl.where(x >= floor, score, float("-inf"))
        strange = x != x
        score = tl.where(strange, float("inf"), score)
        better = (score > best) | strange
        best = tl.where(better, score, best)
        index = tl.where(better, tl.where(strange, -1, start + at), index)
    return best, index


@triton.jit
def first_of(best, index):
    most = tl.max(best, axis=0)
    return most, tl.min(tl.where(best == most, index, 2147483647), axis=0)


@triton.jit
def drawn(y_ptr, positions_ptr, steps_ptr, history_ptr, row, step, token, N, ring):
    token = tl.minimum(token, N - 1)
    tl.store(y_ptr + row, token)
    if steps_ptr is not None:
        tl.store(history_ptr + step % ring * tl.num_programs(0) + row, token)
        tl.store(steps_ptr + row, (step + 1).to(tl.int32))
        tl.store(positions_ptr + row, tl.load(positions_ptr + row) + 1)


@triton.jit
def sampling_kernel(y_ptr, x_ptr, positions_ptr, steps_ptr, history_ptr, x_stride, N, scale, k, p, seed, offset, ring,
                    TOP_K: tl.constexpr, TOP_P: tl.constexpr, DRAWS: tl.constexpr, BLOCK: tl.constexpr,
                    EARLY: tl.constexpr = False):
    """argmax of x * scale + g over the logits that are kept, g of the Gumbel distribution: what softmax draws.

    g of element (row, column) comes from tl.rand(seed, offset + row * N + column). With steps_ptr, the offset is
    2**40 times what it holds for the row; the step and the position of the row are then one further, and the token is
    kept in history [ring, rows] at the step, too. EARLY: the launch may begin before the logits are there.
    """
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    step = tl.full((), 0, tl.int64)
    if steps_ptr is not None:
        step = tl.load(steps_ptr + row).to(tl.int64)
        offset = step << 40
    floor = kept_floor(x_ptr, N, scale, k, p, TOP_K, TOP_P, BLOCK)
    best, index = best_of(x_ptr, 0, N, floor, scale, seed, offset + row * N, DRAWS, BLOCK)
    most, token = first_of(best, index)
    drawn(y_ptr, positions_ptr, steps_ptr, history_ptr, row, step, token, N, ring)


# The same of a long row in three launches: one program's floor, many programs' best, and which of those is.


@triton.jit
def floor_kernel(floor_ptr, x_ptr, x_stride, N, scale, k, p, TOP_K: tl.constexpr, TOP_P: tl.constexpr, BLOCK: tl.constexpr,
                 EARLY: tl.constexpr):
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    row = tl.program_id(0).to(tl.int64)
    tl.store(floor_ptr + row, kept_floor(x_ptr + row * x_stride, N, scale, k, p, TOP_K, TOP_P, BLOCK))


@triton.jit
def best_kernel(best_ptr, index_ptr, x_ptr, floor_ptr, steps_ptr, x_stride, N, scale, seed, offset, DRAWS: tl.constexpr,
                BLOCK: tl.constexpr, EARLY: tl.constexpr):
    """best and index [rows, parts]: program (r, i) takes BLOCK logits of row r from i * BLOCK on."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    floor = tl.full((), float("-inf"), tl.float32)
    if floor_ptr is not None:
        floor = tl.load(floor_ptr + row)
    if steps_ptr is not None:
        offset = tl.load(steps_ptr + row).to(tl.int64) << 40
    first = part * BLOCK
    end = tl.minimum(first + BLOCK, N)
    best, index = best_of(x_ptr + row * x_stride, first, end, floor, scale, seed, offset + row * N, DRAWS, BLOCK)
    most, token = first_of(best, index)
    place = row * tl.num_programs(1) + part
    tl.store(best_ptr + place, most)
    tl.store(index_ptr + place, token)


@triton.jit
def choice_kernel(y_ptr, positions_ptr, steps_ptr, history_ptr, best_ptr, index_ptr, parts, N, ring, PARTS: tl.constexpr,
                  EARLY: tl.constexpr):
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, PARTS)
    best = tl.load(best_ptr + row * parts + at, mask=at < parts, other=float("-inf"))
    index = tl.load(index_ptr + row * parts + at, mask=at < parts, other=2147483647)
    step = tl.full((), 0, tl.int64)
    if steps_ptr is not None:
        step = tl.load(steps_ptr + row).to(tl.int64)
    most, token = first_of(best, index)
    drawn(y_ptr, positions_ptr, steps_ptr, history_ptr, row, step, token, N, ring)
