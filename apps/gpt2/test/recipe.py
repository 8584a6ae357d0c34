"""nanoGPT's recipes for characters, from the text to the last evaluation, and PyTorch's time for the same.

    .venv/bin/python apps/gpt2/test/recipe.py build/bin/nereid-gpt2 [--text=FILE|URL] [--device=cpu|cuda] [--steps=2000]
        [--peer=both|eager|compiled|none] [--nanogpt=FOLDER] [--rounds=3] [--threads=2] [--cpu_at_most=0.9] [--json=FILE] [--short]

cpu: 4 layers of 128, context 64, batch 12, 2000 steps; the last validation loss is at most 1.88, and PyTorch
(reference_gpt2.py, as many threads; with --nanogpt, a checkout of karpathy/nanoGPT, its train.py) is not faster. cuda: 6 layers of 384, context 256, batch 64, 5000 steps, dropout 0.2; the
best validation loss is at most 1.48, and a text is drawn from that checkpoint. Limits hold for the whole number of steps.

Contenders take turns, and the medians of the rounds are compared; 5 % is left to noise. Of Nereid the time of the process
counts, of PyTorch that of training and evaluation alone (of nanoGPT what a run of no steps takes is left out); the first round, which compiles kernels, is not counted where there
are more. `--cpu_at_most` is of the time that all cores were busy, beside that of the peer which took less of it: other programs
disturb that less. `--short` trains a smaller model on the pages of this repository: its loss must be below that of the best table of
pairs of characters. Ends with 77 where there is no text, no such device, or no PyTorch for a peer.
"""
import argparse
import array
import glob
import importlib.util
import json
import math
import os
import pathlib
import pickle
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[3]
TEXT = ROOT.parent / "shared/data/tinyshakespeare.txt"
NOISE = 1.05
# nanoGPT's config/train_shakespeare_char.py, and for the processor what its README changes.
COMMON = dict(learning_rate=1e-3, min_lr=1e-4, beta2=0.99, warmup_iters=100, eval_interval=250)
CPU = COMMON | dict(n_layer=4, n_head=4, n_embd=128, block_size=64, batch_size=12, dropout=0.0, eval_iters=20, log_interval=100)
GPU = COMMON | dict(n_layer=6, n_head=6, n_embd=384, block_size=256, batch_size=64, dropout=0.2, eval_iters=200, log_interval=100)
SHORT = CPU | dict(n_layer=2, n_embd=64, block_size=32, eval_iters=40)
STEPS = {"cpu": 2000, "cuda": 5000}
LIMIT = {"cpu": 1.88, "cuda": 1.48}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def times():
    """Now, and how long cores have worked for this program's children."""
    return time.perf_counter(), sum(os.times()[2:4])


def run(words, cwd=None, **environment):
    before = times()
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stdout, *(now - then for now, then in zip(times(), before))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--text", default=str(TEXT), help="a file or an address")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--peer", default="", choices=["eager", "compiled", "both", "none"], help="cpu: both; cuda: none")
    parser.add_argument("--nanogpt", type=pathlib.Path, help="a checkout of nanoGPT, whose train.py is the peer")
    parser.add_argument("--rounds", type=int, default=3, help="of the timing")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cpu_at_most", type=float, default=0, help="of the peer's CPU time; 0: any")
    parser.add_argument("--json", default="", help="what was measured")
    parser.add_argument("--short", action="store_true")
    o = parser.parse_args()
    o.peer = o.peer or ("both" if o.device == "cpu" and not o.short else "none")
    o.peers = {"both": ["eager", "compiled"], "none": []}.get(o.peer, [o.peer])
    o.isWhole = not o.short and o.steps in (0, STEPS[o.device])
    o.steps = o.steps or STEPS[o.device]
    if o.peers and o.text.startswith("http"):
        parser.error("--text: expected a file beside a --peer, got an address")
    if o.nanogpt and (o.short or not (o.nanogpt / "train.py").exists()):
        parser.error("--nanogpt: expected a checkout of nanoGPT, and no --short")
    return o


def loss_of_pairs(paths):
    """Of a table that says which character follows which, with the counts of the training part, on the validation part."""
    text = "".join(pathlib.Path(path).read_text() for path in paths)
    cut, symbols = int(len(text) * 0.9), len(set(text))
    pairs, firsts = Counter(zip(text[:cut], text[1:cut])), Counter(text[:cut - 1])
    rest = Counter(zip(text[cut:], text[cut + 1:]))
    return sum(n * -math.log((pairs[p] + 1) / (firsts[p[0]] + symbols)) for p, n in rest.items()) / rest.total()


def prepare(o, folder):
    """The data set; the limit of the validation loss, where there is one."""
    texts, limit = [o.text], LIMIT[o.device] if o.isWhole else math.inf
    if o.short:
        texts = sorted(glob.glob(f"{ROOT}/docs/*.md"))
        limit = loss_of_pairs(texts)
    elif not o.text.startswith("http") and not pathlib.Path(o.text).exists():
        skip(f"no text at {o.text}; --text names one")
    print(run([o.program, "prepare", *texts, f"--dataset={folder}/data"])[0].strip())
    return limit


def prepare_nanogpt(o, folder):
    """nanoGPT's programs, and the text as its data/shakespeare_char/prepare.py writes it."""
    text = pathlib.Path(o.text).read_text()
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    cut, data = int(len(text) * 0.9), pathlib.Path(folder, "nanogpt/data/text")
    data.mkdir(parents=True)
    for part, characters in ("train", text[:cut]), ("val", text[cut:]):
        array.array("H", [number[c] for c in characters]).tofile((data / f"{part}.bin").open("wb"))
    meta = {"vocab_size": len(number), "stoi": number, "itos": {i: c for c, i in number.items()}}
    (data / "meta.pkl").write_bytes(pickle.dumps(meta))
    for name in "train.py", "model.py", "configurator.py":
        shutil.copy(o.nanogpt / name, data.parents[1])


