"""Kernels of many kinds (bench/general); no threshold of the compiler was made for them. They are cases of
bench/compare_gpu.py: `--set general`. One configuration each, the same for both compilers.

    bench/general_cases.py --build build      checks all of them at small sizes on the CPU, without a GPU
"""

import argparse
import functools
import math
import sys
from pathlib import Path

import gpu_case
import torch
import torch.nn.functional as F
from gpu_case import ROOT, Launch, Zero, random_tensor

FOLDER = ROOT / "bench" / "general"
Case = functools.partial(gpu_case.Case, has_compiled=False)


def own(file, kernel, grid, arguments, before=(), **options):
    return {"own": [*before, Launch(FOLDER / f"{file}.py", kernel, grid, arguments, **options)]}


def empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, device=gpu_case.DEVICE, dtype=dtype)


def integers(low, high, *shape, dtype=torch.int32):
    return torch.randint(low, high, shape, device=gpu_case.DEVICE, dtype=dtype)


# Rows


def rms_norm_backward(rows, columns, warps):
    x, dy, w = (random_tensor(*s, dtype="bf16") for s in ((rows, columns), (rows, columns), (columns,)))
    rstd = (x.float().square().mean(-1) + 1e-5).rsqrt()
    dx, dw = torch.empty_like(x), empty(columns)

    def reference():
        xd, wd = x.double().requires_grad_(), w.double().requires_grad_()
        y = xd * (xd.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * wd
        y.backward(dy.double())
        return [xd.grad, wd.grad]

    per = max(rows // 1024, 1)
    return Case(f"rms norm backward, atomics {rows}x{columns}", "bf16", [dx, dw], reference, None, traffic=3 * x.nbytes,
                variants=own("rows", "rms_norm_backward_kernel", (math.ceil(rows / per),), dict(
                    dx_ptr=dx, dw_ptr=dw, dy_ptr=dy, x_ptr=x, w_ptr=w, rstd_ptr=rstd, M=rows, N=columns, stride=columns,
                    ROWS=per, BLOCK=power(columns)), [Zero(dw)], num_warps=warps))


def power(n):
    return 1 << (n - 1).bit_length()


def quantize_rows(rows, columns, warps):
    x = random_tensor(rows, columns, dtype="bf16")
    q, scale = empty(rows, columns, dtype=torch.float8_e4m3fn), empty(rows)

    def reference():
        exact = x.double().abs().amax(-1) / 448
        return [(x.double() / exact[:, None]), exact]

    return Case(f"rows to fp8 {rows}x{columns}", "bf16", [q, scale], reference, lambda: x.to(torch.float8_e4m3fn), bound=0.07,
                traffic=x.nbytes + q.nbytes,
                variants=own("rows", "quantize_rows_kernel", (rows,), dict(
                    q_ptr=q, scale_ptr=scale, x_ptr=x, N=columns, stride=columns, BLOCK=power(columns)), num_warps=warps))


def persistent_softmax(rows, columns, warps):
    x = random_tensor(rows, columns, dtype="fp16")
    y = torch.empty_like(x)
    return Case(f"softmax, rows in a loop {rows}x{columns}", "fp16", [y], lambda: [torch.softmax(x.double(), -1)],
                lambda: torch.softmax(x, -1), traffic=2 * x.nbytes,
                variants=own("rows", "persistent_softmax_kernel", (min(rows, 132 * 8),), dict(
                    y_ptr=y, x_ptr=x, M=rows, N=columns, stride=columns, BLOCK=power(columns)), num_warps=warps))


def looped_layer_norm(rows, columns, block, warps):
    x, w, b = (random_tensor(*s, dtype="bf16") for s in ((rows, columns), (columns,), (columns,)))
    y = torch.empty_like(x)
    return Case(f"layer norm in a loop of {block} {rows}x{columns}", "bf16", [y],
                lambda: [F.layer_norm(x.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x, (columns,), w, b, 1e-5), traffic=2 * x.nbytes,
                variants=own("rows", "looped_layer_norm_kernel", (rows,), dict(
                    y_ptr=y, x_ptr=x, w_ptr=w, b_ptr=b, N=columns, stride=columns, eps=1e-5, BLOCK=block), num_warps=warps))


def cross_entropy(rows, columns, block, warps):
    x, target = random_tensor(rows, columns, dtype="bf16"), integers(0, columns, rows)
    loss = empty(rows)
    return Case(f"cross entropy {rows}x{columns}", "bf16", [loss],
                lambda: [F.cross_entropy(x.double(), target.long(), reduction="none")],
                lambda: F.cross_entropy(x, target.long(), reduction="none"), traffic=x.nbytes,
                variants=own("rows", "cross_entropy_kernel", (rows,), dict(
                    loss_ptr=loss, logits_ptr=x, target_ptr=target, N=columns, stride=columns, BLOCK=block), num_warps=warps))


def top_k(rows, columns, k, warps):
    x = torch.stack([torch.randperm(columns, device=gpu_case.DEVICE) for _ in range(64)]).float().repeat(-(-rows // 64), 1)[:rows]
    values, indices = empty(rows, k), empty(rows, k, dtype=torch.int32)
    return Case(f"top {k} of {rows}x{columns}", "fp32", [values, indices],
                lambda: [t.double() for t in torch.topk(x, k)], lambda: torch.topk(x, k), traffic=x.nbytes, bound=0,
                variants=own("rows", "top_k_kernel", (rows,), dict(
                    values_ptr=values, indices_ptr=indices, x_ptr=x, N=columns, stride=columns, K=k, BLOCK=power(columns)),
                    num_warps=warps))


def group_norm(batch, channels, spots, groups, warps):
    x, w, b = (random_tensor(*s, dtype="fp16") for s in ((batch, channels, spots), (channels,), (channels,)))
    y = torch.empty_like(x)
    return Case(f"group norm {batch}x{channels}x{spots}", "fp16", [y],
                lambda: [F.group_norm(x.double(), groups, w.double(), b.double(), 1e-5)],
                lambda: F.group_norm(x, groups, w, b, 1e-5), traffic=2 * x.nbytes,
                variants=own("rows", "group_norm_kernel", (batch * groups,), dict(
                    y_ptr=y, x_ptr=x, w_ptr=w, b_ptr=b, C=channels, S=spots, GROUPS=groups, eps=1e-5,
                    GROUP=channels // groups, BLOCK=power(spots)), num_warps=warps))


# Columns and memory order


def sum_partials(rows, columns, block, warps):
    x, y = random_tensor(rows, columns, dtype="fp32"), empty(columns)
    return Case(f"sums of columns {rows}x{columns}", "fp32", [y], lambda: [x.double().sum(0)], lambda: x.sum(0), traffic=x.nbytes,
                variants=own("columns", "sum_partials_kernel", (math.ceil(columns / block[1]),), dict(
                    y_ptr=y, x_ptr=x, M=rows, N=columns, BLOCK_M=block[0], BLOCK_N=block[1]), num_warps=warps))


def recurrence(batch, steps, channels, block, warps):
    a, x = torch.sigmoid(random_tensor(batch, steps, channels, dtype="fp32")), random_tensor(batch, steps, channels, dtype="fp32")
    h = torch.empty_like(x)

    def reference():
        state, found = torch.zeros_like(x[:, 0], dtype=torch.float64), torch.empty_like(x, dtype=torch.float64)
        for t in range(steps):
            state = a[:, t].double() * state + x[:, t].double()
            found[:, t] = state
        return [found]

    return Case(f"recurrence {batch}x{steps}x{channels}", "fp32", [h], functools.cache(reference), None, traffic=3 * x.nbytes,
                variants=own("columns", "recurrence_kernel", (batch, channels // block[1]), dict(
                    h_ptr=h, a_ptr=a, x_ptr=x, T=steps, D=channels, BLOCK_T=block[0], BLOCK_D=block[1]), num_warps=warps))


def transpose(rows, columns, dtype, block, warps):
    x = random_tensor(rows, columns, dtype=dtype)
    y = empty(columns, rows, dtype=x.dtype)
    return Case(f"transposition {rows}x{columns}", dtype, [y], lambda: [x.t().double()], lambda: x.t().contiguous(),
                traffic=2 * x.nbytes, bound=0,
                variants=own("columns", "transpose_kernel", (math.ceil(rows / block), math.ceil(columns / block)), dict(
                    y_ptr=y, x_ptr=x, M=rows, N=columns, BLOCK=block), num_warps=warps))


def cumulative_sum(rows, columns, block, warps):
    x = random_tensor(rows, columns, dtype="fp32")
    y = torch.empty_like(x)
    return Case(f"cumulative sum {rows}x{columns}", "fp32", [y], lambda: [x.double().cumsum(-1)], lambda: x.cumsum(-1),
                traffic=2 * x.nbytes,
                variants=own("columns", "cumulative_sum_kernel", (rows,), dict(y_ptr=y, x_ptr=x, N=columns, BLOCK=block),
                             num_warps=warps))


def causal_convolution(batch, steps, channels, block, warps):
    x, w = random_tensor(batch, steps, channels, dtype="bf16"), random_tensor(channels, 4, dtype="bf16")
    y = torch.empty_like(x)

    def reference():
        padded = F.pad(x.double().transpose(1, 2), (3, 0))
        return [F.silu(F.conv1d(padded, w.double().flip(1)[:, None], groups=channels)).transpose(1, 2)]

    return Case(f"causal convolution {batch}x{steps}x{channels}", "bf16", [y], reference, None, traffic=2 * x.nbytes,
                variants=own("columns", "causal_convolution_kernel",
                             (batch, math.ceil(steps / block[0]), math.ceil(channels / block[1])),
                             dict(y_ptr=y, x_ptr=x, w_ptr=w, T=steps, D=channels, WIDTH=4, BLOCK_T=block[0], BLOCK_D=block[1]),
                             num_warps=warps))


def batch_statistics(rows, columns, block, warps):
    x = random_tensor(rows, columns, dtype="fp16")
    mean, variance = empty(columns), empty(columns)
    return Case(f"statistics of columns {rows}x{columns}", "fp16", [mean, variance],
                lambda: [x.double().mean(0), x.double().var(0, unbiased=False)], lambda: torch.var_mean(x, 0), traffic=x.nbytes,
                variants=own("columns", "batch_statistics_kernel", (math.ceil(columns / block[1]),), dict(
                    mean_ptr=mean, variance_ptr=variance, x_ptr=x, M=rows, N=columns, BLOCK_M=block[0], BLOCK_N=block[1]),
                    num_warps=warps))


# Elements


def gelu(n, dtype, block, warps):
    x = random_tensor(n, dtype=dtype)
    y = torch.empty_like(x)
    return Case(f"GELU (tanh) {n}", dtype, [y], lambda: [F.gelu(x.double(), approximate="tanh")],
                lambda: F.gelu(x, approximate="tanh"), traffic=2 * x.nbytes,
                variants=own("elements", "gelu_kernel", (math.ceil(n / block),), dict(y_ptr=y, x_ptr=x, n=n, BLOCK=block),
                             num_warps=warps))


def swiglu_backward(rows, columns, block, warps):
    a, b, dy = (random_tensor(rows, columns, dtype="bf16") for _ in range(3))
    da, db = torch.empty_like(a), torch.empty_like(a)

    def reference():
        ad, bd = a.double().requires_grad_(), b.double().requires_grad_()
        (F.silu(ad) * bd).backward(dy.double())
        return [ad.grad, bd.grad]

    return Case(f"swiglu backward {rows}x{columns}", "bf16", [da, db], reference, None, traffic=5 * a.nbytes,
                variants=own("elements", "swiglu_backward_kernel", (rows, math.ceil(columns / block)), dict(
                    da_ptr=da, db_ptr=db, dy_ptr=dy, a_ptr=a, b_ptr=b, N=columns, stride=columns, BLOCK=block), num_warps=warps))


def rotary(batch, steps, heads, half, warps):
    x = random_tensor(batch * steps, heads, 2 * half, dtype="bf16")
    y = torch.empty_like(x)
    angle = torch.arange(steps, device=gpu_case.DEVICE)[:, None] / 10000 ** (torch.arange(half, device=gpu_case.DEVICE) / half)
    cos, sin = angle.cos().contiguous(), angle.sin().contiguous()

    def reference():
        c, s = (t.double().repeat(batch, 1)[:, None] for t in (cos, sin))
        x1, x2 = x.double().chunk(2, -1)
        return [torch.cat([x1 * c - x2 * s, x2 * c + x1 * s], -1)]

    return Case(f"rotary {batch * steps}x{heads}x{2 * half}", "bf16", [y], reference, None, traffic=2 * x.nbytes,
                variants=own("elements", "rotary_kernel", (batch * steps, math.ceil(heads / 4)), dict(
                    y_ptr=y, x_ptr=x, cos_ptr=cos, sin_ptr=sin, T=steps, H=heads, HALF=half, HEADS=4), num_warps=warps))


def adamw(n, block, warps):
    p, m, g = (random_tensor(n, dtype="fp32") for _ in range(3))
    v = random_tensor(n, dtype="fp32").square()
    out = [torch.empty_like(p) for _ in range(3)]
    rate, beta1, beta2, eps, decay = 1e-3, 0.9, 0.95, 1e-8, 0.1

    def reference():
        m1 = beta1 * m.double() + (1 - beta1) * g.double()
        v1 = beta2 * v.double() + (1 - beta2) * g.double() ** 2
        step = (m1 / 0.1) / ((v1 / 0.05).sqrt() + eps)
        return [p.double() * (1 - rate * decay) - rate * step, m1, v1]

    return Case(f"AdamW {n}", "fp32", out, reference, None, traffic=7 * p.nbytes,
                variants=own("elements", "adamw_kernel", (math.ceil(n / block),), dict(
                    p_ptr=p, m_ptr=m, v_ptr=v, g_ptr=g, new_p_ptr=out[0], new_m_ptr=out[1], new_v_ptr=out[2], n=n, rate=rate,
                    beta1=beta1, beta2=beta2, eps=eps, decay=decay, correction1=0.1, correction2=0.05, BLOCK=block),
                    num_warps=warps))


def embedding(tokens, words, columns, block, warps):
    table, index = random_tensor(words, columns, dtype="bf16"), integers(0, words, tokens)
    y = empty(tokens, columns, dtype=table.dtype)
    return Case(f"embedding {tokens}x{columns}", "bf16", [y], lambda: [table.double()[index.long()]], lambda: table[index.long()],
                traffic=2 * y.nbytes, bound=0,
                variants=own("elements", "embedding_kernel", (tokens,), dict(
                    y_ptr=y, table_ptr=table, index_ptr=index, D=columns, BLOCK=block), num_warps=warps))


def histogram(n, bins, block, warps):
    x, count = integers(0, bins, n), empty(bins, dtype=torch.int32)
    return Case(f"histogram of {bins} {n}", "int32", [count], lambda: [torch.bincount(x, minlength=bins).double()],
                lambda: torch.bincount(x, minlength=bins), traffic=x.nbytes, bound=0,
                variants=own("elements", "histogram_kernel", (math.ceil(n / block),), dict(
                    count_ptr=count, x_ptr=x, n=n, BINS=bins, BLOCK=block), [Zero(count)], num_warps=warps))


def max_pool(planes, height, width, block, warps):
    x = random_tensor(planes, height, width, dtype="fp16")
    y = empty(planes, height // 2, width // 2, dtype=x.dtype)
    return Case(f"max pool {planes}x{height}x{width}", "fp16", [y], lambda: [F.max_pool2d(x.float(), 2).double()],
                lambda: F.max_pool2d(x, 2), traffic=x.nbytes + y.nbytes, bound=0,
                variants=own("elements", "max_pool_kernel", (planes, math.ceil(height * width / 4 / block)), dict(
                    y_ptr=y, x_ptr=x, H=height, W=width, BLOCK=block), num_warps=warps))


# Products


def int8_product(m, n, k, block, warps, stages):
    a, b = integers(-128, 128, m, k, dtype=torch.int8), integers(-128, 128, n, k, dtype=torch.int8)
    c = empty(m, n, dtype=torch.int32)
    return Case(f"int8 product {m}x{n}x{k}", "int8", [c], lambda: [a.double() @ b.double().t()], lambda: a.float() @ b.float().t(),
                operations=2 * m * n * k, bound=0,
                variants=own("products", "int8_kernel", (m // block[0], n // block[1]), dict(
                    c_ptr=c, a_ptr=a, b_ptr=b, M=m, N=n, K=k, BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2]),
                    num_warps=warps, num_stages=stages))


def gated_product(m, n, k, block, warps, stages):
    x = random_tensor(m, k, dtype="bf16")
    gate, up = (random_tensor(k, n, dtype="bf16") / 16 for _ in range(2))
    y = empty(m, n, dtype=x.dtype)
    return Case(f"gated product {m}x{n}x{k}", "bf16", [y], lambda: [F.silu(x.double() @ gate.double()) * (x.double() @ up.double())],
                lambda: F.silu(x @ gate) * (x @ up), operations=4 * m * n * k,
                variants=own("products", "gated_kernel", (m // block[0], n // block[1]), dict(
                    y_ptr=y, x_ptr=x, gate_ptr=gate, up_ptr=up, M=m, N=n, K=k, BLOCK_M=block[0], BLOCK_N=block[1],
                    BLOCK_K=block[2]), num_warps=warps, num_stages=stages))


def masked_product(m, n, k, block, warps, stages, dtype="bf16"):
    a, b, bias = random_tensor(m, k, dtype=dtype), random_tensor(k, n, dtype=dtype), random_tensor(n, dtype=dtype)
    c = empty(m, n, dtype=a.dtype)
    grid = (math.ceil(m / block[0]) * math.ceil(n / block[1]),)
    return Case(f"masked product {m}x{n}x{k} in {block[0]}x{block[1]}x{block[2]}", dtype, [c],
                lambda: [F.relu(a.double() @ b.double() + bias.double())], lambda: F.relu(torch.addmm(bias, a, b)),
                operations=2 * m * n * k,
                variants=own("products", "masked_kernel", grid, dict(
                    c_ptr=c, a_ptr=a, b_ptr=b, bias_ptr=bias, M=m, N=n, K=k, BLOCK_M=block[0], BLOCK_N=block[1],
                    BLOCK_K=block[2], GROUP=8), num_warps=warps, num_stages=stages))


def split_k_product(m, n, k, split, block, warps, stages):
    a, b, c = random_tensor(m, k, dtype="fp16"), random_tensor(k, n, dtype="fp16"), empty(m, n)
    return Case(f"product in {split} shares {m}x{n}x{k}", "fp16", [c], lambda: [a.double() @ b.double()], lambda: a @ b,
                operations=2 * m * n * k,
                variants=own("products", "split_k_kernel", (m // block[0], n // block[1], split), dict(
                    c_ptr=c, a_ptr=a, b_ptr=b, M=m, N=n, K=k, SPLIT=split, BLOCK_M=block[0], BLOCK_N=block[1],
                    BLOCK_K=block[2]), [Zero(c)], num_warps=warps, num_stages=stages))


def int4_product(m, n, k, block, warps, stages):
    a, packed = random_tensor(m, k, dtype="fp16"), integers(-2**31, 2**31 - 1, k // 8, n)
    scale = random_tensor(k // block[2], n, dtype="fp16").abs() / 16
    c = empty(m, n, dtype=a.dtype)

    def reference():
        nibbles = torch.stack([(packed >> (4 * i)) & 15 for i in range(8)], 1).reshape(k, n)
        return [a.double() @ ((nibbles - 8) * scale.double().repeat_interleave(block[2], 0))]

    return Case(f"int4 weights {m}x{n}x{k}", "fp16", [c], reference, None, operations=2 * m * n * k,
                variants=own("products", "int4_weights_kernel", (m // block[0], n // block[1]), dict(
                    c_ptr=c, a_ptr=a, packed_ptr=packed, scale_ptr=scale, M=m, N=n, K=k, BLOCK_M=block[0], BLOCK_N=block[1],
                    BLOCK_K=block[2]), num_warps=warps, num_stages=stages))


def batched_product(count, m, n, k, block, warps, stages):
    a, b = random_tensor(count, m, k, dtype="fp16"), random_tensor(count, n, k, dtype="fp16")
    c = empty(count, m, n, dtype=a.dtype)
    return Case(f"batched product {count}x{m}x{n}x{k}", "fp16", [c], lambda: [a.double() @ b.double().transpose(1, 2)],
                lambda: a @ b.transpose(1, 2), operations=2 * count * m * n * k,
                variants=own("products", "batched_kernel", (m // block[0], n // block[1], count), dict(
                    c_ptr=c, a_ptr=a, b_ptr=b, M=m, N=n, K=k, BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2]),
                    num_warps=warps, num_stages=stages))


# Attention


def attention_backward(heads, steps, depth, block, warps, stages):
    q, k, v, do = (random_tensor(heads, steps, depth, dtype="bf16") for _ in range(4))
    scale = depth ** -0.5
    dq, dk, dv = empty(heads, steps, depth), torch.empty_like(k), torch.empty_like(v)

    def forward(q, k, v):
        s = (q @ k.transpose(1, 2)) * scale
        s = s.masked_fill(torch.ones(steps, steps, device=q.device).tril() == 0, -math.inf)
        return s.softmax(-1) @ v, s.logsumexp(-1)

    with torch.no_grad():
        o, lse = forward(q.float(), k.float(), v.float())
        delta = (o * do.float()).sum(-1)

    def reference():
        leaves = [t.double().requires_grad_() for t in (q, k, v)]
        forward(*leaves)[0].backward(do.double())
        return [t.grad for t in leaves]

    return Case(f"attention backward, one kernel {heads}x{steps}x{depth}", "bf16", [dq, dk, dv], reference, None,
                operations=5 * heads * steps * steps * depth,
                variants=own("attention", "backward_kernel", (steps // block[1], heads), dict(
                    dq_ptr=dq, dk_ptr=dk, dv_ptr=dv, q_ptr=q, k_ptr=k, v_ptr=v, do_ptr=do, lse_ptr=lse, delta_ptr=delta, T=steps,
                    scale=scale, D=depth, BLOCK_Q=block[0], BLOCK_K=block[1]), [Zero(dq)], num_warps=warps, num_stages=stages))


def decode(sequences, steps, heads, depth, block, warps, stages):
    q = random_tensor(sequences, heads, depth, dtype="bf16")
    k, v = (random_tensor(sequences, steps, depth, dtype="bf16") for _ in range(2))
    o = torch.empty_like(q)
    scale = depth ** -0.5
    return Case(f"decoding {sequences}x{steps}x{heads}x{depth}", "bf16", [o],
                lambda: [((q.double() @ k.double().transpose(1, 2)) * scale).softmax(-1) @ v.double()], None,
                traffic=k.nbytes + v.nbytes,
                variants=own("attention", "decode_kernel", (sequences,), dict(
                    o_ptr=o, q_ptr=q, k_ptr=k, v_ptr=v, T=steps, scale=scale, HEADS=heads, D=depth, BLOCK=block),
                    num_warps=warps, num_stages=stages))


def linear_attention(heads, steps, depth, chunk, warps, stages):
    q, k, v = (random_tensor(heads, steps, depth, dtype="bf16") / 4 for _ in range(3))
    o = torch.empty_like(q)

    def reference():  # few heads at a time: all of s in float64 would be 34 GB
        parts = zip(*(t.double().split(32) for t in (q, k, v)))
        return [torch.cat([(a @ b.transpose(1, 2)).tril() @ c for a, b, c in parts])]

    return Case(f"linear attention {heads}x{steps}x{depth}", "bf16", [o], reference, None,
                operations=heads * steps * (4 * chunk * depth + 4 * depth * depth),
                variants=own("attention", "linear_attention_kernel", (heads,), dict(
                    o_ptr=o, q_ptr=q, k_ptr=k, v_ptr=v, T=steps, D=depth, CHUNK=chunk), num_warps=warps, num_stages=stages))


def general_cases(small=False):
    """Functions that make a case. small: sizes for a check without a GPU."""
    s = (lambda big, little: little) if small else (lambda big, little: big)
    table = [
        (rms_norm_backward, s(8192, 5), s(4096, 100), 8), (rms_norm_backward, s(16384, 5), s(1536, 100), 4),
        (quantize_rows, s(8192, 3), s(4096, 100), 8), (quantize_rows, s(16384, 3), s(2048, 100), 4),
        (persistent_softmax, s(16384, 7), s(1500, 99), 4), (persistent_softmax, s(8192, 7), s(4096, 128), 8),
        (looped_layer_norm, s(4096, 3), s(5120, 300), s(1024, 128), 4), (looped_layer_norm, s(2048, 3), s(12288, 300), s(2048, 128), 8),
        (cross_entropy, s(4096, 3), s(50304, 300), s(4096, 128), 8), (cross_entropy, s(8192, 3), s(32000, 300), s(2048, 128), 4),
        (top_k, s(16384, 5), s(256, 50), 4, 4), (group_norm, s(64, 2), s(320, 12), s(1024, 50), s(32, 3), 8),
        (sum_partials, s(2112, 33), s(4096, 40), (64, 32), 4), (sum_partials, s(528, 33), s(8192, 40), (32, 128), 8),
        (recurrence, s(16, 2), s(2048, 128), s(1024, 64), (64, 32), 4),
        (transpose, s(8192, 70), s(8192, 65), "fp32", 64, 4), (transpose, s(6000, 70), s(10000, 65), "fp16", 64, 8),
        (cumulative_sum, s(8192, 3), s(4096, 300), s(1024, 128), 4),
        (causal_convolution, s(8, 2), s(4096, 50), s(2048, 70), (32, 128), 4),
        (batch_statistics, s(16384, 50), s(4096, 70), (64, 64), 4),
        (gelu, s(1 << 26, 1000), "fp32", 1024, 4), (gelu, s(1 << 26, 1000), "bf16", 2048, 8),
        (swiglu_backward, s(8192, 3), s(11008, 1100), 1024, 4), (rotary, s(4, 2), s(4096, 5), s(32, 6), s(64, 16), 4),
        (adamw, s(50_000_000, 1500), 1024, 4), (embedding, s(65536, 5), s(50304, 20), s(1024, 100), s(512, 64), 4),
        (histogram, s(1 << 25, 3000), 256, 2048, 4), (max_pool, s(4096, 3), s(128, 10), s(128, 12), 512, 4),
        (int8_product, s(4096, 128), s(4096, 256), s(4096, 128), (128, 256, 64), 8, 3),
        (int8_product, s(8192, 128), s(2048, 128), s(2048, 128), (128, 128, 128), 8, 3),
        (gated_product, s(4096, 128), s(4096, 128), s(2048, 128), (128, 128, 64), 8, 3),
        (masked_product, s(4000, 70), s(4100, 90), s(4010, 50), (128, 256, 64), 8, 3),
        (masked_product, s(3000, 70), s(2000, 90), s(1000, 50), (64, 128, 32), 4, 4),
        (split_k_product, s(256, 64), s(4096, 64), s(8192, 256), 4, (64, 64, 64), 4, 3),
        (int4_product, s(64, 64), s(8192, 128), s(8192, 256), (64, 128, 128), 4, 3),
        (batched_product, s(256, 2), s(512, 64), s(512, 128), s(128, 64), (64, 128, 32), 4, 3),
        (attention_backward, s(32, 2), s(2048, 128), 64, (64, 64), 4, 2),
        (decode, s(512, 2), s(4096, 200), 16, 128, 64, 4, 2), (linear_attention, s(1024, 2), s(2048, 128), 64, 64, 4, 2),
    ]
    for make, *sizes in table:
        yield functools.partial(make, *sizes)


def main():
    """Every case at a small size on the CPU: is each kernel right?"""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    gpu_case.DEVICE = "cpu"
    library, failed = gpu_case.bridge.Bridge(options.build), 0
    for make in general_cases(small=True):
        case = make()
        if options.only not in case.name:
            continue
        for output in case.outputs:
            gpu_case.poison(output)
        for step in case.variants["own"]:
            step.on_host(library)
        off = gpu_case.differences(case)
        failed += not off <= case.bound
        print(f"{'ok  ' if off <= case.bound else 'FAIL'} {case.name} {case.dtype}: {off:.1e} of {case.bound}", flush=True)
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
