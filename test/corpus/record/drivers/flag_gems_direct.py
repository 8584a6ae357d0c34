"""FlagGems' operators called directly on small inputs. Arguments: PART/PARTS [VENDOR].

With a vendor, the operators of flag_gems.runtime.backend._VENDOR.ops (and fused) are called in place of the general ones:
most are plain Triton, with kernels of their own.
"""
import importlib
import os
from pathlib import Path
import pkgutil
import sys
import types

import torch
import triton

from loading import attempt, finish

F16, F32, BF16, I32, I64, I16 = torch.float16, torch.float32, torch.bfloat16, torch.int32, torch.int64, torch.int16
GPU = "cuda"


def x(*shape, t=F32):
    if t.is_floating_point:
        return torch.randn(shape, device=GPU).to(t)
    return torch.randint(-9, 9, shape, device=GPU).to(t)


def pos(*shape, t=F32):
    return (torch.rand(shape, device=GPU) + 0.1).to(t)


def ints(high, *shape, t=I64):
    return torch.randint(0, high, shape, device=GPU).to(t)


def mask(*shape):
    return torch.rand(shape, device=GPU) > 0.5


UNARY = """abs abs_ angle atan atan_ cos cos_ erf erf_ exp exp_ exp2 exp2_ isfinite isinf isnan log log_sigmoid logical_not neg
neg_ reciprocal reciprocal_ relu relu_ rsqrt rsqrt_ sigmoid sigmoid_ silu silu_ sin sin_ softplus sqrt sqrt_ tanh tanh_ elu
elu_ celu celu_ gelu gelu_ nan_to_num zeros_like ones_like rand_like randn_like contiguous resolve_neg uniform_ exponential_
sum mean max min prod all any argmax argmin amax count_nonzero trace nonzero glu triu""".split()
BINARY = """add add_ sub sub_ mul mul_ true_divide true_divide_ trunc_divide floor_divide remainder maximum minimum eq ne lt le gt ge
pow_tensor_tensor logical_and logical_or logical_xor polar isclose allclose mse_loss outer_""".split()
INTEGER = "bitwise_and_tensor bitwise_or_tensor bitwise_left_shift bitwise_right_shift floor_divide remainder add mul eq".split()
SCALAR = """add sub mul true_divide floor_divide remainder eq_scalar ne_scalar lt_scalar le_scalar gt_scalar ge_scalar
pow_tensor_scalar clamp_min""".split()
DIMENSION = """sum_dim mean_dim max_dim min_dim prod_dim all_dim any_dim argmax argmin softmax log_softmax cumsum cummax cummin
normed_cumsum std var_mean vector_norm sort amax flip_""".split()


def table():
    """[(name, call on the operators)]: each on several types or shapes."""
    rows = []

    def add(name, *calls):
        rows.extend((name, call) for call in calls)

    for name in UNARY:
        for t in (F32, F16, BF16):
            add(name, lambda f, n=name, t=t: getattr(f, n)(pos(6, 37, t=t) if n in ("log", "sqrt", "rsqrt") else x(6, 38, t=t)))
        add(name, lambda f, n=name: getattr(f, n)(x(5, 38, 7).transpose(0, 1)))
    for name in BINARY:
        for t in (F32, F16, BF16):
            add(name, lambda f, n=name, t=t: getattr(f, n)(pos(6, 37, t=t), pos(6, 37, t=t)))
        add(name, lambda f, n=name: getattr(f, n)(pos(6, 5, 7), pos(5, 7)), lambda f, n=name: getattr(f, n)(pos(6, 1, 7), pos(3, 1)))
    for name in INTEGER:
        for t in (I32, I64, I16):
            add(name, lambda f, n=name, t=t: getattr(f, n)(ints(99, 6, 37, t=t), ints(7, 6, 37, t=t) + 1))
    for name in SCALAR:
        for t in (F32, F16, I32):
            add(name, lambda f, n=name, t=t: getattr(f, n)(x(6, 37, t=t), 3))
    for name in DIMENSION:
        for t in (F32, F16, BF16):
            for shape, d in (((6, 37), 1), ((6, 37), 0), ((3, 20, 8), 1), ((2, 1500), 1)):
                dim = [d] if name in ("sum_dim", "mean_dim", "std", "var_mean", "vector_norm", "amax") else d
                add(name, lambda f, n=name, t=t, s=shape, d=dim: getattr(f, n)(x(*s, t=t), dim=d) if n != "sort" else f.sort(x(*s, t=t), d))
    for t in (F32, F16, BF16):
        matrix(add, t)
        shapes(add, t)
        norms(add, t)
        indexing(add, t)
        fused(add, t)
    constructors(add)
    return rows


