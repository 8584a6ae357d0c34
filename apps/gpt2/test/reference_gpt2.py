#!/usr/bin/env python3
"""GPT-2 in PyTorch, written for comparison with nereid-gpt2.

    reference_gpt2.py train --dataset tinyshakespeare.txt [--compile] [--max_iters 2000]    # the CPU recipe: losses and time
    reference_gpt2.py export --out model.safetensors ...     # weights, batches, 100 steps' losses and the first gradients

Text files are read as characters: the last tenth is for validation.
"""
import argparse
import copy
import json
import math
import struct
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):

    def __init__(self, width, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Block(nn.Module):

    def __init__(self, o):
        super().__init__()
        w = o.n_embd
        self.heads, self.dropout, self.gelu = o.n_head, o.dropout, o.gelu
        self.ln_1, self.ln_2 = Norm(w, o.bias), Norm(w, o.bias)
        self.attn, self.mlp = nn.Module(), nn.Module()
        self.attn.c_attn = nn.Linear(w, 3 * w, bias=o.bias)
        self.attn.c_proj = nn.Linear(w, w, bias=o.bias)
        self.mlp.c_fc = nn.Linear(w, 4 * w, bias=o.bias)
        self.mlp.c_proj = nn.Linear(4 * w, w, bias=o.bias)

    def forward(self, x):
        b, t, w = x.shape
        p = self.dropout if self.training else 0.0
        q, k, v = (part.view(b, t, self.heads, w // self.heads).transpose(1, 2)
                   for part in self.attn.c_attn(self.ln_1(x)).split(w, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        x = x + F.dropout(self.attn.c_proj(y.transpose(1, 2).reshape(b, t, w)), p)
        return x + F.dropout(self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)), approximate=self.gelu)), p)


class Gpt2(nn.Module):

    def __init__(self, o, vocabulary):
        super().__init__()
        self.o = o
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, o.n_embd),
            "wpe": nn.Embedding(o.block_size, o.n_embd),
            "h": nn.ModuleList(Block(o) for _ in range(o.n_layer)),
            "ln_f": Norm(o.n_embd, o.bias),
        })
        for name, p in self.named_parameters():
            if p.dim() >= 2:
                scale = 1 / math.sqrt(2 * o.n_layer) if name.endswith("c_proj.weight") else 1.0
                nn.init.normal_(p, 0.0, 0.02 * scale)
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def forward(self, tokens, targets):
        t = self.transformer
        x = t.wte(tokens) + t.wpe.weight[:tokens.shape[1]]
        x = F.dropout(x, self.o.dropout if self.training else 0.0)
        for block in t.h:
            x = block(x)
        logits = F.linear(t.ln_f(x), t.wte.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


def rate_at(o, step):
    if step < o.warmup_iters:
        return o.learning_rate * (step + 1) / (o.warmup_iters + 1)
    if step > o.lr_decay_iters:
        return o.min_lr
    share = (step - o.warmup_iters) / (o.lr_decay_iters - o.warmup_iters)
    return o.min_lr + 0.5 * (1 + math.cos(math.pi * share)) * (o.learning_rate - o.min_lr)


def optimizer_of(model, o):
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": o.weight_decay},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=o.learning_rate, betas=(o.beta1, o.beta2), fused=o.device.startswith("cuda"))


class Text:

    def __init__(self, path, o):
        text = open(path, "rb").read()
        names = sorted(set(text))
        number = np.zeros(256, np.int64)
        number[names] = np.arange(len(names))
        tokens = number[np.frombuffer(text, np.uint8)]
        self.vocabulary = len(names)
        cut = int(len(tokens) * 0.9)
        self.parts = {"train": tokens[:cut], "val": tokens[cut:]}
        self.o = o
        self.random = np.random.default_rng(o.seed if o.data_seed < 0 else o.data_seed)

    def batch(self, part):
        data, length = self.parts[part], self.o.block_size
        at = self.random.integers(0, len(data) - length, self.o.batch_size)
        x = torch.from_numpy(np.stack([data[i:i + length] for i in at]))
        y = torch.from_numpy(np.stack([data[i + 1:i + 1 + length] for i in at]))
        return x.to(self.o.device), y.to(self.o.device)


def one_step(step, forward, model, optimizer, batch, o):
    for group in optimizer.param_groups:
        group["lr"] = rate_at(o, step)
    with torch.autocast(o.device.split(":")[0], torch.bfloat16, enabled=o.dtype == "bfloat16"):
        loss = forward(*batch)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), o.grad_clip) if o.grad_clip else None
    optimizer.step()
    return loss, norm


