"""torch.compile with this package as Inductor's Triton: on the CPU (cpu_backend), and on a GPU where there is one."""
import math
import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

inductor = pytest.importorskip("torch._inductor.config")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


@pytest.fixture(autouse=True)
def triton_for_cpu(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch._dynamo.reset()
    with inductor.patch(cpu_backend="triton", compile_threads=1, force_disable_caches=True):
        yield


@pytest.fixture
def compiled(monkeypatch):
    """Names of the kernels whose texts were made."""
    names, build = [], JITFunction._build
    monkeypatch.setattr(JITFunction, "_build", lambda self, core: names.append(self.__name__) or build(self, core))
    return names


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function, arguments", [
    (lambda x: F.gelu(x) * 2 + x.sin(), (numbers(64, 100), )),
    (lambda x: F.softmax(x, -1), (numbers(64, 100), )),
    (lambda x, w: F.layer_norm(x, (100, ), w, w), (numbers(64, 100), numbers(100))),
    (lambda x: x.sum(), (numbers(300, 1000), )),
    (lambda x: (x.amax(1), x.argmin(0), x.mean()), (numbers(65, 130), )),
    (lambda x: x.cumsum(1), (numbers(20, 100), )),
    (lambda x: torch.sort(x, dim=1)[0], (numbers(20, 100), )),
    (lambda x, i: torch.zeros(64, 10, device=x.device).index_add(0, i, x), (numbers(30, 10), torch.arange(30) * 2)),
    (lambda x, i: F.embedding(i, x).tanh(), (numbers(50, 24), torch.arange(40) % 50)),
    (lambda n: (n // 7, n % 5), (torch.arange(-20, 20), )),
    (lambda x: x.double() * 1.5, (numbers(10), )),
    (lambda x: (x.bfloat16().relu(), x.half().abs()), (numbers(33, 77), )),
])
def test_graphs(compiled, function, arguments, device):
    arguments = [argument.to(device) for argument in arguments]
    torch.testing.assert_close(torch.compile(function)(*arguments), function(*arguments), atol=1e-4, rtol=1e-4)
    assert any(name.startswith("triton_") for name in compiled)


@pytest.mark.parametrize("device", DEVICES)
def test_a_training_step(compiled, device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.GELU(), torch.nn.LayerNorm(40), torch.nn.Linear(40, 5)).to(device)
    x = numbers(8, 20).to(device)
    torch.compile(model)(x).square().sum().backward()
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x).square().sum().backward()
    torch.testing.assert_close(found, [parameter.grad for parameter in model.parameters()], atol=1e-4, rtol=1e-4)
    assert any(name.startswith("triton_") for name in compiled)


class Block(torch.nn.Module):
    """A block of GPT-2, its attention written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attend, self.project = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.attend(self.norm1(x)).split(width, 2))
        weights = q @ k.transpose(2, 3) / math.sqrt(k.shape[3])
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        y = weights.masked_fill(~mask, -math.inf).softmax(3) @ v
        x = x + self.project(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


@pytest.mark.parametrize("device", DEVICES)
def test_a_block_of_gpt2(compiled, device):
    torch.manual_seed(0)
    block = Block(96, 4).to(device)
    x = numbers(2, 50, 96).to(device)
    grads = []
    for function in (torch.compile(block), block):
        input = x.clone().requires_grad_()
        block.zero_grad()
        y = function(input)
        y.square().mean().backward()
        grads.append([y.detach(), input.grad, *(parameter.grad.clone() for parameter in block.parameters())])
    torch.testing.assert_close(*grads, atol=2e-4, rtol=1e-3)
    assert len([name for name in compiled if name.startswith("triton_")]) >= 4


@pytest.mark.parametrize("device", DEVICES)
def test_any_sizes(compiled, device):
    function = torch.compile(lambda x: F.softmax(x * 2, -1) + x.mean(), dynamic=True)
    for rows, columns in ((4, 10), (37, 130), (5, 1000)):
        x = numbers(rows, columns).to(device)
        torch.testing.assert_close(function(x), F.softmax(x * 2, -1) + x.mean(), atol=1e-5, rtol=1e-4)


IN_WORKERS = """
import sys
import torch
import torch._inductor.config as inductor
if __name__ == "__main__":
    inductor.cpu_backend, inductor.compile_threads = "triton", 2
    x = torch.arange(3000.0, device=sys.argv[1]).reshape(30, 100) / 3000
    from torch._inductor.async_compile import AsyncCompile
    AsyncCompile.wait_pool_ready()  # before that, this process compiles
    function = lambda x: torch.softmax(x.sin(), 1).cumsum(1)
    torch.testing.assert_close(torch.compile(function)(x), function(x), atol=1e-4, rtol=1e-4)
    print("right")
"""


@pytest.mark.parametrize("device", DEVICES)
def test_worker_processes_and_a_second_process_with_their_cache(tmp_path, device):
    (tmp_path / "script.py").write_text(IN_WORKERS)
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "nereid", str(tmp_path / "script.py"), device], capture_output=True, text=True,
                              env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")})
        assert done.stdout == "right\n", done.stderr
    assert any("triton.jit" in path.read_text() for path in (tmp_path / "cache").rglob("*.py"))


def test_enabling_torch_compile(tmp_path):
    (tmp_path / "script.py").write_text("import nereid.torch\nnereid.torch.enable()\n" + IN_WORKERS.replace('inductor.cpu_backend, inductor.compile_threads = "triton", 2', ""))
    done = subprocess.run([sys.executable, str(tmp_path / "script.py"), "cpu"], capture_output=True, text=True,
                          env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")})
    assert done.stdout == "right\n", done.stderr
    assert any("triton.jit" in path.read_text() for path in (tmp_path / "cache").rglob("*.py"))


@triton.jit
def halve(out, x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, offsets < n) * 0.5, offsets < n)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_one_tensor_as_what_is_read_and_what_is_written(backend):
    # Where torch does not know which of the two is written, it writes both back: the unchanged one last.

    def half_of_the_first(x):
        y = x[:8]
        halve[(1, )](y, y, 8, 16)
        return x + 1

    torch._dynamo.reset()
    assert torch.compile(half_of_the_first, backend=backend)(torch.ones(16)).tolist() == [1.5] * 8 + [2] * 8


def test_torch_knows_what_a_kernel_reads_and_writes():
    from torch._higher_order_ops.triton_kernel_wrap import generate_ttir
    x, y = torch.zeros(4), torch.zeros(4)
    module, names = generate_ttir(halve, {"out": x, "x": y, "n": 4, "BLOCK": 16}, {})
    assert names == ["out", "x", "n"] and str(module) == "halve(out, x, n): writes out" and module.verify()


@triton.jit
def assembly(x):
    tl.inline_asm_elementwise("nop;", "=r,r", [tl.load(x)], dtype=tl.int32, is_pure=False, pack=1)


def test_what_assembly_writes_is_unknown():
    source = triton.compiler.ASTSource(assembly, {"x": "*i32"}, {})
    with pytest.raises(NotImplementedError, match="assembly: its inline assembly may write anything"):
        source.make_ir(None, None, None, None, None)
