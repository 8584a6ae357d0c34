#!/usr/bin/env python3
"""The models of test/aot/outside beside the same in PyTorch, in double precision: losses of the same steps.

  models.py experts|state_space PROGRAM

Ends with 77 where there is no PyTorch."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: {error}; scripts/test-venv makes an environment that has it")
    sys.exit(77)


def rms_norm(x, gain):
    return F.rms_norm(x, x.shape[-1:], gain, 1e-6)


def experts(w, x, target):
    normed = rms_norm(x, w["gain"])
    p = (normed @ w["router"].T).softmax(-1)
    best, chosen = p.topk(2, -1)
    gates = best / best.sum(-1, keepdim=True)
    hidden = F.silu(torch.einsum("td,ehd->teh", normed, w["gate"])) * torch.einsum("td,ehd->teh", normed, w["up"])
    each = torch.einsum("teh,edh->ted", hidden, w["down"])
    y = x + (gates[:, :, None] * each.gather(1, chosen[:, :, None].expand(-1, -1, x.shape[1]))).sum(1)
    return F.mse_loss(y, target) + 0.01 * len(w["router"]) * p.mean(0).square().sum()


def state_space(w, x, target):
    inner, states, rank = len(w["conv"]), w["a_log"].shape[1], w["dt"].shape[1]
    u, z = (rms_norm(x, w["gain"]) @ w["in"].T).split(inner, 2)
    taps = w["conv"].shape[1]
    u = F.conv1d(u.transpose(1, 2), w["conv"][:, None], w["conv_bias"], padding=taps - 1, groups=inner)
    u = F.silu(u[:, :, :x.shape[1]].transpose(1, 2))
    dt, b, c = (u @ w["x"].T).split([rank, states, states], 2)
    dt = F.softplus(dt @ w["dt"].T + w["dt_bias"])
    a = -w["a_log"].exp()
    h = torch.zeros(len(x), inner, states, dtype=x.dtype)
    y = []
    for t in range(x.shape[1]):
        h = (dt[:, t, :, None] * a).exp() * h + (dt[:, t] * u[:, t])[:, :, None] * b[:, t, None, :]
        y.append((h * c[:, t, None, :]).sum(-1) + w["d"] * u[:, t])
    return F.mse_loss(x + (torch.stack(y, 1) * F.silu(z)) @ w["out"].T, target)


MODELS = {"experts": (experts, "x", 0.5), "state_space": (state_space, "tokens", 0.2)}


def main(name, program):
    torch.set_num_threads(1)
    model, tokens, rate = MODELS[name]
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([program, folder], check=True, capture_output=True, text=True).stdout
        arrays = {path.stem: np.load(path).astype(np.float64) for path in pathlib.Path(folder).glob("*.npy")}
    x, target = (torch.tensor(arrays.pop(one)) for one in (tokens, "target"))
    weights = {one: torch.tensor(array, requires_grad=True) for one, array in arrays.items()}
    losses = []
    for _ in said.split():
        loss = model(weights, x, target)
        gradients = torch.autograd.grad(loss, list(weights.values()))
        losses.append(loss.item())
        weights = {one: (w - rate * g).detach().requires_grad_()
                   for (one, w), g in zip(weights.items(), gradients)}
    got = [float(word) for word in said.split()]
    print("\n".join(f"{one:.6f} {other:.6f}" for one, other in zip(got, losses)))
    if not losses or losses[-1] > 0.9 * losses[0]:
        sys.exit("PyTorch learns nothing of it")
    if not np.allclose(got, losses, rtol=1e-4, atol=1e-5):
        sys.exit(f"{name}: other losses than PyTorch's")


if __name__ == "__main__":
    main(*sys.argv[1:])
