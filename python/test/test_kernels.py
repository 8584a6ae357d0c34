"""Common kernels, as scripts have them, beside torch."""
import concurrent.futures

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def add(x, y, block=128):
    z = torch.empty_like(x)
    n = z.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]), )](x, y, z, n, BLOCK=block)
    return z


@pytest.mark.parametrize("n", [0, 1, 127, 128, 100_003])
def test_vector_add(n):
    torch.manual_seed(0)
    x, y = torch.randn(n), torch.randn(n)
    assert torch.equal(add(x, y), x + y)


@pytest.mark.parametrize("dtype", [
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64
])
def test_vector_add_of_every_dtype(dtype):
    torch.manual_seed(0)
    x, y = torch.randint(0, 50, (300, )).to(dtype), torch.randint(0, 50, (300, )).to(dtype)
    assert torch.equal(add(x, y), x + y)


@pytest.mark.parametrize("dtype", [np.int32, np.uint16, np.float16, np.float32, np.float64])
def test_arrays_of_numpy(dtype):
    x = np.arange(200).astype(dtype)
    z = np.zeros_like(x)
    add_kernel[(2, )](x, x, z, 200, BLOCK=128)
    assert np.array_equal(z, x + x)


def test_a_slice_begins_where_it_begins():
    x = torch.arange(100, dtype=torch.float32)
    assert torch.equal(add(x[3:90], x[5:92]), x[3:90] + x[5:92])


def test_a_reversed_array_of_numpy_is_its_first_element():
    x = np.arange(8, dtype=np.float32)[::-1]
    z = np.zeros(1, dtype=np.float32)
    add_kernel[(1, )](x, x, z, 1, BLOCK=16)
    assert z[0] == 14


def test_a_parameter_of_a_module():
    weight = torch.nn.Parameter(torch.ones(10))
    assert torch.equal(add(weight, weight), torch.full((10, ), 2.0))


@triton.jit
def softmax_kernel(y_ptr, x_ptr, x_stride, y_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n_cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * y_stride + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)


def test_softmax_of_rows_with_a_stride():
    torch.manual_seed(0)
    x = torch.randn(37, 1000)[:, :781]
    assert not x.is_contiguous()
    y = torch.empty(37, 781)
    softmax_kernel[(37, )](y, x, x.stride(0), y.stride(0), 781, BLOCK=triton.next_power_of_2(781), num_warps=8, num_stages=2)
    torch.testing.assert_close(y, torch.softmax(x, 1))


