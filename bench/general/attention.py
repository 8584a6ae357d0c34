"""Attention and its kin, one head a program."""

import triton
import triton.language as tl


@triton.jit
def backward_kernel(dq_ptr, dk_ptr, dv_ptr, q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, T, scale,
                    D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """All of causal attention's backward in one kernel: a program keeps BLOCK_K keys, walks over the queries, and adds to
    dq (fp32, zero before) by atomics. lse: log of the sums of exponentials; delta: row sums of do * o."""
    head = tl.program_id(1)
    base = head * T * D
    keys = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + base + keys[:, None] * D + d[None, :])
    v = tl.load(v_ptr + base + keys[:, None] * D + d[None, :])
    dk = tl.zeros([BLOCK_K, D], tl.float32)
    dv = tl.zeros([BLOCK_K, D], tl.float32)
    first = tl.program_id(0) * BLOCK_K // BLOCK_Q * BLOCK_Q
    for start in range(first, T, BLOCK_Q):
        queries = start + tl.arange(0, BLOCK_Q)
        place = base + queries[:, None] * D + d[None, :]
        q = tl.load(q_ptr + place)
        do = tl.load(do_ptr + place)
        lse = tl.load(lse_ptr + head * T + queries)
        delta = tl.load(delta_ptr + head * T + queries)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.where(queries[:, None] >= keys[None, :], tl.exp(s - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p.to(q.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        tl.atomic_add(dq_ptr + place, tl.dot(ds, k), sem="relaxed")
    tl.store(dk_ptr + base + keys[:, None] * D + d[None, :], dk.to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + base + keys[:, None] * D + d[None, :], dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def decode_kernel(o_ptr, q_ptr, k_ptr, v_ptr, T, scale, HEADS: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    """One token of HEADS query heads that share keys and values [T, D], of each sequence."""
    base = tl.program_id(0) * T * D
    heads = tl.arange(0, HEADS)
    d = tl.arange(0, D)
    place = tl.program_id(0) * HEADS * D + heads[:, None] * D + d[None, :]
    q = tl.load(q_ptr + place)
    largest = tl.full([HEADS], -float("inf"), tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    o = tl.zeros([HEADS, D], tl.float32)
    for start in range(0, T, BLOCK):
        tokens = start + tl.arange(0, BLOCK)
        inside = (tokens < T)[:, None]
        k = tl.load(k_ptr + base + tokens[:, None] * D + d[None, :], mask=inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where((tokens < T)[None, :], s, -float("inf"))
        larger = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        correction = tl.exp(largest - larger)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptr + base + tokens[:, None] * D + d[None, :], mask=inside, other=0.0)
        o = o * correction[:, None] + tl.dot(p.to(v.dtype), v)
        largest = larger
    tl.store(o_ptr + place, (o / total[:, None]).to(o_ptr.dtype.element_ty))


@triton.jit
def linear_attention_kernel(o_ptr, q_ptr, k_ptr, v_ptr, T, D: tl.constexpr, CHUNK: tl.constexpr):
    """Causal, without softmax: o[t] = q[t] @ sum of k[s]^T v[s] over s <= t, in chunks with a carried state."""
    base = tl.program_id(0) * T * D
    t = tl.arange(0, CHUNK)
    d = tl.arange(0, D)
    state = tl.zeros([D, D], tl.float32)
    for start in range(0, T, CHUNK):
        place = base + (start + t)[:, None] * D + d[None, :]
        q = tl.load(q_ptr + place)
        k = tl.load(k_ptr + place)
        v = tl.load(v_ptr + place)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(t[:, None] >= t[None, :], s, 0.0).to(q.dtype)
        o = tl.dot(s, v) + tl.dot(q, state.to(q.dtype))
        state += tl.dot(tl.trans(k), v)
        tl.store(o_ptr + place, o.to(o_ptr.dtype.element_ty))
