"""flash-attention's Triton operators on small inputs. Arguments: which group."""
import importlib
import importlib.util
from pathlib import Path
import sys
import types

import torch

from loading import attempt, finish, load

TYPES = (torch.float16, torch.bfloat16, torch.float32)


def random(*shape, dtype=torch.float32, grad=False):
    x = torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)
    return x.requires_grad_() if grad else x


def package():
    """flash_attn and flash_attn.ops without what their __init__.py load (compiled extensions)."""
    for name in ("flash_attn", "flash_attn.ops", "flash_attn.ops.triton"):
        module = types.ModuleType(name)
        module.__path__ = [str(Path.cwd() / name.replace(".", "/"))]
        sys.modules[name] = module


def cross_entropy():
    op = importlib.import_module("flash_attn.ops.triton.cross_entropy").cross_entropy_loss
    for dtype in TYPES:
        for classes, smoothing, scale, z, inplace in ((50, 0.0, 1.0, 0.0, False), (1000, 0.1, 0.5, 1e-3, False),
                                                      (333, 0.0, 2.0, 1e-4, True)):
            logits = random(12, classes, dtype=dtype, grad=True)
            labels = torch.randint(0, classes, (12,), device="cuda")
            labels[3] = -100
            def both():
                losses, z_losses = op(logits * 1 if inplace else logits, labels, label_smoothing=smoothing, logit_scale=scale,
                                      lse_square_scale=z, inplace_backward=inplace)
                losses.sum().backward()
            attempt("cross_entropy", both)


def rotary():
    op = importlib.import_module("flash_attn.ops.triton.rotary").apply_rotary
    for dtype in TYPES:
        for interleaved in (False, True):
            for conjugate in (False, True):
                for dim, part in ((32, 32), (64, 32)):
                    x = random(2, 17, 3, dim, dtype=dtype)
                    cos, sin = random(40, part // 2, dtype=dtype), random(40, part // 2, dtype=dtype)
                    attempt("rotary", op, x, cos, sin, interleaved=interleaved, conjugate=conjugate)
                    attempt("offset", op, x, cos, sin, seqlen_offsets=4, interleaved=interleaved, conjugate=conjugate)
                    offsets = torch.tensor([1, 9], dtype=torch.int32, device="cuda")
                    attempt("offsets", op, x, cos, sin, seqlen_offsets=offsets, interleaved=interleaved, conjugate=conjugate)
            x = random(23, 3, 32, dtype=dtype)
            lengths = torch.tensor([0, 9, 23], dtype=torch.int32, device="cuda")
            attempt("varlen", op, x, random(40, 16, dtype=dtype), random(40, 16, dtype=dtype), cu_seqlens=lengths,
                    max_seqlen=14, interleaved=interleaved)
            attempt("inplace", op, random(1, 8, 2, 32, dtype=dtype), random(40, 16, dtype=dtype), random(40, 16, dtype=dtype),
                    inplace=True, interleaved=interleaved)


def layer_norm():
    op = importlib.import_module("flash_attn.ops.triton.layer_norm").layer_norm_fn
    cases = [dict(), dict(is_rms_norm=True), dict(residual=True), dict(residual=True, prenorm=True, residual_in_fp32=True),
             dict(is_rms_norm=True, residual=True, prenorm=True), dict(dropout_p=0.3, return_dropout_mask=True),
             dict(is_rms_norm=True, dropout_p=0.2), dict(x1=True, weight1=True), dict(rowscale=True),
             dict(is_rms_norm=True, zero_centered_weight=True), dict(bias=False), dict(weight1=True)]
    for dtype in TYPES:
        for n, case in enumerate(cases):
            width = (128, 200, 512)[n % 3]
            case = dict(case)
            x = random(9, width, dtype=dtype, grad=True)
            bias = random(width, grad=True) if case.pop("bias", True) else None
            weight = random(width, grad=True)
            if case.pop("residual", False):
                case["residual"] = random(9, width, dtype=dtype, grad=True)
            if case.pop("x1", False):
                case["x1"] = random(9, width, dtype=dtype, grad=True)
            if case.pop("weight1", False):
                case["weight1"], case["bias1"] = random(width, grad=True), random(width, grad=True)
            if case.pop("rowscale", False):
                case["rowscale"] = random(9, dtype=dtype)
            def both():
                out = op(x, weight, bias, eps=1e-5, **case)
                outs = [o for o in (out if isinstance(out, tuple) else (out,))
                        if o is not None and o.is_floating_point() and o.requires_grad]
                sum(o.float().sum() for o in outs).backward()
            attempt(f"layer_norm {sorted(case)}", both)


def linear():
    module = importlib.import_module("flash_attn.ops.triton.linear")
    for dtype in (torch.float16, torch.bfloat16):
        for m, n, k in ((256, 256, 64), (256, 512, 128)):  # its stores are not masked: whole blocks only
            for activation in ("id", "gelu", "gelu_approx", "squared_relu"):
                x, weight, bias = random(m, k, dtype=dtype), random(n, k, dtype=dtype), random(n, dtype=dtype)
                attempt(f"linear {activation}", module.triton_linear_act, x, weight, bias, activation, True)
                attempt(f"dgrad {activation}", module.triton_dgrad_act, random(m, n, dtype=dtype), random(n, k, dtype=dtype),
                        activation, random(m, k, dtype=dtype))


def attention():
    module = importlib.import_module("flash_attn.flash_attn_triton")
    for dtype in (torch.float16, torch.bfloat16):
        for causal in (False, True):
            for dim, length in ((64, 128), (128, 128), (32, 113)):
                q, k, v = (random(1, length, 2, dim, dtype=dtype, grad=True) for _ in range(3))
                for bias in (None, random(1, 2, 1, length, dtype=dtype), random(1, 2, length, length, dtype=dtype)):
                    def both():
                        module.flash_attn_func(q, k, v, bias, causal).float().sum().backward()
                    attempt(f"attention {dim} {length}", both)


def attention_og():
    path = Path.cwd() / "flash_attn/flash_attn_triton_og.py"
    names = load(path, "attention_og")
    for dtype in (torch.float16, torch.bfloat16):
        q, k, v = (random(1, 2, 128, 64, dtype=dtype, grad=True) for _ in range(3))
        out = attempt("forward", names["attention"], q, k, v, 0.5)
        if out is not None:
            attempt("backward", out.backward, torch.randn_like(out))


package()
globals()[sys.argv[1]]()
finish()
