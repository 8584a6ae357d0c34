"""Stable sorts of rows, by keys of 64 bits: the order of the value above, its place in the row below."""
import triton
import triton.language as tl


@triton.jit
def sort_keys_kernel(key_ptr, x_ptr, N, P, blocks, KIND: tl.constexpr, HIGH: tl.constexpr, DESCENDING: tl.constexpr,
                     BLOCK: tl.constexpr):
    """key[i, j] of x[i, j], for rows of N elements filled up to P with what is after all. KIND: "float", "signed",
    "unsigned" of 32 bits; "double", "long", "ulong" of 64, their HIGH or low half is taken."""
    row = (tl.program_id(0) // blocks).to(tl.int64)
    cols = (tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0)
    if KIND == "float":
        x = x.to(tl.float32)
        bits = tl.where(x == 0.0, 0.0, x).to(tl.int32, bitcast=True)
        bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        order = tl.where(x != x, 0x7FFFFFFF, bits)
    elif KIND == "signed":
        order = x.to(tl.int32)
    elif KIND == "unsigned":
        order = (x.to(tl.int64) - 0x80000000).to(tl.int32)
    else:
        if KIND == "double":
            wide = tl.where(x == 0.0, 0.0, x).to(tl.int64, bitcast=True)
            wide = tl.where(wide < 0, wide ^ 0x7FFFFFFFFFFFFFFF, wide)
            wide = tl.where(x != x, 0x7FFFFFFFFFFFFFFF, wide)
        elif KIND == "ulong":
            wide = x.to(tl.int64, bitcast=True) ^ -0x8000000000000000
        else:
            wide = x
        if HIGH:
            order = (wide >> 32).to(tl.int32)
        else:
            order = ((wide & 0xFFFFFFFF) - 0x80000000).to(tl.int32)
    if DESCENDING:
        order = ~order
    key = (order.to(tl.int64) << 32) | cols.to(tl.int64)
    tl.store(key_ptr + row * P + cols, tl.where(cols < N, key, 0x7FFFFFFFFFFFFFFF), mask=cols < P)


@triton.jit
def sort_blocks_kernel(key_ptr, count, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Sorts each of `count` blocks of neighbours in place."""
    block = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = (block * BLOCK)[:, None] + tl.arange(0, BLOCK)[None, :]
    exists = (block < count)[:, None]
    keys = tl.load(key_ptr + at, mask=exists, other=0)
    tl.store(key_ptr + at, tl.sort(keys, 1), mask=exists)


@triton.jit
def sort_merge_kernel(out_ptr, key_ptr, P, run, steps, blocks, BLOCK: tl.constexpr):
    """Of each two sorted runs one: a key goes to its place in its own run plus the number of keys of the other run in front
    of it, found in `steps` halvings."""
    row = (tl.program_id(0) // blocks).to(tl.int64)
    at = ((tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    exists = at < P
    key = tl.load(key_ptr + row * P + at, mask=exists, other=0)
    pair = at // (2 * run) * (2 * run)
    middle = tl.minimum(pair + run, P)
    isLeft = at < middle
    begin = tl.where(isLeft, middle, pair)
    low = begin
    high = tl.where(isLeft, tl.minimum(pair + 2 * run, P), middle)
    for step in range(0, steps):
        half = (low + high) // 2
        open = low < high
        other = tl.load(key_ptr + row * P + half, mask=exists & open, other=0)
        # Only what fills rows up is equal: the left one is in front.
        isBefore = (other < key) | ((other == key) & (isLeft == 0))
        low = tl.where(open & isBefore, half + 1, low)
        high = tl.where(open & (isBefore == 0), half, high)
    own = at - tl.where(isLeft, pair, middle)
    tl.store(out_ptr + row * P + pair + own + (low - begin), key, mask=exists)


@triton.jit
def sort_places_kernel(place_ptr, key_ptr, K, P, blocks, BLOCK: tl.constexpr):
    """The places of the first K keys of each row."""
    row = (tl.program_id(0) // blocks).to(tl.int64)
    cols = (tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(key_ptr + row * P + cols, mask=cols < K, other=0)
    tl.store(place_ptr + row * K + cols, key & 0xFFFFFFFF, mask=cols < K)
