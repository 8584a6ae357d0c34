"""Attention in O(N) memory: softmax(scale * q @ k^T) @ v for [batch, heads, sequence, D] of any strides.

Query i stands at position i + Tk - Tq among the keys, so that the last query sees the last key. It sees the keys
position - window < key < position + ahead, where ahead is 1 for causal attention. Keys of a block of queries lie in
three ranges: blocks that some of its queries see in part, then blocks that all see whole, without masks, and again some.

Exponentials are powers of two: scale2 = scale * log2(e). A largest score, or a logarithm of a sum, is kept in units of scores
and subtracted in front of that product: the product of one, rounded, would be off by more than all exponents where scores
are 1e9 and the product of the other is part of a fused multiply-add.

DROPS: 0, 1, or 2 in a kernel that is compiled ahead of time: it drops if `drop` is not 0, and has one loop with masks, which
is a third of the code.

Packed sequences, whose beginnings and last end are in starts_ptr, are cut into blocks that begin again with each:
sequence b has those from starts[b] // BLOCK + b on, up to one of them past its end. So a program finds its sequence,
and no one has to know the longest. Starts that do not ascend give wrong results, and never leave the tensors.
"""
import triton
import triton.language as tl

LOG2E: tl.constexpr = 1.4426950408889634


@triton.jit
def extent(starts_ptr, sequence, total):
    """Where a packed sequence begins, and how many rows it has."""
    begin = min(max(tl.load(starts_ptr + sequence), 0), total)
    return begin, min(max(tl.load(starts_ptr + sequence + 1), begin), total) - begin


