"""Rungs 23 to 27, 32 to 34: matrix products, convolution, attention."""

import sys
from pathlib import Path

import numpy as np

from ladder import Case, In, InOut, Out, Pointers, cdiv, next_power_of_2, rung

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from bridge import DType  # noqa: E402

TUTORIALS = "python/tutorials"
BENCH_G = "data/TritonBench_G_v1"
GEMS = "src/flag_gems/ops"


def matrix_strides(rows, cols, layout, pad=0):
    """Row-major or column-major, the leading dimension `pad` longer."""
    return (cols + pad, 1) if layout == "row" else (1, rows + pad)


@rung(23, "triton-intel", f"{TUTORIALS}/03-matrix-multiplication.py", "matmul_kernel")
def matmul(rng):
    for m_size, n_size, k_size, blocks, b_layout, activation, dtype in [
            (1, 1, 1, (16, 16, 16), "row", "", "fp16"), (33, 65, 31, (16, 32, 16), "row", "", "fp16"),
            (17, 47, 129, (32, 16, 32), "column", "leaky_relu", "fp16"), (64, 64, 64, (32, 32, 32), "row", "", "fp32"),
            (65, 33, 70, (24, 40, 20), "row", "leaky_relu", "bf16")]:
        a = In(rng.uniform(-0.5, 0.5, (m_size, k_size)), dtype, strides=matrix_strides(m_size, k_size, "row", 2))
        b = In(rng.uniform(-0.5, 0.5, (k_size, n_size)), dtype, strides=matrix_strides(k_size, n_size, b_layout, 1))
        c = Out((m_size, n_size), "fp16", strides=(n_size + 3, 1))

        def reference(m, a=a, b=b, activation=activation):
            product = m.dot(m.of(a.values), m.of(b.values))
            if activation:
                product = np.where(product >= 0, product, m.dtype(np.float32(0.01)) * product)
            return {"c_ptr": product}

        yield Case(f"{m_size}x{n_size}x{k_size} blocks={blocks} {b_layout} {activation} {dtype}",
                   (cdiv(m_size, blocks[0]) * cdiv(n_size, blocks[1]),),
                   dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m_size, N=n_size, K=k_size, stride_am=a.strides[0],
                        stride_ak=a.strides[1], stride_bk=b.strides[0], stride_bn=b.strides[1], stride_cm=c.strides[0],
                        stride_cn=1, BLOCK_SIZE_M=blocks[0], BLOCK_SIZE_N=blocks[1], BLOCK_SIZE_K=blocks[2],
                        GROUP_SIZE_M=2, ACTIVATION=activation), reference)


@rung(24, "TritonBench", f"{BENCH_G}/int_scaled_matmul.py", "matmul_kernel_with_block_pointers")
def int_matmul(rng):
    for m_size, n_size, k_size, group in [(1, 1, 1, 8), (33, 65, 31, 2), (64, 32, 97, 1), (17, 127, 64, 8)]:
        a = In(rng.integers(-128, 128, (m_size, k_size)), "i8")
        b = In(rng.integers(-128, 128, (k_size, n_size)), "i8", strides=(n_size + 5, 1))
        yield Case(f"{m_size}x{n_size}x{k_size} GROUP_M={group}", (cdiv(m_size, 32) * cdiv(n_size, 32),),
                   dict(a_ptr=a, b_ptr=b, c_ptr=Out((m_size, n_size), "i32"), M=m_size, N=n_size, K=k_size,
                        stride_am=k_size, stride_ak=1, stride_bk=n_size + 5, stride_bn=1, stride_cm=n_size, stride_cn=1,
                        BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP_M=group), lambda m: {},
                   integers={"c_ptr": a.values.astype(np.int32) @ b.values.astype(np.int32)})


