"""The seed kernels and upstream Triton's tutorials, unchanged, as cases of bench/compare_gpu.py."""

import functools
import math
import tempfile
from pathlib import Path

import gpu_case
import torch
import torch.nn.functional as F
from gpu_case import ROOT, Descriptor, Launch, Zero, layer_norm_gradients, random_tensor

SEEDS = ROOT / "test" / "e2e" / "kernels"
LOG2_E = 1.4426950408889634
# Both compilers of the same source are compared; PyTorch is there to show the level.
Case = functools.partial(gpu_case.Case, has_compiled=False)


@functools.cache
def of_type(file, dtype):
    """The tutorials of products say tl.float16: for bfloat16, a copy that says so."""
    if dtype == "fp16":
        return file
    copy = Path(tempfile.mkdtemp()) / file.name
    copy.write_text(file.read_text().replace("tl.float16", "tl.bfloat16"))
    return copy


def elementwise_case(file, kernel, name, n, dtype):
    x, y = random_tensor(n, dtype=dtype), random_tensor(n, dtype=dtype)
    z = torch.empty_like(x)
    if kernel == "my_kernel":
        arguments, eager, count = dict(x_ptr=x, y_ptr=z, N=n), lambda: x * 2 + 1, 2
    else:
        arguments, eager, count = dict(x_ptr=x, y_ptr=y, output_ptr=z, n_elements=n), lambda: x + y, 3
    exact = [x.double() * 2 + 1] if count == 2 else [x.double() + y.double()]
    return Case(f"{name} {n >> 20} Mi", dtype, [z], lambda: exact, eager, traffic=count * x.nbytes,
                variants={"1024": [Launch(file, kernel, (math.ceil(n / 1024),), dict(arguments, BLOCK_SIZE=1024))]})


def softmax_case(folder, rows, columns):
    x = random_tensor(rows, columns, dtype="fp32")
    y = torch.empty_like(x)
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    arguments = dict(output_ptr=y, input_ptr=x, input_row_stride=columns, output_row_stride=columns, n_rows=rows,
                     n_cols=columns, BLOCK_SIZE=1 << (columns - 1).bit_length())

    def launch(per_processor, stages):
        return [Launch(folder / "02-fused-softmax.py", "softmax_kernel", (min(rows, per_processor * processors),),
                       arguments, num_warps=8, num_stages=stages)]

    return Case(f"tutorial 02 softmax {rows}x{columns}", "fp32", [y],
                lambda: [torch.softmax(x.double(), -1)], lambda: torch.softmax(x, -1), traffic=2 * x.nbytes,
                variants={f"{p}p{s}s": launch(p, s) for p in (4, 5, 8) for s in (2, 4)})


