#!/usr/bin/env python3
"""Operators of the library beside PyTorch's in double precision: values and gradients, random shapes of fixed seeds.

  library_beside_pytorch.py PEER

PEER is NereidLibraryPeer. Ends with 77 where there is no PyTorch."""
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: {error}; scripts/test-venv makes an environment that has it")
    sys.exit(77)



def selective_scan(x, dt, a, b, c, d):
    h, y = 0, []
    for t in range(x.shape[1]):
        h = (dt[:, t, :, None] * a).exp() * h + (dt[:, t] * x[:, t])[:, :, None] * b[:, t, None, :]
        y.append((h * c[:, t, None, :]).sum(-1) + d * x[:, t])
    return torch.stack(y, 1)


# By name: the function, and how its inputs are drawn ("x": [a, b, c]; "z": another of that shape; "list": two that fit
# along dimension 1; "i": indices along a dimension).
OPERATORS = {
    "sum": (lambda x: x.sum(), "x"),
    "sum_outer": (lambda x: x.sum((0, 2)), "x"),
    "mean_last": (lambda x: x.mean(-1, True), "x"),
    "mean_first": (lambda x: x.transpose(0, 1).mean(0), "x"),
    "max_last": (lambda x: x.amax(-1), "x"),
    "max_first": (lambda x: x.amax(0), "ties"),
    "min": (lambda x: x.amin((0, 1, 2)), "ties"),
    "var_last": (lambda x: x.var(-1), "x"),
    "var_outer": (lambda x: x.var((0, 2), correction=0, keepdim=True), "x"),
    "argmax_last": (lambda x: x.argmax(-1), "nan"),
    "argmin": (lambda x: x.argmin(), "nan"),
    "logsumexp": (lambda x: x.logsumexp(-1), "x"),
    "std": (lambda x: x.std(1), "x"),
    "concat": (lambda *a: torch.cat(a, 1), "list"),
    "stack": (lambda *a: torch.stack(a, -1), "pair"),
    "split": (lambda x: x.split(2, 1)[0].sum() + x.split(2, 1)[1].square().sum(), "x"),
    "pad": (lambda x: F.pad(x, (3, 1, 0, 2, 1, 0), value=1.5), "x"),
    "repeat": (lambda x: x.repeat(2, 1, 3, 2), "x"),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), "x"),
    "index_select": (lambda x, i: x.index_select(1, i), "index1"),
    "index_first": (lambda x, i: x.index_select(0, i), "index0"),
    "gather": (lambda x, i: x.gather(1, i), "gather"),
    "scatter_add": (lambda x, i, s: x.scatter_add(1, i, s), "scatter"),
    "cumsum": (lambda x: x.cumsum(1), "x"),
    "cumsum_last": (lambda x: x.cumsum(-1), "x"),
    "sort": (lambda x: x.sort(1).values, "x"),
    "argsort": (lambda x: torch.argsort(x, dim=-1, descending=True, stable=True), "nan"),
    "topk": (lambda x: x.topk(2, 1).values, "x"),
    "mse": (lambda x, z: F.mse_loss(x, z), "pair"),
    "l1": (lambda x, z: F.l1_loss(x, z), "pair"),
    "huber": (lambda x, z: F.huber_loss(x, z, reduction="sum", delta=0.5), "pair"),
    "bce": (lambda x, z: F.binary_cross_entropy(x.sigmoid(), z.sigmoid()), "pair"),
    "bce_logits": (lambda x, z: F.binary_cross_entropy_with_logits(x, z.sigmoid()), "pair"),
    "kl": (lambda x, z: F.kl_div(F.logsigmoid(x), z.sigmoid()), "pair"),
    "pow": (lambda x, z: x.abs() ** z, "pair"),
    "pow_number": (lambda x: x ** 3, "x"),
    "clamp": (lambda x: x.clamp(-0.5, 0.75), "x"),
    "waves": (lambda x, z: x.sin() * z.cos() + (x * 0.5).expm1(), "pair"),
    "soft": (lambda x, z: F.softplus(x, threshold=1e9) - z.square().log1p(), "pair"),
    "where": (lambda x, z: torch.where(x < z, x * 2, z) / 3, "pair"),
    "rounding": (lambda x, z: x.floor() + (z * 3).ceil() * (x * 2).round(), "pair"),
    "elu": (lambda x: F.elu(x, 0.7), "x"),
    "sum_of_matmul": (lambda x, z: (x @ z.transpose(1, 2)).sum(), "pair"),
    "sum_of_linear": (lambda x, z: F.linear(x, z[0]).sum(), "pair"),
    "mean_of_linear_gelu": (lambda x, z: F.gelu(F.linear(x, z[0])).mean(), "pair"),
    "sum_of_layer_norm": (lambda x, z: F.layer_norm(x, x.shape[-1:], z[0][0]).sum(0), "pair"),
    "sum_of_rms_norm": (lambda x, z: F.rms_norm(x, x.shape[-1:], z[0][0], 1e-6).sum(), "pair"),
    "sum_of_softmax": (lambda x: x.softmax(-1).sum((0, 1)), "x"),
    "sum_of_attention": (lambda x, z: F.scaled_dot_product_attention(x[None], z[None], z[None]).sum(3), "pair"),
    "packed_attention": (lambda x, z: F.scaled_dot_product_attention(x, z, z, is_causal=True), "pair"),
    "grouped_matmul": (lambda x, z: x @ z.transpose(1, 2), "pair"),
    "selective_scan": (lambda x, z: selective_scan(x, F.softplus(z), -z[0, :3].T.abs(), x[:, :, :3], z[:, :, :3], z[0, 0]),
                       "pair"),
    "causal_conv": (lambda x, z: F.conv1d(F.pad(x.transpose(1, 2), (2, 0)), z[0, :3].T[:, None], z[0, 0],
                                          groups=x.shape[2]).transpose(1, 2), "pair"),
    "unfold": (lambda x: F.unfold(x[None], (2, 3), padding=(1, 0), stride=(2, 1)).transpose(1, 2), "x"),
    "fold": (lambda x: F.fold(F.unfold(x[None], (2, 3)).square(), x.shape[1:], (2, 3)), "x"),
    "embedding_padding": (lambda x, i: F.embedding(i, x.flatten(1), padding_idx=1), "index0"),
    "linear_scaled": (lambda x, z: 0.5 * F.linear(x, z[0]) + z[0, :, 0], "pair"),
    "sum_of_copies": (lambda x, z: F.pad(torch.cat([x.abs(), z * z], 2).cumsum(1).sort(2).values, (0, 0, 1, 0, 0, 1))
                      .repeat_interleave(2, 1).sum(), "pair"),
}