@rung(25, "TritonBench", f"{BENCH_G}/matmul_dequantize_int4.py", "matmul4_kernel")
def matmul_int4(rng):
    for m_size, n_size, k_size, group_size, dtype in [(1, 32, 32, 32, "fp16"), (17, 64, 128, 32, "fp16"),
                                                      (33, 96, 64, 64, "fp32"), (5, 32, 192, 64, "fp16")]:
        groups = k_size // group_size
        weights = rng.integers(0, 16, (k_size, n_size))
        zeros = rng.integers(0, 16, (groups, n_size))
        a = In(rng.standard_normal((m_size, k_size)), dtype)
        scales = In(rng.uniform(0.01, 0.1, (groups, n_size)), dtype)
        b = In(_pack(weights, 0), "i32")
        packed_zeros = In(_pack(zeros, 1), "i32")

        def reference(m, a=a, scales=scales, weights=weights, zeros=zeros, dtype=dtype, group_size=group_size):
            rows = np.arange(weights.shape[0]) // group_size
            s = m.of(scales.values)[rows]
            scaled = m.round(m.of(weights) * s, dtype) - m.round(m.of(zeros)[rows] * s, dtype)
            return {"c_ptr": m.dot(m.of(a.values), m.round(scaled, dtype))}

        yield Case(f"{m_size}x{n_size}x{k_size} group={group_size} {dtype}", (cdiv(m_size, 16) * (n_size // 32),),
                   dict(a_ptr=a, b_ptr=b, c_ptr=Out((m_size, n_size), dtype), scales_ptr=scales, zeros_ptr=packed_zeros,
                        M=m_size, N=n_size, K=k_size, stride_am=k_size, stride_ak=1, stride_bk=n_size, stride_bn=1,
                        stride_cm=n_size, stride_cn=1, stride_scales_g=n_size, stride_scales_n=1,
                        stride_zeros_g=n_size // 8, stride_zeros_n=1, groupsize=group_size,
                        NO_GROUPS=group_size == k_size, BLOCK_SIZE_M=16, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32,
                        GROUP_SIZE_M=8), reference)


def _pack(values, axis):
    """Eight 4-bit values an int32, the first in the low bits."""
    values = np.moveaxis(values, axis, -1).astype(np.uint32)
    grouped = values.reshape(values.shape[:-1] + (-1, 8)) << (4 * np.arange(8, dtype=np.uint32))
    return np.moveaxis(np.bitwise_or.reduce(grouped, -1), -1, axis).astype(np.uint32).view(np.int32)


@rung(26, "FlagGems", f"{GEMS}/conv2d.py", "conv2d_forward_kernel")
def conv2d(rng):
    for batch, c_in, height, width, c_out, kernel, stride, padding, dilation, groups, dtype in [
            (1, 1, 1, 1, 1, (1, 1), 1, 0, 1, 1, "fp32"), (2, 3, 7, 9, 5, (3, 3), 1, 1, 1, 1, "fp32"),
            (1, 4, 11, 8, 6, (3, 2), 2, 1, 1, 2, "fp32"), (2, 5, 9, 9, 3, (2, 3), 1, 0, 2, 1, "fp16")]:
        x = In(rng.standard_normal((batch, c_in, height, width)), dtype)
        weight = In(rng.standard_normal((c_out, c_in // groups) + kernel), dtype)
        bias = In(rng.standard_normal(c_out), dtype)
        out_h = (height + 2 * padding - dilation * (kernel[0] - 1) - 1) // stride + 1
        out_w = (width + 2 * padding - dilation * (kernel[1] - 1) - 1) // stride + 1
        out = Out((batch, c_out, out_h, out_w), dtype)

        def reference(m, a=(x, weight, bias), p=(out_h, out_w, stride, padding, dilation, groups)):
            out_h, out_w, stride, padding, dilation, groups = p
            x, weight, bias = (m.of(v.values) for v in a)
            x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
            channels, (o, ci, kh, kw) = x.shape[1] // groups, weight.shape
            result = m.full((x.shape[0], o, out_h, out_w))
            for g in range(groups):
                taps = [x[:, g * channels:(g + 1) * channels, h * dilation:h * dilation + (out_h - 1) * stride + 1:stride,
                          w * dilation:w * dilation + (out_w - 1) * stride + 1:stride]
                        for h in range(kh) for w in range(kw)]
                columns = np.stack(taps, 2).reshape(x.shape[0], ci * kh * kw, out_h * out_w)
                part = slice(g * o // groups, (g + 1) * o // groups)
                result[:, part] = m.dot(weight[part].reshape(-1, ci * kh * kw)[None], columns).reshape(
                    x.shape[0], -1, out_h, out_w)
            return {"output_pointer": result + bias[:, None, None]}

        yield Case(f"x={x.shape} w={weight.shape} stride={stride} pad={padding} dil={dilation} {dtype}",
                   (cdiv(batch * out_h * out_w, 32), cdiv(c_out // groups, 16), groups),
                   dict(input_pointer=x, weight_pointer=weight, output_pointer=out, bias_pointer=bias, in_n=batch,
                        input_height=height, input_width=width, out_c=c_out, out_height=out_h, out_width=out_w,
                        **_strides("input", "n c height width", x), **_strides("weight", "n c height width", weight),
                        **_strides("output", "n c height width", out), weight_c=c_in // groups,
                        weight_height=kernel[0], weight_width=kernel[1], stride_height=stride, stride_width=stride,
                        padding_height=padding, padding_width=padding, dilation_height=dilation,
                        dilation_width=dilation, groups=groups, BLOCK_NI_HO_WO=32, BLOCK_CI=16, BLOCK_CO=16),
                   reference)


def _strides(prefix, axes, array):
    return {f"{prefix}_{axis}_stride": stride for axis, stride in zip(axes.split(), array.strides)}


@rung(27, "FlagGems", f"{GEMS}/mm.py", "mm_kernel_general")
def mm(rng):
    for m_size, n_size, k_size, layout, dtype in [(1, 1, 1, "row", "fp32"), (33, 65, 31, "row", "fp32"),
                                                  (64, 48, 129, "column", "fp32"), (37, 41, 64, "row", "bf16"),
                                                  (16, 70, 65, "column", "fp16")]:
        a = In(rng.standard_normal((m_size, k_size)), dtype, strides=matrix_strides(m_size, k_size, layout))
        b = In(rng.standard_normal((k_size, n_size)), dtype, strides=matrix_strides(k_size, n_size, "row", 4))
        yield Case(f"{m_size}x{n_size}x{k_size} {layout} {dtype}", (cdiv(m_size, 32) * cdiv(n_size, 32),),
                   dict(A=a, B=b, C=Out((m_size, n_size), dtype), M=m_size, N=n_size, K=k_size,
                        stride_am=a.strides[0], stride_ak=a.strides[1], stride_bk=b.strides[0], stride_bn=1,
                        stride_cm=n_size, stride_cn=1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP_M=8),
                   lambda m, a=a, b=b: {"C": m.dot(m.of(a.values), m.of(b.values))})


@rung(32, "flash-attention", "flash_attn/flash_attn_triton.py", "_fwd_kernel")
def attention(rng):
    for batch, heads, length_q, length_k, dim, bias_type, causal, dtype in [
            (1, 1, 1, 1, 16, "none", False, "fp16"), (2, 3, 37, 53, 40, "none", False, "fp16"),
            (1, 2, 64, 64, 32, "none", True, "fp16"), (1, 2, 33, 33, 16, "vector", True, "bf16"),
            (2, 1, 65, 29, 24, "matrix", False, "fp16")]:
        block, rounded = 32, cdiv(length_q, 32) * 32
        q, k, v = (In(rng.standard_normal((batch, n, heads, dim)), dtype) for n in (length_q, length_k, length_k))
        bias = {"none": None, "vector": In(rng.standard_normal((batch, heads, 1, length_k)), "fp32"),
                "matrix": In(rng.standard_normal((batch, heads, length_q, length_k)), dtype)}[bias_type]
        out = Out((batch, length_q, heads, dim), dtype)
        scale = float(np.float32(dim**-0.5))

        def reference(m, a=(q, k, v, bias), p=(causal, scale, rounded, dtype)):
            causal, scale, rounded, dtype = p
            q, k, v = (m.of(x.values).transpose(0, 2, 1, 3) for x in a[:3])
            scores = m.dot(q, k.transpose(0, 1, 3, 2)) * m.dtype(scale)
            if a[3] is not None:
                scores = scores + m.of(a[3].values)
            if causal:
                scores = np.where(np.arange(q.shape[2])[:, None] >= np.arange(k.shape[2]), scores, m.dtype(-np.inf))
            largest = scores.max(-1, keepdims=True)
            e = np.exp(scores - largest)
            total = m.sum(e, keepdims=True)
            out = m.dot(m.round(e, dtype), v) / total
            lse = m.full(q.shape[:2] + (rounded,))
            lse[..., :q.shape[2]] = (largest + np.log(total))[..., 0]
            return {"Out": out.transpose(0, 2, 1, 3), "Lse": lse}

        beyond = np.arange(rounded) >= length_q
        b_strides = bias.strides[:3] if bias is not None else (0, 0, 0)
        b_strides = b_strides[:2] + (0,) if bias_type == "vector" else b_strides
        yield Case(f"b={batch} h={heads} q={length_q} k={length_k} d={dim} bias={bias_type} causal={causal} {dtype}",
                   (cdiv(length_q, block), batch * heads),
                   dict(Q=q, K=k, V=v, Bias=bias, Out=out, Lse=Out((batch, heads, rounded), "fp32"),
                        TMP=Out((batch, heads, rounded), "fp32"), softmax_scale=scale, **_attention_strides(q, k, v, out),
                        stride_bb=b_strides[0], stride_bh=b_strides[1], stride_bm=b_strides[2], nheads=heads,
                        seqlen_q=length_q, seqlen_k=length_k, seqlen_q_rounded=rounded, headdim=dim,
                        CACHE_KEY_SEQLEN_Q=length_q // 32, CACHE_KEY_SEQLEN_K=length_k // 32, BIAS_TYPE=bias_type,
                        IS_CAUSAL=causal, BLOCK_HEADDIM=max(next_power_of_2(dim), 16), BLOCK_M=block, BLOCK_N=block),
                   reference, unchecked={"TMP": True, "Lse": beyond})


def _attention_strides(q, k, v, out):
    strides = {}
    for name, array, row in (("q", q, "m"), ("k", k, "n"), ("v", v, "n"), ("o", out, "m")):
        strides |= {f"stride_{name}b": array.strides[0], f"stride_{name}h": array.strides[2],
                    f"stride_{name}{row}": array.strides[1]}
    return strides


@rung(33, "TritonBench", f"{BENCH_G}/streamk_matmul.py", "first_wave")
def stream_k(rng):
    # "waiting": the programs' shares end inside a tile, so that a program waits
    # for the one that finishes the tile - its successor.
    for label, m_size, n_size, k_size, programs, group in [
            ("one tile", 32, 32, 96, 1, 8), ("whole tiles", 64, 96, 128, 3, 0), ("swizzled", 96, 64, 64, 2, 8),
            ("waiting", 64, 32, 96, 4, 8), ("waiting, uneven", 96, 32, 160, 2, 0)]:
        block = (32, 32, 32)
        a, b = In(rng.standard_normal((m_size, k_size)), "fp32"), In(rng.standard_normal((k_size, n_size)), "fp32")
        tiles, iterations = (m_size // 32) * (n_size // 32), k_size // 32
        total = tiles * iterations
        yield Case(f"{label} {m_size}x{n_size}x{k_size} programs={programs} GROUP_M={group}", (programs,),
                   dict(A=a, B=b, C=Out((m_size, n_size), "fp32"), M=m_size, N=n_size, K=k_size,
                        locks=InOut(np.zeros(tiles, np.int32), "i32"), stride_am=k_size, stride_ak=1, stride_bk=n_size,
                        stride_bn=1, stride_cm=n_size, stride_cn=1, total_full_tiles_streamk=total // programs,
                        total_partial_tiles_streamk=total % programs, iters_per_tile=iterations, BLOCK_M=block[0],
                        BLOCK_N=block[1], BLOCK_K=block[2], ACC_TYPE=DType("fp32"), GROUP_M=group),
                   lambda m, a=a, b=b: {"C": m.dot(m.of(a.values), m.of(b.values))}, unchecked={"locks": True})


@rung(34, "triton-intel", f"{TUTORIALS}/08-grouped-gemm.py", "grouped_matmul_kernel")
def grouped_matmul(rng):
    for sizes, programs in [([(32, 32, 32)], 1), ([(64, 32, 96), (32, 96, 64), (96, 64, 32)], 4), ([(32, 64, 32)] * 2, 7)]:
        a = [In(rng.standard_normal((m, k)), "fp16") for m, n, k in sizes]
        b = [In(rng.standard_normal((k, n)), "fp16") for m, n, k in sizes]
        c = [Out((m, n), "fp16") for m, n, k in sizes]
        leading = np.array([[k, n, n] for m, n, k in sizes], np.int32)

        def reference(m, a=a, b=b):
            return {f"c{i}": m.dot(m.of(x.values), m.of(y.values)) for i, (x, y) in enumerate(zip(a, b))}

        extra = {f"{letter}{i}": array for letter, group in zip("abc", (a, b, c)) for i, array in enumerate(group)}
        yield Case(f"{sizes} NUM_SM={programs}", (programs,),
                   dict(group_a_ptrs=Pointers(a), group_b_ptrs=Pointers(b), group_c_ptrs=Pointers(c),
                        group_gemm_sizes=In(np.array(sizes, np.int32), "i32"), g_lds=In(leading, "i32"),
                        group_size=len(sizes), NUM_SM=programs, BLOCK_SIZE_M=32, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32),
                   reference, extra=extra)
