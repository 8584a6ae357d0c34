"""Steps of training beside PyTorch's own: the weights, the batches and the options of reference_gpt2.py, without dropout.
In float32 losses agree to 1e-5 over 20 steps and to 1e-3 to the end, and the gradients of the first step to 1e-6 of their
scale; in bfloat16 losses agree to what PyTorch itself shows between two seeds of the first weights.

    .venv/bin/python apps/gpt2/test/reference_steps.py build/bin/StepsPeer [--steps=100] [--device=cuda] [--keep=FOLDER]

The reference is computed on the processor. `--keep=FOLDER` leaves its files there; where they are, PyTorch is not needed:
a machine with a GPU can take them from another. Ends with 77 where numpy is not installed, or PyTorch when it is needed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from program import write_text

MODEL = dict(n_layer=3, n_head=4, n_embd=64, block_size=64, batch_size=8, learning_rate=1e-3, warmup_iters=10, min_lr=1e-4,
             beta2=0.99, weight_decay=0.1, grad_clip=1.0)
EARLY, LATE, GRADIENTS = 1e-5, 1e-3, 1e-6
SEEDS = 1, 2


def read(path):
    """Tensors of a safetensors file; NumPy is all that is needed."""
    content = pathlib.Path(path).read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64}
    return {name: np.frombuffer(content[8 + size + at["data_offsets"][0]:8 + size + at["data_offsets"][1]], types[at["dtype"]])
            .reshape(at["shape"]) for name, at in header.items()}


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")


def reference(folder, steps, **changes):
    """A file of reference_gpt2.py's, made where there is none."""
    options = MODEL | dict(max_iters=steps, lr_decay_iters=steps, data_seed=5, dataset=folder / "text.txt") | changes
    path = folder / ("-".join(f"{name}={value}" for name, value in changes.items()) + f"-{steps}.safetensors")
    if not path.exists():
        try:
            import torch  # noqa: F401
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(77)
        write_text(folder / "text.txt", characters=60000)
        words = [f"--{name}={value}" for name, value in options.items() if not isinstance(value, bool)]
        words += [f"--{name}" for name, value in options.items() if value is True]
        run(sys.executable, pathlib.Path(__file__).with_name("reference_gpt2.py"), "export", f"--out={path}.new", *words)
        os.rename(f"{path}.new", path)
    return path


def relative(a, b):
    return np.abs(a - b) / np.abs(b)


def compare_float32(o, folder, bias):
    path = reference(folder, o.steps, seed=SEEDS[0], bias=bias)
    out = folder / "ours.safetensors"
    run(o.peer, path, out, f"--device={o.device}", "--dtype=float32", f"--compile={o.compile}")
    theirs, ours = read(path), read(out)
    errors = relative(ours["losses"], theirs["losses"])
    early, late = errors[:20].max(), errors.max()
    worst = {}
    for name, exact in theirs.items():
        if name.startswith("exact."):
            scale = np.abs(exact).max()
            worst[name[6:]] = tuple(np.abs(t["grad." + name[6:]] - exact).max() / scale for t in (ours, theirs))
    name = max(worst, key=lambda n: worst[n][0])
    norms = relative(ours["norms"], theirs["norms"])[0]
    print(f"float32, bias {bias}: losses {theirs['losses'][0]:.4f} to {theirs['losses'][-1]:.4f} agree to {early:.1e} in the "
          f"first 20 steps, {late:.1e} in {o.steps}; gradients of step 1 to {worst[name][0]:.1e} of their scale ({name}; PyTorch's "
          f"own: at most {max(w[1] for w in worst.values()):.1e}), their norm to {norms:.1e}", flush=True)
    if not (early <= EARLY and late <= LATE and worst[name][0] <= GRADIENTS and norms <= EARLY):
        sys.exit(f"error: expected losses that agree to {EARLY} and {LATE}, and gradients to {GRADIENTS}")


def compare_bfloat16(o, folder):
    first, second = (reference(folder, o.steps, seed=seed, dtype="bfloat16") for seed in SEEDS)
    out = folder / "ours.safetensors"
    run(o.peer, first, out, f"--device={o.device}", "--dtype=bfloat16", f"--compile={o.compile}")
    ours, theirs, other = (read(path)["losses"] for path in (out, first, second))
    error, spread = np.abs(ours - theirs), np.abs(other - theirs)
    print(f"bfloat16: losses {theirs[0]:.4f} to {theirs[-1]:.4f} differ by {error.mean():.1e} on average, {error.max():.1e} at most; "
          f"PyTorch's of two seeds by {spread.mean():.1e}, {spread.max():.1e}", flush=True)
    if not (error.mean() <= spread.mean() and error.max() <= spread.max()):
        sys.exit("error: expected losses no further from PyTorch's than PyTorch's of another seed are")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", default="True")
    parser.add_argument("--keep", default="")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(o.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        for bias in False, True:
            compare_float32(o, folder, bias)
        compare_bfloat16(o, folder)


main()
