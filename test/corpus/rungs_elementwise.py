"""Rungs 1 to 10: element-wise kernels, masks, early returns, nested loops."""

import numpy as np

import philox
from ladder import Case, In, InOut, Out, cdiv, next_power_of_2, rung

TUTORIALS = "python/tutorials"
BENCH_G = "data/TritonBench_G_v1"


@rung(1, "triton-intel", f"{TUTORIALS}/01-vector-add.py", "add_kernel")
def add(rng):
    sizes = [(1, 1024), (7, 1024), (1023, 1024), (1025, 1024), (4099, 1024), (2000, 768), (5, 1)]
    for n, block in sizes:
        yield _add(rng, n, block, "fp32")
    for dtype in ("fp16", "bf16", "fp64"):
        yield _add(rng, 1025, 256, dtype)
    for dtype in ("i32", "i8", "u16", "i64"):
        x, y = (In(rng.integers(0, 120, 1025), dtype) for _ in range(2))
        yield Case(f"n=1025 {dtype}", (cdiv(1025, 256),),
                   dict(x_ptr=x, y_ptr=y, output_ptr=Out((1025,), dtype), n_elements=1025, BLOCK_SIZE=256),
                   lambda m: {}, integers={"output_ptr": x.values + y.values})


def _add(rng, n, block, dtype):
    x, y = In(rng.standard_normal(n), dtype), In(rng.standard_normal(n), dtype)
    return Case(f"n={n} BLOCK={block} {dtype}", (cdiv(n, block),),
                dict(x_ptr=x, y_ptr=y, output_ptr=Out((n,), dtype), n_elements=n, BLOCK_SIZE=block),
                lambda m: {"output_ptr": m.round(m.of(x.values) + m.of(y.values), dtype)},
                compute="fp64" if dtype == "fp64" else "fp32")


@rung(2, "TritonBench", f"{BENCH_G}/square_matrix.py", "square_kernel")
def square(rng):
    for rows, cols, row_stride, dtype in [(1, 1, 1, "fp32"), (3, 7, 7, "fp32"), (5, 127, 131, "fp32"),
                                          (2, 1025, 1040, "fp32"), (4, 63, 64, "bf16"), (4, 65, 65, "fp16")]:
        x = In(rng.standard_normal((rows, cols)), dtype, strides=(row_stride, 1))
        y = Out((rows, cols), dtype, strides=(row_stride + 3, 1))
        yield Case(f"{rows}x{cols} stride={row_stride} {dtype}", (rows,),
                   dict(output_ptr=y, input_ptr=x, input_row_stride=row_stride, output_row_stride=row_stride + 3,
                        n_cols=cols, BLOCK_SIZE=next_power_of_2(cols)),
                   lambda m, x=x: {"output_ptr": m.of(x.values) ** 2})


@rung(3, "triton-intel", f"{TUTORIALS}/04-low-memory-dropout.py", "_dropout")
def dropout(rng):
    for n, p, dtype in [(1, 0.5, "fp32"), (10, 0.5, "fp32"), (1025, 0.3, "fp32"), (4099, 0.1, "fp16")]:
        x, keep = In(rng.standard_normal(n), dtype), In(rng.integers(0, 2, n), "i32")

        def reference(m, x=x, keep=keep, p=p):
            scale = m.dtype(1) - m.dtype(np.float32(p))
            return {"output_ptr": np.where(keep.values != 0, m.of(x.values) / scale, m.dtype(0))}

        yield Case(f"n={n} p={p} {dtype}", (cdiv(n, 1024),),
                   dict(x_ptr=x, x_keep_ptr=keep, output_ptr=Out((n,), dtype), n_elements=n, p=p, BLOCK_SIZE=1024),
                   reference)


