#!/usr/bin/env python3
"""Models of the programs beside it, in PyTorch.

  beside_pytorch.py FOLDER NAME=PROGRAM...

For each program weights and a batch are written into FOLDER/NAME, and the program is run there. Its loss, gradients and the
losses of twenty steps have to be PyTorch's, and the weights that it wrote have to give PyTorch the loss after them. Ends
with 77 where there is no PyTorch."""
import math
import pathlib
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file, load_model, save_file, save_model
    from torch import nn
except ImportError as error:
    print(f"skipped: {error}; scripts/test-venv makes an environment that has it")
    sys.exit(77)

STEPS = 20
BOUND = 1e-5


class LlamaAttention(nn.Module):

    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, groups * self.size, bias=False)
        self.v_proj = nn.Linear(width, groups * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def rotate(self, x):
        positions = torch.arange(x.shape[2], dtype=torch.float64)
        powers = 10000.0**(-torch.arange(0, self.size, 2, dtype=torch.float64) / self.size)
        angles = (positions[:, None] * powers).float()
        a, b = x.chunk(2, -1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (p(x).view(batch, length, -1, self.size).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(x.shape))


class LlamaMlp(nn.Module):

    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):

    def __init__(self):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(64, 1e-6)
        self.post_attention_layernorm = nn.RMSNorm(64, 1e-6)
        self.self_attn = LlamaAttention(64, 4, 2)
        self.mlp = LlamaMlp(64, 160)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):

    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(96, 64)
        self.layers = nn.ModuleList(LlamaBlock() for _ in range(2))
        self.norm = nn.RMSNorm(64, 1e-6)
        self.lm_head = nn.Linear(64, 96, bias=False)

    def loss(self, batch):
        x = self.embed_tokens(batch["ids"])
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.lm_head(self.norm(x)).flatten(0, 1), batch["targets"].flatten())

    @staticmethod
    def batch():
        return {"ids": torch.randint(0, 96, (2, 11)), "targets": torch.randint(0, 96, (2, 11))}

    def steps(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0.1)

        def step(_):
            nn.utils.clip_grad_norm_(self.parameters(), 1.0)
            optimizer.step()

        return step


class Bert(nn.Module):

    def __init__(self):
        super().__init__()
        self.tokens, self.positions, self.segments = nn.Embedding(80, 64), nn.Embedding(16, 64), nn.Embedding(2, 64)
        self.norm = nn.LayerNorm(64)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, activation="gelu", batch_first=True) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(80))

    def loss(self, batch):
        x = self.norm(self.tokens(batch["ids"]) + self.positions.weight[:batch["ids"].shape[1]] + self.segments(batch["kinds"]))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=~batch["mask"])
        logits = F.linear(x, self.tokens.weight, self.bias)
        return F.cross_entropy(logits.flatten(0, 1), batch["targets"].flatten(), label_smoothing=0.1, ignore_index=-100)

    @staticmethod
    def batch():
        ids, mask = torch.randint(0, 80, (3, 13)), torch.ones(3, 13, dtype=torch.bool)
        mask[1, 9:] = False
        mask[2, 4:] = False
        targets = torch.where(mask & (torch.rand(3, 13) < 0.4), torch.randint(0, 80, (3, 13)), -100)
        return {"ids": ids, "mask": mask, "targets": targets, "kinds": torch.randint(0, 2, (3, 13))}

    def steps(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: s / 4 if s < 4 else (STEPS - s) / (STEPS - 4))

        def step(_):
            optimizer.step()
            rate.step()

        return step