@triton.jit
def sequence_of(number, starts_ptr, sequences, total, BLOCK: tl.constexpr):
    """The packed sequence that has block `number`, and which of its blocks that is."""
    low = number * 0
    high = low + sequences
    while high - low > 1:
        middle = (low + high) // 2
        is_before = min(max(tl.load(starts_ptr + middle), 0), total) // BLOCK + middle <= number
        low = tl.where(is_before, middle, low)
        high = tl.where(is_before, high, middle)
    begin = min(max(tl.load(starts_ptr + low), 0), total)
    return low, max(number - begin // BLOCK - low, 0)


@triton.jit
def ranges(lowest, highest, end, ahead, window, BLOCK: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr):
    """Of keys below `end`, for positions from `lowest` to `highest`: first, where whole blocks begin, where they end,
    last."""
    last = end
    whole_end = end
    if BOUNDED:
        last = max(min(end, highest + ahead), 0)
        whole_end = max(min(end, lowest + ahead), 0)
    first = 0
    whole = 0
    if WINDOW:
        first = max(lowest - window + 1, 0) // BLOCK * BLOCK
        whole = tl.cdiv(max(highest - window + 1, 0), BLOCK) * BLOCK
        whole = min(whole, tl.cdiv(last, BLOCK) * BLOCK)
    whole_end = max(whole_end // BLOCK * BLOCK, whole)
    return first, whole, whole_end, last


@triton.jit
def sees(positions, keys, ahead, window, BOUNDED: tl.constexpr, WINDOW: tl.constexpr):
    """Of two blocks that are broadcast against each other."""
    visible = keys < positions + ahead
    if WINDOW:
        visible = visible & (keys > positions - window)
    return visible


@triton.jit
def seed_of(seed):
    """A number, or what a pointer to it leads to: then it may change between launches of one graph."""
    if seed.dtype.is_ptr():
        return tl.load(seed)
    return seed


@triton.jit
def drawn(x, seed, site, head, positions, keys, drop, keep):
    zeros = (positions + keys) * 0
    bits, _, _, _ = tl.philox(seed, zeros + keys, zeros + positions, zeros + head, zeros + site)
    return tl.where(tl.uint_to_uniform_float(bits) < drop, 0.0, x * keep)


@triton.jit
def dropped(x, seed, site, head, positions, keys, drop, keep, DROPS: tl.constexpr):
    """0 with the probability `drop`, else x * keep. The counter of an element is its key, its query's position, its head
    and `site`."""
    y = x
    if DROPS == 2:
        if drop > 0.0:
            y = drawn(x, seed, site, head, positions, keys, drop, keep)
    else:
        y = drawn(x, seed, site, head, positions, keys, drop, keep)
    return y


@triton.jit
def biased(s, bias_ptrs, exists, scale2):
    """Scores and what is added to them after the scale, or -inf where a boolean mask is off. A bias is brought to the units of
    scores, and stays finite if it is: a query whose keys all have the lowest number weighs them as if they had none."""
    if bias_ptrs.dtype.element_ty == tl.int1:
        return tl.where(tl.load(bias_ptrs, mask=exists, other=0) != 0, s, -float("inf"))
    bias = tl.load(bias_ptrs, mask=exists, other=0.0).to(tl.float32)
    return s + tl.where(tl.abs(bias) == float("inf"), bias, tl.minimum(tl.maximum(bias * (LOG2E / scale2), -3e38), 3e38))


@triton.jit
def attend(o, total, largest, q, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, last, positions, Tk, ahead, window,
           scale2, seed, site, head, drop, keep, bias_rows, b_col, exists, D: tl.constexpr, BLOCK_N: tl.constexpr,
           BOUNDED: tl.constexpr, WINDOW: tl.constexpr, DROPS: tl.constexpr, MASKED: tl.constexpr, PRECISION: tl.constexpr,
           ROLES: tl.constexpr):
    """Online softmax: o and total are sums so far, in units of 2^(largest * scale2)."""
    keys = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    start64 = tl.cast(first, tl.int64)
    k_ptrs = k_ptr + start64 * k_row + (d[:, None] * k_col + keys[None, :] * k_row)
    v_ptrs = v_ptr + start64 * v_row + (keys[:, None] * v_row + d[None, :] * v_col)
    for start in tl.range(first, last, BLOCK_N, warp_specialize=ROLES):
        if MASKED:
            k = tl.load(k_ptrs, mask=keys[None, :] < Tk - start, other=0.0)
        else:
            k = tl.load(k_ptrs)
        s = tl.dot(q, k, input_precision=PRECISION)
        if bias_rows is not None:
            at = (start + keys)[None, :]
            s = biased(s, bias_rows[:, None] + at * b_col, exists[:, None] & (at < Tk), scale2)
        if MASKED:
            visible = (start + keys)[None, :] < Tk
            if BOUNDED:
                visible = visible & sees(positions[:, None], (start + keys)[None, :], ahead, window, BOUNDED, WINDOW)
            s = tl.where(visible, s, -float("inf"))
        larger = tl.maximum(largest, tl.max(s, axis=1))
        shift = larger
        if MASKED or bias_rows is not None:
            # A query that has seen no key yet.
            shift = tl.where(larger == -float("inf"), 0.0, larger)
        p = tl.exp2((s - shift[:, None]) * scale2)
        correction = tl.exp2((largest - shift) * scale2)
        total = total * correction + tl.sum(p, axis=1)
        if DROPS:
            p = dropped(p, seed, site, head, positions[:, None], (start + keys)[None, :], drop, keep, DROPS)
        o = o * correction[:, None]
        if MASKED:
            v = tl.load(v_ptrs, mask=keys[:, None] < Tk - start, other=0.0)
        else:
            v = tl.load(v_ptrs)
        o = tl.dot(p.to(v.dtype), v, o, input_precision=PRECISION)
        largest = larger
        k_ptrs += BLOCK_N * k_row
        v_ptrs += BLOCK_N * v_row
    return o, total, largest


@triton.jit
def attention_kernel(o_ptr, lse_ptr, q_ptr, k_ptr, v_ptr, o_batch, o_head, o_row, q_batch, q_head, q_row, q_col, k_batch,
                     k_head, k_row, k_col, v_batch, v_head, v_row, v_col, heads, group, Tq, Tk, ahead, window, scale2,
                     seed, site, drop, keep, bias_ptr, b_batch, b_head, b_row, b_col, D: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr,
                     PRECISION: tl.constexpr, DROPS: tl.constexpr, q_starts_ptr=None, k_starts_ptr=None,
                     sequences=None, ROLES: tl.constexpr = False):
    """`group` query heads share a head of keys and values. lse [batch, heads, Tq]: log of the sums of exponentials,
    divided by scale, unless its pointer is None. Programs of the last queries, which see most keys, begin first."""
    if DROPS:
        seed = seed_of(seed)
    blocks = tl.cdiv(Tq, BLOCK_M)
    if q_starts_ptr is not None:
        blocks = Tq // BLOCK_M + sequences
    number = max(blocks - 1 - tl.program_id(0) % blocks, 0)
    head = tl.program_id(0) // blocks
    batch = (head // heads).to(tl.int64)
    kv_head = (head % heads // group).to(tl.int64)
    head64 = (head % heads).to(tl.int64)
    lse_at = head.to(tl.int64) * Tq
    before = 0
    if q_starts_ptr is not None:
        sequence, number = sequence_of(number, q_starts_ptr, sequences, Tq, BLOCK_M)
        before, Tq = extent(q_starts_ptr, sequence, Tq)
        k_before, Tk = extent(k_starts_ptr, sequence, Tk)
        k_ptr += k_before.to(tl.int64) * k_row
        v_ptr += k_before.to(tl.int64) * v_row
        Tk = tl.where(number * BLOCK_M < Tq, Tk, 0)
        head += sequence * heads
    first_query = number * BLOCK_M
    rows = tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    exists = rows < Tq - first_query
    first64 = (before + first_query).to(tl.int64)
    q_ptrs = q_ptr + batch * q_batch + head64 * q_head + first64 * q_row + (rows[:, None] * q_row + d[None, :] * q_col)
    q = tl.load(q_ptrs, mask=exists[:, None], other=0.0)
    k_ptr += batch * k_batch + kv_head * k_head
    v_ptr += batch * v_batch + kv_head * v_head
    lowest = first_query + Tk - Tq
    positions = lowest + rows
    highest = min(first_query + BLOCK_M, Tq) - 1 + Tk - Tq
    first, whole, whole_end, last = ranges(lowest, highest, Tk, ahead, window, BLOCK_N, BOUNDED, WINDOW)
    o = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    largest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    bias_rows = None
    if bias_ptr is not None:
        bias_rows = bias_ptr + batch * b_batch + head64 * b_head + (first64 + rows) * b_row
    if DROPS == 2:
        o, total, largest = attend(o, total, largest, q, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, last,
                                   positions, Tk, ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, exists, D, BLOCK_N,
                                   BOUNDED, WINDOW, DROPS, True, PRECISION, ROLES)
    else:
        if WINDOW:
            o, total, largest = attend(o, total, largest, q, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, whole,
                                       positions, Tk, ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, True, PRECISION, ROLES)
        o, total, largest = attend(o, total, largest, q, k_ptr, v_ptr, k_row, k_col, v_row, v_col, whole, whole_end,
                                   positions, Tk, ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, False, PRECISION, ROLES)
        o, total, largest = attend(o, total, largest, q, k_ptr, v_ptr, k_row, k_col, v_row, v_col, whole_end, last,
                                   positions, Tk, ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, True, PRECISION, ROLES)
    # Queries without keys have a result of 0.
    o = o / tl.where(total == 0.0, 1.0, total)[:, None]
    o_ptrs = o_ptr + batch * o_batch + head64 * o_head + first64 * o_row + (rows[:, None] * o_row + d[None, :])
    tl.store(o_ptrs, o, mask=exists[:, None])
    if lse_ptr is not None:
        tl.store(lse_ptr + lse_at + first64 + rows, largest + tl.log2(total) / scale2, mask=exists)


@triton.jit
def delta_kernel(delta_ptr, o_ptr, do_ptr, o_batch, o_head, o_row, do_batch, do_head, do_row, do_col, heads, Tq,
                 D: tl.constexpr, BLOCK_M: tl.constexpr):
    """delta = row sums of do * o: what the softmax's normalisation takes from each gradient."""
    blocks = tl.cdiv(Tq, BLOCK_M)
    first = tl.program_id(0) % blocks * BLOCK_M
    head = tl.program_id(0) // blocks
    batch = (head // heads).to(tl.int64)
    head64 = (head % heads).to(tl.int64)
    rows = tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    exists = rows < Tq - first
    first64 = first.to(tl.int64)
    o_ptrs = o_ptr + batch * o_batch + head64 * o_head + first64 * o_row + (rows[:, None] * o_row + d[None, :])
    do_ptrs = do_ptr + batch * do_batch + head64 * do_head + first64 * do_row + (rows[:, None] * do_row
                                                                               + d[None, :] * do_col)
    o = tl.load(o_ptrs, mask=exists[:, None], other=0.0).to(tl.float32)
    do = tl.load(do_ptrs, mask=exists[:, None], other=0.0).to(tl.float32)
    tl.store(delta_ptr + head.to(tl.int64) * Tq + first + rows, tl.sum(o * do, axis=1), mask=exists)


@triton.jit
def seen(lse):
    """Of queries without keys, whose lse is -inf: what makes all their exponentials 0."""
    return tl.where(lse == -float("inf"), float("inf"), lse)


@triton.jit
def is_alone(positions, Tk, ahead, window, WINDOW: tl.constexpr):
    """Sees the query one key? Its weight is 1 then, whatever the score: the score's gradient is 0, not what rounding leaves
    of a difference."""
    first = positions * 0
    if WINDOW:
        first = tl.maximum(positions - window + 1, 0)
    return tl.minimum(positions + ahead, Tk) - first == 1


@triton.jit
def add_queries(dk, dv, k, v, q_ptr, do_ptr, lse_ptr, delta_ptr, q_row, q_col, do_row, do_col, first, last, keys, Tq,
                Tk, ahead, window, scale2, seed, site, head, drop, keep, bias_ptr, b_row, b_col, D: tl.constexpr,
                BLOCK_M: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr, DROPS: tl.constexpr, MASKED: tl.constexpr,
                PRECISION: tl.constexpr, ROLES: tl.constexpr):
    """What the queries from `first` to `last` add to the gradients of a block of keys. Scores are held transposed,
    [keys, queries]: so they are left operands without a transposition."""
    rows = tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    start64 = tl.cast(first, tl.int64)
    q_ptrs = q_ptr + start64 * q_row + (rows[:, None] * q_row + d[None, :] * q_col)
    do_ptrs = do_ptr + start64 * do_row + (rows[:, None] * do_row + d[None, :] * do_col)
    for start in tl.range(first, last, BLOCK_M, warp_specialize=ROLES):
        if MASKED:
            exists = rows < Tq - start
            q = tl.load(q_ptrs, mask=exists[:, None], other=0.0)
            do = tl.load(do_ptrs, mask=exists[:, None], other=0.0)
            lse = tl.load(lse_ptr + start + rows, mask=exists, other=-float("inf"))
            delta = tl.load(delta_ptr + start + rows, mask=exists, other=0.0)
        else:
            q = tl.load(q_ptrs)
            do = tl.load(do_ptrs)
            lse = tl.load(lse_ptr + start + rows)
            delta = tl.load(delta_ptr + start + rows)
        s = tl.dot(k, tl.trans(q), input_precision=PRECISION)
        if bias_ptr is not None:
            of = (start64 + (start - first) + rows)[None, :]
            s = biased(s, bias_ptr + of * b_row + keys[:, None] * b_col, (of < Tq) & (keys[:, None] < Tk), scale2)
        p = tl.exp2((s - seen(lse)[None, :]) * scale2)
        if MASKED and BOUNDED:
            positions = start + rows + Tk - Tq
            p = tl.where(sees(positions[None, :], keys[:, None], ahead, window, BOUNDED, WINDOW), p, 0.0)
        dp = tl.dot(v, tl.trans(do), input_precision=PRECISION)
        if DROPS:
            places = (start + rows + Tk - Tq)[None, :]
            dv = tl.dot(dropped(p, seed, site, head, places, keys[:, None], drop, keep, DROPS).to(do.dtype), do, dv,
                        input_precision=PRECISION)
            dp = dropped(dp, seed, site, head, places, keys[:, None], drop, keep, DROPS)
        else:
            dv = tl.dot(p.to(do.dtype), do, dv, input_precision=PRECISION)
        ds = p * (dp - delta[None, :])
        if BOUNDED and (MASKED or keys.shape[0] == 1):
            ds = tl.where(is_alone(start + rows + Tk - Tq, Tk, ahead, window, WINDOW)[None, :], 0.0, ds)
        dk = tl.dot(ds.to(q.dtype), q, dk, input_precision=PRECISION)
        q_ptrs += BLOCK_M * q_row
        do_ptrs += BLOCK_M * do_row
    return dk, dv


@triton.jit
def keys_backward_kernel(dk_ptr, dv_ptr, q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_batch, dk_head, dk_row,
                         dv_batch, dv_head, dv_row, q_batch, q_head, q_row, q_col, k_batch, k_head, k_row, k_col,
                         v_batch, v_head, v_row, v_col, do_batch, do_head, do_row, do_col, kv_heads, group, Tq, Tk,
                         ahead, window, scale, scale2, seed, site, drop, keep, bias_ptr, b_batch, b_head, b_row, b_col,
                         D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr, PRECISION: tl.constexpr,
                         DROPS: tl.constexpr, q_starts_ptr=None, k_starts_ptr=None, sequences=None,
                         ROLES: tl.constexpr = False):
    """dk and dv of a block of keys: sums over the queries of all heads that share them, in one order."""
    if DROPS:
        seed = seed_of(seed)
    blocks = tl.cdiv(Tk, BLOCK_N)
    if k_starts_ptr is not None:
        blocks = Tk // BLOCK_N + sequences
    block = tl.program_id(0) % blocks
    head = tl.program_id(0) // blocks
    batch = (head // kv_heads).to(tl.int64)
    kv_head = (head % kv_heads).to(tl.int64)
    lse_rows = Tq
    before = 0
    if k_starts_ptr is not None:
        sequence, block = sequence_of(block, k_starts_ptr, sequences, Tk, BLOCK_N)
        before, Tk = extent(k_starts_ptr, sequence, Tk)
        q_before, Tq = extent(q_starts_ptr, sequence, Tq)
        q_ptr += q_before.to(tl.int64) * q_row
        do_ptr += q_before.to(tl.int64) * do_row
        lse_ptr += q_before
        delta_ptr += q_before
        Tq = tl.where(block * BLOCK_N < Tk, Tq, 0)
    first_key = block * BLOCK_N
    first64 = (before + first_key).to(tl.int64)
    cols = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    keys = first_key + cols
    exists = cols < Tk - first_key
    k_ptrs = k_ptr + batch * k_batch + kv_head * k_head + first64 * k_row + (cols[:, None] * k_row + d[None, :] * k_col)
    v_ptrs = v_ptr + batch * v_batch + kv_head * v_head + first64 * v_row + (cols[:, None] * v_row + d[None, :] * v_col)
    k = tl.load(k_ptrs, mask=exists[:, None], other=0.0)
    v = tl.load(v_ptrs, mask=exists[:, None], other=0.0)
    dk = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    dv = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    # Queries that see some of these keys, and those that see all of them.
    shift = Tk - Tq
    first = 0
    whole = 0
    last = Tq
    whole_end = Tq // BLOCK_M * BLOCK_M
    if BOUNDED:
        first = min(max(first_key - ahead + 1 - shift, 0), Tq) // BLOCK_M * BLOCK_M
        whole = tl.cdiv(min(max(first_key + BLOCK_N - ahead - shift, 0), Tq), BLOCK_M) * BLOCK_M
    if WINDOW:
        last = min(max(first_key + BLOCK_N - 1 + window - shift, 0), Tq)
        whole_end = min(max(first_key + window - shift, 0), Tq) // BLOCK_M * BLOCK_M
        whole = min(whole, tl.cdiv(last, BLOCK_M) * BLOCK_M)
    whole_end = max(whole_end, whole)
    for member in range(0, group):
        q_head64 = kv_head * group + member
        number = ((batch * kv_heads + kv_head) * group + member).to(tl.int32)
        if k_starts_ptr is not None:
            number += sequence * kv_heads * group
        q_base = q_ptr + batch * q_batch + q_head64 * q_head
        do_base = do_ptr + batch * do_batch + q_head64 * do_head
        at = (batch * kv_heads * group + q_head64) * lse_rows
        bias_base = None
        if bias_ptr is not None:
            bias_base = bias_ptr + batch * b_batch + q_head64 * b_head
        if DROPS == 2:
            dk, dv = add_queries(dk, dv, k, v, q_base, do_base, lse_ptr + at, delta_ptr + at, q_row, q_col, do_row,
                                 do_col, first, last, keys, Tq, Tk, ahead, window, scale2, seed, site, number, drop,
                                 keep, bias_base, b_row, b_col, D, BLOCK_M, BOUNDED, WINDOW, DROPS, True, PRECISION, ROLES)
        else:
            if BOUNDED:
                dk, dv = add_queries(dk, dv, k, v, q_base, do_base, lse_ptr + at, delta_ptr + at, q_row, q_col, do_row,
                                     do_col, first, whole, keys, Tq, Tk, ahead, window, scale2, seed, site, number, drop, keep, bias_base, b_row, b_col, D, BLOCK_M, BOUNDED, WINDOW, DROPS, True, PRECISION, ROLES)
            dk, dv = add_queries(dk, dv, k, v, q_base, do_base, lse_ptr + at, delta_ptr + at, q_row, q_col, do_row, do_col,
                                 whole, whole_end, keys, Tq, Tk, ahead, window, scale2, seed, site, number, drop, keep, bias_base, b_row, b_col, D, BLOCK_M,
                                 BOUNDED, WINDOW, DROPS, False, PRECISION, ROLES)
            dk, dv = add_queries(dk, dv, k, v, q_base, do_base, lse_ptr + at, delta_ptr + at, q_row, q_col, do_row, do_col,
                                 whole_end, last, keys, Tq, Tk, ahead, window, scale2, seed, site, number, drop, keep, bias_base, b_row, b_col, D, BLOCK_M,
                                 BOUNDED, WINDOW, DROPS, True, PRECISION, ROLES)
    if dk_ptr is not None:
        dk_ptrs = dk_ptr + batch * dk_batch + kv_head * dk_head + first64 * dk_row + (cols[:, None] * dk_row + d[None, :])
        tl.store(dk_ptrs, dk * scale, mask=exists[:, None])
    if dv_ptr is not None:
        dv_ptrs = dv_ptr + batch * dv_batch + kv_head * dv_head + first64 * dv_row + (cols[:, None] * dv_row + d[None, :])
        tl.store(dv_ptrs, dv, mask=exists[:, None])


@triton.jit
def add_keys(dq, q, do, lse, delta, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, last, positions, Tk, ahead, window,
             scale2, seed, site, head, drop, keep, bias_rows, b_col, dbias_rows, exists, D: tl.constexpr,
             BLOCK_N: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr, DROPS: tl.constexpr, MASKED: tl.constexpr, PRECISION: tl.constexpr,
             ROLES: tl.constexpr):
    keys = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    start64 = tl.cast(first, tl.int64)
    k_ptrs = k_ptr + start64 * k_row + (keys[:, None] * k_row + d[None, :] * k_col)
    v_ptrs = v_ptr + start64 * v_row + (keys[:, None] * v_row + d[None, :] * v_col)
    for start in tl.range(first, last, BLOCK_N, warp_specialize=ROLES):
        if MASKED:
            k = tl.load(k_ptrs, mask=keys[:, None] < Tk - start, other=0.0)
            v = tl.load(v_ptrs, mask=keys[:, None] < Tk - start, other=0.0)
        else:
            k = tl.load(k_ptrs)
            v = tl.load(v_ptrs)
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION)
        if bias_rows is not None:
            at = (start + keys)[None, :]
            s = biased(s, bias_rows[:, None] + at * b_col, exists[:, None] & (at < Tk), scale2)
        p = tl.exp2((s - lse[:, None]) * scale2)
        if MASKED:
            visible = (start + keys)[None, :] < Tk
            if BOUNDED:
                visible = visible & sees(positions[:, None], (start + keys)[None, :], ahead, window, BOUNDED, WINDOW)
            p = tl.where(visible, p, 0.0)
        dp = tl.dot(do, tl.trans(v), input_precision=PRECISION)
        if DROPS:
            dp = dropped(dp, seed, site, head, positions[:, None], (start + keys)[None, :], drop, keep, DROPS)
        ds = p * (dp - delta[:, None])
        if BOUNDED and (MASKED or BLOCK_N == 1):
            ds = tl.where(is_alone(positions, Tk, ahead, window, WINDOW)[:, None], 0.0, ds)
        if dbias_rows is not None:
            of = (start + keys)[None, :]
            tl.store(dbias_rows[:, None] + of, ds, mask=exists[:, None] & (of < Tk))
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision=PRECISION)
        k_ptrs += BLOCK_N * k_row
        v_ptrs += BLOCK_N * v_row
    return dq


@triton.jit
def queries_backward_kernel(dq_ptr, q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_batch, dq_head, dq_row, q_batch,
                            q_head, q_row, q_col, k_batch, k_head, k_row, k_col, v_batch, v_head, v_row, v_col,
                            do_batch, do_head, do_row, do_col, heads, group, Tq, Tk, ahead, window, scale, scale2,
                            seed, site, drop, keep, bias_ptr, b_batch, b_head, b_row, b_col, dbias_ptr, D: tl.constexpr,
                            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BOUNDED: tl.constexpr, WINDOW: tl.constexpr,
                            PRECISION: tl.constexpr, DROPS: tl.constexpr, q_starts_ptr=None, k_starts_ptr=None,
                            sequences=None, ROLES: tl.constexpr = False):
    """dq of a block of queries: sums over the keys that they see. dbias [batch, heads, Tq, Tk]: the gradient of each score
    after the scale, of those that are seen."""
    if DROPS:
        seed = seed_of(seed)
    blocks = tl.cdiv(Tq, BLOCK_M)
    if q_starts_ptr is not None:
        blocks = Tq // BLOCK_M + sequences
    number = max(blocks - 1 - tl.program_id(0) % blocks, 0)
    head = tl.program_id(0) // blocks
    batch = (head // heads).to(tl.int64)
    head64 = (head % heads).to(tl.int64)
    kv_head = (head % heads // group).to(tl.int64)
    at = head.to(tl.int64) * Tq
    before = 0
    if q_starts_ptr is not None:
        sequence, number = sequence_of(number, q_starts_ptr, sequences, Tq, BLOCK_M)
        before, Tq = extent(q_starts_ptr, sequence, Tq)
        k_before, Tk = extent(k_starts_ptr, sequence, Tk)
        k_ptr += k_before.to(tl.int64) * k_row
        v_ptr += k_before.to(tl.int64) * v_row
        Tk = tl.where(number * BLOCK_M < Tq, Tk, 0)
        head += sequence * heads
    first_query = number * BLOCK_M
    first64 = (before + first_query).to(tl.int64)
    at += first64
    rows = tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    exists = rows < Tq - first_query
    q_ptrs = q_ptr + batch * q_batch + head64 * q_head + first64 * q_row + (rows[:, None] * q_row + d[None, :] * q_col)
    do_ptrs = do_ptr + batch * do_batch + head64 * do_head + first64 * do_row + (rows[:, None] * do_row
                                                                               + d[None, :] * do_col)
    q = tl.load(q_ptrs, mask=exists[:, None], other=0.0)
    do = tl.load(do_ptrs, mask=exists[:, None], other=0.0)
    lse = seen(tl.load(lse_ptr + at + rows, mask=exists, other=-float("inf")))
    delta = tl.load(delta_ptr + at + rows, mask=exists, other=0.0)
    k_ptr += batch * k_batch + kv_head * k_head
    v_ptr += batch * v_batch + kv_head * v_head
    lowest = first_query + Tk - Tq
    positions = lowest + rows
    highest = min(first_query + BLOCK_M, Tq) - 1 + Tk - Tq
    first, whole, whole_end, last = ranges(lowest, highest, Tk, ahead, window, BLOCK_N, BOUNDED, WINDOW)
    bias_rows = None
    if bias_ptr is not None:
        bias_rows = bias_ptr + batch * b_batch + head64 * b_head + (first64 + rows) * b_row
    dbias_rows = None
    if dbias_ptr is not None:
        dbias_rows = dbias_ptr + (at + rows) * Tk
    dq = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    if DROPS == 2:
        dq = add_keys(dq, q, do, lse, delta, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, last, positions, Tk,
                      ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, dbias_rows, exists, D, BLOCK_N, BOUNDED, WINDOW, DROPS, True,
                      PRECISION, ROLES)
    else:
        if WINDOW:
            dq = add_keys(dq, q, do, lse, delta, k_ptr, v_ptr, k_row, k_col, v_row, v_col, first, whole, positions, Tk,
                          ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, dbias_rows, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, True, PRECISION, ROLES)
        dq = add_keys(dq, q, do, lse, delta, k_ptr, v_ptr, k_row, k_col, v_row, v_col, whole, whole_end, positions, Tk,
                      ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, dbias_rows, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, False, PRECISION, ROLES)
        dq = add_keys(dq, q, do, lse, delta, k_ptr, v_ptr, k_row, k_col, v_row, v_col, whole_end, last, positions, Tk,
                      ahead, window, scale2, seed, site, head, drop, keep, bias_rows, b_col, dbias_rows, exists, D, BLOCK_N, BOUNDED,
                                       WINDOW, DROPS, True, PRECISION, ROLES)
    dq_ptrs = dq_ptr + batch * dq_batch + head64 * dq_head + first64 * dq_row + (rows[:, None] * dq_row + d[None, :])
    tl.store(dq_ptrs, dq * scale, mask=exists[:, None])
