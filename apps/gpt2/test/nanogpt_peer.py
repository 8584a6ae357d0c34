"""nanoGPT's ckpt.pt beside nereid-gpt2: what it trained goes on here with the losses and gradient norms that PyTorch has on the
same batches; what torch.save writes in other forms is read, or refused by name; and no pickle runs anything.

    .venv/bin/python apps/gpt2/test/nanogpt_peer.py build/bin/nereid-gpt2 [--nanogpt=FOLDER] [--steps=20]

`--nanogpt` is a clone of karpathy/nanoGPT, whose train.py then trains; without it reference_gpt2.py's model does, and is saved
in the same form. Ends with 77 where PyTorch is not installed.
"""
import argparse
import json
import math
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types
import zipfile

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from program import Program, words_of
from token_files import read_part

LOSSES, NORMS = 1e-4, 1e-3
FIRST = 30  # steps of theirs
OPTIONS = dict(n_layer=2, n_head=2, n_embd=64, block_size=32, batch_size=4, gradient_accumulation_steps=2, dropout=0.0,
               learning_rate=1e-3, min_lr=1e-4, warmup_iters=5, lr_decay_iters=100, beta2=0.99, weight_decay=0.1, grad_clip=1.0)


def philox(key, high, low):
    """64 bits of Philox 4x32-10, from the paper's description."""
    mask = 2**32 - 1
    k, c = [key & mask, key >> 32], [low & mask, low >> 32, high & mask, high >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c[1] << 32 | c[0]


def batch(tokens, micro_step, seed=1337):
    rows, block = OPTIONS["batch_size"], OPTIONS["block_size"]
    starts = [philox(seed, micro_step, row) * (len(tokens) - block) >> 64 for row in range(rows)]
    return tuple(torch.tensor(np.stack([tokens[s + shift:s + shift + block] for s in starts]), dtype=torch.long) for shift in (0, 1))


def rate(step):
    o = types.SimpleNamespace(**OPTIONS)
    if step < o.warmup_iters:
        return o.learning_rate * (step + 1) / (o.warmup_iters + 1)
    part = (step - o.warmup_iters) / (o.lr_decay_iters - o.warmup_iters)
    return o.min_lr + 0.5 * (1 + math.cos(math.pi * part)) * (o.learning_rate - o.min_lr)


def make_model(nanogpt, model_args):
    if nanogpt:
        sys.path.insert(0, str(nanogpt))
        from model import GPT, GPTConfig
        return GPT(GPTConfig(**model_args))
    from reference_gpt2 import Gpt2
    return Gpt2(types.SimpleNamespace(gelu="none", **model_args), model_args["vocab_size"])


def make_optimizer(model):
    parameters = [p for _, p in model.named_parameters()]
    groups = [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": OPTIONS["weight_decay"]},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, OPTIONS["beta2"]))


def go_on(model, optimizer, tokens, first, last):
    """(loss, norm) of each step on the batches of nereid-gpt2."""
    curve, micro = [], OPTIONS["gradient_accumulation_steps"]
    for step in range(first, last):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        total = 0.0
        for i in range(micro):
            result = model(*batch(tokens, step * micro + i))
            loss = (result[1] if isinstance(result, tuple) else result) / micro
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), OPTIONS["grad_clip"]).item()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        curve.append((total, norm))
    return curve


