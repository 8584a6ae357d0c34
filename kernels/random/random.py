"""Tensors made from nothing, with the bits that the host's generators give."""
import triton
import triton.language as tl


@triton.jit
def lanes_of(seed, start, BLOCK: tl.constexpr):
    """Of groups start .. start + BLOCK: four uint32 each."""
    group = start + tl.arange(0, BLOCK)
    zero = tl.zeros([BLOCK], tl.uint32)
    return tl.philox(seed, group.to(tl.uint32), (group >> 32).to(tl.uint32), zero, zero)


@triton.jit
def unit(bits):
    """[0, 1): the sign is folded away, then 31 bits are scaled."""
    x = bits.to(tl.int32, bitcast=True)
    return tl.where(x < 0, ~x, x).to(tl.float32) * 4.6566127342e-10


@triton.jit
def logarithm(x):
    """Of normal numbers; step for step as Generators.cpp computes it."""
    bits = x.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F3504F3) >> 23
    f = (bits - (exponent << 23)).to(tl.float32, bitcast=True) - 1.0
    p = tl.full(f.shape, 0.06769024, tl.float32)
    p = tl.fma(p, f, -0.11557288)
    p = tl.fma(p, f, 0.11812136)
    p = tl.fma(p, f, -0.124208145)
    p = tl.fma(p, f, 0.14232318)
    p = tl.fma(p, f, -0.16667537)
    p = tl.fma(p, f, 0.20001447)
    p = tl.fma(p, f, -0.25000012)
    p = tl.fma(p, f, 0.33333322)
    p = tl.fma(p, f, -0.5)
    e = exponent.to(tl.float32)
    # ln 2 in two parts: e times the first one is exact.
    low = tl.fma(f * f, p, e * -2.1219444e-4)
    return tl.fma(e, 0.693359375, f + low)


@triton.jit
def box_muller(a, b):
    """Two independent standard normals of two uniform ones."""
    radius = tl.sqrt_rn(-2.0 * logarithm(tl.maximum(a, 1e-7)))
    quarter = (b * 4.0 + 0.5).to(tl.int32)
    r = b * 4.0 - quarter.to(tl.float32)
    z = r * r
    s = tl.full(z.shape, 0.00015820631, tl.float32)
    s = tl.fma(s, z, -0.0046812664)
    s = tl.fma(s, z, 0.07969258)
    s = tl.fma(s, z, -0.6459641)
    s = tl.fma(s, z, 1.5707964) * r
    c = tl.full(z.shape, -2.4850946e-05, tl.float32)
    c = tl.fma(c, z, 0.0009191617)
    c = tl.fma(c, z, -0.020863468)
    c = tl.fma(c, z, 0.2536695)
    c = tl.fma(c, z, -1.2337005)
    c = tl.fma(c, z, 1.0)
    swaps = (quarter & 1) != 0
    cosine = tl.where(swaps, s, c)
    sine = tl.where(swaps, c, s)
    # A minus would be taken from 0, which makes 0 of 0, not -0.
    cosine = tl.where(((quarter + 1) & 2) != 0, cosine * -1.0, cosine)
    sine = tl.where((quarter & 2) != 0, sine * -1.0, sine)
    return radius * cosine, radius * sine


@triton.jit
def store_lanes(y_ptr, start, n, a, b, c, d, BLOCK: tl.constexpr):
    y = tl.interleave(tl.interleave(a, c), tl.interleave(b, d))
    at = tl.arange(0, 4 * BLOCK)
    tl.store(y_ptr + 4 * start + at, y, mask=at < n - 4 * start)


@triton.jit
def uniform_kernel(y_ptr, n, seed, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    a, b, c, d = lanes_of(seed, start, BLOCK)
    store_lanes(y_ptr, start, n, unit(a), unit(b), unit(c), unit(d), BLOCK)


@triton.jit
def normal_kernel(y_ptr, n, seed, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    a, b, c, d = lanes_of(seed, start, BLOCK)
    a, b = box_muller(unit(a), unit(b))
    c, d = box_muller(unit(c), unit(d))
    store_lanes(y_ptr, start, n, a, b, c, d, BLOCK)


@triton.jit
def integers_kernel(y_ptr, n, seed, low, size, BLOCK: tl.constexpr):
    """In [low, low + size), where size < 2**32."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    a, b, c, d = lanes_of(seed, start, BLOCK)
    s = tl.full([BLOCK], size, tl.int64).to(tl.uint32)
    a = low + tl.umulhi(a, s).to(tl.int64)
    b = low + tl.umulhi(b, s).to(tl.int64)
    c = low + tl.umulhi(c, s).to(tl.int64)
    d = low + tl.umulhi(d, s).to(tl.int64)
    store_lanes(y_ptr, start, n, a, b, c, d, BLOCK)


@triton.jit
def arange_kernel(y_ptr, n, first, step, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * BLOCK
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + begin + at, first + (begin + at) * step, mask=at < n - begin)