def draw(kind, numbers):
    shape = tuple(int(n) for n in numbers.integers(3, 40, 3))
    x = numbers.standard_normal(shape).astype(np.float32)
    if kind == "ties":
        return [np.round(x)]
    if kind == "nan":
        return [np.where(numbers.random(shape) < 0.02, np.float32("nan"), np.round(x * 4))]
    if kind == "list":
        return [x, numbers.standard_normal((shape[0], 5, shape[2])).astype(np.float32)]
    if kind == "pair":
        return [x, numbers.standard_normal(shape).astype(np.float32)]
    if kind in ("index0", "index1"):
        return [x, numbers.integers(0, shape[int(kind[-1])], 17)]
    if kind == "gather":
        return [x, numbers.integers(0, shape[1], (shape[0] - 1, 9, shape[2]))]
    if kind == "scatter":
        index = numbers.integers(0, shape[1], (shape[0], 21, shape[2] - 1))
        return [x, index, numbers.standard_normal(index.shape).astype(np.float32)]
    return [x]


def is_near(got, expected, what):
    """Within fp32's rounding of sums of what is there."""
    if got.shape != expected.shape:
        return f"{what}: shape {got.shape}, expected {expected.shape}"
    if not np.issubdtype(expected.dtype, np.floating):
        return None if (got == expected).all() else f"{what}: other integers"
    size = np.abs(np.nan_to_num(expected)).max(initial=1e-3)
    off = np.abs(got.astype(np.float64) - expected)
    wrong = (np.isnan(got) != np.isnan(expected)) | (off > 3e-6 * size)
    return f"{what}: off by {np.nanmax(off):.3g} of {size:.3g}" if wrong.any() else None


def main(peer):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    numbers = np.random.default_rng(1)
    cases = [(name, *OPERATORS[name]) for name in OPERATORS for _ in range(3)]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        expected, lines = [], []
        for number, (name, function, kind) in enumerate(cases):
            arrays = draw(kind, numbers)
            inputs = []
            for i, array in enumerate(arrays):
                np.save(folder / f"{number}.{i}.npy", array)
                isFloat = array.dtype == np.float32
                inputs.append(torch.tensor(array.astype(np.float64) if isFloat else array, requires_grad=isFloat))
            y = function(*inputs)
            dy = numbers.standard_normal(tuple(y.shape)).astype(np.float32)
            np.save(folder / f"{number}.dy.npy", dy)
            if y.requires_grad:
                y.backward(torch.tensor(dy, dtype=torch.float64))
            expected.append((y, inputs))
            lines.append(f"{name} {len(arrays)}")
        (folder / "cases.txt").write_text("\n".join(lines) + "\n")
        subprocess.run([peer, str(folder)], check=True)
        for number, (y, inputs) in enumerate(expected):
            name = cases[number][0]
            failures.append(is_near(np.load(folder / f"{number}.y.npy"), y.detach().numpy(), name))
            for i, x in enumerate(inputs):
                if y.requires_grad and x.requires_grad:
                    grad = x.grad if x.grad is not None else torch.zeros_like(x)
                    got = np.load(folder / f"{number}.g{i}.npy")
                    failures.append(is_near(got, grad.numpy(), f"{name}, gradient of input {i}"))
    failures = [failure for failure in failures if failure]
    print("\n".join(failures) or f"{len(cases)} cases of {len(OPERATORS)} operators agree with PyTorch {torch.__version__}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
