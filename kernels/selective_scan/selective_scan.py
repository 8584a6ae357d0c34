"""Selective scan: h[t] = exp(dt[t] * a) * h[t - 1] + dt[t] * b[t] * x[t], y[t] = c[t] . h[t] + d * x[t], for each channel of
x with N states.

A program takes BLOCK channels of a sequence and goes along time in chunks of CHUNK steps. In a chunk the steps are pairs
(factor, addend) of h -> factor * h + addend, which compose associatively: states are one scan, and their gradients
another one from the end. What a chunk begins with is its first addend. Blocks are [CHUNK, BLOCK, N].
"""
import triton
import triton.language as tl


@triton.jit
def after(factor, addend, next_factor, next_addend):
    return factor * next_factor, next_factor * addend + next_addend


@triton.jit
def selective_scan_kernel(y_ptr, state_ptr, saved_ptr, x_ptr, dt_ptr, a_ptr, b_ptr, c_ptr, d_ptr, T, D, x_batch, x_step,
                          dt_batch, dt_step, b_batch, b_step, c_batch, c_step, N: tl.constexpr, CHUNK: tl.constexpr,
                          BLOCK: tl.constexpr):
    """state [batch, D, N] is what the sequence begins with, and becomes what it ends with, if its pointer is not None; saved
    [batch, chunks, D, N] gets the state in front of each chunk. Programs (batch * blocks of channels)."""
    blocks = tl.cdiv(D, BLOCK)
    channels = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    exists = channels < D
    n = tl.arange(0, N)
    steps = tl.arange(0, CHUNK)
    at = channels[:, None] * N + n[None, :]
    a = tl.load(a_ptr + at, mask=exists[:, None], other=0.0).to(tl.float32)
    h = tl.zeros((BLOCK, N), dtype=tl.float32)
    if state_ptr is not None:
        state_ptr += batch * D * N
        h = tl.load(state_ptr + at, mask=exists[:, None], other=0.0)
    skip = tl.zeros((BLOCK,), dtype=tl.float32)
    if d_ptr is not None:
        skip = tl.load(d_ptr + channels, mask=exists, other=0.0).to(tl.float32)
    chunks = tl.cdiv(T, CHUNK)
    for chunk in range(0, chunks):
        if saved_ptr is not None:
            tl.store(saved_ptr + (batch * chunks + chunk) * D * N + at, h, mask=exists[:, None])
        t = (chunk * CHUNK + steps).to(tl.int64)
        inside = (t < T)[:, None] & exists[None, :]
        x = tl.load(x_ptr + batch * x_batch + t[:, None] * x_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        # Steps past the end have a factor of 1 and add nothing.
        dt = tl.load(dt_ptr + batch * dt_batch + t[:, None] * dt_step + channels[None, :], mask=inside,
                     other=0.0).to(tl.float32)
        b = tl.load(b_ptr + batch * b_batch + t[:, None] * b_step + n[None, :], mask=(t < T)[:, None], other=0.0).to(tl.float32)
        c = tl.load(c_ptr + batch * c_batch + t[:, None] * c_step + n[None, :], mask=(t < T)[:, None], other=0.0).to(tl.float32)
        factor = tl.exp(dt[:, :, None] * a[None, :, :])
        addend = (dt * x)[:, :, None] * b[:, None, :]
        addend += tl.where((steps == 0)[:, None, None], factor * h[None, :, :], 0.0)
        _, states = tl.associative_scan((factor, addend), 0, after)
        y = tl.sum(states * c[:, None, :], axis=2) + skip[None, :] * x
        tl.store(y_ptr + (batch * T + t[:, None]) * D + channels[None, :], y, mask=inside)
        h = tl.sum(tl.where((steps == CHUNK - 1)[:, None, None], states, 0.0), axis=0)
    if state_ptr is not None:
        tl.store(state_ptr + at, h, mask=exists[:, None])


@triton.jit
def selective_scan_backward_kernel(dx_ptr, ddt_ptr, da_ptr, db_ptr, dc_ptr, dd_ptr, dy_ptr, saved_ptr, x_ptr, dt_ptr,
                                   a_ptr, b_ptr, c_ptr, d_ptr, T, D, dy_batch, dy_step, x_batch, x_step, dt_batch,
                                   dt_step, b_batch, b_step, c_batch, c_step, N: tl.constexpr, CHUNK: tl.constexpr,
                                   BLOCK: tl.constexpr):
    """From the last chunk to the first, whose states are computed again from what `saved` has. Sums over channels are
    partial ones of each program, db and dc [programs, batch, T, N]; those over time are da [batch, D, N] and dd
    [batch, D]."""
    blocks = tl.cdiv(D, BLOCK)
    channels = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    part = (tl.program_id(0) % blocks).to(tl.int64) * (tl.num_programs(0) // blocks) + batch
    exists = channels < D
    n = tl.arange(0, N)
    steps = tl.arange(0, CHUNK)
    at = channels[:, None] * N + n[None, :]
    a = tl.load(a_ptr + at, mask=exists[:, None], other=0.0).to(tl.float32)
    skip = tl.zeros((BLOCK,), dtype=tl.float32)
    if d_ptr is not None:
        skip = tl.load(d_ptr + channels, mask=exists, other=0.0).to(tl.float32)
    da = tl.zeros((BLOCK, N), dtype=tl.float32)
    dd = tl.zeros((BLOCK,), dtype=tl.float32)
    # Of the state after the chunk, brought in front of the step that follows.
    dh_behind = tl.zeros((BLOCK, N), dtype=tl.float32)
    chunks = tl.cdiv(T, CHUNK)
    x_ptr += batch * x_batch
    dt_ptr += batch * dt_batch
    b_ptr += batch * b_batch
    c_ptr += batch * c_batch
    dy_ptr += batch * dy_batch
    for number in range(0, chunks):
        chunk = chunks - 1 - number
        t = (chunk * CHUNK + steps).to(tl.int64)
        row = t[:, None]
        inside = (t < T)[:, None] & exists[None, :]
        x = tl.load(x_ptr + row * x_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        dt = tl.load(dt_ptr + row * dt_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_step + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + row * b_step + n[None, :], mask=(t < T)[:, None], other=0.0).to(tl.float32)
        c = tl.load(c_ptr + row * c_step + n[None, :], mask=(t < T)[:, None], other=0.0).to(tl.float32)
        factor = tl.exp(dt[:, :, None] * a[None, :, :])
        # The states in front of each step: those after the step before it, which no difference of near values gives.
        is_first = (steps == 0)[:, None]
        earlier = inside & ~is_first
        x_before = tl.load(x_ptr + (row - 1) * x_step + channels[None, :], mask=earlier, other=0.0).to(tl.float32)
        dt_before = tl.load(dt_ptr + (row - 1) * dt_step + channels[None, :], mask=earlier, other=0.0).to(tl.float32)
        b_before = tl.load(b_ptr + (row - 1) * b_step + n[None, :], mask=(t < T)[:, None] & ~is_first,
                           other=0.0).to(tl.float32)
        h = tl.load(saved_ptr + (batch * chunks + chunk) * D * N + at, mask=exists[:, None], other=0.0)
        addend = (dt_before * x_before)[:, :, None] * b_before[:, None, :]
        addend = tl.where(is_first[:, :, None], h[None, :, :], addend)
        _, before = tl.associative_scan((tl.exp(dt_before[:, :, None] * a[None, :, :]), addend), 0, after)
        states = factor * before + (dt * x)[:, :, None] * b[:, None, :]
        # dh[t] = c[t] * dy[t] + factor[t + 1] * dh[t + 1]
        dt_behind = tl.load(dt_ptr + (row + 1) * dt_step + channels[None, :],
                            mask=(t + 1 < T)[:, None] & exists[None, :] & (steps < CHUNK - 1)[:, None], other=0.0)
        addend = dy[:, :, None] * c[:, None, :]
        addend += tl.where((steps == CHUNK - 1)[:, None, None], dh_behind[None, :, :], 0.0)
        _, dh = tl.associative_scan((tl.exp(dt_behind.to(tl.float32)[:, :, None] * a[None, :, :]), addend), 0, after,
                                    reverse=True)
        kept = dh * factor
        dh_behind = tl.sum(tl.where(is_first[:, :, None], kept, 0.0), axis=0)
        kept *= before
        of_input = tl.sum(dh * b[:, None, :], axis=2)
        dx = of_input * dt + skip[None, :] * dy
        tl.store(dx_ptr + (batch * T + row) * D + channels[None, :], dx, mask=inside)
        ddt = tl.sum(kept * a[None, :, :], axis=2) + of_input * x
        tl.store(ddt_ptr + (batch * T + row) * D + channels[None, :], ddt, mask=inside)
        da += tl.sum(kept * dt[:, :, None], axis=0)
        dd += tl.sum(dy * x, axis=0)
        of_steps = (part * T + row) * N + n[None, :]
        db = tl.sum(tl.where(exists[None, :, None], dh, 0.0) * (dt * x)[:, :, None], axis=1)
        tl.store(db_ptr + of_steps, db, mask=(t < T)[:, None])
        tl.store(dc_ptr + of_steps, tl.sum(states * dy[:, :, None], axis=1), mask=(t < T)[:, None])
    tl.store(da_ptr + batch * D * N + at, da, mask=exists[:, None])
    tl.store(dd_ptr + batch * D + channels, dd, mask=exists)