@rung(4, "unsloth", "unsloth/kernels/swiglu.py", "_fg_kernel")
def swiglu(rng):
    for n, dtype, long in [(1, "fp32", 0), (1023, "fp32", 1), (1025, "bf16", 0), (2053, "fp16", 1), (4096, "fp32", 0)]:
        e, g = In(rng.standard_normal(n) * 3, dtype), In(rng.standard_normal(n), dtype)

        def reference(m, e=e, g=g, dtype=dtype):
            x = m.of(e.values)
            return {"h": m.round(x * m.sigmoid(x), dtype) * m.of(g.values)}

        yield Case(f"n={n} {dtype} long={long}", (cdiv(n, 1024),),
                   dict(e=e, g=g, h=Out((n,), dtype), n_elements=n, BLOCK_SIZE=1024, LONG_INDEXING=long), reference)


@rung(5, "triton-intel", f"{TUTORIALS}/07-extern-functions.py", "asin_kernel")
def asin(rng):
    for n, dtype in [(1, "fp32"), (1021, "fp32"), (1025, "fp32"), (513, "fp64")]:
        values = rng.uniform(-1, 1, n)
        values[: min(n, 5)] = [1.0, -1.0, 0.0, 1e-30, 0.5][: min(n, 5)]
        x = In(values, dtype)
        yield Case(f"n={n} {dtype}", (cdiv(n, 1024),),
                   dict(x_ptr=x, y_ptr=Out((n,), dtype), n_elements=n, BLOCK_SIZE=1024),
                   lambda m, x=x: {"y_ptr": np.arcsin(m.of(x.values))},
                   compute="fp64" if dtype == "fp64" else "fp32")


@rung(6, "flash-attention", "flash_attn/ops/triton/cross_entropy.py", "cross_entropy_bwd_kernel")
def cross_entropy_bwd(rng):
    for rows, cols, dtype, smoothing, scale, square_scale in [
            (1, 1, "fp32", 0.0, 1.0, 0.0), (3, 257, "fp32", 0.0, 0.7, 0.01), (5, 1000, "bf16", 0.1, 1.0, 0.0),
            (2, 129, "fp32", 0.1, 2.0, 0.001)]:
        stride, block = cols + 3, 128
        logits = In(rng.standard_normal((rows, cols)) * 2, dtype, strides=(stride, 1))
        labels = rng.integers(0, cols, rows)
        labels[-1] = -100 if rows > 1 else labels[-1]
        dloss = In(rng.standard_normal((rows, 2)), "fp32")
        lse = In(np.log(np.exp(logits.values * scale).sum(-1)), "fp32")
        dlogits = Out((rows, cols), dtype, strides=(stride, 1))

        def reference(m, logits=logits, labels=labels, dloss=dloss, lse=lse, a=(smoothing, scale, square_scale)):
            smoothing, scale, square_scale = (m.dtype(np.float32(v)) for v in a)
            columns = logits.shape[1]
            lse_column = m.of(lse.values)[:, None]
            probs = np.exp(m.of(logits.values) * scale - lse_column)
            probs = probs + 2 * square_scale * lse_column * probs
            hit = np.arange(columns) == labels[:, None]
            probs = np.where(hit, probs - (1 - smoothing), probs) - smoothing / columns
            upstream = np.where(labels == -100, m.dtype(0), m.of(dloss.values[:, 0]))[:, None]
            return {"dlogits_ptr": upstream * scale * probs}

        yield Case(f"{rows}x{cols} {dtype} smoothing={smoothing}", (rows, cdiv(cols, block)),
                   dict(dlogits_ptr=dlogits, dloss_ptr=dloss, logits_ptr=logits, lse_ptr=lse,
                        labels_ptr=In(labels, "i64"), smoothing=smoothing, logit_scale=scale,
                        lse_square_scale=square_scale, ignore_index=-100, total_classes=cols, class_start_idx=0,
                        n_cols=cols, logits_row_stride=stride, dlogits_row_stride=stride, dloss_row_stride=2,
                        BLOCK_SIZE=block), reference)