def matrix(add, t):
    add("mm", *[lambda f, s=s: f.mm(x(s[0], s[1], t=t), x(s[1], s[2], t=t)) for s in ((33, 40, 65), (64, 64, 64), (16, 1500, 32))])
    add("bmm", lambda f: f.bmm(x(3, 33, 40, t=t), x(3, 40, 17, t=t)))
    add("addmm", lambda f: f.addmm(x(65, t=t), x(33, 40, t=t), x(40, 65, t=t), alpha=0.5, beta=2))
    add("mv", lambda f: f.mv(x(33, 40, t=t), x(40, t=t)))
    add("addmv", lambda f: f.addmv(x(33, t=t), x(33, 40, t=t), x(40, t=t)))
    add("addr", lambda f: f.addr(x(33, 20, t=t), x(33, t=t), x(20, t=t)))
    add("outer", lambda f: f.outer(x(33, t=t), x(20, t=t)))
    add("dot", lambda f: f.dot(x(333, t=t), x(333, t=t)), lambda f: f.dot(x(9000, t=t), x(9000, t=t)))
    add("vdot", lambda f: f.vdot(x(333, t=t), x(333, t=t)))
    add("kron", lambda f: f.kron(x(3, 4, t=t), x(5, 6, t=t)))
    add("conv1d", lambda f: f.conv1d(x(2, 4, 32, t=t), x(6, 4, 3, t=t), padding=1))
    add("conv2d", lambda f: f.conv2d(x(1, 4, 9, 9, t=t), x(6, 4, 3, 3, t=t), padding=1),
        lambda f: f.conv2d(x(1, 4, 9, 9, t=t), x(6, 2, 3, 3, t=t), x(6, t=t), stride=2, groups=2))
    add("conv3d", lambda f: f.conv3d(x(1, 4, 5, 6, 7, t=t), x(6, 4, 3, 3, 3, t=t), padding=1))
    add("scaled_dot_product_attention",
        *[lambda f, c=c, d=d: f.scaled_dot_product_attention(*(x(1, 2, 64, d, t=t) for _ in range(3)), is_causal=c)
          for c in (False, True) for d in (64, 128)])
    add("streamk_mm", lambda f: f.streamk_mm(x(128, 512, t=t), x(512, 128, t=t), torch.empty(128, 128, device=GPU, dtype=t), 128, 128, 512))


