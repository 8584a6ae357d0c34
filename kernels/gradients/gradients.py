"""The norm of gradients, gradients scaled in place, the scale of losses in fp16, and steps that are outliers."""
import triton
import triton.language as tl


@triton.jit
def squares_kernel(parts_ptr, g_ptr, n, BLOCK: tl.constexpr):
    """parts[c]: the sum of squares of block c, whose squares are exact in float64."""
    program = tl.program_id(0).to(tl.int64)
    at = program * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + at, mask=at < n, other=0.0).to(tl.float64)
    tl.store(parts_ptr + program, tl.sum(g * g, axis=0))


@triton.jit
def total(parts_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, ), dtype=tl.float64)
    for start in range(0, count, BLOCK):
        sums += tl.load(parts_ptr + start + at, mask=at < count - start, other=0.0)
    return tl.sum(sums, axis=0)


@triton.jit
def clip_kernel(norm_ptr, factor_ptr, parts_ptr, count, most, BLOCK: tl.constexpr):
    """The norm, and what gradients are multiplied with so that it is at most `most`; NaN of a norm that is."""
    norm = tl.sqrt(total(parts_ptr, count, BLOCK)).to(tl.float32)
    factor = most / (norm + 1e-6)
    tl.store(norm_ptr, norm)
    tl.store(factor_ptr, tl.where(factor > 1.0, 1.0, factor))


@triton.jit
def scale_kernel(g_ptr, factor_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + at, mask=at < n).to(tl.float32)
    tl.store(g_ptr + at, g * tl.load(factor_ptr), mask=at < n)


@triton.jit
def find_kernel(found_ptr, factor_ptr, inverse_ptr, parts_ptr, count, scale_ptr, BLOCK: tl.constexpr):
    """found: 1 where a gradient is not finite. factor: what a step takes, NaN there. inverse: 1 / scale."""
    squares = total(parts_ptr, count, BLOCK)
    inverse = 1.0 / tl.load(scale_ptr)
    finite = squares - squares == 0.0
    tl.store(inverse_ptr, inverse)
    tl.store(factor_ptr, tl.where(finite, inverse, float("nan")))
    tl.store(found_ptr, tl.where(finite, tl.load(found_ptr), 1.0))


@triton.jit
def applied_kernel(factor_ptr):
    """What a step takes of gradients that were divided by the scale before."""
    factor = tl.load(factor_ptr)
    tl.store(factor_ptr, tl.where(factor - factor == 0.0, 1.0, float("nan")))


@triton.jit
def clip_scaled_kernel(found_ptr, norm_ptr, factor_ptr, scaled_norm_ptr, scale_ptr, most):
    """Of gradients that were scaled: the norm that they have without the scale, and what a step multiplies them with so that it is
    at most `most`, NaN where it is not finite. found: 1 there."""
    scale = tl.load(scale_ptr)
    norm = tl.load(scaled_norm_ptr) / scale
    finite = norm - norm == 0.0
    tl.store(norm_ptr, norm)
    tl.store(factor_ptr, tl.where(finite, tl.minimum(most / (norm + 1e-6), 1.0) / scale, float("nan")))
    tl.store(found_ptr, tl.where(finite, tl.load(found_ptr), 1.0))


@triton.jit
def outlier_kernel(result_ptr, factor_ptr, value_ptr, window_ptr, counts_ptr, score_ptr, most, WINDOW: tl.constexpr,
                   BLOCK: tl.constexpr):
    """result: the factor, or NaN where the value is not finite or is more than `most` deviations above the mean of the last WINDOW
    values. window: those, in turn; counts: values so far, and those that were left out; score: the value's deviations, or 0."""
    value = tl.load(value_ptr).to(tl.float64)
    finite = value - value == 0.0
    seen = tl.load(counts_ptr)
    place = seen % WINDOW
    at = tl.arange(0, BLOCK)
    inside = at < WINDOW
    values = tl.where(at == place, value, tl.load(window_ptr + at, mask=inside, other=0.0))
    mean = tl.sum(tl.where(inside, values, 0.0), axis=0) / WINDOW
    apart = tl.where(inside, values - mean, 0.0)
    variance = tl.sum(apart * apart, axis=0) / WINDOW
    known = finite & (seen >= WINDOW) & (variance > 0.0)
    score = tl.where(known, (value - mean) / tl.sqrt(tl.where(known, variance, 1.0)), 0.0)
    skips = (score > most) | (value - value != 0.0)
    tl.store(window_ptr + at, values, mask=inside & finite)
    tl.store(counts_ptr, tl.where(finite, seen + 1, seen))
    tl.store(counts_ptr + 1, tl.load(counts_ptr + 1) + tl.where(skips, 1, 0))
    tl.store(score_ptr, score)
    tl.store(result_ptr, tl.where(skips, float("nan"), tl.load(factor_ptr)))


@triton.jit
def update_kernel(scale_ptr, tracker_ptr, found_ptr, growth, backoff, interval):
    scale = tl.load(scale_ptr)
    good = tl.load(tracker_ptr) + 1
    found = tl.load(found_ptr) != 0.0
    grown = scale * growth
    full = good == interval
    # A scale that would not be finite stays, and none is below the smallest normal number: of 0 nothing comes back.
    grows = full & (grown - grown == 0.0)
    less = tl.maximum(scale * backoff, 1.1754943508222875e-38)
    tl.store(scale_ptr, tl.where(found, less, tl.where(grows, grown, scale)))
    tl.store(tracker_ptr, tl.where(found | full, 0, good))
    tl.store(found_ptr, 0.0)
