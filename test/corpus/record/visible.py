"""The plan for the visible corpora: which programs run, where, and with what they are helped."""
import os
from pathlib import Path

from record import plan

HERE = Path(__file__).resolve().parent
DRIVERS = HERE / "drivers"

# pytest file of FlagGems -> (processes that share it, cases of a test function)
FLAG_GEMS = {
    "unary_pointwise_ops": (6, 3), "binary_pointwise_ops": (6, 2), "reduction_ops": (6, 3), "special_ops": (6, 3),
    "pointwise_dynamic": (3, 2), "norm_ops": (4, 3), "general_reduction_ops": (3, 3), "tensor_constructor_ops": (2, 2),
    "blas_ops": (3, 3), "attention_ops": (6, 2), "convolution_ops": (3, 2), "distribution_ops": (1, 2),
    "pointwise_type_promotion": (2, 2), "quant": (1, 4), "libentry": (1, 2), "tensor_wrapper": (1, 2),
}

# Back ends of FlagGems whose operators are plain Triton.
FLAG_GEMS_VENDORS = ["ascend", "cambricon", "hygon", "iluvatar", "kunlunxin", "metax", "mthreads", "nvidia", "amd", "aipu"]

TRITON_BENCH = """
add_example add_value attention_fwd_triton1 bmm_optimized chunk_gate_recurrence context_attn_bloom context_attn_mistral
context_attn_nopad cosine_compute cross_entropy1 cross_entropy2 cross_entropy_ops dequantize_rowwise dropout_triton
f8_conversion_utils fast_ce_loss fast_layernorm fast_rms_layernorm fast_rope_embedding fp4_to_bf16 fp4_to_bf16_conversion
fused_activation fused_layernorm_triton index_select_bwd index_select_cat int4_matmul int8_dequant_matmul
int8_matmul_quantization int8_quantization int_scaled_matmul iv_dependent_matmul kldiv_compute kv_cache_filling
layer_norm_fwd layer_norm_ops layer_norm_triton layer_norm_welfold layernorm_fwd_triton lightning_attention log_softmax
masked_add_cuda matmul_dequant_int4 matmul_dequantize matmul_dequantize_int4 matmul_leakyrelu matmul_leakyrelu_fp8
matmul_persistent_triton matmul_tma matmul_triton2 matmul_triton_autotune matrix_vector_multip max_reduction
mean_reduction mul_exponent_compensator quantize_global relu_triton_kernel rms_norm_triton rmsnorm_fused
rmsnorm_fused_llama rmsnorm_implementation rmsnorm_triton rope_embedding seeded_dropout sin_computation sin_kernel
softmax_flaggems softmax_triton1 softmax_triton2 square_matrix streamk_matmul token_attn_llama2 triton_argmax
triton_attention triton_conv2d_fwd triton_linear_activation triton_matmul triton_mul2 uniform_sampling vector_addition
""".split()

FLASH_STUBS = ["flash_attn_2_cuda", "flash_attn_3_cuda", "flash_attn_2_cuda_amd", "aiter"]


def job(suite, root, words, cwd=None, timeout=120, **env):
    return dict(suite=suite, root=str(root), words=[str(w) for w in words], cwd=str(cwd or root), timeout=timeout, env=env)


def flag_gems(corpora, parts=None):
    root = corpora / "FlagGems"
    env = dict(PYTHONPATH=path(root / "src", root), GEMS_VENDOR="nvidia", FLAGGEMS_ENABLE_DISK_CACHE="0",
               RECORD_TRITON_VERSION="3.5.1")  # from 3.6 on its LibEntry leaves arguments out
    jobs = [job("FlagGems", root, [DRIVERS / "flag_gems_direct.py", f"{n}/8"], timeout=240, **env) for n in range(8)]
    for name, (processes, most) in FLAG_GEMS.items():
        for part in range(processes):
            jobs.append(job("FlagGems", root, ["-pytest", f"{most}:{part}/{processes}", f"tests/test_{name}.py",
                                               "--mode", "quick"], timeout=240, **env))
    for vendor in FLAG_GEMS_VENDORS:
        jobs += [job("FlagGems", root, [DRIVERS / "flag_gems_direct.py", f"{n}/2", vendor], timeout=240,
                     RECORD_STUBS="torch_mlu torch_musa torch_npu", **env) for n in range(2)]
    return jobs