def shapes(add, t):
    add("cat", lambda f: f.cat([x(3, 5, t=t), x(4, 5, t=t)]), lambda f: f.cat([x(3, 5, t=t), x(3, 7, t=t), x(3, 2, t=t)], 1))
    add("stack", lambda f: f.stack([x(3, 5, t=t), x(3, 5, t=t)], 1))
    add("hstack", lambda f: f.hstack([x(3, 5, t=t), x(3, 5, t=t)]))
    add("vstack", lambda f: f.vstack([x(3, 5, t=t), x(4, 5, t=t)]))
    add("repeat", lambda f: f.repeat(x(3, 5, t=t), (2, 3)))
    add("tile", lambda f: f.tile(x(3, 5, t=t), (2, 3)))
    add("flip", lambda f: f.flip(x(3, 5, 7, t=t), [0, 2]))
    add("pad", *[lambda f, m=m: f.pad(x(1, 3, 5, 7, t=t), (1, 2, 2, 1), mode=m) for m in ("constant", "reflect", "replicate", "circular")])
    add("diag", lambda f: f.diag(x(9, t=t), 1), lambda f: f.diag(x(9, 7, t=t)))
    add("diag_embed", lambda f: f.diag_embed(x(3, 5, t=t)))
    add("diagonal_backward", lambda f: f.diagonal_backward(x(5, t=t), (5, 6), 0, 0, 1))
    add("triu", lambda f: f.triu(x(9, 11, t=t), 1), lambda f: f.triu(x(3, 9, 11, t=t), -1))
    add("repeat_interleave_self_int", lambda f: f.repeat_interleave_self_int(x(3, 5, t=t), 2, 1))
    add("repeat_interleave_tensor", lambda f: f.repeat_interleave_tensor(ints(4, 7)))
    add("repeat_interleave_self_tensor", lambda f: f.repeat_interleave_self_tensor(x(7, 5, t=t), ints(4, 7), 0))
    add("select_scatter", lambda f: f.select_scatter(x(3, 5, t=t), x(3, t=t), 1, 2))
    add("slice_scatter", lambda f: f.slice_scatter(x(9, 5, t=t), x(3, 5, t=t), 0, 1, 7, 2))
    add("to_copy", *[lambda f, u=u: f.to_copy(x(6, 38, t=t), dtype=u) for u in (F32, F16, BF16, I32)])
    add("upsample_nearest2d", lambda f: f.upsample_nearest2d(x(1, 3, 8, 8, t=t), (17, 13)))
    add("_upsample_bicubic2d_aa", lambda f: f._upsample_bicubic2d_aa(x(1, 2, 12, 12, t=t), (9, 20), False))
    add("avg_pool2d", lambda f: f.avg_pool2d(x(1, 3, 9, 9, t=t), 3, 2, 1))
    add("avg_pool2d_backward", lambda f: f.avg_pool2d_backward(x(1, 3, 5, 5, t=t), x(1, 3, 9, 9, t=t), [3, 3], [2, 2], [1, 1], False, True, None))
    add("max_pool2d_with_indices", lambda f: f.max_pool2d_with_indices(x(1, 3, 9, 9, t=t), 3, 2, 1))
    add("max_pool2d_backward", lambda f: f.max_pool2d_backward(x(1, 3, 5, 5, t=t), x(1, 3, 9, 9, t=t), ints(81, 1, 3, 5, 5), [3, 3], [2, 2], [1, 1], [1, 1], False))
    add("topk", *[lambda f, s=s, k=k, l=l: f.topk(x(*s, t=t), k, largest=l) for s, k, l in (((3, 40), 5, True), ((3, 40), 5, False), ((2, 3000), 7, True))])
    add("sort_stable", lambda f: f.sort_stable(x(3, 40, t=t), stable=True, descending=True))
    add("quantile", lambda f: f.quantile(x(3, 40, t=F32), torch.tensor([0.2, 0.7], device=GPU), dim=1))
    add("where_self", lambda f: f.where_self(mask(6, 37), x(6, 37, t=t), x(6, 37, t=t)))
    add("where_scalar_self", lambda f: f.where_scalar_self(mask(6, 37), 1.5, x(6, 37, t=t)))
    add("where_scalar_other", lambda f: f.where_scalar_other(mask(6, 37), x(6, 37, t=t), 1.5))
    add("masked_fill", lambda f: f.masked_fill(x(6, 37, t=t), mask(6, 37), 2.5))
    add("masked_select", lambda f: f.masked_select(x(6, 37, t=t), mask(6, 37)))
    add("clamp", lambda f: f.clamp(x(6, 37, t=t), -0.5, 0.5))
    add("clamp_tensor", lambda f: f.clamp_tensor(x(6, 37, t=t), x(6, 37, t=t), x(6, 37, t=t)))
    add("lerp_tensor", lambda f: f.lerp_tensor(x(6, 37, t=t), x(6, 37, t=t), x(6, 37, t=t)))
    add("lerp_scalar", lambda f: f.lerp_scalar(x(6, 37, t=t), x(6, 37, t=t), 0.3), lambda f: f.lerp_scalar(x(6, 37, t=t), x(6, 37, t=t), 0.7))
    add("addcmul", lambda f: f.addcmul(x(6, 37, t=t), x(6, 37, t=t), x(6, 37, t=t), value=0.5))
    add("addcdiv", lambda f: f.addcdiv(x(6, 37, t=t), x(6, 37, t=t), pos(6, 37, t=t), value=0.5))
    add("threshold", lambda f: f.threshold(x(6, 37, t=t), 0.1, 7.0))
    add("threshold_backward", lambda f: f.threshold_backward(x(6, 37, t=t), x(6, 37, t=t), 0.1))
    add("div_mode", *[lambda f, m=m: f.div_mode(x(6, 37, t=t), pos(6, 37, t=t), m) for m in ("trunc", "floor")])
    add("pow_scalar", lambda f: f.pow_scalar(1.7, x(6, 37, t=t)))
    add("gelu", lambda f: f.gelu(x(6, 37, t=t), approximate="tanh"))
    for name in ("sigmoid_backward", "tanh_backward", "silu_backward", "gelu_backward"):
        add(name, lambda f, n=name: getattr(f, n)(x(6, 37, t=t), x(6, 37, t=t)))
    add("glu_backward", lambda f: f.glu_backward(x(6, 19, t=t), x(6, 38, t=t)))
    add("elu_backward", lambda f: f.elu_backward(x(6, 38, t=t), 1.0, 1.0, 1.0, False, x(6, 38, t=t)))
    add("dropout", lambda f: f.dropout(x(6, 38, t=t), 0.3, True))
    add("dropout_backward", lambda f: f.dropout_backward(x(6, 38, t=t), mask(6, 38), 1.4))


