"""Attention of one token over a cache of keys and values, which are cut into splits that programs share.

A program takes a split of one sequence's keys for the GROUP query heads that share them, so that each key is read once.
Exponentials are powers of two: scale2 = scale * log2(e).
"""
import triton
import triton.language as tl


@triton.jit
def decoding_kernel(o_ptr, lse_ptr, q_ptr, k_ptr, v_ptr, own_k_ptr, own_v_ptr, lengths_ptr, q_batch, q_head, q_col,
                    k_batch, k_head, k_row, k_col, v_batch, v_head, v_row, v_col, own_batch, own_head, own_col,
                    kv_heads, group, capacity, window, scale2, GROUP: tl.constexpr, D: tl.constexpr,
                    BLOCK: tl.constexpr, PRODUCTS: tl.constexpr, EARLY: tl.constexpr = False, table_ptr=None,
                    table_row=None, pages=None, PAGE: tl.constexpr = 1, page_size=None):
    """o [batch, heads, splits, D] of each split, and lse [batch, heads, splits]: the power of two that its sum of
    exponentials is, -inf of a split without keys. Without lse there is one split, and o is the result.

    With own_k_ptr, the token's key and value are not in the cache yet: the first split takes them, and stores them there.

    `group` heads share each head of keys; programs (_, _, c) take those from c * GROUP on.

    Without PRODUCTS, scores are sums over rows: of one query head, a product would pack all keys first. EARLY: the launch
    may begin before its queries and what own_k_ptr points to are there, and reads the first keys of the cache meanwhile.

    With table_ptr, keys lie in pages of PAGE keys, [pages, kv heads, PAGE, D]: key j of a sequence in page table[sequence,
    j // PAGE]. Keys of a page that does not exist are not seen. PAGE = 0: it is `page_size`.
    """
    AHEAD: tl.constexpr = EARLY and not PRODUCTS and own_k_ptr is not None and table_ptr is None
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    if EARLY and not AHEAD:
        tl.extra.cuda.gdc_wait()
    batch = (tl.program_id(0) // kv_heads).to(tl.int64)
    kv_head = (tl.program_id(0) % kv_heads).to(tl.int64)
    splits = tl.num_programs(1)
    length = max(min(tl.load(lengths_ptr + batch), capacity), 0).to(tl.int32)
    begin = max(length - window, 0)
    if own_k_ptr is not None:
        begin = max(length + 1 - window, 0)
    share = tl.cdiv(tl.cdiv(length - begin, splits), BLOCK) * BLOCK
    first = begin + tl.program_id(1) * share
    last = min(first + share, length)
    members = tl.program_id(2) * GROUP + tl.arange(0, GROUP)
    exists = (members < group)[:, None]
    d = tl.arange(0, D)
    keys = tl.arange(0, BLOCK)
    heads = kv_head * group + members
    first64 = first.to(tl.int64)
    if table_ptr is None:
        k_ptrs = k_ptr + batch * k_batch + kv_head * k_head + first64 * k_row + (keys[:, None] * k_row + d[None, :] * k_col)
        v_ptrs = v_ptr + batch * v_batch + kv_head * v_head + first64 * v_row + (keys[:, None] * v_row + d[None, :] * v_col)
    else:
        size = page_size if PAGE == 0 else PAGE
        table_ptr += batch * table_row
        k_ptr += kv_head * k_head
        v_ptr += kv_head * v_head
    if AHEAD:
        inside = keys < last - first
        k = tl.load(k_ptrs, mask=inside[:, None], other=0.0)
        v = tl.load(v_ptrs, mask=inside[:, None], other=0.0)
        tl.extra.cuda.gdc_wait()
    q = tl.load(q_ptr + batch * q_batch + heads[:, None] * q_head + d[None, :] * q_col, mask=exists, other=0.0)
    largest = tl.full((GROUP,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((GROUP,), dtype=tl.float32)
    o = tl.zeros((GROUP, D), dtype=tl.float32)
    if own_k_ptr is not None:
        own = batch * own_batch + kv_head * own_head + d * own_col
        own_k = tl.load(own_k_ptr + own)
        own_v = tl.load(own_v_ptr + own)
        takes = tl.program_id(1) == 0
        score = tl.sum(q.to(tl.float32) * own_k.to(tl.float32)[None, :], axis=1) * scale2
        largest = tl.where(takes, score, largest)
        total = tl.where(takes, 1.0, total)
        o = tl.where(takes, own_v.to(tl.float32)[None, :], o)
        keeps = takes & (length < capacity) & (d < D)
        place = length.to(tl.int64)
        if table_ptr is None:
            k_to = k_ptr + batch * k_batch + kv_head * k_head + place * k_row
            v_to = v_ptr + batch * v_batch + kv_head * v_head + place * v_row
        else:
            own_page = tl.load(table_ptr + place // size, mask=length < capacity, other=-1).to(tl.int64)
            keeps = keeps & (own_page >= 0) & (own_page < pages)
            k_to = k_ptr + own_page * k_batch + place % size * k_row
            v_to = v_ptr + own_page * v_batch + place % size * v_row
        tl.store(k_to + d * k_col, own_k, mask=keeps)
        tl.store(v_to + d * v_col, own_v, mask=keeps)
    for start in range(first, last, BLOCK):
        inside = keys < last - start
        if table_ptr is not None:
            key = start + keys
            page = tl.load(table_ptr + key // size, mask=inside, other=-1).to(tl.int64)
            inside = (page >= 0) & (page < pages)
            k_ptrs = k_ptr + (page * k_batch + key % size * k_row)[:, None] + d[None, :] * k_col
            v_ptrs = v_ptr + (page * v_batch + key % size * v_row)[:, None] + d[None, :] * v_col
        if not AHEAD:
            k = tl.load(k_ptrs, mask=inside[:, None], other=0.0)
            v = tl.load(v_ptrs, mask=inside[:, None], other=0.0)
        if PRODUCTS:
            s = tl.dot(q, tl.trans(k), input_precision="ieee")
        else:
            s = tl.sum(k.to(tl.float32) * q.to(tl.float32), axis=1)[None, :]
        s = tl.where(inside[None, :], s * scale2, -float("inf"))
        larger = tl.maximum(largest, tl.max(s, axis=1))
        shift = larger
        if table_ptr is not None:
            # None of the keys so far may exist.
            shift = tl.where(larger == -float("inf"), 0.0, larger)
        p = tl.exp2(s - shift[:, None])
        correction = tl.exp2(largest - shift)
        total = total * correction + tl.sum(p, axis=1)
        o = o * correction[:, None]
        if PRODUCTS:
            o = tl.dot(p.to(v.dtype), v, o, input_precision="ieee")
        else:
            o += tl.sum(tl.trans(p) * v.to(tl.float32), axis=0)[None, :]
        largest = larger
        if table_ptr is None:
            k_ptrs += BLOCK * k_row
            v_ptrs += BLOCK * v_row
        if AHEAD:
            next_inside = keys < last - start - BLOCK
            k = tl.load(k_ptrs, mask=next_inside[:, None], other=0.0)
            v = tl.load(v_ptrs, mask=next_inside[:, None], other=0.0)
    o = o / tl.where(total == 0.0, 1.0, total)[:, None]
    at = (batch * kv_heads * group + heads) * splits + tl.program_id(1)
    tl.store(o_ptr + at[:, None] * D + d[None, :], o, mask=exists)
    if lse_ptr is not None:
        tl.store(lse_ptr + at, largest + tl.log2(total), mask=members < group)


@triton.jit
def combine_kernel(o_ptr, parts_ptr, lse_ptr, splits, SPLITS: tl.constexpr, D: tl.constexpr, EARLY: tl.constexpr = False):
    """One head's result: the mean of its splits', SPLITS at most, weighted by their sums of exponentials."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    head = tl.program_id(0).to(tl.int64)
    split = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    exists = split < splits
    lse = tl.load(lse_ptr + head * splits + split, mask=exists, other=-float("inf"))
    largest = tl.max(lse, axis=0)
    weights = tl.exp2(lse - tl.where(largest == -float("inf"), 0.0, largest))
    parts = tl.load(parts_ptr + head * splits * D + (split[:, None] * D + d[None, :]), mask=exists[:, None], other=0.0)
    total = tl.sum(weights, axis=0)
    o = tl.sum(parts * weights[:, None], axis=0) / tl.where(total == 0.0, 1.0, total)
    tl.store(o_ptr + head * D + d, o)
