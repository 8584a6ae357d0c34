"""Rungs 28 to 31: sorting, rotary embedding, the large layer-norm backward."""

import numpy as np

import philox
from ladder import Case, In, InOut, Out, cdiv, next_power_of_2, rung

GEMS = "src/flag_gems/ops"
FLASH = "flash_attn/ops/triton"


@rung(28, "FlagGems", f"{GEMS}/topk.py", "topk_stage2_kernel")
def topk(rng):
    for batch, n, k, descending, dtype in [(1, 1, 1, True, "fp32"), (3, 37, 5, True, "fp32"), (2, 64, 64, False, "fp32"),
                                           (4, 129, 17, False, "fp16")]:
        # Distinct values: the order of equal ones is not defined.
        values = np.stack([rng.permutation(n) for _ in range(batch)]).astype(np.float64) - n / 2
        x, index = In(values, dtype), In(rng.integers(0, 10**6, (batch, n)), "i64")
        order = np.argsort(-values if descending else values, axis=1)[:, :k]
        yield Case(f"{batch}x{n} k={k} descending={descending} {dtype}", (batch,),
                   dict(y_ptr=Out((batch, k), dtype), index_ptr=Out((batch, k), "i64"), chunk_x=x, chunk_index=index,
                        sort_dim=1, k=k, N=n, BLOCK_SIZE=next_power_of_2(n), DESCENDING=descending),
                   lambda m, x=x, order=order: {"y_ptr": m.of(np.take_along_axis(x.values, order, 1))},
                   integers={"index_ptr": np.take_along_axis(index.values, order, 1)})