def norms(add, t):
    w = lambda n: (x(n, t=t), x(n, t=t))
    for n in (37, 128, 1030):
        add("layer_norm", lambda f, n=n: f.layer_norm(x(5, n, t=t), (n,), *w(n)))
        add("layer_norm_backward", lambda f, n=n: f.layer_norm_backward(x(5, n, t=t), x(5, n, t=t), (n,), x(5), pos(5), *w(n), output_mask=[True] * 3))
        add("rms_norm", lambda f, n=n: f.rms_norm(x(5, n, t=t), (n,), x(n, t=t)))
        add("skip_layer_norm", lambda f, n=n: f.skip_layer_norm(x(5, n, t=t), x(5, n, t=t), (n,), *w(n)))
        add("fused_add_rms_norm", lambda f, n=n: f.fused_add_rms_norm(x(5, n, t=t), x(5, n, t=t), (n,), x(n, t=t)))
        add("softmax_backward", lambda f, n=n: f.softmax_backward(x(5, n, t=t), pos(5, n, t=t), 1, t), lambda f, n=n: f.softmax_backward(x(5, n, 3, t=t), pos(5, n, 3, t=t), 1, t))
        add("log_softmax_backward", lambda f, n=n: f.log_softmax_backward(x(5, n, t=t), x(5, n, t=t), 1, t))
    add("group_norm", lambda f: f.group_norm(x(2, 6, 4, 5, t=t), *w(6), 2, 6, 20, 3))
    add("group_norm_backward", lambda f: f.group_norm_backward(x(2, 6, 20, t=t), x(2, 6, 20, t=t), x(2, 3), pos(2, 3), x(6, t=t), 2, 6, 20, 3, [True] * 3))
    add("batch_norm", *[lambda f, k=k: f.batch_norm(x(4, 6, 5, 5, t=t), *w(6), x(6, t=t), pos(6, t=t), training=k) for k in (True, False)])
    add("batch_norm_backward", lambda f: f.batch_norm_backward(x(4, 6, 5, 5, t=t), x(4, 6, 5, 5, t=t), x(6, t=t), x(6, t=t), pos(6, t=t), x(6), pos(6), True, 1e-5, [True] * 3))
    add("instance_norm", lambda f: f.instance_norm(x(4, 6, 5, 5, t=t), *w(6), x(6, t=t), pos(6, t=t)))
    add("weight_norm", lambda f: f.weight_norm(x(9, 37, t=t), x(9, 1, t=t)), lambda f: f.weight_norm(x(9, 37, t=t), x(1, 37, t=t), 1))
    add("weight_norm_interface", lambda f: f.weight_norm_interface(x(9, 37, t=t), x(9, 1, t=t)), lambda f: f.weight_norm_interface(x(9, 37, t=t), x(1, 37, t=t), 1))
    add("weight_norm_interface_backward", *[lambda f, d=d, s=s: f.weight_norm_interface_backward(x(9, 37, t=t), x(9, 37, t=t), x(*s, t=t), pos(*s), d) for d, s in ((0, (9, 1)), (1, (1, 37)))])
    add("weight_norm_except_dim", lambda f: f.weight_norm_except_dim(x(4, 9, 7, t=t), x(1, 9, 1, t=t), 1))
    add("weight_norm_except_dim_backward", lambda f: f.weight_norm_except_dim_backward(x(4, 9, 7, t=t), x(4, 9, 7, t=t), x(1, 9, 1, t=t), pos(1, 9, 1), 1))
    for p in (2, 1, 0, float("inf"), -float("inf"), 3):
        add("vector_norm", lambda f, p=p: f.vector_norm(x(6, 37, t=t), p), lambda f, p=p: f.vector_norm(x(6, 37, t=t), p, [1]))
    add("cross_entropy_loss", *[lambda f, s=s, r=r: f.cross_entropy_loss(x(12, 50, t=t), ints(50, 12), label_smoothing=s, reduction=r) for s, r in ((0.0, "mean"), (0.1, "sum"), (0.0, "none"))],
        lambda f: f.cross_entropy_loss(x(12, 50, t=t), torch.softmax(x(12, 50), 1).to(t)))
    for r in (0, 1, 2):
        add("nll_loss_forward", lambda f, r=r: f.nll_loss_forward(x(12, 50, t=t), ints(50, 12), None, r))
        add("nll_loss2d_forward", lambda f, r=r: f.nll_loss2d_forward(x(2, 6, 4, 5, t=t), ints(6, 2, 4, 5), None, r))
        add("mse_loss", lambda f, r=r: f.mse_loss(x(6, 37, t=t), x(6, 37, t=t), r))
    add("nll_loss_backward", lambda f: f.nll_loss_backward(x(12, t=t), x(12, 50, t=t), ints(50, 12), None, 0, -100, torch.tensor(12.0, device=GPU)))
    add("nll_loss2d_backward", lambda f: f.nll_loss2d_backward(x(2, 4, 5, t=t), x(2, 6, 4, 5, t=t), ints(6, 2, 4, 5), None, 0, -100, torch.tensor(40.0, device=GPU)))