@triton.jit
def layer_norm_kernel(X, Y, W, B, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(W + cols, mask=mask)
    if B is not None:
        b = tl.load(B + cols, mask=mask)
        tl.store(Y + row * stride + cols, centred * rstd * w + b, mask=mask)
    else:
        tl.store(Y + row * stride + cols, centred * rstd * w, mask=mask)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_layer_norm(dtype, has_bias):
    torch.manual_seed(0)
    x = torch.randn(19, 300, dtype=dtype)
    w, b = torch.randn(300, dtype=dtype), torch.randn(300, dtype=dtype) if has_bias else None
    y = torch.empty_like(x)
    layer_norm_kernel[(19, )](x, y, w, b, x.stride(0), 300, 1e-5, BLOCK=512)
    torch.testing.assert_close(y, torch.nn.functional.layer_norm(x, (300, ), w, b, 1e-5), atol=2e-2 if dtype == torch.bfloat16 else 1e-5, rtol=1e-2)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ACTIVATION: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + offs_m[:, None] * stride_am + (k + offs_k)[None, :] * stride_ak,
                    mask=(offs_m[:, None] < M) & ((k + offs_k)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (k + offs_k)[:, None] * stride_bk + offs_n[None, :] * stride_bn,
                    mask=((k + offs_k)[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@pytest.mark.parametrize("activation", ["", "leaky_relu"])
def test_matmul_of_a_transposed_operand(activation):
    torch.manual_seed(0)
    a, b = torch.randn(70, 50), torch.randn(33, 50).t()
    c = torch.empty(70, 33)
    matmul_kernel[(triton.cdiv(70, 32), triton.cdiv(33, 32))](a, b, c, 70, 33, 50, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=32,
                                                            BLOCK_N=32, BLOCK_K=16, ACTIVATION=activation)
    expected = a @ b
    torch.testing.assert_close(c, torch.nn.functional.leaky_relu(expected) if activation else expected, atol=1e-4, rtol=1e-4)


@triton.jit
def double_blocks(source, target, BLOCK: tl.constexpr):
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([i, j], source.load([i, j]) * 2)


def test_descriptors_of_the_host():
    x = torch.arange(32 * 64, dtype=torch.float32).reshape(32, 64)
    y = torch.empty_like(x)
    double_blocks[(2, 4)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]), BLOCK=16)
    assert torch.equal(y, 2 * x)


def test_interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    @triton.jit
    def increment(x_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)

    x = torch.zeros(16)
    assert increment[(1, )](x, BLOCK=16).metadata.target.arch == "interp"
    assert torch.equal(x, torch.ones(16))


@triton.jit
def reduce_into(out, x, KIND: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    description = tl.make_tensor_descriptor(out, [M, N], [N, 1], [M, N])
    value = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if KIND == "add":
        description.atomic_add([0, 0], value)
    elif KIND == "min":
        description.atomic_min([0, 0], value)
    else:
        description.atomic_max([0, 0], value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64])
@pytest.mark.parametrize("kind", ["add", "min", "max"])
def test_reductions_into_a_descriptor(kind, dtype):
    generator = torch.Generator().manual_seed(0)
    x, out = ((torch.randn(8, 16, generator=generator) * 100).to(dtype) for _ in range(2))
    expected = {"add": torch.add, "min": torch.minimum, "max": torch.maximum}[kind](x, out)
    if dtype == torch.float32 and kind != "add":
        with pytest.raises(triton.CompilationError, match="on pointers"):
            reduce_into[(1, )](out, x, kind, 8, 16)
        return
    reduce_into[(1, )](out, x, kind, 8, 16)
    torch.testing.assert_close(out, expected, atol=0, rtol=0)


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("element", ["fp16", "bf16"])
def test_extrema_of_halves_assemble_for_gpus(element, arch):
    source = triton.compiler.ASTSource(reduce_into, {"out": f"*{element}", "x": f"*{element}"}, {"KIND": "max", "M": 8, "N": 16})
    compiled = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", arch, 32))
    assert "cas.b16" in compiled.asm["ptx"]


def test_compilations_by_an_executor():

    class Later(concurrent.futures.Executor):
        """Keeps the work, which the test does later."""

        def __init__(self):
            self.work = []

        def submit(self, function):
            future = concurrent.futures.Future()
            self.work.append(lambda: future.set_result(function()))
            return future

    @triton.jit
    def fresh(x, K: tl.constexpr):
        tl.store(x, K)

    x, later = torch.zeros(1), Later()
    with triton.AsyncCompileMode(later):
        first, second = fresh.warmup(x, 1, grid=(1, )), fresh.warmup(x, 2, grid=(1, ))
        assert fresh.warmup(x, 1, grid=(1, )) is first and len(later.work) == 2
        assert not fresh.device_caches[0][0]
        for work in later.work:
            work()
        assert second.name == "fresh" and len(fresh.device_caches[0][0]) == 2
        fresh[(1, )](x, 2)
        assert x.item() == 2 and len(fresh.device_caches[0][0]) == 2
    fresh.device_caches.clear()
    assert not fresh.device_caches[0][0]
    fresh[(1, )](x, 1)
    assert x.item() == 1


def test_what_an_executor_fails_to_compile_is_raised_at_the_end():

    @triton.jit
    def wrong(x):
        tl.store(x, missing)  # noqa: F821

    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        with pytest.raises(triton.CompilationError, match="missing"):
            with triton.AsyncCompileMode(threads):
                wrong.warmup(torch.zeros(1), grid=(1, ))
        with triton.AsyncCompileMode(threads, ignore_errors=True):
            wrong.warmup(torch.zeros(1), grid=(1, ))
    with pytest.raises(TypeError, match="expected an executor"):
        triton.AsyncCompileMode(3)
    with triton.AsyncCompileMode(threads), pytest.raises(RuntimeError, match="within another"):
        with triton.AsyncCompileMode(threads):
            pass
