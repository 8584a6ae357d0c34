"""torch.compile on the CPU, with this package as Inductor's Triton (cpu_backend)."""
import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from triton.runtime.jit import JITFunction

inductor = pytest.importorskip("torch._inductor.config")


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


@pytest.mark.parametrize("function, arguments", [
    (lambda x: F.gelu(x) * 2 + x.sin(), (numbers(64, 100), )),
    (lambda x: F.softmax(x, -1), (numbers(64, 100), )),
    (lambda x, w: F.layer_norm(x, (100, ), w, w), (numbers(64, 100), numbers(100))),
    (lambda x: x.sum(), (numbers(300, 1000), )),
    (lambda x: x.cumsum(1), (numbers(20, 100), )),
    (lambda x: torch.sort(x, dim=1)[0], (numbers(20, 100), )),
    (lambda x, i: torch.zeros(64, 10).index_add(0, i, x), (numbers(30, 10), torch.arange(30) * 2)),
    (lambda n: (n // 7, n % 5), (torch.arange(-20, 20), )),
    (lambda x: x.double() * 1.5, (numbers(10), )),
])
def test_graphs(compiled, function, arguments):
    torch.testing.assert_close(torch.compile(function)(*arguments), function(*arguments), atol=1e-4, rtol=1e-4)
    assert any(name.startswith("triton_") for name in compiled)


def test_a_training_step(compiled):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.GELU(), torch.nn.LayerNorm(40), torch.nn.Linear(40, 5))
    x = numbers(8, 20)
    torch.compile(model)(x).square().sum().backward()
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x).square().sum().backward()
    torch.testing.assert_close(found, [parameter.grad for parameter in model.parameters()], atol=1e-4, rtol=1e-4)
    assert any(name.startswith("triton_") for name in compiled)


IN_WORKERS = """
import torch
import torch._inductor.config as inductor
if __name__ == "__main__":
    inductor.cpu_backend, inductor.compile_threads = "triton", 2
    x = torch.arange(3000.0).reshape(30, 100) / 3000
    function = lambda x: torch.softmax(x.sin(), 1).cumsum(1)
    torch.testing.assert_close(torch.compile(function)(x), function(x), atol=1e-4, rtol=1e-4)
    print("right")
"""


def test_worker_processes_and_a_second_process_with_their_cache(tmp_path):
    (tmp_path / "script.py").write_text(IN_WORKERS)
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "nereid", str(tmp_path / "script.py")], capture_output=True, text=True,
                              env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")})
        assert done.stdout == "right\n", done.stderr
    assert any("triton.jit" in path.read_text() for path in (tmp_path / "cache").rglob("*.py"))