class VitBlock(nn.Module):

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.attn = nn.MultiheadAttention(64, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):

    def __init__(self):
        super().__init__()
        self.patches = nn.Linear(48, 64)
        self.token = nn.Parameter(torch.zeros(1, 1, 64))
        self.positions = nn.Parameter(torch.empty(1, 17, 64))
        self.blocks = nn.ModuleList(VitBlock() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 10)
        nn.init.trunc_normal_(self.positions, std=0.02)

    def loss(self, batch):
        images = batch["images"]
        cut = images.view(-1, 3, 4, 4, 4, 4).permute(0, 2, 4, 1, 3, 5).reshape(images.shape[0], 16, 48)
        x = torch.cat([self.token.expand(images.shape[0], 1, 64), self.patches(cut)], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x[:, 0])), batch["classes"])

    @staticmethod
    def batch():
        return {"images": torch.randn(4, 3, 16, 16), "classes": torch.randint(0, 10, (4, ))}

    def steps(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
        rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS, 0.001)

        def step(_):
            nn.utils.clip_grad_norm_(self.parameters(), 1.0)
            optimizer.step()
            rate.step()

        return step


def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


class DitBlock(nn.Module):

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(64, 4, batch_first=True)
        self.up, self.down, self.modulation = nn.Linear(64, 256), nn.Linear(256, 64), nn.Linear(64, 384)

    def forward(self, x, condition):
        m = self.modulation(F.silu(condition)).chunk(6, 1)
        y = modulate(F.layer_norm(x, (64, ), eps=1e-6), m[0], m[1])
        x = x + m[2][:, None] * self.attn(y, y, y, need_weights=False)[0]
        y = modulate(F.layer_norm(x, (64, ), eps=1e-6), m[3], m[4])
        return x + m[5][:, None] * self.down(F.gelu(self.up(y), approximate="tanh"))


class Dit(nn.Module):

    def __init__(self):
        super().__init__()
        setattr(self, "in", nn.Linear(4, 64))
        self.out, self.modulation = nn.Linear(64, 4), nn.Linear(64, 128)
        self.time = nn.Sequential(nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 64))
        self.classes = nn.Embedding(10, 64)
        self.register_buffer("positions", torch.randn(1, 16, 64))
        self.blocks = nn.ModuleList(DitBlock() for _ in range(2))

    def loss(self, batch):
        powers = torch.exp(-math.log(10000.0) / 32 * torch.arange(32))
        angles = batch["times"][:, None] * powers
        condition = self.time(torch.cat([angles.cos(), angles.sin()], 1)) + self.classes(batch["labels"])
        x = getattr(self, "in")(batch["x"]) + self.positions
        for block in self.blocks:
            x = block(x, condition)
        m = self.modulation(F.silu(condition)).chunk(2, 1)
        return F.mse_loss(self.out(modulate(F.layer_norm(x, (64, ), eps=1e-6), m[0], m[1])), batch["noise"])

    @staticmethod
    def batch():
        return {"x": torch.randn(4, 16, 4), "noise": torch.randn(4, 16, 4), "times": torch.rand(4) * 100,
                "labels": torch.randint(0, 10, (4, ))}

    def steps(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0)
        return lambda _: optimizer.step()


MODELS = {"llama": Llama, "bert": Bert, "vit": Vit, "dit": Dit}


def compare(name, what, got, expected):
    """The largest difference, of the largest element where that is above 1."""
    if got.shape != expected.shape:
        sys.exit(f"{name}: {what}: expected the shape {tuple(expected.shape)}, got {tuple(got.shape)}")
    error = float((got.double() - expected.double()).abs().max() / max(1.0, float(expected.abs().max())))
    if not error <= BOUND:
        sys.exit(f"{name}: {what}: expected PyTorch's within {BOUND}, got a difference of {error:.3g}")
    return error