def commands_of(o, folder):
    options = (SHORT if o.short else CPU if o.device == "cpu" else GPU) | dict(max_iters=o.steps, lr_decay_iters=o.steps)
    words = [f"--{name}={value}" for name, value in options.items()]
    peer = [sys.executable, pathlib.Path(__file__).with_name("reference_gpt2.py"), "train", f"--dataset={o.text}",
            f"--threads={o.threads}", f"--device={o.device}", *words]
    compiled = ["--compile"]
    if o.nanogpt:
        prepare_nanogpt(o, folder)
        peer = [sys.executable, "train.py", "--dataset=text", f"--device={o.device}", "--gradient_accumulation_steps=1",
                "--always_save_checkpoint=False", "--compile=False", *words]
        compiled = ["--compile=True"]
    if o.device == "cuda":
        peer += ["--dtype=bfloat16"]
    return {
        "nereid": [o.program, "train", f"--dataset={folder}/data", f"--out_dir={folder}/out", f"--device={o.device}",
                   "--overwrite", "--gradient_accumulation_steps=1", "--always_save_checkpoint=False", *words],
        "eager": peer,
        "compiled": peer + compiled,
    }


def contend(o, commands, folder):
    """By contender: validation losses of one run, and seconds of each."""
    losses, seconds, cpu, start = {}, {}, {}, {}
    home = pathlib.Path(folder, "nanogpt") if o.nanogpt else None
    threads = dict(NEREID_NUM_THREADS=str(o.threads), OMP_NUM_THREADS=str(o.threads))
    for round in range(o.rounds if o.peers else 1):
        for contender in ["nereid", *o.peers]:
            theirs = contender != "nereid"
            if theirs and o.nanogpt and contender not in start:
                # Imports, the model and the first batch: no step, and no evaluation.
                start[contender] = run([*commands[contender], "--eval_only=True", "--eval_iters=0", "--compile=False"], home, **threads)[1:]
            output, elapsed, busy = run(commands[contender], home if theirs else None, **threads)
            if theirs and o.nanogpt:
                elapsed, busy = elapsed - start[contender][0], busy - start[contender][1]
            elif theirs:
                elapsed, busy = map(float, re.fullmatch(r"([\d.]+) s, ([\d.]+) s of CPU", output.splitlines()[-1]).groups())
            losses[contender] = [float(loss) for loss in re.findall(r"val loss ([\d.]+)", output)]
            seconds.setdefault(contender, []).append(elapsed)
            cpu.setdefault(contender, []).append(busy)
            print(f"round {round}, {contender}: {elapsed:.1f} s, {busy:.1f} s of CPU, validation loss {losses[contender][-1]:.4f} at the end, "
                  f"{min(losses[contender]):.4f} at best", flush=True)
    return losses, seconds, cpu


def medians_of(seconds):
    return {name: statistics.median(all[len(all) > 1:]) for name, all in seconds.items()}


def compare(o, medians, what):
    """Ours beside the faster peer's."""
    faster = min(o.peers, key=medians.get)
    ratio = medians["nereid"] / medians[faster]
    print(f"{what}: {', '.join(f'{name} {s:.1f} s' for name, s in medians.items())}; ours / PyTorch's faster ({faster}): {ratio:.2f}")
    return ratio


def main():
    o = parse()
    if o.peers and not importlib.util.find_spec("torch"):
        skip("no PyTorch here; --peer=none checks the loss alone")
    if o.device == "cuda" and not glob.glob("/dev/nvidia[0-9]*"):
        skip("no GPU here")
    with tempfile.TemporaryDirectory() as folder:
        limit = prepare(o, folder)
        losses, seconds, cpu = contend(o, commands_of(o, folder), folder)
        loss = losses["nereid"][-1] if o.device == "cpu" else min(losses["nereid"])
        medians, medians_of_cpu = medians_of(seconds), medians_of(cpu)
        measured = dict(device=o.device, steps=o.steps, threads=o.threads, loss=loss, limit=limit, losses=losses, seconds=seconds,
                        medians=medians, cpu=cpu)
        if o.device == "cuda" and o.isWhole:
            measured["text"] = run([o.program, "sample", f"--out_dir={folder}/out", "--device=cuda", "--start=ROMEO:",
                                    "--num_samples=1", "--max_new_tokens=500"])[0]
            print(measured["text"])
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps(measured, indent=1) + "\n")
    print(f"validation loss {loss:.4f}" + (f", limit {limit:.4f}" if limit < math.inf else ""))
    ratio = ratio_of_cpu = 0.0
    if o.peers:
        ratio = compare(o, medians, "medians")
        ratio_of_cpu = compare(o, medians_of_cpu, "CPU time")
    if not loss <= limit:
        sys.exit(f"error: expected a validation loss of at most {limit:.4f}, got {loss:.4f}")
    if 0 < o.cpu_at_most < ratio_of_cpu:
        sys.exit(f"error: expected at most {o.cpu_at_most} of PyTorch's CPU time, got {ratio_of_cpu:.2f} of it")
    if ratio > NOISE and o.isWhole:
        sys.exit(f"error: expected no more time than PyTorch's (and {NOISE - 1:.0%} of noise), got {ratio:.2f} of it")


main()
