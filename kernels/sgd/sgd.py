"""Stochastic gradient descent with momentum. A step whose scale is not finite changes nothing."""
import triton
import triton.language as tl


@triton.jit
def update(p_ptr, g_ptr, m_ptr, w_ptr, rate_ptr, scale_ptr, started_ptr, at, mask, decay, momentum, left, nesterov):
    g = tl.load(g_ptr + at, mask=mask).to(tl.float32)
    if scale_ptr is not None:
        g *= tl.load(scale_ptr)
    p = tl.load(p_ptr + at, mask=mask)
    w = p.to(tl.float32)
    if w_ptr is not None:
        # A parameter that is not its master rounded was changed by somebody else, and is what counts.
        master = tl.load(w_ptr + at, mask=mask)
        w = tl.where(master.to(p.dtype).to(tl.float32) == w, master, w)
    g += decay * w
    if m_ptr is not None:
        # The first step takes the gradient whole.
        started = tl.load(started_ptr) != 0
        m = tl.load(m_ptr + at, mask=mask)
        m = tl.where(started, m * momentum + g * left, g)
        tl.store(m_ptr + at, m, mask=mask)
        g = tl.where(nesterov != 0, g + momentum * m, m)
    w -= tl.load(rate_ptr) * g
    if w_ptr is not None:
        tl.store(w_ptr + at, w, mask=mask)
    tl.store(p_ptr + at, w, mask=mask)


@triton.jit
def sgd_kernel(p_ptr, g_ptr, m_ptr, w_ptr, n, rate_ptr, scale_ptr, started_ptr, decay, momentum, left, nesterov,
               BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if scale_ptr is not None:
        scale = tl.load(scale_ptr)
        if scale - scale == 0.0:
            update(p_ptr, g_ptr, m_ptr, w_ptr, rate_ptr, scale_ptr, started_ptr, at, at < n, decay, momentum, left, nesterov)
    else:
        update(p_ptr, g_ptr, m_ptr, w_ptr, rate_ptr, scale_ptr, started_ptr, at, at < n, decay, momentum, left, nesterov)


@triton.jit
def start_kernel(started_ptr, scale_ptr):
    """After the step of a tensor: its momentum is one from now on."""
    if scale_ptr is not None:
        scale = tl.load(scale_ptr)
        if scale - scale == 0.0:
            tl.store(started_ptr, 1)
    else:
        tl.store(started_ptr, 1)