def check(folder, name, program):
    torch.manual_seed(1)
    kind = MODELS[name.split("-")[0]]
    model, batch = kind(), kind.batch()
    folder.mkdir(parents=True)
    save_model(model, str(folder / "weights.safetensors"))
    save_file(batch, folder / "batch.safetensors")
    subprocess.run([program, folder], check=True)
    model.loss(batch).backward()
    gradients = load_file(folder / "gradients.safetensors")
    parameters = dict(model.named_parameters())
    if set(gradients) != set(parameters):
        sys.exit(f"{name}: expected gradients of {sorted(parameters)}, got {sorted(gradients)}")
    worst = max(compare(name, f"the gradient of {key}", gradients[key], p.grad) for key, p in parameters.items())
    losses, step = [], model.steps()
    for i in range(STEPS):
        model.zero_grad()
        loss = model.loss(batch)
        losses.append(loss.item())
        loss.backward()
        step(i)
    ours = load_file(folder / "losses.safetensors")["losses"]
    drift = compare(name, "the losses", ours, torch.tensor(losses, dtype=torch.float64))
    after = model.loss(batch).detach()
    load_model(model, str(folder / "trained.safetensors"))
    compare(name, "the loss of the weights that were saved", model.loss(batch).detach(), after)
    print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, gradients within {worst:.1e}, losses within {drift:.1e}")


def optimizers(folder, name, program):
    """The weights after each step of optimizers.cpp."""
    torch.manual_seed(2)
    folder.mkdir(parents=True)
    w0, g = torch.randn(7, 5), torch.randn(12, 7, 5)
    save_file({"w": w0, "g": g}, folder / "batch.safetensors")
    subprocess.run([program, folder], check=True)
    ours = load_file(folder / "results.safetensors")
    expected = {}

    def record(key, make, rate=None, clip=None, scaler=None):
        w = nn.Parameter(w0.clone())
        optimizer = make([w])
        schedule = rate(optimizer) if rate else None
        after, scales = [], []
        for i in range(12):
            optimizer.zero_grad()
            loss = (w * g[i]).sum() * (math.inf if scaler and i == 6 else 1)
            (scaler.scale(loss) if scaler else loss).backward()
            if clip and scaler:
                scaler.unscale_(optimizer)
            if clip:
                nn.utils.clip_grad_norm_([w], clip)
            if scaler:
                scaler.step(optimizer)
                scaler.update()
                scales.append(scaler.get_scale())
            else:
                optimizer.step()
            if schedule:
                schedule.step()
            after.append(w.detach().clone())
        expected[key] = torch.stack(after)
        if scaler:
            expected[key + "_scales"] = torch.tensor(scales, dtype=torch.float64)

    schedules, sgd = torch.optim.lr_scheduler, torch.optim.SGD
    for key, options in (("sgd", {}), ("sgd_decay", {"weight_decay": 0.05}), ("sgd_dampened", {"momentum": 0.9, "dampening": 0.5}),
                         ("sgd_nesterov", {"momentum": 0.8, "weight_decay": 0.01, "nesterov": True})):
        record(key, lambda w: sgd(w, lr=0.1, **options), lambda o: schedules.StepLR(o, 5, 0.5))
    for key, clip in (("scaled", None), ("scaled_clipped", 1.0)):
        record(key, lambda w: sgd(w, lr=0.1, momentum=0.9), clip=clip,
               scaler=torch.amp.GradScaler("cpu", init_scale=1024, growth_interval=3))
    record("adamw", lambda w: torch.optim.AdamW(w, lr=0.01),
           lambda o: schedules.LambdaLR(o, lambda s: s / 3 if s < 3 else 0.5 * (1 + math.cos(math.pi * (s - 3) / 9))), 2.0)
    if set(ours) != set(expected):
        sys.exit(f"{name}: expected {sorted(expected)}, got {sorted(ours)}")
    worst = max(compare(name, key, ours[key], value) for key, value in expected.items())
    print(f"{name}: {len(expected)} runs within {worst:.1e}")


def main():
    torch.set_num_threads(2)
    for pair in sys.argv[2:]:
        name, _, program = pair.partition("=")
        (optimizers if name == "optimizers" else check)(pathlib.Path(sys.argv[1]) / name, name, program)


if __name__ == "__main__":
    main()