def indexing(add, t):
    add("embedding", lambda f: f.embedding(x(20, 33, t=t), ints(20, 4, 5)))
    add("embedding_backward", lambda f: f.embedding_backward(x(4, 5, 33, t=t), ints(20, 4, 5), 20), lambda f: f.embedding_backward(x(4, 5, 33, t=t), ints(20, 4, 5), 20, 3, True))
    add("gather", lambda f: f.gather(x(6, 37, t=t), 1, ints(37, 6, 9)))
    add("scatter", *[lambda f, r=r: f.scatter(x(6, 37, t=t), 1, torch.stack([torch.randperm(37, device=GPU)[:9] for _ in range(6)]), x(6, 9, t=t), r) for r in (None, "add", "multiply")])
    add("scatter_", lambda f: f.scatter_(x(6, 37, t=t), 0, torch.zeros(1, 37, device=GPU, dtype=I64), x(1, 37, t=t)))
    add("index_select", lambda f: f.index_select(x(6, 37, t=t), 1, ints(37, 9)))
    add("index_add", lambda f: f.index_add(x(6, 37, t=t), 1, torch.randperm(37, device=GPU)[:9], x(6, 9, t=t), alpha=2))
    add("index_put", *[lambda f, a=a: f.index_put(x(16, 5, t=t), (torch.randperm(16, device=GPU)[:7],), x(7, 5, t=t), a) for a in (False, True)])
    add("index_put_", lambda f: f.index_put_(x(16, 5, t=t), (torch.randperm(16, device=GPU)[:5], ints(5, 5)), x(5, t=t)))
    add("index", lambda f: f.index(x(16, 5, 3, t=t), (ints(16, 7), ints(5, 7))), lambda f: f.index(x(16, 5, t=t), (ints(16, 7),)))
    add("isin", lambda f: f.isin(ints(30, 40, t=I32), ints(30, 5, t=I32)), lambda f: f.isin(ints(3000, 900, t=I32), ints(3000, 400, t=I32)))
    add("_unique2", lambda f: f._unique2(ints(30, 100, t=I32), True, True, True), lambda f: f._unique2(ints(30, 100)), lambda f: f._unique2(ints(300, 9000), True, True, True))
    add("nonzero", lambda f: f.nonzero(mask(6, 37)))
    add("multinomial", lambda f: f.multinomial(pos(3, 40, t=t), 4, True), lambda f: f.multinomial(pos(3, 40, t=t), 4, False))
    add("allclose", lambda f: f.allclose(x(6, 37, t=t), x(6, 37, t=t)))
    add("count_nonzero", lambda f: f.count_nonzero(x(6, 37, t=t), 1))
    for r in (I32, I64, I16):
        add("bitwise_not", lambda f, r=r: f.bitwise_not(ints(99, 6, 37, t=r)))
        add("cumsum", lambda f, r=r: f.cumsum(ints(9, 6, 37, t=r), 1))
        add("sum", lambda f, r=r: f.sum(ints(9, 6, 37, t=r)))


