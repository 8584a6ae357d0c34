"""Conversions, shifts and signs whose results the language defines for every
bit pattern: check-device runs them on a device and on interp."""

import triton
import triton.language as tl


@triton.jit
def corners(i8, u8, i16, u16, i32, u32, i64, u64, half8, double32, shifted, negative, floor64, ceil64, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = o.to(tl.uint32) * 2654435761  # all exponents, infinities, NaN
    x = bits.to(tl.float32, bitcast=True)
    small = x * 1e-30
    x = tl.where((o % 2 == 0) | (tl.abs(small) > 1e12), x, small)
    tl.store(i8 + o, x.to(tl.int8))
    tl.store(u8 + o, x.to(tl.uint8))
    tl.store(i16 + o, x.to(tl.int16))
    tl.store(u16 + o, x.to(tl.uint16))
    tl.store(i32 + o, x.to(tl.int32))
    tl.store(u32 + o, x.to(tl.uint32))
    tl.store(i64 + o, x.to(tl.int64))
    tl.store(u64 + o, x.to(tl.uint64))
    tl.store(floor64 + o, tl.floor(x).to(tl.int64))
    tl.store(ceil64 + o, tl.ceil(x).to(tl.uint64))
    tl.store(half8 + o, x.to(tl.float16).to(tl.int8))
    tl.store(double32 + o, (x.to(tl.float64) * 1e3).to(tl.int32))
    tl.store(shifted + o, bits.to(tl.int32) >> (bits % 31))
    # A NaN's sign is unspecified.
    number = tl.where((o % 3 == 0) | (x != x), 0.0, x)
    tl.store(negative + o, (-number).to(tl.int32, bitcast=True) < 0)