def flash_attention(corpora):
    root = corpora / "flash-attention"
    env = dict(PYTHONPATH=path(root), RECORD_STUBS=" ".join(FLASH_STUBS))
    functions = ["cross_entropy", "rotary", "layer_norm", "linear", "attention", "attention_og"]
    return [job("flash-attention", root, [DRIVERS / "flash_attention.py", name], timeout=200, **env) for name in functions] + [
        job("flash-attention", root, ["-pytest", 3, file, "--noconftest"], timeout=200, **env)
        for file in ("tests/test_rotary.py", "tests/ops/triton/test_layer_norm.py", "tests/losses/test_cross_entropy.py")]


def unsloth(corpora):
    root = corpora / "unsloth"
    groups = ["activations", "norms", "rope", "cross_entropy", "fp8", "moe"]
    return [job("unsloth", root, [DRIVERS / "unsloth_kernels.py", group], timeout=200, PYTHONPATH=path(root),
                RECORD_STUBS="pandas") for group in groups]


def triton_shared(corpora):
    root = corpora / "triton-shared"
    folder = root / "python/examples"
    env = dict(PYTHONPATH=path(folder), RECORD_FROM="cpu",
               RECORD_STUBS="benchmark triton.backends.triton_shared triton.backends.triton_shared.driver")
    files = sorted(folder.glob("test_*.py"))
    return [job("triton-shared", root, ["-pytest", f"3:{part}/4", *map(str, files), "--noconftest"], timeout=200, **env)
            for part in range(4)] + [job("triton-shared", root, [DRIVERS / "triton_shared_scripts.py"], **env)]


def tutorials(corpora):
    root = corpora / "triton-intel"
    names = ["01-vector-add", "02-fused-softmax", "03-matrix-multiplication", "03a-matrix-multiplication-tensor-descriptor",
             "04-low-memory-dropout", "05-layer-norm", "06-fused-attention", "07-extern-functions", "08-grouped-gemm",
             "09-persistent-matmul"]
    return [job("tutorials", root, [DRIVERS / "tutorials.py", name], timeout=200, PYTHONPATH=path(),
                RECORD_STUBS="matplotlib pandas tabulate") for name in names]


def triton_bench(corpora):
    root = corpora / "TritonBench"
    return [job("TritonBench-G", root, [root / "data/TritonBench_G_v1" / f"{name}.py"], timeout=100, PYTHONPATH=path())
            for name in TRITON_BENCH]


def path(*folders):
    return ":".join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH", "")])])


def jobs_of(corpora):
    """The largest corpus last: when time runs out, every corpus has had its turn."""
    return [*flash_attention(corpora), *unsloth(corpora), *tutorials(corpora), *triton_shared(corpora), *triton_bench(corpora),
            *flag_gems(corpora)]


def main(words):
    """visible OUT CORPORA [--jobs N] [--limit SECONDS] [--only TEXT] [--list]"""
    def option(name, default):
        return words[words.index(name) + 1] if name in words else default
    out, corpora = Path(words[0]).resolve(), Path(words[1]).resolve()
    only = option("--only", "")
    jobs = [j for j in jobs_of(corpora) if only in f"{j['suite']} {' '.join(j['words'])}"]
    if "--list" in words:
        for j in jobs:
            print(j["suite"], " ".join(j["words"]))
        return 0
    out.mkdir(parents=True, exist_ok=True)
    for number, j in enumerate(jobs):
        j["env"].setdefault("FLAGGEMS_CACHE_DIR", str(out / "cache" / str(number)))
        j["env"].setdefault("TRITON_CACHE_DIR", str(out / "triton-cache"))
    rows = plan.run(out, jobs, int(option("--jobs", "16")), float(option("--limit", "420")))
    plan.report(rows)
    return 0
