"""unsloth's kernels on small inputs. Arguments: which group."""
import importlib
import logging
from pathlib import Path
import sys
import types

from packaging.version import Version
import torch

from loading import attempt, finish

F16, F32, BF16 = torch.float16, torch.float32, torch.bfloat16
TYPES = (F16, BF16, F32)


class Lenient(types.ModuleType):
    """A host module that matters by its names alone: functions that return their first argument."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: args[0] if args else None


def stand_in(name, **values):
    module = Lenient(name)
    module.__path__ = []
    vars(module).update(values)
    sys.modules[name] = module


def package():
    """unsloth without its __init__.py, which patches half of the Python ecosystem."""
    stand_in("unsloth_zoo")
    stand_in("unsloth_zoo.utils", Version=Version)
    stand_in("unsloth_zoo.log", logger=logging.getLogger("unsloth"))
    stand_in("unsloth_zoo.mlx", is_mlx_available=lambda: False)
    stand_in("unsloth_zoo.device_type", DEVICE_TYPE="cuda")
    stand_in("unsloth_zoo.temporary_patches")
    stand_in("unsloth_zoo.temporary_patches.common", torch_compile=lambda f=None, **k: f if f else (lambda g: g))
    stand_in("unsloth_zoo.loss_utils")
    stand_in("unsloth_zoo.patching_utils")
    for name in ("transformers", "transformers.models", "transformers.models.mllama"):
        stand_in(name)
    stand_in("transformers.models.llama")
    stand_in("transformers.models.llama.modeling_llama", LlamaRMSNorm=torch.nn.Module,
             logger=logging.getLogger("llama"))
    stand_in("transformers.models.mllama.modeling_mllama", MllamaTextRMSNorm=torch.nn.Module)
    sys.modules["bitsandbytes"] = None
    if not hasattr(torch._C, "_cuda_getCurrentRawStream"):
        torch._C._cuda_getCurrentRawStream = lambda device: 0
    root = Path.cwd() / "unsloth"
    for name in ("unsloth", "unsloth.kernels", "unsloth.kernels.moe"):
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        module.DEVICE_TYPE = "cuda"
        sys.modules[name] = module
    stand_in("unsloth.device_type", DEVICE_TYPE="cuda", DEVICE_TYPE_TORCH="cuda", DEVICE_COUNT=1, is_hip=lambda: False,
             ALLOW_PREQUANTIZED_MODELS=False)


def kernel_module(name):
    return importlib.import_module(f"unsloth.kernels.{name}")


def random(*shape, t=F32, grad=False):
    x = torch.randn(shape, device="cuda", dtype=F32).to(t)
    return x.requires_grad_() if grad else x


def activations():
    swiglu, geglu = attempt("swiglu", kernel_module, "swiglu"), attempt("geglu", kernel_module, "geglu")
    for t in TYPES:
        for shape in ((2, 9, 64), (1, 5, 333)):
            for call in (swiglu.swiglu_fg_kernel, geglu.geglu_exact_forward_kernel, geglu.geglu_approx_forward_kernel):
                attempt(call.__name__, call, random(*shape, t=t), random(*shape, t=t))
            flat = (shape[0] * shape[1], shape[2])
            for call in (swiglu.swiglu_DWf_DW_dfg_kernel, geglu.geglu_exact_backward_kernel, geglu.geglu_approx_backward_kernel):
                attempt(call.__name__, call, *(random(*flat, t=t) for _ in range(3)))


def norms():
    rms, layer = kernel_module("rms_layernorm"), kernel_module("layernorm")
    for t in TYPES:
        for width in (64, 333, 1024):
            for gemma in (False, True):
                norm = types.SimpleNamespace(weight=random(width, t=t), variance_epsilon=1e-5)
                def both():
                    y = rms.fast_rms_layernorm(norm, random(2, 5, width, t=t, grad=True) * 1, gemma)
                    y.backward(torch.randn_like(y))
                attempt("rms_layernorm", both)
            norm = types.SimpleNamespace(weight=random(width, t=t), bias=random(width, t=t), elementwise_affine=True,
                                         variance_epsilon=1e-5)
            def both_layer():
                y = layer.fast_layernorm(norm, random(2, 5, width, t=t, grad=True) * 1)
                y.backward(torch.randn_like(y))
            attempt("layernorm", both_layer)


def rope():
    module = kernel_module("rope_embedding")
    for t in TYPES:
        for heads, kv, dim in ((4, 2, 64), (5, 5, 32)):
            for indices in (None, torch.randint(0, 20, (2, 9), device="cuda", dtype=torch.int32)):
                def both():
                    q, k = (random(2, h, 9, dim, t=t, grad=True) for h in (heads, kv))
                    cos, sin = random(32, dim // 2, t=t), random(32, dim // 2, t=t)
                    out = module.fast_rope_embedding(q * 1, k * 1, cos, sin, indices)
                    (out[0].float().sum() + out[1].float().sum()).backward()
                attempt("rope", both)


def cross_entropy():
    module = kernel_module("cross_entropy_loss")
    for t in TYPES:
        for classes, cap, scale in ((50, 0, 0), (1000, 30.0, 0), (333, 0, 0.5), (70000, 0, 0)):
            def both():
                labels = torch.randint(0, classes, (1, 6), device="cuda")
                labels[0, 2] = -100
                module.fast_cross_entropy_loss(random(1, 6, classes, t=t, grad=True) * 1, labels, cap, scale).backward()
            attempt(f"cross entropy {classes}", both)


def fp8():
    module = kernel_module("fp8")
    f8 = torch.float8_e4m3fn
    for t in (F16, BF16, F32):
        attempt("act_quant", module.act_quant, random(5, 256, t=t))
        for shape in ((128, 256), (200, 136)):
            scales = torch.rand(-(-shape[0] // 128), -(-shape[1] // 128), device="cuda") + 0.5
            attempt("weight_dequant", module.weight_dequant_block, random(*shape).to(f8), scales, 128, t)
        for m in (5, 64, 130):
            a, b = random(m, 256).to(f8), random(128, 256).to(f8)
            attempt("w8a8", module.w8a8_block_fp8_matmul_triton, a, b, torch.rand(m, 2, device="cuda"),
                    torch.rand(1, 2, device="cuda"), [128, 128], t)


def moe():
    module = importlib.import_module("unsloth.kernels.moe.grouped_gemm.interface")
    tokens, topk, experts, n, k = 24, 2, 4, 64, 32
    for t in (F16, BF16):
        chosen = torch.stack([torch.randperm(experts, device="cuda")[:topk] for _ in range(tokens)])
        sizes = torch.bincount(chosen.view(-1), minlength=experts).to(torch.int32)
        gather = torch.argsort(chosen.view(-1), stable=True).to(torch.int32)
        total = tokens * topk
        weights = random(experts, n, k, t=t)
        for permute_x, permute_y in ((False, False), (True, False), (False, True)):
            for stores in (False, True):
                x = random(tokens if permute_x else total, k, t=t)
                shared = dict(gather_indices=gather, topk=topk, m_sizes=sizes, permute_x=permute_x, permute_y=permute_y)
                attempt("forward", module.grouped_gemm_forward, X=x, W=weights, use_tma_load_w=stores,
                        use_tma_store=stores and not permute_y, **shared)
                dy = random(total, n, t=t)
                attempt("dX", module.grouped_gemm_dX, dY=dy, W=weights, use_tma_load_w=stores, use_tma_load_dy=stores and not permute_y, **shared)
                attempt("dW", module.grouped_gemm_dW, X=x, dY=dy, use_tma_store=stores, **shared)
        attempt("weights", module.grouped_gemm_forward, X=random(total, k, t=t), W=weights, topk_weights=torch.rand(total, device="cuda").to(t),
                fuse_mul_post=True, gather_indices=gather, topk=topk, m_sizes=sizes, permute_x=False, permute_y=True)


package()
globals()[sys.argv[1]]()
finish()
