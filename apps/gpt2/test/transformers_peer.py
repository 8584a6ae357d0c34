"""Hugging Face's libraries beside ours: `transformers` loads what we export and gives our logits, and the other way round,
for each of the four shapes of GPT-2 with its width, layers and vocabulary divided; and the safetensors library takes and
refuses the files that we do.

    .venv/bin/python apps/gpt2/test/transformers_peer.py build/bin/ModelPeer [--damage-only]

Ends with 77 where transformers, torch or safetensors are not installed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import safetensors
    import safetensors.numpy
    import torch
    import transformers
    from transformers import GPT2Config, GPT2LMHeadModel
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# Of gpt2, gpt2-medium, gpt2-large and gpt2-xl: layers, heads, width; 8 in a head instead of 64.
SHAPES = {"gpt2": (12, 12, 768), "gpt2-medium": (24, 16, 1024), "gpt2-large": (36, 20, 1280), "gpt2-xl": (48, 25, 1600)}
VOCABULARY, CONTEXT = 251, 32
TOLERANCE = 1e-4  # of the largest logit


def run(peer, *words):
    return subprocess.run([peer, *map(str, words)], capture_output=True, text=True)


def check(result):
    if result.returncode:
        sys.exit(f"error: {' '.join(map(str, result.args))}: status {result.returncode}: {result.stderr}")


def ours(peer, model, tokens, folder):
    np.save(folder / "tokens.npy", tokens.numpy())
    check(run(peer, "logits", model, folder / "tokens.npy", folder / "logits.npy"))
    return torch.from_numpy(np.load(folder / "logits.npy"))


def theirs(model, tokens):
    model.eval()
    with torch.no_grad():
        return model(tokens).logits


def compare(name, a, b):
    assert a.shape == b.shape, f"{name}: {a.shape} and {b.shape}"
    error = ((a - b).abs().max() / b.abs().max()).item()
    print(f"{name}: {error:.1e} of the largest logit, {b.abs().max():.2f}")
    if not error <= TOLERANCE:
        sys.exit(f"error: {name}: expected logits that agree to {TOLERANCE}, got {error}")


def load(folder):
    model, report = GPT2LMHeadModel.from_pretrained(folder, output_loading_info=True)
    missing = [name for name in report["missing_keys"] if name != "lm_head.weight"]
    assert not missing and not report["unexpected_keys"] and not report["mismatched_keys"], report
    return model


def randomized(config):
    model = GPT2LMHeadModel(config)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


def compare_models(peer, folder):
    tokens = torch.randint(0, VOCABULARY, (2, CONTEXT), generator=torch.Generator().manual_seed(1)).to(torch.int32)
    for name, (layers, heads, width) in SHAPES.items():
        for activation in ("gelu_new", "gelu") if name == "gpt2" else ("gelu_new",):
            sizes = dict(n_layer=layers, n_head=heads, n_embd=width // 8, n_positions=CONTEXT, activation_function=activation)
            # Ours to theirs; rows of padding are cut.
            out = folder / f"{name}-{activation}-ours"
            (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "vocab_size": 256, **sizes}))
            check(run(peer, "random", folder / "config.json", out, VOCABULARY))
            compare(f"{name}, {activation}, loaded by transformers", theirs(load(out), tokens), ours(peer, out, tokens, folder))
            # Theirs to ours, in one file and in several.
            model = randomized(GPT2Config(vocab_size=VOCABULARY, bos_token_id=None, eos_token_id=None, **sizes))
            expected = theirs(model, tokens)
            one, several = folder / f"{name}-theirs", folder / f"{name}-shards"
            model.save_pretrained(one)
            model.save_pretrained(several, max_shard_size="500KB")
            assert (several / "model.safetensors.index.json").exists()
            compare(f"{name}, {activation}, loaded by us", ours(peer, one, tokens, folder), expected)
            compare(f"{name}, {activation}, loaded by us from shards", ours(peer, several, tokens, folder), expected)


def compare_damage(peer, folder):
    """Files with changed headers: the library and we must agree on which are safetensors files. We refuse more: names
    that stand twice, types that Nereid lacks, texts after the elements' types."""
    tensors = {"a": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.arange(5, dtype=np.int16), "c": np.zeros((2, 0), np.float64)}
    whole = safetensors.numpy.save(tensors, {"k": "v"})
    path = folder / "x.safetensors"
    path.write_bytes(whole)
    check(run(peer, "read", path))
    generator = random.Random(3)
    taken = refused = 0
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(generator.randint(1, 2)):
            at = generator.randrange(len(content))
            kind = generator.randrange(3)
            if kind == 0:
                content[at] = generator.choice(b"0123456789,:[]{}\" ")
            elif kind == 1:
                del content[at:at + generator.randint(1, 4)]
            else:
                content.insert(at, generator.choice(b"0123456789 "))
        path.write_bytes(content)
        try:
            with safetensors.safe_open(path, "np") as file:
                for name in file.keys():
                    file.get_tensor(name)
            is_theirs = True
        except (safetensors.SafetensorError, TypeError, AttributeError, ValueError):
            is_theirs = False
        result = run(peer, "read", path)
        assert result.returncode in (0, 1), f"{result.returncode}: {bytes(content)!r}"
        if is_theirs != (result.returncode == 0):
            sys.exit(f"error: safetensors {'takes' if is_theirs else 'refuses'} what we do not: {bytes(content)!r}\n{result.stderr}")
        taken += is_theirs
        refused += not is_theirs
    print(f"damaged files: both take {taken} and refuse {refused}")
    assert taken and refused


def main():
    transformers.utils.logging.disable_progress_bar()
    print(f"transformers {transformers.__version__}, safetensors {safetensors.__version__}, torch {torch.__version__}")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if "--damage-only" not in sys.argv:
            compare_models(sys.argv[1], folder)
        compare_damage(sys.argv[1], folder)


main()
