"""Kernels on CUDA devices: torch's streams, graphs, gradients, mistakes. Skipped where torch has no GPU."""
import threading

import pytest
import torch
import triton
import triton.language as tl

if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def add(x, y, out=None):
    out = torch.empty_like(x) if out is None else out
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]), )](x, y, out, x.numel(), BLOCK=1024)
    return out


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator("cuda").manual_seed(seed), device="cuda", dtype=dtype)


@pytest.mark.parametrize("n", [1, 1023, 98432])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64])
def test_vector_add(n, dtype):
    x, y = (100 * numbers(n, seed=1)).to(dtype), (100 * numbers(n, seed=2)).to(dtype)
    torch.testing.assert_close(add(x, y), x + y)


@triton.jit
def softmax_kernel(y_ptr, x_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + offsets, e / tl.sum(e, axis=0), mask=offsets < columns)


@pytest.mark.parametrize("columns", [7, 781, 4096])
def test_softmax(columns):
    x = numbers(57, columns)
    y = torch.empty_like(x)
    softmax_kernel[(57, )](y, x, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    torch.testing.assert_close(y, torch.softmax(x, 1))


@triton.autotune([triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3), triton.Config({"BM": 128, "BN": 128, "BK": 64}, num_warps=8)],
                 key=["M", "N", "K"])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        sums = tl.dot(a, b, sums)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_ptrs, sums.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [(512, 512, 512), (300, 200, 100)])
def test_a_tuned_product(size, dtype):
    M, N, K = size
    a, b = numbers(M, K, dtype=dtype), numbers(K, N, dtype=dtype, seed=1)
    c = torch.empty(M, N, device="cuda", dtype=dtype)
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride())
    torch.testing.assert_close(c, a @ b, atol=2e-2 * K**0.5, rtol=1e-2)
    assert matmul_kernel.best_config.kwargs["BK"] in (32, 64)


@triton.jit
def norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w, b = tl.load(w_ptr + offsets, mask=mask), tl.load(b_ptr + offsets, mask=mask)
    tl.store(y_ptr + row * stride + offsets, centred * rstd * w + b, mask=mask)


@triton.jit
def norm_backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * tl.load(rstd_ptr + row), 0.0)
    wdy = tl.load(w_ptr + offsets, mask=mask, other=0) * dy
    c1 = tl.sum(normal * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * stride + offsets, (wdy - (normal * c1 + c2)) * tl.load(rstd_ptr + row), mask=mask)
    tl.atomic_add(dw_ptr + offsets, dy * normal, mask=mask)
    tl.atomic_add(db_ptr + offsets, dy, mask=mask)