@rung(7, "TritonBench", f"{BENCH_G}/index_select_cat.py", "index_select_cat_fwd_kernel")
def index_select(rng):
    for rows, indices, cols, strides, dtype in [(1, 1, 1, (1, 1), "fp32"), (50, 33, 127, (130, 1), "fp32"),
                                                (7, 5, 65, (1, 11), "fp16"), (20, 17, 10, (40, 3), "i64")]:
        values = rng.integers(-99, 99, (rows, cols)) if dtype == "i64" else rng.standard_normal((rows, cols))
        source = In(values, dtype, strides=strides)
        index = rng.integers(0, rows, indices)
        taken = source.values[index]
        is_integer = dtype == "i64"
        yield Case(f"{rows}->{indices} x {cols} strides={strides} {dtype}", (cdiv(indices, 16), cdiv(cols, 32)),
                   dict(output_ptr=Out((indices, cols), dtype, strides=strides), source_ptr=source,
                        index_ptr=In(index, "i64"), num_indices=indices, num_cols=cols, stride0=strides[0],
                        stride1=strides[1], BLOCK_SIZE_INDEX=16, BLOCK_SIZE_COL=32),
                   lambda m, t=taken, i=is_integer: {} if i else {"output_ptr": m.of(t)},
                   integers={"output_ptr": taken} if is_integer else {})


@rung(8, "triton-intel", f"{TUTORIALS}/04-low-memory-dropout.py", "_seeded_dropout")
def seeded_dropout(rng):
    for n, p, seed in [(1, 0.5, 123), (10, 0.5, 512), (1025, 0.3, 7), (4099, 0.9, 2**31 - 1), (100, 0.5, 2**40 + 3)]:
        x = In(rng.standard_normal(n), "fp32")
        keep = philox.rand(seed, np.arange(n)) > np.float32(p)

        def reference(m, x=x, keep=keep, p=p):
            return {"output_ptr": np.where(keep, m.of(x.values) / (m.dtype(1) - m.dtype(np.float32(p))), m.dtype(0))}

        yield Case(f"n={n} p={p} seed={seed}", (cdiv(n, 1024),),
                   dict(x_ptr=x, output_ptr=Out((n,), "fp32"), n_elements=n, p=p, seed=seed, BLOCK_SIZE=1024),
                   reference)


@rung(9, "triton-shared", "python/examples/test_early_return.py", "early_return")
def early_return(rng):
    for label, values, programs in [("returns", [-1] * 8, 1), ("goes on", range(8), 1), ("mixed", [-1, 3, -1, 7], 4),
                                    ("all return", [-1] * 7, 7)]:
        for dtype in ("i32", "i64"):
            source = In(np.array(values), dtype)
            goes_on = any(v != -1 for v in list(values)[:programs])
            yield Case(f"{label} {dtype}", (programs,), dict(in0=source, out0=Out((8,), dtype)), lambda m: {},
                       integers={"out0": np.array([1, 2, 3, 4, 0, 0, 0, 0])},
                       written={"out0": np.arange(8) < (4 if goes_on else 0)})


@rung(10, "triton-shared", "python/examples/test_nested_loops.py", "nested2_complex_body")
def nested_loops(rng):
    for stride_m, stride_n, programs in [(8, 1, 2), (17, 1, 1), (23, 2, 1), (1, 5, 1)]:
        tile = stride_m * np.arange(2)[:, None] + stride_n * np.arange(2)
        touched = [i * (2 * stride_m + 1) + 1 + 3 * j + tile for i in range(2) for j in range(2)]
        size = max(int(t.max()) for t in touched) + 1
        a = In(rng.integers(0, 1000, size), "i32")
        mask = np.zeros(size, bool)
        for t in touched:
            mask[t] = True
        yield Case(f"strides=({stride_m}, {stride_n}) programs={programs}", (programs,),
                   dict(a_ptr=a, c_ptr=Out((size,), "i32"), stride_m=stride_m, stride_n=stride_n), lambda m: {},
                   integers={"c_ptr": a.values}, written={"c_ptr": mask})
