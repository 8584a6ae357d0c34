#!/usr/bin/env python3
"""Tokens a second of `nereid-gpt2 sample` beside `transformers`, greedily, with the same random weights.

    python3 bench/gpt2/compare_sampling.py build/bin/nereid-gpt2 --model 124M --batch 1 --tokens 500

`transformers` generates with its static cache, and on a GPU with its forward pass compiled (mode "reduce-overhead": one CUDA
graph a token). Its rate is that of the tokens after the first ones, as ours is: two lengths are timed, and what they differ by
counts. Contenders take turns in rounds, each in a process of its own; what counts is the median. Without torch or transformers
only Nereid runs.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nanogpt_peer

SHAPES = {"tiny": (2, 4, 64), **nanogpt_peer.SHAPES}
TOKENS = 50257
TYPES = {"bfloat16": "bfloat16", "float32": "float32"}


def peer(o):
    """One round of transformers, in this process: a line of JSON."""
    import torch
    from transformers import GPT2LMHeadModel

    device = o.device
    model = GPT2LMHeadModel.from_pretrained(o.folder).to(device=device, dtype=getattr(torch, TYPES[o.dtype])).eval()
    model.generation_config.cache_implementation = "static"
    prompt = torch.full((o.batch, 1), 5, device=device)

    def seconds(count):
        begin = time.perf_counter()
        with torch.no_grad():
            out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, min_new_tokens=count,
                                 do_sample=False, pad_token_id=0, eos_token_id=None)
        out.tolist()
        assert out.shape[1] == 1 + count
        return time.perf_counter() - begin

    short = max(o.tokens // 5, 1)
    for count in (o.tokens, short):
        seconds(count)  # compiles
    rate = o.batch * (o.tokens - short) / (min(seconds(o.tokens) for _ in range(2)) - min(seconds(short) for _ in range(2)))
    # On a GPU `generate` itself compiles the pass of a token, where the cache is static.
    assert device == "cpu" or hasattr(model, "_compiled_call"), "transformers did not compile the model"
    print(json.dumps({"rate": rate}))


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def ours(o, folder):
    done = run([o.program, "sample", f"--init_from={folder}/model", f"--dataset={folder}/data", "--start=" + letters()[5],
                f"--num_samples={o.batch}", f"--max_new_tokens={o.tokens}", "--temperature=0", f"--device={o.device}",
                f"--dtype={o.dtype}"])
    return {"rate": float(re.search(r"(\d+) tokens/s", done.stderr)[1]), "line": done.stderr.strip().splitlines()[-1]}


def letters():
    """As many characters as GPT-2 has tokens: a vocabulary of the usual size."""
    return [chr(c) for c in range(0xA1, 0xD800) if chr(c).isprintable()][:TOKENS]


def make_model(o, folder):
    """A model of random weights, as both programs read it."""
    layers, heads, width = SHAPES[o.model]
    (folder / "text.txt").write_text("".join(letters()) * 2, encoding="utf-8")
    run([o.program, "prepare", folder / "text.txt", f"--dataset={folder}/data"])
    run([o.program, "train", f"--dataset={folder}/data", f"--out_dir={folder}/out", f"--n_layer={layers}", f"--n_head={heads}",
         f"--n_embd={width}", "--block_size=1024", "--bias=True", "--batch_size=1", "--gradient_accumulation_steps=1",
         "--max_iters=1", "--eval_interval=1", "--eval_iters=1", f"--device={o.device}", "--dtype=float32", "--learning_rate=0",
         "--decay_lr=False"])
    run([o.program, "export", f"--out_dir={folder}/out", f"--to={folder}/model"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--model", default="124M", choices=SHAPES)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=500, help="of a text, at most 1023")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--dtype", default="bfloat16", choices=TYPES)
    parser.add_argument("--json", default="")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.peer:
        return peer(o)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
        has_peer = True
    except ImportError as error:
        print(f"Nereid alone: {error}")
        has_peer = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(o, folder)
        rates = {"nereid": []} | ({"transformers": []} if has_peer else {})
        line = ""
        for _ in range(o.rounds):
            result = ours(o, folder)
            rates["nereid"].append(result["rate"])
            line = result["line"]
            if has_peer:
                command = [sys.executable, __file__, o.program, "--peer", "--folder", folder / "model"]
                command += [f"--{key}={getattr(o, key)}" for key in ("batch", "tokens", "device", "dtype")]
                rates["transformers"].append(json.loads(run(command).stdout.strip().splitlines()[-1])["rate"])
    middle = {key: statistics.median(values) for key, values in rates.items()}
    print(f"nereid-gpt2: {line}")
    for key, rate in middle.items():
        spread = (max(rates[key]) - min(rates[key])) / rate
        print(f"{o.model} B={o.batch} {o.dtype} {key:12} {rate:9.0f} tokens/s +- {100 * spread:.1f} %, "
              f"Nereid is {middle['nereid'] / rate:.2f} times as fast")
    if o.json:
        Path(o.json).write_text(json.dumps(rates, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
