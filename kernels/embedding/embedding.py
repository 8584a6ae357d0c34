"""Rows of a table by their index, and the sum of gradients back into the table, without atomics."""
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(y_ptr, index_ptr, w_ptr, w_stride, V, N, BLOCK: tl.constexpr):
    """y[t] = w[index[t]], NaN where the table has no such row. BLOCK columns a program."""
    t = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + t).to(tl.int64)
    exists = (index >= 0) & (index < V)
    w = tl.load(w_ptr + index * w_stride + cols, mask=exists & (cols < N), other=float("nan"))
    tl.store(y_ptr + t * N + cols, w, mask=cols < N)


@triton.jit
def embedding_chain_kernel(last_ptr, previous_ptr, index_ptr, V, T, BLOCK: tl.constexpr):
    """For each row of the table a chain of the tokens that took it: last[v] is the latest of them, previous[t] the one in
    front of t; -1 is the end. One program, BLOCK tokens at a time: within a block all pairs are compared, and last[] says
    what the blocks in front had."""
    slots = tl.arange(0, BLOCK)
    for start in range(0, V, BLOCK):
        tl.store(last_ptr + start + slots, -1, mask=slots < V - start)
    tl.debug_barrier()
    for start in range(0, T, BLOCK):
        index = tl.load(index_ptr + start + slots, mask=slots < T - start, other=-1)
        exists = (index >= 0) & (index < V)
        same = (index[:, None] == index[None, :]) & exists[:, None]
        nearest = tl.max(tl.where(same & (slots[None, :] < slots[:, None]), slots[None, :], -1), axis=1)
        later = tl.max(tl.where(same & (slots[None, :] > slots[:, None]), 1, 0), axis=1)
        before = tl.load(last_ptr + index, mask=exists & (nearest < 0), other=-1)
        tl.store(previous_ptr + start + slots, tl.where(nearest < 0, before, start + nearest), mask=slots < T - start)
        # Every thread has read last[] before any writes it, and has written it before the next block reads.
        tl.debug_barrier()
        tl.store(last_ptr + index, start + slots, mask=exists & (later == 0))
        tl.debug_barrier()


@triton.jit
def embedding_backward_kernel(dw_ptr, dy_ptr, last_ptr, previous_ptr, dy_stride, N, BLOCK: tl.constexpr):
    """dw[v] = the sum of dy[t] along v's chain, from the latest token on: one order in every run."""
    v = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    t = tl.load(last_ptr + v)
    while t >= 0:
        total += tl.load(dy_ptr + t.to(tl.int64) * dy_stride + cols, mask=cols < N, other=0.0).to(tl.float32)
        t = tl.load(previous_ptr + t)
    tl.store(dw_ptr + v * N + cols, total, mask=cols < N)
