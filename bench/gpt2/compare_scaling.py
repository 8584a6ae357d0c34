#!/usr/bin/env python3
"""Training on several GPUs of one host: nereid-gpt2 on 1, 2, 4 ... of them, beside nanoGPT with PyTorch's DDP and torch.compile.

    git clone https://github.com/karpathy/nanoGPT /tmp/nanoGPT
    python3 bench/gpt2/compare_scaling.py build/bin/nereid-gpt2 --nanogpt /tmp/nanoGPT --model 124M --batch 32 --gpus 1 2 4

Each GPU has the same work: one micro-step of `--batch` sequences, in bf16, with clipping at 1 and AdamW. nereid-gpt2 trains on a
random token file; nanoGPT steps on a random batch that lies on the device. What counts is the median step. Efficiency is a
GPU's tokens a second beside those of one GPU alone (the first of --gpus must be 1), waiting the rest of the step: all that a step has on top of one GPU's, which is
communication that backward does not hide, and GPUs that wait for the slowest one. Multicast over NVLink stays as the environment
says (NCCL_NVLS_ENABLE).
"""

import argparse
import array
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from nanogpt_peer import SHAPES, VOCABULARY, timed_steps


def peer(o):
    """nanoGPT under DDP in one of the processes that torchrun has started: a line of JSON from the first one."""
    import torch

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    if size > 1:
        torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))

    def forward_of(model):
        compiled = torch.compile(model)
        return torch.nn.parallel.DistributedDataParallel(compiled, device_ids=[rank]) if size > 1 else compiled

    times = timed_steps(o, 1337 + rank, forward_of)
    if rank == 0:
        print(json.dumps(times))
    if size > 1:
        torch.distributed.destroy_process_group()


def lines_of(command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{run.stdout[-2000:]}{run.stderr[-4000:]}")
    return run.stdout.strip().splitlines()


def peer_round(o, model, batch, gpus):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={gpus}", str(Path(__file__).resolve()),
               o.program, "--nanogpt", o.nanogpt, "--model", model, "--batch", str(batch), "--length", str(o.length), "--steps", str(o.steps),
               "--peer"]
    return json.loads(lines_of(command)[-1])


def round_of(o, model, batch, gpus, data):
    layers, heads, width = SHAPES[model]
    with tempfile.TemporaryDirectory() as out:
        lines_of([o.program, "train", f"--gpus={gpus}", f"--dataset={data}", f"--out_dir={out}", f"--n_layer={layers}", f"--n_head={heads}",
                  f"--n_embd={width}", f"--block_size={o.length}", "--vocab_size=50304", f"--batch_size={batch}",
                  f"--gradient_accumulation_steps={gpus}", "--tanh_gelu=False", f"--max_iters={10 + o.steps}", "--log_interval=5",
                  "--eval_interval=1000000", "--eval_iters=1", "--dtype=bfloat16", *o.options])
        steps = [json.loads(line) for line in (Path(out) / "log.jsonl").read_text().splitlines()]
    steps = [s for s in steps if "ms" in s and s["iter"] >= 10]
    return {"milliseconds": statistics.median(s["ms"] for s in steps), "memory": max(s["memory_bytes"] for s in steps)}


def write_tokens(folder):
    """nanoGPT's files: random tokens."""
    source = random.Random(1)
    for name, count in (("train.bin", 2_000_000), ("val.bin", 200_000)):
        (folder / name).write_bytes(array.array("H", source.choices(range(VOCABULARY), k=count)).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--nanogpt", default="", help="a checkout of nanoGPT")
    parser.add_argument("--model", default="124M", choices=SHAPES)
    parser.add_argument("--batch", type=int, nargs="+", default=[32], help="sequences a GPU")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--options", nargs="*", default=[], help="of nereid-gpt2 train, such as recompute=True")
    parser.add_argument("--json", default="")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.peer:
        return peer(o)
    if o.gpus[0] != 1:
        parser.error(f"--gpus: expected 1 first, which efficiency is relative to, got {o.gpus[0]}")
    o.options = [f"--{option}" for option in o.options]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        write_tokens(data)
        for batch in o.batch:
            alone = None
            for gpus in o.gpus:
                rounds = {"nereid": [], "DDP": []}
                for _ in range(o.rounds):
                    rounds["nereid"].append(round_of(o, o.model, batch, gpus, data))
                    if o.nanogpt:
                        rounds["DDP"].append(peer_round(o, o.model, batch, gpus))
                times = {name: statistics.median(r["milliseconds"] for r in results) for name, results in rounds.items() if results}
                alone = alone or times["nereid"]
                row = {"model": o.model, "batch": batch, "gpus": gpus, "milliseconds": times["nereid"],
                       "tokensPerSecond": gpus * batch * o.length / times["nereid"] * 1e3, "efficiency": alone / times["nereid"],
                       "memory": max(r["memory"] for r in rounds["nereid"])}
                text = (f"{o.model} B={batch} {gpus} GPUs {row['milliseconds']:8.2f} ms {row['tokensPerSecond'] / 1e3:7.0f}k tokens/s "
                        f"efficiency {row['efficiency']:.3f} waiting {max(0, 1 - row['efficiency']):.3f} {row['memory'] / 2**30:6.2f} GiB a GPU")
                if "DDP" in times:
                    row |= {"peerMilliseconds": times["DDP"], "ratio": times["DDP"] / times["nereid"],
                            "peerMemory": max(r["memory"] for r in rounds["DDP"])}
                    text += (f"; DDP compiled {times['DDP']:.2f} ms {row['peerMemory'] / 2**30:.2f} GiB, Nereid is {row['ratio']:.2f} "
                             "times as fast")
                rows.append(row)
                print(text, flush=True)
    if o.json:
        Path(o.json).write_text(json.dumps(rows, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