def layer_norm_case(folder, rows, columns, dtype):
    x, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,)))
    y = torch.empty_like(x)
    mean, rstd = (torch.empty(rows, device="cuda") for _ in range(2))
    block = 1 << (columns - 1).bit_length()
    launch = Launch(folder / "05-layer-norm.py", "_layer_norm_fwd_fused", (rows,),
                    dict(X=x, Y=y, W=w, B=b, Mean=mean, Rstd=rstd, stride=columns, N=columns, eps=1e-5,
                         BLOCK_SIZE=block), num_warps=min(max(block // 256, 1), 8))
    return Case(f"tutorial 05 layer norm {rows}x{columns}", dtype, [y],
                lambda: [F.layer_norm(x.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x, (columns,), w, b, 1e-5), traffic=2 * x.nbytes, variants={"own": [launch]})


def dropout_case(folder, n, dtype):
    x, keep = random_tensor(n, dtype=dtype), torch.randint(0, 2, (n,), device="cuda", dtype=torch.int32)
    y, p = torch.empty_like(x), 0.25
    launch = Launch(folder / "04-low-memory-dropout.py", "_dropout", (math.ceil(n / 1024),),
                    dict(x_ptr=x, x_keep_ptr=keep, output_ptr=y, n_elements=n, p=p, BLOCK_SIZE=1024))
    return Case(f"tutorial 04 dropout {n >> 20} Mi", dtype, [y],
                lambda: [torch.where(keep.bool(), x.double() / (1 - p), 0.0)],
                lambda: torch.where(keep.bool(), x / (1 - p), 0.0), traffic=2 * x.nbytes + keep.nbytes,
                variants={"own": [launch]})


def seeded_dropout_case(folder, n, dtype):
    x, p, seed = random_tensor(n, dtype=dtype), 0.25, 123
    y, uniform = torch.empty_like(x), torch.empty(n, device="cuda")
    file = folder / "04-low-memory-dropout.py"
    launch = Launch(file, "_seeded_dropout", (math.ceil(n / 1024),),
                    dict(x_ptr=x, output_ptr=y, n_elements=n, p=p, seed=seed, BLOCK_SIZE=1024))

    def reference():  # whom upstream's random numbers keep
        gpu_case.triton_kernel(file, "_seeded_dropout")[(math.ceil(n / 1024),)](
            torch.ones_like(x), uniform, n, p, seed, BLOCK_SIZE=1024)
        return [torch.where(uniform > 0, x.double() / (1 - p), 0.0)]

    return Case(f"tutorial 04 seeded dropout {n >> 20} Mi", dtype, [y], reference,
                lambda: F.dropout(x, p), traffic=2 * x.nbytes, variants={"own": [launch]})


def layer_norm_backward_case(folder, rows, columns, dtype):
    file = folder / "05-layer-norm.py"
    x, w, b, dy = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,), (rows, columns)))
    mean, rstd, reference, eager = layer_norm_gradients(x, w, b, dy)
    dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
    groups = 256 if columns <= 1024 else 128 if columns <= 4096 else 96 if columns <= 8192 else 64
    block = 1 << (columns - 1).bit_length()
    parts = [torch.empty(groups, columns, device="cuda", dtype=x.dtype) for _ in range(2)]
    locks = torch.empty(2 * groups, device="cuda", dtype=torch.int32)
    options = dict(num_warps=min(max(block // 256, 1), 8))
    launches = [
        Zero(locks),
        Launch(file, "_layer_norm_bwd_dx_fused", (rows,),
               dict(DX=dx, DY=dy, DW=parts[0], DB=parts[1], X=x, W=w, Mean=mean, Rstd=rstd, Lock=locks, stride=columns,
                    N=columns, GROUP_SIZE_M=groups, BLOCK_SIZE_N=block), **options),
        Launch(file, "_layer_norm_bwd_dwdb", (math.ceil(columns / 128),),
               dict(DW=parts[0], DB=parts[1], FINAL_DW=dw, FINAL_DB=db, M=min(groups, rows), N=columns, BLOCK_SIZE_M=32,
                    BLOCK_SIZE_N=128), **options)]

    return Case(f"tutorial 05 backward {rows}x{columns}", dtype, [dx, dw, db], reference, eager,
                traffic=3 * x.nbytes, variants={"own": launches})


def seed_matmul_case(size, dtype):
    a, b = random_tensor(size, size, dtype=dtype), random_tensor(size, size, dtype=dtype)
    c = torch.empty(size, size, device="cuda")

    def launch(m, n, k):
        return [Launch(SEEDS / "matmul.py", "matmul_kernel", (math.ceil(size / m), math.ceil(size / n)),
                       dict(a_ptr=a, b_ptr=b, c_ptr=c, M=size, N=size, K=size, stride_am=size, stride_ak=1,
                            stride_bk=size, stride_bn=1, stride_cm=size, stride_cn=1, BLOCK_M=m, BLOCK_N=n,
                            BLOCK_K=k))]

    ways = [(128, 128, 32), (128, 64, 32), (64, 128, 32), (64, 64, 64)]  # those of matmul_autotuned.py
    return Case(f"seed matmul {size}", dtype, [c], lambda: [a.double() @ b.double()],
                lambda: a @ b, operations=2 * size**3, bound=0.01,
                variants={"x".join(map(str, w)): launch(*w) for w in ways})


def matmul_case(folder, size, dtype):
    file = of_type(folder / "03-matrix-multiplication.py", dtype)
    a, b = random_tensor(size, size, dtype=dtype), random_tensor(size, size, dtype=dtype)
    c = torch.empty_like(a)

    def launch(m, n, k, warps, stages):
        grid = (math.ceil(size / m) * math.ceil(size / n),)
        return [Launch(file, "matmul_kernel", grid,
                       dict(a_ptr=a, b_ptr=b, c_ptr=c, M=size, N=size, K=size, stride_am=size, stride_ak=1,
                            stride_bk=size, stride_bn=1, stride_cm=size, stride_cn=1, BLOCK_SIZE_M=m, BLOCK_SIZE_N=n,
                            BLOCK_SIZE_K=k, GROUP_SIZE_M=8, ACTIVATION=""), num_warps=warps, num_stages=stages)]

    ways = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (128, 128, 32, 4, 4), (64, 256, 32, 4, 4), (64, 128, 32, 4, 4)]
    return Case(f"tutorial 03 matmul {size}", dtype, [c], lambda: [a.double() @ b.double()],
                lambda: a @ b, operations=2 * size**3, bound=0.02,
                variants={"x".join(map(str, w)): launch(*w) for w in ways})


def attention_case(folder, batch, heads, length, depth, causal, dtype):
    file = of_type(folder / "06-fused-attention.py", dtype)
    q, k, v = (random_tensor(batch, heads, length, depth, dtype=dtype) for _ in range(3))
    o, m = torch.empty_like(q), torch.empty(batch, heads, length, device="cuda")
    rows, scale = batch * heads * length, 0.5

    def launch(bm, bn, warps, stages):
        return [Launch(file, "_attn_fwd", (length // bm, batch * heads, 1),
                       dict(sm_scale=scale, M=m, Z=batch, H=heads, desc_q=Descriptor(q, rows, depth, bm),
                            desc_k=Descriptor(k, rows, depth, bn), desc_v=Descriptor(v, rows, depth, bn),
                            desc_o=Descriptor(o, rows, depth, bm), N_CTX=length, HEAD_DIM=depth, BLOCK_M=bm,
                            BLOCK_N=bn, FP8_OUTPUT=False, STAGE=3 if causal else 1, warp_specialize=False,
                            IS_HOPPER=torch.cuda.get_device_capability()[0] == 9), num_warps=warps,
                       num_stages=stages)]

    def reference():
        scores = scale * q[0, 0].double() @ k[0, 0].double().T
        if causal:
            scores.masked_fill_(torch.ones_like(scores).triu(1).bool(), -math.inf)
        return [torch.softmax(scores, -1) @ v[0, 0].double()]

    ways = [(64, 64, 4, 3), (64, 64, 4, 2), (128, 64, 8, 3), (128, 64, 4, 3)]
    ways += [(128, 128, 8, 2)] if depth == 128 else []
    return Case(f"tutorial 06 attention B{batch} H{heads} T{length} D{depth}{' causal' if causal else ''}", dtype,
                [o[0, 0]], reference,
                lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale),
                operations=(2 if causal else 4) * batch * heads * length * length * depth,
                variants={"x".join(map(str, w)): launch(*w) for w in ways})


def attention_backward_case(folder, batch, heads, length, depth, dtype):
    file = of_type(folder / "06-fused-attention.py", dtype)
    q, k, v, do = (random_tensor(batch, heads, length, depth, dtype=dtype) * 0.5 for _ in range(4))
    scale = 0.5
    o, m = torch.empty_like(q), torch.empty(batch, heads, length, device="cuda")
    above = torch.ones(length, length, device="cuda").triu(1).bool()
    for i in range(batch):
        scores = (scale * q[i].float() @ k[i].float().mT).masked_fill(above, -math.inf)
        m[i] = torch.logsumexp(scores, -1) * LOG2_E
        o[i] = (torch.softmax(scores, -1) @ v[i].float()).to(o.dtype)
    dq, dk, dv, delta = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), torch.empty_like(m)
    launches = [
        Launch(file, "_attn_bwd_preprocess", (length // 128, batch * heads),
               dict(O=o, DO=do, Delta=delta, Z=batch, H=heads, N_CTX=length, BLOCK_M=128, HEAD_DIM=depth)),
        Launch(file, "_attn_bwd", (length // 128, 1, batch * heads),
               dict(Q=q, K=k * (scale * LOG2_E), V=v, sm_scale=scale, DO=do, DQ=dq, DK=dk, DV=dv, M=m, D=delta,
                    stride_z=q.stride(0), stride_h=q.stride(1), stride_tok=q.stride(2), stride_d=q.stride(3), H=heads,
                    N_CTX=length, BLOCK_M1=32, BLOCK_N1=128, BLOCK_M2=128, BLOCK_N2=32, BLK_SLICE_FACTOR=2,
                    HEAD_DIM=depth, CAUSAL=True), num_warps=4, num_stages=5)]

    def reference():
        x, y, z = (t[0, 0].double().requires_grad_() for t in (q, k, v))
        scores = (scale * x @ y.T).masked_fill(above, -math.inf)
        return torch.autograd.grad(torch.softmax(scores, -1) @ z, (x, y, z), do[0, 0].double())

    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    result = F.scaled_dot_product_attention(*leaves, is_causal=True, scale=scale)
    return Case(f"tutorial 06 backward B{batch} H{heads} T{length} D{depth} causal", dtype,
                [dq[0, 0], dk[0, 0], dv[0, 0]], reference,
                lambda: torch.autograd.grad(result, leaves, do, retain_graph=True),
                operations=5 * batch * heads * length * length * depth, variants={"own": launches})


def seed_cases():
    for file, kernel, name in (("vector_add", "add_kernel", "seed vector add"),
                               ("my_kernel", "my_kernel", "seed x * 2 + 1")):
        yield lambda f=file, k=kernel, n=name: elementwise_case(SEEDS / f"{f}.py", k, n, 1 << 26, "fp16")
    for dtype in ("fp16", "bf16"):
        yield lambda d=dtype: seed_matmul_case(4096, d)


def tutorial_cases(folder):
    yield lambda: elementwise_case(folder / "01-vector-add.py", "add_kernel", "tutorial 01 vector add", 1 << 26, "fp32")
    for columns in (1024, 4096):
        yield lambda c=columns: softmax_case(folder, 4096, c)
    for columns in (1024, 4096, 8192):
        yield lambda c=columns: layer_norm_case(folder, 4096, c, "fp16")
    for make in (dropout_case, seeded_dropout_case):
        yield lambda m=make: m(folder, 1 << 26, "fp32")
    for columns in (1024, 4096, 8192):
        yield lambda c=columns: layer_norm_backward_case(folder, 4096, c, "fp16")
    for size, dtype in ((1024, "fp16"), (2048, "fp16"), (4096, "fp16"), (8192, "fp16"), (4096, "bf16")):
        yield lambda s=size, d=dtype: matmul_case(folder, s, d)
    for length, depth, causal, dtype in ((2048, 64, True, "fp16"), (4096, 128, True, "fp16"), (4096, 128, False, "fp16"),
                                         (2048, 64, True, "bf16"), (4096, 128, True, "bf16")):
        yield lambda t=length, d=depth, c=causal, y=dtype: attention_case(folder, 4, 32, t, d, c, y)
    for dtype in ("fp16", "bf16"):
        yield lambda d=dtype: attention_backward_case(folder, 4, 32, 2048, 64, d)