def train(o):
    data = Text(o.dataset, o)
    model = Gpt2(o, data.vocabulary).to(o.device)
    optimizer = optimizer_of(model, o)
    forward = torch.compile(model) if o.compile else model

    @torch.no_grad()
    def evaluate(part):
        model.eval()
        loss = sum(model(*data.batch(part)).item() for _ in range(o.eval_iters)) / o.eval_iters
        model.train()
        return loss

    begin, cpu, warm = time.perf_counter(), time.process_time(), None
    for step in range(o.max_iters):
        if step % o.eval_interval == 0:
            print(f"step {step}: train loss {evaluate('train'):.4f}, val loss {evaluate('val'):.4f}", flush=True)
        loss, _ = one_step(step, forward, model, optimizer, data.batch("train"), o)
        optimizer.zero_grad(set_to_none=True)
        if step == 10:
            warm = time.perf_counter()
        if step > 10 and step % o.log_interval == 0:
            print(f"iter {step}: loss {loss.item():.4f}, {(time.perf_counter() - warm) / (step - 10) * 1e3:.2f} ms a step", flush=True)
    print(f"step {o.max_iters}: train loss {evaluate('train'):.4f}, val loss {evaluate('val'):.4f}")
    print(f"{time.perf_counter() - begin:.1f} s, {time.process_time() - cpu:.1f} s of CPU")


def write_safetensors(path, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, t in tensors.items():
        size = t.numel() * t.element_size()
        dtype = {torch.float32: "F32", torch.int32: "I32", torch.int64: "I64", torch.float64: "F64"}[t.dtype]
        header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            f.write(t.contiguous().cpu().numpy().tobytes())


def export(o):
    """Weights in our layout ([out, in]), batches, losses and norms of each step, and the first step's gradients in the
    precision of the run ("grad.NAME") and in float64 ("exact.NAME"), in one safetensors file."""
    torch.manual_seed(o.seed)
    if o.dataset:
        data = Text(o.dataset, o)
        vocabulary, batch = data.vocabulary, lambda: data.batch("train")
    else:
        vocabulary = 101

        def batch():
            x = torch.randint(0, vocabulary, (o.batch_size, o.block_size + 1), device=o.device)
            return x[:, :-1], x[:, 1:]

    model = Gpt2(o, vocabulary).to(o.device)
    if o.bias:  # biases and norms that matter
        for p in model.parameters():
            if p.dim() < 2:
                p.data += 0.1 * torch.randn_like(p)
    tensors = {"weight." + n: p.detach().clone() for n, p in model.named_parameters()}
    optimizer = optimizer_of(model, o)
    tokens, targets, losses, norms = [], [], [], []
    for step in range(o.max_iters):
        x, y = batch()
        tokens.append(x.int())
        targets.append(y.int())
        if step == 0:
            for name, other in ("grad.", model), ("exact.", copy.deepcopy(model).double()):
                other(x, y).backward()
                tensors |= {name + n: p.grad.clone() for n, p in other.named_parameters()}
            optimizer.zero_grad(set_to_none=True)
        loss, norm = one_step(step, model, model, optimizer, (x, y), o)
        losses.append(loss.item())
        norms.append(norm.item() if norm is not None else 0.0)
        optimizer.zero_grad(set_to_none=True)
    tensors |= {"tokens": torch.stack(tokens), "targets": torch.stack(targets),
                "losses": torch.tensor(losses, dtype=torch.float64), "norms": torch.tensor(norms, dtype=torch.float64)}
    options = {k: v for k, v in vars(o).items() if isinstance(v, (int, float, bool)) and k != "compile"}
    write_safetensors(o.out, tensors, {"options": json.dumps(options | {"vocab_size": vocabulary})})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["train", "export"])
    for name, value in {"n_layer": 4, "n_head": 4, "n_embd": 128, "block_size": 64, "batch_size": 12, "max_iters": 2000,
                        "warmup_iters": 100, "lr_decay_iters": 2000, "eval_interval": 250, "eval_iters": 20,
                        "log_interval": 100, "seed": 1337, "data_seed": -1, "threads": 0}.items():
        parser.add_argument("--" + name, type=int, default=value)
    for name, value in {"learning_rate": 1e-3, "min_lr": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1,
                        "grad_clip": 1.0, "dropout": 0.0}.items():
        parser.add_argument("--" + name, type=float, default=value)
    for name in "bias", "compile":
        parser.add_argument("--" + name, action="store_true")
    parser.add_argument("--dataset", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--gelu", default="tanh", choices=["tanh", "none"])
    parser.add_argument("--out", default="reference.safetensors")
    o = parser.parse_args()
    if o.threads:
        torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    {"train": train, "export": export}[o.command](o)


if __name__ == "__main__":
    main()