def fused(add, t):
    add("silu_and_mul", lambda f: f.silu_and_mul(x(6, 38, t=t), x(6, 38, t=t)))
    add("gelu_and_mul", *[lambda f, a=a: f.gelu_and_mul(x(6, 38, t=t), x(6, 38, t=t), a) for a in ("none", "tanh")])
    add("apply_rotary_pos_emb", *[lambda f, i=i: f.apply_rotary_pos_emb(x(2, 9, 4, 32, t=t), x(2, 9, 2, 32, t=t), x(64, 16, t=t), x(64, 16, t=t), ints(64, 2, 9), i) for i in (False, True)],
        lambda f: f.apply_rotary_pos_emb(x(18, 4, 32, t=t), x(18, 2, 32, t=t), x(64, 16, t=t), x(64, 16, t=t), ints(64, 18), True, True))
    add("topk_softmax", lambda f: f.topk_softmax(torch.empty(9, 2, device=GPU), torch.empty(9, 2, device=GPU, dtype=I32), torch.empty(9, 2, device=GPU, dtype=I32), x(9, 8)))
    one = lambda: torch.ones(1, device=GPU)
    add("reshape_and_cache", lambda f: f.reshape_and_cache(x(7, 2, 32, t=t), x(7, 2, 32, t=t), x(4, 2, 4, 16, 8, t=t), x(4, 2, 32, 16, t=t), torch.randperm(64, device=GPU)[:7], "auto", one(), one()))
    add("reshape_and_cache_flash", lambda f: f.reshape_and_cache_flash(x(7, 2, 32, t=t), x(7, 2, 32, t=t), x(4, 16, 2, 32, t=t), x(4, 16, 2, 32, t=t), torch.randperm(64, device=GPU)[:7], "auto", one(), one()))
    add("concat_and_cache_mla", lambda f: f.concat_and_cache_mla(x(7, 64, t=t), x(7, 16, t=t), x(4, 16, 80, t=t), torch.randperm(64, device=GPU)[:7], "auto", one()))
    add("moe_align_block_size", lambda f: f.moe_align_block_size(ints(8, 9, 2, t=I32), 16, 8))
    add("rwkv_ka_fusion", lambda f: f.rwkv_ka_fusion(x(4, 64, t=t), x(64, t=t), x(4, 64, t=t), x(64, t=t), 2, 32))
    add("rwkv_mm_sparsity", lambda f: f.rwkv_mm_sparsity(torch.relu(x(1024, t=t)), x(1024, 64, t=t)))
    add("flash_mla", lambda f: f.flash_mla(x(2, 1, 16, 576, t=t), torch.arange(4, device=GPU, dtype=I32).view(2, 2), x(4, 64, 1, 576, t=t), 128, 64, 2, 1, torch.tensor([100, 70], device=GPU, dtype=I32), 16, 1, 576, 512, True))
    lengths = lambda *n: torch.tensor(n, device=GPU, dtype=I32)
    add("flash_attn_varlen_func", *[lambda f, c=c: f.flash_attn_varlen_func(x(40, 4, 64, t=t), x(64, 2, 64, t=t), x(64, 2, 64, t=t), 30, lengths(0, 10, 40), 40, lengths(0, 24, 64), causal=c) for c in (False, True)])
    add("flash_attention_forward", *[lambda f, c=c: f.flash_attention_forward(x(1, 64, 4, 64, t=t), x(1, 64, 4, 64, t=t), x(1, 64, 4, 64, t=t), None, None, 64, 64, 0.0, c, False) for c in (False, True)])


