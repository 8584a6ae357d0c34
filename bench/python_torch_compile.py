#!/usr/bin/env python3
"""torch.compile of a training step of GPT-2 124M: what the first step takes and where its time goes, and later steps beside what the GPU works
in them. Run it once with each, in processes and cache folders of their own:

    python3 bench/python_torch_compile.py [--package build/python]     Nereid as Inductor's Triton
    python3 bench/python_torch_compile.py --upstream                   the installed Triton
    ... --profile                                                      with what waits for the GPU, and who launches how
"""
import argparse
import collections
import contextlib
import cProfile
import os
import pathlib
import pstats
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def make_model(torch, layers, width, heads, vocabulary, length):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):

        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in self.attend(self.norm1(x)).split(width, 2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class GPT(nn.Module):

        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, x, y):
            h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
            for block in self.blocks:
                h = block(h)
            return F.cross_entropy(self.head(self.norm(h)).flatten(0, 1).float(), y.flatten())

    return GPT()


def share_of_phases(torch, total):
    """What Dynamo and Inductor say of themselves: phases contain each other."""
    from torch._dynamo.utils import compilation_time_metrics
    found = sorted(((sum(times), len(times), name) for name, times in compilation_time_metrics.items()), reverse=True)
    for seconds, count, name in found[:40]:
        print(f"  {seconds:8.2f} s {100 * seconds / total:5.1f} %  {count:5} x {name}")


def profiled_steps(torch, step, steps):
    """What one step waits for and launches, by the driver's calls, and the share of kernels by who made them."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    calls = collections.defaultdict(lambda: [0, 0.0])
    busy = 0.0
    for event in profiler.events():
        if str(event.device_type).endswith("CUDA"):
            busy += event.device_time_total if hasattr(event, "device_time_total") else event.cuda_time_total
        elif event.name.startswith("cu"):
            calls[event.name][0] += 1
            calls[event.name][1] += event.cpu_time_total
    print(f"the GPU is busy for {busy / steps / 1e3:.2f} ms a step; calls of the driver and the runtime, a step:")
    for name, (count, microseconds) in sorted(calls.items(), key=lambda item: -item[1][1])[:15]:
        print(f"  {count / steps:8.1f} x {name:32} {microseconds / steps:10.1f} us")


def kinds_of_launches():
    """How many of Inductor's kernels its static launcher launches."""
    from torch._inductor.runtime import triton_heuristics
    import gc
    kinds = collections.Counter()
    for thing in gc.get_objects():
        if isinstance(thing, triton_heuristics.CachingAutotuner):
            for launcher in thing.launchers:
                kinds["static" if getattr(launcher, "_is_static", False) else "ordinary"] += 1
    print("launchers of Inductor's kernels:", dict(kinds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/python", help="the folder that holds the package nereid")
    parser.add_argument("--upstream", action="store_true", help="measure the installed Triton instead")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=50304)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=folder + "/inductor", NEREID_CACHE_DIR=folder + "/nereid", CUDA_CACHE_PATH=folder + "/driver")
    if not options.upstream:
        sys.path.insert(0, str(options.package.resolve()))
        import nereid
        nereid.enable("3.6")
    import torch
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    on_gpu = options.device == "cuda"
    if not on_gpu:
        import torch._inductor.config as inductor
        inductor.cpu_backend = "cpp" if options.upstream else "triton"
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    model = make_model(torch, options.layers, options.width, options.width // 64, options.vocabulary, options.length).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x, y = torch.randint(0, options.vocabulary, (2, options.batch, options.length), device=options.device)
    (x.float().sum() + 1).item()
    compiled = torch.compile(model)
    autocast = torch.autocast("cuda", torch.bfloat16) if on_gpu else contextlib.nullcontext()

    def step():
        with autocast:
            loss = compiled(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    profiler = cProfile.Profile() if options.profile else contextlib.nullcontext()
    start = time.perf_counter()
    with profiler:
        loss = step().item()
        wait()
    total = time.perf_counter() - start
    print(f"{'upstream' if options.upstream else 'Nereid'}: first step {total:.2f} s, loss {loss:.4f}; phases contain each other:")
    share_of_phases(torch, total)
    if options.profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
        pstats.Stats(profiler).sort_stats("cumtime").print_stats("triton|async_compile|nereid|static", 30)
    for _ in range(10):
        step()
    wait()
    times, enqueued = [], []
    for _ in range(options.steps):
        begin = time.perf_counter()
        step()
        enqueued.append(time.perf_counter() - begin)
        wait()
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    for _ in range(options.steps):
        step()
    wait()
    together = (time.perf_counter() - begin) / options.steps
    print(f"a step: median {1e3 * statistics.median(times):.2f} ms, of that {1e3 * statistics.median(enqueued):.2f} ms until it is queued; "
          f"{1e3 * together:.2f} ms one after the other without waiting")
    kinds_of_launches()
    if on_gpu and options.profile:
        profiled_steps(torch, step, 5)


if __name__ == "__main__":
    main()
