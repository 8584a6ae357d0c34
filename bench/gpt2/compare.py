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

from nanogpt_peer import SHAPES, timed_steps


def peer(o):
    """One round of nanoGPT, in this process: a line of JSON."""
    import torch

    print(json.dumps(timed_steps(o, 1337, torch.compile if o.peer == "compiled" else lambda model: model)))


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