class Norm(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, w, b):
        y, mean, rstd = torch.empty_like(x), x.new_empty(len(x)), x.new_empty(len(x))
        norm_forward[(len(x), )](x, y, w, b, mean, rstd, x.stride(0), x.shape[1], 1e-5, BLOCK=triton.next_power_of_2(x.shape[1]))
        ctx.save_for_backward(x, w, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, mean, rstd = ctx.saved_tensors
        dx, dw, db = torch.empty_like(x), torch.zeros_like(w), torch.zeros_like(w)
        norm_backward[(len(x), )](dx, dy.contiguous(), dw, db, x, w, mean, rstd, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return dx, dw, db


@pytest.mark.parametrize("on_a_side_stream", [False, True])
def test_layer_norm_with_gradients(on_a_side_stream):
    stream = torch.cuda.Stream() if on_a_side_stream else torch.cuda.current_stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        x, w, b, dy = (numbers(*shape, seed=i) for i, shape in enumerate([(151, 1000), (1000, ), (1000, ), (151, 1000)]))
        found, expected = [], []
        for function, grads in ((Norm.apply, found), (lambda x, w, b: torch.nn.functional.layer_norm(x, (1000, ), w, b), expected)):
            leaves = [t.clone().requires_grad_() for t in (x, w, b)]
            y = function(*leaves)
            y.backward(dy)  # on the stream of the forward, on a thread of torch's
            grads.extend([y.detach(), *(leaf.grad for leaf in leaves)])
    torch.cuda.current_stream().wait_stream(stream)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-4)


@triton.jit
def slow_kernel(x_ptr, value, rounds):
    sum = 0.0
    for i in range(rounds):
        sum = sum * 0.5 + tl.load(x_ptr + 1)
    tl.store(x_ptr, value + 0.0 * sum)


def test_launches_are_in_their_streams_order():
    x = torch.zeros(2, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        slow_kernel[(1, )](x, 1.0, 100000)
        y = x.clone()
        slow_kernel[(1, )](x, 2.0, 1)
    side.synchronize()
    assert (y[0].item(), x[0].item()) == (1.0, 2.0)


def test_a_graph():
    x, y, z = numbers(5000), numbers(5000, seed=1), torch.zeros(5000, device="cuda")
    add(x, y, z)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add(x, y, z)
        add(z, z, z)
    z.zero_()
    x.mul_(3)
    graph.replay()
    torch.testing.assert_close(z, 2 * (x + y))


def test_threads_with_streams_of_their_own():
    failures = []

    def work(seed):
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for i in range(50):
                    x, y = numbers(1000 + i, seed=seed), numbers(1000 + i, seed=seed + 100)
                    torch.testing.assert_close(add(x, y), x + y)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed, )) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_what_comes_back():
    x = numbers(64)
    compiled = add_kernel[(1, )](x, x, x, 64, BLOCK=64)
    assert ".version" in compiled.asm["ptx"] and "ld.global" in compiled.asm["ptx"]
    assert compiled.n_regs > 0 and compiled.n_spills == 0
    assert compiled.metadata.num_warps == 4 and compiled.metadata.target.backend == "cuda"
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    known = torch.cuda.get_device_properties(0)
    assert properties["multiprocessor_count"] == known.multi_processor_count
    assert properties["max_shared_mem"] >= 48 << 10 and properties["warpSize"] == 32


def test_an_array_of_the_host_among_those_of_a_gpu():
    with pytest.raises(ValueError, match="cpu"):
        add_kernel[(1, )](numbers(8), torch.zeros(8), numbers(8), 8, BLOCK=8)
    torch.cuda.synchronize()


def test_odd_arrays():
    x = numbers(100, 10)
    empty = torch.empty(0, device="cuda")
    add_kernel[(1, )](empty, empty, empty, 0, BLOCK=16)
    column = x[:, 3]  # its address; the kernel knows no strides
    out = torch.empty(10, device="cuda")
    add_kernel[(1, )](column, column, out, 10, BLOCK=16)
    torch.testing.assert_close(out, 2 * x.reshape(-1)[3:13])
    with pytest.raises(TypeError, match="complex64"):
        add_kernel[(1, )](torch.zeros(8, device="cuda", dtype=torch.complex64), x, x, 8, BLOCK=8)


@triton.jit
def too_much(x_ptr, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + rows[:, None] * BLOCK + rows[None, :])
    tl.store(x_ptr + rows[:, None] * BLOCK + rows[None, :], tl.dot(a, a).to(tl.float16))


def test_more_than_a_gpu_has():
    with pytest.raises(triton.OutOfResources):
        too_much[(1, )](torch.zeros(512, 512, device="cuda", dtype=torch.float16), BLOCK=512)


def test_benchmarks():
    x = numbers(1 << 20)
    milliseconds = triton.testing.do_bench(lambda: add(x, x))
    assert 0 < milliseconds < 100


def test_benchmarks_of_short_kernels_take_the_time_they_are_given():
    x, calls = numbers(4), []
    triton.testing.do_bench(lambda: calls.append(add(x, x)), warmup=5, rep=10)
    assert len(calls) < 2000  # clearing the cache before each takes 20 us or more


def test_warmup_of_dtypes_compiles_for_the_active_device():
    kernel = triton.jit(show.fn)
    kernel.warmup(torch.int64, grid=(1, ))
    assert [form.metadata.target.backend for form in kernel.device_caches[0][0].values()] == ["cuda"]
    kernel.warmup(torch.arange(4, device="cuda"), grid=(1, ))
    assert len(kernel.device_caches[0][0]) == 1


def test_printing(capfd):
    show[(1, )](torch.arange(4, device="cuda"))
    torch.cuda.synchronize()
    add(numbers(4), numbers(4))
    assert "x" in capfd.readouterr().out


@triton.jit
def show(x_ptr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, 4)))
