#!/usr/bin/env python3
"""Training steps of nereid-gpt2 beside nanoGPT's, eager and compiled, on one GPU.

    git clone https://github.com/karpathy/nanoGPT /tmp/nanoGPT
    python3 bench/gpt2/compare.py build/bin/nereid-gpt2 --nanogpt /tmp/nanoGPT --model 124M --batch 12 32

A step is forward, backward, clipping at 1 and AdamW on a batch that lies on the device, in bf16 (nanoGPT: autocast and fp32
weights), as nanoGPT's train.py does it. Contenders take turns in rounds, each in a process of its own; what counts is the median
step of the median round. A ratio above 1: Nereid is faster. Without --nanogpt only Nereid runs.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

SHAPES = {"124M": (12, 12, 768), "350M": (24, 16, 1024), "774M": (36, 20, 1280), "1558M": (48, 25, 1600)}


def peer(o):
    """One round of nanoGPT, in this process: a line of JSON."""
    sys.path.insert(0, o.nanogpt)
    import torch
    from model import GPT, GPTConfig  # nanoGPT's

    torch.manual_seed(1337)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    layers, heads, width = SHAPES[o.model]
    batch = o.batch[0]
    x, y = (torch.randint(50257, (batch, o.length), device="cuda") for _ in range(2))
    model = GPT(GPTConfig(block_size=o.length, n_layer=layers, n_head=heads, n_embd=width, dropout=0.0, bias=False)).cuda()
    optimizer = model.configure_optimizers(weight_decay=0.1, learning_rate=6e-4, betas=(0.9, 0.95), device_type="cuda")
    forward = torch.compile(model) if o.peer == "compiled" else model

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            _, loss = forward(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(10):
        step()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(o.steps):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        times.append((begin, end))
    torch.cuda.synchronize()
    print(json.dumps({"milliseconds": statistics.median(b.elapsed_time(e) for b, e in times),
                      "memory": torch.cuda.max_memory_allocated()}))


def round_of(command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)}\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--nanogpt", default="", help="a checkout of nanoGPT")
    parser.add_argument("--model", default="124M", choices=SHAPES)
    parser.add_argument("--batch", type=int, nargs="+", default=[12, 32])
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", default="")
    parser.add_argument("--peer", choices=["eager", "compiled"], help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.peer:
        return peer(o)
    layers, heads, width = SHAPES[o.model]
    rows = []
    for batch in o.batch:
        ours = [o.program, "bench", f"--n_layer={layers}", f"--n_head={heads}", f"--n_embd={width}", f"--block_size={o.length}",
                f"--batch_size={batch}", "--vocab_size=50304", "--gradient_accumulation_steps=1", "--dropout=0", "--bias=False", "--tanh_gelu=False",
                "--dtype=bfloat16", "--device=cuda", f"--steps={o.steps}", "--json"]
        contenders = {"nereid": ours}
        if o.nanogpt:
            for kind in ("eager", "compiled"):
                contenders[kind] = [sys.executable, str(Path(__file__).resolve()), o.program, "--nanogpt", o.nanogpt, "--model",
                                    o.model, "--batch", str(batch), "--length", str(o.length), "--steps", str(o.steps), "--peer", kind]
        rounds = {name: [] for name in contenders}
        for _ in range(o.rounds):
            for name, command in contenders.items():
                rounds[name].append(round_of(command))
        mine = statistics.median(r["milliseconds"] for r in rounds["nereid"])
        for name, results in rounds.items():
            times = [r["milliseconds"] for r in results]
            middle = statistics.median(times)
            row = {"model": o.model, "batch": batch, "name": name, "milliseconds": middle, "ratio": middle / mine,
                   "spread": (max(times) - min(times)) / middle, "tokensPerSecond": batch * o.length / middle * 1e3,
                   "memory": max(r["memory"] for r in results)}
            rows.append(row)
            print(f"{o.model} B={batch} T={o.length} {name:9} {middle:8.2f} ms +- {100 * row['spread']:.1f} % "
                  f"{row['tokensPerSecond'] / 1e3:7.0f}k tokens/s {row['memory'] / 2**30:6.2f} GiB, "
                  f"Nereid is {row['ratio']:.2f} times as fast", flush=True)
    if o.json:
        Path(o.json).write_text(json.dumps(rows, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
