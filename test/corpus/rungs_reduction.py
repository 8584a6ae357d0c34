"""Rungs 11 to 22: reductions, scans, normalisations, locks."""

import numpy as np

from ladder import Case, In, InOut, Out, cdiv, next_power_of_2, rung

TUTORIALS = "python/tutorials"
GEMS = "src/flag_gems/ops"


def row_softmax(m, x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / m.sum(e, keepdims=True)


@rung(11, "triton-intel", f"{TUTORIALS}/02-fused-softmax.py", "softmax_kernel")
def softmax(rng):
    for rows, cols, stride, block, programs, dtype in [
            (1, 1, 1, 1, 1, "fp32"), (7, 127, 127, 128, 3, "fp32"), (3, 781, 800, 1024, 3, "fp32"),
            (4, 1025, 1025, 2048, 2, "fp32"), (5, 1000, 1000, 1000, 5, "fp32"), (2, 33, 40, 64, 1, "fp64")]:
        x = In(rng.standard_normal((rows, cols)) * 4, dtype, strides=(stride, 1))
        yield Case(f"{rows}x{cols} stride={stride} BLOCK={block} programs={programs} {dtype}", (programs,),
                   dict(output_ptr=Out((rows, cols), dtype, strides=(stride + 5, 1)), input_ptr=x,
                        input_row_stride=stride, output_row_stride=stride + 5, n_rows=rows, n_cols=cols,
                        BLOCK_SIZE=block),
                   lambda m, x=x: {"output_ptr": row_softmax(m, m.of(x.values))},
                   compute="fp64" if dtype == "fp64" else "fp32")


@rung(12, "unsloth", "unsloth/kernels/rms_layernorm.py", "_rms_layernorm_forward")
def rms_norm(rng):
    for rows, cols, stride, dtype in [(1, 1, 1, "fp32"), (3, 127, 127, "fp32"), (5, 257, 260, "bf16"),
                                      (2, 1025, 1025, "fp16"), (4, 768, 768, "fp32")]:
        x = In(rng.standard_normal((rows, cols)), dtype, strides=(stride, 1))
        w = In(rng.standard_normal(cols), dtype)

        def reference(m, x=x, w=w, dtype=dtype):
            values = m.of(x.values)
            scale = 1 / np.sqrt(m.sum(values * values, keepdims=True) / m.dtype(values.shape[1]) + m.dtype(np.float32(1e-6)))
            return {"Y": m.round(values * scale, dtype) * m.of(w.values), "r": scale[:, 0]}

        yield Case(f"{rows}x{cols} stride={stride} {dtype}", (rows,),
                   dict(Y=Out((rows, cols), dtype, strides=(stride, 1)), Y_row_stride=stride, X=x, X_row_stride=stride,
                        W=w, W_row_stride=1, r=Out((rows,), "fp32"), r_row_stride=1, n_cols=cols, eps=1e-6,
                        BLOCK_SIZE=next_power_of_2(cols)), reference)


def moments(m, x, eps):
    n = m.dtype(x.shape[-1])
    mean = m.sum(x, keepdims=True) / n
    centred = x - mean
    return mean, 1 / np.sqrt(m.sum(centred * centred, keepdims=True) / n + m.dtype(np.float32(eps)))


@rung(13, "triton-intel", f"{TUTORIALS}/05-layer-norm.py", "_layer_norm_fwd_fused")
def layer_norm(rng):
    for rows, cols, stride, block, dtype in [(1, 1, 1, 16, "fp32"), (3, 127, 130, 128, "fp32"),
                                             (4, 1025, 1025, 256, "fp32"), (2, 1000, 1000, 1000, "fp32"),
                                             (3, 515, 515, 512, "bf16"), (3, 99, 99, 128, "fp16")]:
        x = In(rng.standard_normal((rows, cols)) * 0.5 - 2.3, dtype, strides=(stride, 1))
        w, b = In(rng.random(cols), dtype), In(rng.random(cols), dtype)

        def reference(m, x=x, w=w, b=b):
            values = m.of(x.values)
            mean, rstd = moments(m, values, 1e-5)
            return {"Y": (values - mean) * rstd * m.of(w.values) + m.of(b.values), "Mean": mean[:, 0], "Rstd": rstd[:, 0]}

        yield Case(f"{rows}x{cols} stride={stride} BLOCK={block} {dtype}", (rows,),
                   dict(X=x, Y=Out((rows, cols), dtype, strides=(stride, 1)), W=w, B=b, Mean=Out((rows,), "fp32"),
                        Rstd=Out((rows,), "fp32"), stride=stride, N=cols, eps=1e-5, BLOCK_SIZE=block), reference)


@rung(14, "triton-intel", f"{TUTORIALS}/05-layer-norm.py", "_layer_norm_bwd_dwdb")
def layer_norm_dwdb(rng):
    for rows, cols, dtype in [(1, 1, "fp32"), (7, 129, "fp32"), (65, 257, "fp16"), (96, 128, "fp32")]:
        dw, db = (In(rng.standard_normal((rows, cols)), dtype) for _ in range(2))
        yield Case(f"{rows}x{cols} {dtype}", (cdiv(cols, 128),),
                   dict(DW=dw, DB=db, FINAL_DW=Out((cols,), dtype), FINAL_DB=Out((cols,), dtype), M=rows, N=cols,
                        BLOCK_SIZE_M=32, BLOCK_SIZE_N=128),
                   lambda m, dw=dw, db=db: {"FINAL_DW": m.sum(m.of(dw.values), 0), "FINAL_DB": m.sum(m.of(db.values), 0)})


@rung(15, "unsloth", "unsloth/kernels/rope_embedding.py", "_rope_embedding")
def rope(rng):
    for batch, seqlen, heads, dim, dtype, backward in [(1, 1, 1, 2, "fp32", False), (2, 7, 5, 6, "fp32", False),
                                                       (1, 13, 8, 64, "bf16", True), (3, 5, 3, 66, "fp16", False)]:
        rows, half = batch * seqlen, dim // 2
        angles = rng.uniform(-3, 3, (seqlen, half))
        cos, sin = In(np.cos(angles), dtype), In(np.sin(angles), dtype)
        q = InOut(rng.standard_normal((rows, heads * dim)), dtype, strides=(heads * dim + 2, 1))

        def reference(m, q=q, cos=cos, sin=sin, s=(seqlen, heads, dim, half, dtype, backward)):
            seqlen, heads, dim, half, dtype, backward = s
            row = np.arange(q.shape[0]) % seqlen
            c, t = m.of(cos.values)[row][:, None, :], m.of(sin.values)[row][:, None, :] * (-1 if backward else 1)
            x = m.of(q.values).reshape(-1, heads, dim)
            a, b = x[..., :half], x[..., half:]
            first = m.round(a * c, dtype) - m.round(b * t, dtype)
            second = m.round(b * c, dtype) + m.round(a * t, dtype)
            return {"Q": np.concatenate([first, second], -1).reshape(q.shape)}

        yield Case(f"batch={batch} seq={seqlen} heads={heads} dim={dim} {dtype} backward={backward}",
                   (rows, cdiv(heads, 4)),
                   dict(Q=q, Q_row_stride=heads * dim + 2, cos=cos, cos_row_stride=half, sin=sin, sin_row_stride=half,
                        seqlen=seqlen, head_dim=dim, n_heads=heads, BACKWARD_PASS=backward,
                        BLOCK_SIZE=next_power_of_2(half)), reference)


@rung(16, "unsloth", "unsloth/kernels/cross_entropy_loss.py", "_cross_entropy_forward")
def cross_entropy(rng):
    for rows, vocabulary, dtype, softcap, scale in [(1, 1, "fp32", 0, 0), (5, 257, "fp32", 0, 0),
                                                    (3, 1000, "bf16", 30.0, 0), (4, 129, "fp32", 0, 0.25),
                                                    (2, 1025, "fp16", 20.0, 0.5)]:
        stride = vocabulary + 3
        logits = In(rng.standard_normal((rows, vocabulary)) * 3, dtype, strides=(stride, 1))
        labels = rng.integers(0, vocabulary, rows)
        if rows > 1:
            labels[1] = -100

        def reference(m, logits=logits, labels=labels, softcap=softcap, scale=scale):
            x = m.of(logits.values)
            if scale:
                x = m.dtype(scale) * x
            if softcap:
                x = m.dtype(softcap) * np.tanh(x / m.dtype(softcap))
            c = x.max(-1)
            lse = c + np.log(m.sum(np.exp(x - c[:, None])))
            picked = np.take_along_axis(x, np.maximum(labels, 0)[:, None], 1)[:, 0]
            return {"loss_ptr": np.where(labels == -100, m.dtype(0), lse - picked), "logsumexp_ptr": lse}

        yield Case(f"{rows}x{vocabulary} {dtype} softcap={softcap} scale={scale}", (rows,),
                   dict(logits_ptr=logits, logits_row_stride=stride, loss_ptr=Out((rows,), "fp32"),
                        logsumexp_ptr=Out((rows,), "fp32"), labels_ptr=In(labels, "i64"), VOCAB_SIZE=vocabulary,
                        BLOCK_SIZE=next_power_of_2(vocabulary), DO_SOFTCAPPING=bool(softcap), SOFTCAP=softcap,
                        DO_LOGIT_SCALING=bool(scale), LOGIT_SCALE=scale), reference)


@rung(17, "FlagGems", f"{GEMS}/sum.py", "sum_dim_kernel_inner")
def sum_inner(rng):
    for rows, cols, tile, dtype in [(1, 1, 1, "fp32"), (5, 127, 128, "fp32"), (3, 1025, 256, "fp32"),
                                    (4, 515, 512, "fp16"), (2, 259, 512, "bf16"), (3, 700, 700, "fp32")]:
        x = In(rng.standard_normal((rows, cols)), dtype)
        yield Case(f"{rows}x{cols} TILE={tile} {dtype}", (rows,),
                   dict(output_ptr=Out((rows,), dtype), input_ptr=x, M=rows, N=cols, TILE_N=tile,
                        ONE_TILE_PER_CTA=tile >= cols),
                   lambda m, x=x: {"output_ptr": m.sum(m.of(x.values))})
    for tile, dtype in [(64, "i32"), (1024, "i64")]:
        x = In(rng.integers(-1000, 1000, (3, 999)), dtype)
        yield Case(f"3x999 TILE={tile} {dtype}", (3,),
                   dict(output_ptr=Out((3,), dtype), input_ptr=x, M=3, N=999, TILE_N=tile, ONE_TILE_PER_CTA=tile >= 999),
                   lambda m: {}, integers={"output_ptr": x.values.sum(1)})


@rung(18, "FlagGems", f"{GEMS}/argmax.py", "argmax_kernel")
def argmax(rng):
    for m_size, n_size, k_size, dtype in [(1, 1, 1, "fp32"), (5, 127, 1, "fp32"), (7, 130, 3, "fp16"),
                                          (3, 65, 2, "bf16"), (9, 300, 1, "i32"), (2, 33, 5, "i64")]:
        # Small integers: many ties, and the first must win.
        x = In(rng.integers(-6, 7, (m_size, n_size, k_size)), dtype)
        yield Case(f"{m_size}x{n_size}x{k_size} {dtype}", (cdiv(m_size, 4), k_size),
                   dict(inp=x, out_index=Out((m_size, k_size), "i64"), M=m_size, N=n_size, K=k_size, BLOCK_M=4,
                        BLOCK_N=64),
                   lambda m: {}, integers={"out_index": x.values.argmax(1)})


@rung(19, "FlagGems", f"{GEMS}/cumsum.py", "scan_part_sum_kernel")
def cumsum(rng):
    for n, block, dtype in [(1, 16, "fp32"), (127, 128, "fp32"), (1025, 256, "fp32"), (300, 100, "fp32"),
                            (515, 512, "fp16"), (64, 64, "fp64")]:
        x, parts = In(rng.standard_normal(n), dtype), cdiv(n, block)
        out_dtype = "fp64" if dtype == "fp64" else "fp32"

        def reference(m, x=x, parts=parts, block=block, n=n):
            padded = m.full(parts * block)
            padded[:n] = m.of(x.values)
            blocks = padded.reshape(parts, block)
            return {"out": np.add.accumulate(blocks, 1, dtype=m.dtype).ravel()[:n], "partial_sum": m.sum(blocks)}

        yield Case(f"n={n} BLOCK={block} {dtype}", (parts,),
                   dict(inp=x, out=Out((n,), out_dtype), partial_sum=Out((parts,), out_dtype), n_elements=n,
                        part_num=parts, BLOCK_SIZE=block), reference, compute=out_dtype)
    for n, block, dtype in [(1, 8, "i32"), (131, 64, "i16"), (257, 64, "i64"), (100, 64, "u8")]:
        x, parts = In(rng.integers(0, 100, n), dtype), cdiv(n, block)
        padded = np.zeros(parts * block, np.int64)
        padded[:n] = x.values
        blocks = padded.reshape(parts, block)
        yield Case(f"n={n} BLOCK={block} {dtype}", (parts,),
                   dict(inp=x, out=Out((n,), "i64"), partial_sum=Out((parts,), "i64"), n_elements=n, part_num=parts,
                        BLOCK_SIZE=block), lambda m: {},
                   integers={"out": blocks.cumsum(1).ravel()[:n], "partial_sum": blocks.sum(1)})


@rung(20, "FlagGems", f"{GEMS}/var_mean.py", "var_mean_welford_kernel")
def var_mean(rng):
    for rows, cols, block_m, block_n, dtype in [(1, 2, 1, 8, "fp32"), (5, 127, 4, 64, "fp32"), (3, 1025, 2, 256, "fp32"),
                                                (4, 300, 4, 100, "fp32"), (7, 259, 4, 64, "bf16")]:
        x = In(rng.standard_normal((rows, cols)) + 0.5, dtype)

        def reference(m, x=x, block_n=block_n):
            values = m.of(x.values)
            n = values.shape[1]
            if m.exact:
                return {"Mean": values.mean(1), "Var": values.var(1, ddof=1)}
            mean, var = _welford(m, values, block_n, n)
            return {"Mean": mean, "Var": var}

        yield Case(f"{rows}x{cols} BLOCK={block_m}x{block_n} {dtype}", (cdiv(rows, block_m),),
                   dict(X=x, Var=Out((rows,), dtype), Mean=Out((rows,), dtype), M=rows, N=cols, correction=1.0,
                        BLOCK_M=block_m, BLOCK_N=block_n), reference)


def _welford(m, values, block, n):
    """The kernel's algorithm: its formulas cancel, which the bound must allow."""
    rows = values.shape[0]
    mean, acc, count = (m.full((rows, block)) for _ in range(3))
    for off in range(0, n, block):
        width = min(block, n - off)
        x, mask = m.full((rows, block)), m.full((rows, block))
        x[:, :width], mask[:, :width] = values[:, off:off + width], 1
        new_count = count + mask
        current = (mean * count + x) / np.maximum(new_count, 1)
        acc += (x - current) * (x - mean) * mask
        mean, count = current, new_count
    total_mean, total_count, total = mean[:, 0], count[:, 0], acc[:, 0]
    for lane in range(1, block):
        combined = total_count + count[:, lane]
        left, right = total_mean * total_count, mean[:, lane] * count[:, lane]
        new_mean = (left + right) / np.maximum(combined, 1)
        total = total + left * total_mean + acc[:, lane] + right * mean[:, lane] - combined * new_mean * new_mean
        total_mean, total_count = new_mean, combined
    return total_mean, total / m.dtype(n - 1)


@rung(21, "FlagGems", f"{GEMS}/softmax.py", "softmax_kernel_inner")
def softmax_inner(rng):
    for rows, cols, tile in [(1, 1, 1), (5, 127, 128), (3, 1025, 256), (4, 256, 256), (2, 513, 128), (3, 700, 100)]:
        x = In(rng.standard_normal((rows, cols)) * 4, "fp32")
        yield Case(f"{rows}x{cols} TILE={tile}", (rows, 1, 1),
                   dict(output_ptr=Out((rows, cols), "fp32"), input_ptr=x, M=rows, N=cols, TILE_N=tile,
                        ONE_TILE_PER_CTA=tile >= cols),
                   lambda m, x=x: {"output_ptr": row_softmax(m, m.of(x.values))})


@rung(22, "triton-intel", f"{TUTORIALS}/05-layer-norm.py", "_layer_norm_bwd_dx_fused")
def layer_norm_dx(rng):
    for rows, cols, stride, groups, dtype in [(1, 1, 1, 4, "fp32"), (7, 127, 130, 3, "fp32"), (33, 257, 257, 8, "fp32"),
                                              (5, 64, 64, 96, "fp32")]:
        x, dy = (In(rng.standard_normal((rows, cols)), dtype, strides=(stride, 1)) for _ in range(2))
        w = In(rng.random(cols), dtype)
        mean64, rstd64 = x.values.mean(1), 1 / np.sqrt(x.values.var(1) + 1e-5)
        mean, rstd = In(mean64, "fp32"), In(rstd64, "fp32")
        used = min(groups, rows)

        def reference(m, a=(x, dy, w, mean, rstd), groups=groups):
            x, dy, w, mean, rstd = (m.of(v.values) for v in a)
            n = m.dtype(x.shape[1])
            xhat = (x - mean[:, None]) * rstd[:, None]
            wdy = w * dy
            c1, c2 = m.sum(xhat * wdy, keepdims=True) / n, m.sum(wdy, keepdims=True) / n
            dx = (wdy - (xhat * c1 + c2)) * rstd[:, None]
            dw, db = m.full((groups, x.shape[1])), m.full((groups, x.shape[1]))
            for row in range(x.shape[0]):
                dw[row % groups] += dy[row] * xhat[row]
                db[row % groups] += dy[row]
            return {"DX": dx, "DW": dw, "DB": db}

        touched = (np.arange(groups) < used)[:, None]
        yield Case(f"{rows}x{cols} stride={stride} groups={groups} {dtype}", (rows,),
                   dict(DX=Out((rows, cols), dtype, strides=(stride, 1)), DY=dy, DW=Out((groups, cols), dtype),
                        DB=Out((groups, cols), dtype), X=x, W=w, Mean=mean, Rstd=rstd,
                        Lock=InOut(np.zeros(2 * groups, np.int32), "i32"), stride=stride, N=cols, GROUP_SIZE_M=groups,
                        BLOCK_SIZE_N=next_power_of_2(cols)), reference,
                   integers={"Lock": np.r_[np.zeros(groups), np.arange(groups) < used].astype(np.int32)},
                   written={"DW": touched, "DB": touched},
                   terms={"DX": float((np.abs(w.values * dy.values) * rstd64[:, None]).max())})