def constructors(add):
    for t in (F32, F16, I32):
        add("arange", lambda f, t=t: f.arange(99, dtype=t, device=GPU))
        add("arange_start", lambda f, t=t: f.arange_start(3, 99, 2, dtype=t, device=GPU))
        add("full", lambda f, t=t: f.full((6, 37), 3, dtype=t, device=GPU))
        add("full_like", lambda f, t=t: f.full_like(x(6, 37, t=t), 3))
        add("zeros", lambda f, t=t: f.zeros((6, 37), dtype=t, device=GPU))
        add("ones", lambda f, t=t: f.ones((6, 37), dtype=t, device=GPU))
        add("eye", lambda f, t=t: f.eye(9, dtype=t, device=GPU))
        add("eye_m", lambda f, t=t: f.eye_m(9, 13, dtype=t, device=GPU))
        add("fill_scalar", lambda f, t=t: f.fill_scalar(x(6, 37, t=t), 2))
        add("fill_tensor", lambda f, t=t: f.fill_tensor(x(6, 37, t=t), torch.tensor(2, device=GPU, dtype=t)))
    for t in (F32, F16):
        add("linspace", lambda f, t=t: f.linspace(0.5, 9, 33, dtype=t, device=GPU))
        add("logspace", lambda f, t=t: f.logspace(0.5, 2, 33, dtype=t, device=GPU))
        add("rand", lambda f, t=t: f.rand((6, 37), dtype=t, device=GPU))
        add("randn", lambda f, t=t: f.randn((6, 37), dtype=t, device=GPU))
        add("normal_tensor_float", lambda f, t=t: f.normal_tensor_float(x(6, 37, t=t), 1.5))
        add("normal_tensor_tensor", lambda f, t=t: f.normal_tensor_tensor(x(6, 37, t=t), pos(6, 37, t=t)))
    add("randperm", lambda f: f.randperm(99, device=GPU), lambda f: f.randperm(99, device=GPU, dtype=I32))


def vendor_configurations(vendor):
    """Block sizes and heuristics of the vendor, for operators that only it has."""
    from flag_gems.runtime import backend, config_loader
    config_loader.vendor_heuristics_config = {**config_loader.default_heuristics_config,
                                              **(attempt("heuristics", backend.get_heuristic_config, vendor) or {})}
    config_loader.vendor_primitive_yaml_config = {**config_loader.default_primitive_yaml_config,
                                                  **(attempt("configurations", backend.get_tune_config, vendor) or {})}
    config_loader.loaded_triton_config = {}
    for name in config_loader.vendor_primitive_yaml_config:
        config_loader.loaded_triton_config[name] = attempt(name, config_loader.get_tuned_config, name) or [triton.Config({}, num_warps=4)]


def vendor_operators(vendor):
    """Each file is imported by itself: what one lacks on this device must not take the others along."""
    import flag_gems
    vendor_configurations(vendor)
    space = types.SimpleNamespace()
    for kind in ("ops", "fused"):
        folder = Path(flag_gems.__file__).parent / f"runtime/backend/_{vendor}/{kind}"
        package = types.ModuleType(f"flag_gems.runtime.backend._{vendor}.{kind}")
        package.__path__ = [str(folder)]
        sys.modules[package.__name__] = package
        for found in pkgutil.iter_modules([str(folder)]):
            module = attempt(found.name, importlib.import_module, f"{package.__name__}.{found.name}")
            for name, value in vars(module).items() if module else ():
                if callable(value) and getattr(value, "__module__", "") == module.__name__:
                    setattr(space, name, value)
    return space


def main():
    part, parts = map(int, sys.argv[1].split("/"))
    import flag_gems
    operators = vendor_operators(sys.argv[2]) if len(sys.argv) > 2 else flag_gems
    known = [(name, call) for name, call in table() if hasattr(operators, name)]
    names = sorted({name for name, _ in known})
    mine = set(names[part::parts])
    print(f"{len(names)} operators, {len(mine)} here", flush=True)
    for name, call in known:
        if name in mine:
            attempt(name, call, operators)
    torch.cuda.synchronize()
    finish()


if os.environ.get("RECORD_LIST"):
    print(len(table()))
else:
    main()