def train_theirs(o, folder, tokens, vocabulary, bias):
    """A folder with ckpt.pt, after FIRST steps."""
    out = folder / f"theirs-{bias}"
    if o.nanogpt:
        data = folder / "data/theirs"
        data.mkdir(parents=True, exist_ok=True)
        for part in "train", "val":
            tokens.astype(np.uint16).tofile(data / f"{part}.bin")
        (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": vocabulary}))
        words = words_of(OPTIONS | dict(bias=bias, dataset="theirs", out_dir=out, device="cpu", compile=False, max_iters=FIRST,
                                        eval_interval=FIRST, eval_iters=2, log_interval=1, dtype="float32"))
        for name in "train.py", "model.py", "configurator.py":
            (folder / name).write_bytes((o.nanogpt / name).read_bytes())
        subprocess.run([sys.executable, "train.py", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return out
    args = dict(n_layer=2, n_head=2, n_embd=64, block_size=32, bias=bias, vocab_size=vocabulary, dropout=0.0)
    torch.manual_seed(1)
    model = make_model(None, args)
    optimizer = make_optimizer(model)
    go_on(model, optimizer, tokens, 0, FIRST)
    out.mkdir()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "model_args": args, "iter_num": FIRST,
                "best_val_loss": torch.tensor(9.0), "config": OPTIONS | dict(dataset="text", bias=bias, eval_iters=2, log_interval=1)}, out / "ckpt.pt")
    return out


def compare(o, ours, tokens, vocabulary, bias):
    out = train_theirs(o, ours.folder, tokens, vocabulary, bias)
    checkpoint = torch.load(out / "ckpt.pt", weights_only=False)
    assert checkpoint["iter_num"] == FIRST, checkpoint["iter_num"]
    model = make_model(o.nanogpt, checkpoint["model_args"])
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(checkpoint["optimizer"])
    theirs = go_on(model, optimizer, tokens, FIRST, FIRST + o.steps)
    result = ours.run("train", "--init_from=resume", f"--out_dir={out}", "--dataset=text", "--device=cpu", f"--max_iters={FIRST + o.steps}",
                      "--eval_iters=2", *words_of({name: value for name, value in OPTIONS.items() if not name.startswith("n_")}))
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    own = [(line["loss"], line["grad_norm"]) for line in lines if "loss" in line]
    assert [line["iter"] for line in lines if "loss" in line] == list(range(FIRST, FIRST + o.steps)), lines
    losses, norms = (max(abs(a[i] - b[i]) / abs(b[i]) for a, b in zip(own, theirs)) for i in (0, 1))
    print(f"bias {bias}: after {FIRST} steps of {'nanoGPT' if o.nanogpt else 'the reference'}, {o.steps} steps here: losses "
          f"{theirs[0][0]:.4f} to {theirs[-1][0]:.4f} agree to {losses:.1e}, norms to {norms:.1e}", flush=True)
    if not (len(own) == o.steps and losses <= LOSSES and norms <= NORMS):
        sys.exit(f"error: expected losses that agree to {LOSSES} and norms to {NORMS}")
    # Without options it has those of nanoGPT's run.
    again = ours.folder / f"again-{bias}"
    again.mkdir()
    (again / "ckpt.pt").write_bytes((out / "ckpt.pt").read_bytes())
    result = ours.run("train", "--init_from=resume", f"--out_dir={again}", "--dataset=text", "--device=cpu", f"--max_iters={FIRST + 2}")
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in (again / "log.jsonl").read_text().splitlines()]
    assert [(line["loss"], line["grad_norm"]) for line in lines if "loss" in line] == own[:2], lines
    # Other commands, and a run that begins with the weights.
    file = str(out / "ckpt.pt")
    for words in (["eval", f"--init_from={file}", "--dataset=text", "--device=cpu", "--eval_iters=2", "--batch_size=2"],
                  ["sample", f"--init_from={file}", "--dataset=text", "--device=cpu", "--num_samples=1", "--max_new_tokens=5"],
                  ["export", f"--from={file}", f"--to={out}/exported"],
                  ["train", f"--init_from={file}", f"--out_dir={out}/tuned", "--dataset=text", "--device=cpu", "--max_iters=2",
                   "--eval_iters=1", "--batch_size=2", "--gradient_accumulation_steps=1", "--block_size=32"]):
        result = ours.run(*words)
        assert result.returncode == 0, f"{words}: {result.stderr}"


class Hostile:
    """What runs a command in the program that loads it as a pickle."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def forms(ours):
    """Files of torch.save that are read, and those that are refused, by what the message has."""
    folder = ours.folder
    args = dict(n_layer=1, n_head=2, n_embd=8, block_size=4, bias=True, vocab_size=11, dropout=0.1)
    model = make_model(None, args)
    whole = {"model": model.state_dict(), "model_args": args, "iter_num": 1, "best_val_loss": 1.0, "config": {}}

    def expect(path, status, message=""):
        result = ours.run("export", f"--from={path}", f"--to={folder / 'exported'}")
        assert result.returncode == status and message in result.stderr, f"{path}: {result.returncode}, {result.stderr}"
        print(f"{path.name}: {result.stderr.strip() or 'read'}")

    def save(name, value, **more):
        torch.save(value, folder / name, **more)
        return folder / name

    expect(save("plain.pt", whole), 0)
    half = whole | {"model": {name: value.bfloat16() for name, value in model.state_dict().items()}}
    expect(save("bf16.pt", half), 0)
    expect(save("parameters.pt", whole | {"model": dict(model.named_parameters())}), 0)
    torch.serialization.set_crc32_options(False)
    expect(save("no-checksums.pt", whole), 0)
    torch.serialization.set_crc32_options(True)
    expect(save("old.pt", whole, _use_new_zipfile_serialization=False), 1, "since 1.6, got a file of an older form")
    packed = folder / "packed.pt"
    with zipfile.ZipFile(folder / "plain.pt") as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
    expect(packed, 1, "compressed by method 8")
    stored = folder / "stored.pt"
    with zipfile.ZipFile(folder / "plain.pt") as source, zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry), )
    expect(stored, 0)
    expect(save("module.pt", model), 1, "it names '")
    marker = folder / "ran"
    expect(save("hostile.pt", whole | {"config": Hostile(marker)}), 1, "it names 'posix.system'")
    assert not marker.exists()
    deep = []
    for _ in range(200):
        deep = [deep]
    expect(save("deep.pt", whole | {"config": deep}), 1, "more than 64 deep")
    loop = []
    loop.append(loop)
    expect(save("loop.pt", whole | {"config": loop}), 1, "holds itself")
    bomb = []
    for _ in range(40):
        bomb = [bomb] * 10
    expect(save("bomb.pt", whole | {"config": bomb}), 1, "again and again")
    expect(save("long.pt", whole | {"iter_num": 2**70}), 1, "at most 8 bytes")
    content = (folder / "plain.pt").read_bytes()
    cut = folder / "cut.pt"
    cut.write_bytes(content[:-1000])
    expect(cut, 1, "cut off")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--nanogpt", type=lambda text: pathlib.Path(text).resolve(), default=None)
    parser.add_argument("--steps", type=int, default=20)
    o = parser.parse_args()
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as name:
        ours = Program(o.program, name)
        ours.prepare()
        tokens = np.array(read_part(ours.folder / "data/text"), dtype=np.int64)
        vocabulary = json.loads((ours.folder / "data/text/meta.json").read_text())["vocab_size"]
        forms(ours)
        for bias in False, True:
            compare(o, ours, tokens, vocabulary, bias)


main()