@rung(29, "FlagGems", f"{GEMS}/sort.py", "sweep")
def radix_sweep(rng):
    for rows, n, pass_id, dtype, descending, associated in [
            (1, 1, 0, "i32", False, True), (3, 61, 0, "i32", False, True), (2, 257, 3, "i32", True, True),
            (1, 130, 7, "fp32", False, False), (2, 99, 1, "i16", True, True), (1, 200, 0, "u8", False, True)]:
        bits, tile, bins = 4, 64, 16
        programs, passes = cdiv(n, tile), {"u8": 2, "i16": 4}.get(dtype, 8)
        values = rng.standard_normal((rows, n)) if dtype == "fp32" else rng.integers(-120, 120, (rows, n)) * (
            1 if dtype in ("u8", "i16") else 9999)
        x = In(np.abs(values) if dtype == "u8" else values, dtype)
        payload = In(np.arange(rows * n).reshape(rows, n), "i64")
        digit = (_ordered(x.values, dtype, descending) >> np.uint64(bits * pass_id)) & np.uint64(bins - 1)
        counts = np.stack([np.bincount(row.astype(int), minlength=bins) for row in digit])
        starts = counts.cumsum(1) - counts
        all_starts = np.zeros((rows, passes, bins), np.uint32)
        all_starts[:, pass_id] = starts
        order = np.argsort(digit, axis=1, kind="stable")
        prefix = np.stack([[[(row[:(p + 1) * tile] == b).sum() for p in range(programs)] for b in range(bins)]
                           for row in digit]).astype(np.uint32)
        integers = {"status_ptr": prefix | np.uint32(1 << 31)}
        if associated:
            integers["associate_out_ptr"] = np.take_along_axis(payload.values, order, 1)
        sorted_values = np.take_along_axis(x.values, order, 1)
        if dtype != "fp32":
            integers["out_ptr"] = sorted_values
        yield Case(f"{rows}x{n} pass={pass_id} {dtype} descending={descending} associated={associated}",
                   (rows * programs, bins // 8),
                   dict(arr_ptr=x, associate_arr_ptr=payload if associated else None, out_ptr=Out((rows, n), dtype),
                        associate_out_ptr=Out((rows, n), "i64") if associated else None,
                        excumsum_bins_ptr=In(all_starts, "u32"),
                        status_ptr=InOut(np.zeros((rows, bins, programs), np.uint32), "u32"), n_passes=passes,
                        pass_id=pass_id, bit_offset=bits * pass_id, m=rows, N=n, OUT_N=programs, TILE_N=tile, TILE_R=8,
                        k_bits=bits, descending=descending),
                   lambda m, f=dtype == "fp32", s=sorted_values: {"out_ptr": m.of(s)} if f else {}, integers=integers)


def _ordered(values, dtype, descending):
    """Bits whose unsigned order is the order of the values."""
    width = {"u8": 8, "i16": 16}.get(dtype, 32)
    mask, sign = np.uint64((1 << width) - 1), np.uint64(1 << (width - 1))
    if dtype == "fp32":
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        ordered = np.where(bits & sign, ~bits & mask, bits | sign)
    else:
        bits = values.astype(np.int64).view(np.uint64) & mask
        ordered = bits if dtype.startswith("u") else bits ^ sign
    return (~ordered & mask) if descending else ordered


@rung(30, "flash-attention", f"{FLASH}/rotary.py", "rotary_kernel")
def rotary(rng):
    for batch, seqlen, heads, head_dim, rotary_dim, interleaved, mode, conjugate, dtype in [
            (1, 1, 1, 2, 2, False, "plain", False, "fp32"), (2, 17, 3, 16, 16, False, "plain", False, "fp32"),
            (2, 9, 3, 20, 12, True, "plain", True, "fp16"), (3, 11, 2, 16, 16, True, "offset", False, "bf16"),
            (2, 13, 5, 24, 16, False, "offsets", True, "fp32"), (3, 10, 2, 16, 16, False, "varlen", False, "fp32")]:
        lengths = rng.integers(1, seqlen + 1, batch) if mode == "varlen" else np.full(batch, seqlen)
        starts = np.r_[0, lengths.cumsum()].astype(np.int32)
        offsets = {"offset": np.full(batch, 2), "offsets": rng.integers(0, 4, batch)}.get(mode, np.zeros(batch, int))
        shape = (int(starts[-1]), heads, head_dim) if mode == "varlen" else (batch, seqlen, heads, head_dim)
        x, out = In(rng.standard_normal(shape), dtype), Out(shape, dtype)
        angles = rng.uniform(-3, 3, (seqlen + 4, rotary_dim // 2))
        cos, sin = In(np.cos(angles), dtype), In(np.sin(angles), dtype)
        spread = 0 if mode == "varlen" else x.strides[0]

        def reference(m, a=(x, cos, sin), p=(lengths, starts, offsets, mode, rotary_dim, interleaved, conjugate)):
            lengths, starts, offsets, mode, rotary_dim, interleaved, conjugate = p
            values, result = m.of(a[0].values), m.full(a[0].shape)
            for i, length in enumerate(lengths):
                part = slice(starts[i], starts[i + 1]) if mode == "varlen" else i
                row = np.arange(length) + offsets[i]
                c, s = (m.of(t.values)[row][:, None, :] for t in a[1:])
                s = -s if conjugate else s
                first, second = ((slice(0, rotary_dim, 2), slice(1, rotary_dim, 2)) if interleaved else
                                 (slice(0, rotary_dim // 2), slice(rotary_dim // 2, rotary_dim)))
                x0, x1 = values[part][..., first], values[part][..., second]
                result[part][..., first] = x0 * c - x1 * s
                result[part][..., second] = x0 * s + x1 * c
            return {"OUT": result}

        yield Case(f"b={batch} s={seqlen} h={heads} d={head_dim}/{rotary_dim} interleaved={interleaved} {mode} {dtype}",
                   (cdiv(heads, 2), cdiv(seqlen, 8), batch),
                   dict(OUT=out, X=x, COS=cos, SIN=sin, CU_SEQLENS=In(starts, "i32") if mode == "varlen" else None,
                        SEQLEN_OFFSETS=In(offsets, "i32") if mode == "offsets" else int(offsets[0]), seqlen=seqlen,
                        nheads=heads, seqlen_ro=seqlen + 4, stride_out_batch=spread, stride_out_seqlen=heads * head_dim,
                        stride_out_nheads=head_dim, stride_out_headdim=1, stride_x_batch=spread,
                        stride_x_seqlen=heads * head_dim, stride_x_nheads=head_dim, stride_x_headdim=1,
                        ROTARY_DIM=rotary_dim, IS_SEQLEN_OFFSETS_TENSOR=mode == "offsets", IS_VARLEN=mode == "varlen",
                        INTERLEAVED=interleaved, CONJUGATE=conjugate, BLOCK_H=2, BLOCK_M=8), reference,
                   written={"OUT": np.arange(head_dim) < rotary_dim})


@rung(31, "flash-attention", f"{FLASH}/layer_norm.py", "_layer_norm_bwd_kernel")
def layer_norm_bwd(rng):
    plain = dict(rms=False, bias=True, residual=False, dropout=0.0, rowscale=False, recompute=False, parallel=False, zero=0)
    for rows, cols, programs, dtype, changes in [
            (1, 1, 1, "fp32", {}), (7, 127, 3, "fp32", {}), (10, 257, 4, "bf16", dict(rms=True, bias=False)),
            (5, 100, 2, "fp32", dict(residual=True, zero=1)), (9, 65, 4, "fp16", dict(recompute=True)),
            (6, 130, 3, "fp32", dict(dropout=0.3, rowscale=True)),
            (8, 33, 8, "fp32", dict(parallel=True, dropout=0.25, zero=1))]:
        yield _layer_norm_bwd(rng, rows, cols, programs, dtype, {**plain, **changes})


def _layer_norm_bwd(rng, rows, cols, programs, dtype, o):
    def matrix():
        return In(rng.standard_normal((rows, cols)), dtype, strides=(cols + 2, 1))

    def out(when=True):
        return Out((rows, cols), dtype, strides=(cols + 1, 1)) if when else None

    def partial(when=True):
        return Out((programs, cols), "fp32") if when else None

    x, dy, w, b = matrix(), matrix(), In(rng.random(cols), dtype), In(rng.random(cols), dtype)
    dy1, w1 = (matrix(), In(rng.random(cols), dtype)) if o["parallel"] else (None, None)
    dres = matrix() if o["residual"] else None
    scale = In(rng.random(rows), dtype) if o["rowscale"] else None
    seeds = rng.integers(0, 2**31, 2 * rows)
    mean = In(x.values.mean(1), "fp32")
    second = (x.values**2).mean(1) if o["rms"] else x.values.var(1)
    rstd = In(1 / np.sqrt(second + 1e-5), "fp32")
    has_dropout, per_program = o["dropout"] > 0, cdiv(rows, programs)
    separate_dx1 = o["parallel"] and has_dropout
    keep = [np.stack([philox.rand(int(s), np.arange(cols), 7) for s in part]) > np.float32(o["dropout"])
            for part in (seeds[:rows], seeds[rows:])]

    def reference(m):
        def of(array):
            return m.of(array.values)

        n, wide = m.dtype(cols), of(w) + o["zero"]
        xhat = (of(x) if o["rms"] else of(x) - of(mean)[:, None]) * of(rstd)[:, None]
        wdy = wide * of(dy)
        results = {"DW": _by_program(m, of(dy) * xhat, programs, per_program)}
        if o["bias"]:
            results["DB"] = _by_program(m, of(dy), programs, per_program)
        if o["parallel"]:
            wdy = wdy + (of(w1) + o["zero"]) * of(dy1)
            results["DW1"] = _by_program(m, of(dy1) * xhat, programs, per_program)
            results["DB1"] = _by_program(m, of(dy1), programs, per_program)
        if o["recompute"]:
            results["Y"] = xhat * wide + of(b) if o["bias"] else xhat * wide
        c1 = m.sum(xhat * wdy, keepdims=True) / n
        c2 = 0 if o["rms"] else m.sum(wdy, keepdims=True) / n
        dx = (wdy - (xhat * c1 + c2)) * of(rstd)[:, None]
        if o["residual"]:
            dx = dx + of(dres)
            results["DRESIDUAL_IN"] = dx
        shrink = m.dtype(1) - m.dtype(np.float32(o["dropout"]))
        if separate_dx1:
            results["DX1"] = np.where(keep[1], dx / shrink, m.dtype(0))
        if has_dropout:
            dx = np.where(keep[0], dx / shrink, m.dtype(0))
        results["DX"] = dx * of(scale)[:, None] if scale else dx
        return results

    arguments = dict(
        X=x, W=w, B=b if o["bias"] else None, Y=out(o["recompute"]), DY=dy, DX=out(), DW=partial(), DB=partial(o["bias"]),
        DRESIDUAL=dres, W1=w1, DY1=dy1, DX1=out(separate_dx1), DW1=partial(o["parallel"]), DB1=partial(o["parallel"]),
        DRESIDUAL_IN=out(o["residual"]), ROWSCALE=scale, SEEDS=In(seeds, "i64") if has_dropout else None, Mean=mean,
        Rstd=rstd, stride_x_row=cols + 2, stride_y_row=cols + 1 if o["recompute"] else 0, stride_dy_row=cols + 2,
        stride_dx_row=cols + 1, stride_dres_row=cols + 2 if o["residual"] else 0,
        stride_dy1_row=cols + 2 if o["parallel"] else 0, stride_dx1_row=cols + 1 if separate_dx1 else 0,
        stride_dres_in_row=cols + 1 if o["residual"] else 0, M=rows, N=cols, eps=1e-5, dropout_p=o["dropout"],
        zero_centered_weight=o["zero"], rows_per_program=per_program, IS_RMS_NORM=o["rms"],
        BLOCK_N=next_power_of_2(cols), HAS_DRESIDUAL=o["residual"], STORE_DRESIDUAL=o["residual"], HAS_BIAS=o["bias"],
        HAS_DROPOUT=has_dropout, HAS_ROWSCALE=o["rowscale"], HAS_DY1=o["parallel"], HAS_DX1=separate_dx1,
        HAS_B1=o["parallel"], RECOMPUTE_OUTPUT=o["recompute"])
    chosen = " ".join(k for k, v in o.items() if v)
    # DX is what remains of wdy less its projections.
    size = float((np.abs((w.values + o["zero"]) * dy.values) * rstd.values[:, None]).max())
    return Case(f"{rows}x{cols} programs={programs} {dtype} {chosen}", (programs,), arguments, reference,
                terms={"DX": size})


def _by_program(m, values, programs, per_program):
    """Sums of each program's rows; programs without rows store zeros."""
    total = m.full((programs, values.shape[1]))
    for row in range(values.shape[0]):
        total[row // per_program] += values[row]
    return total
