"""Token files of nanoGPT and llm.c, written here by Python alone: a run on them has the curve of one on our own shards of the
same tokens, to the last bit; the model that comes of it is evaluated, sampled and exported; nanoGPT's configuration files and
its habits on the command line are taken.

    python3 apps/gpt2/test/foreign_files.py build/bin/nereid-gpt2 [--nanogpt=FOLDER]

`--nanogpt`: a clone of karpathy/nanoGPT, all of whose configuration files are then given to `train`.
"""
import argparse
import array
import json
import pathlib
import pickle
import struct
import tempfile

from program import SMALL, Program, curve_of, words_of
from token_files import read_part

OPTIONS = SMALL | dict(max_iters=6, eval_interval=3, dropout=0.0)
TINY = dict(n_layer=1, n_head=1, n_embd=8, block_size=8, batch_size=1, gradient_accumulation_steps=1, eval_iters=1)


def write_raw(path, tokens):
    path.write_bytes(array.array("H", tokens).tobytes())


def write_llmc(path, tokens, wide=False):
    magic, version, kind = (20240801, 7, "I") if wide else (20240520, 1, "H")
    header = struct.pack("<256i", magic, version, len(tokens), *[0] * 253)
    path.write_bytes(header + array.array(kind, tokens).tobytes())


class Test:

    def __init__(self, program):
        self.program, self.folder = program, program.folder
        program.prepare()
        self.parts = {part: list(read_part(self.folder / "data/text", part)) for part in ("train", "val")}
        self.characters = json.loads((self.folder / "data/text/meta.json").read_text())["characters"]
        self.expected = self.curve("ours", "text")

    def run(self, *words):
        result = self.program.run(*words)
        assert result.returncode == 0, f"{words}: {result.stderr}"
        return result

    def curve(self, out, dataset):
        self.run("train", f"--out_dir={out}", f"--dataset={dataset}", "--device=cpu", *words_of(OPTIONS))
        return curve_of(self.folder / out)

    def write_meta(self, folder, protocol):
        meta = {"vocab_size": len(self.characters), "itos": dict(enumerate(self.characters)),
                "stoi": {c: i for i, c in enumerate(self.characters)}}
        (folder / "meta.pkl").write_bytes(pickle.dumps(meta, protocol=protocol))

    def test_nanogpt(self):
        folder = self.folder / "data/nano"
        folder.mkdir()
        for part, tokens in self.parts.items():
            write_raw(folder / f"{part}.bin", tokens)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            self.write_meta(folder, protocol)
            assert self.curve(f"nano-{protocol}", "nano") == self.expected, f"protocol {protocol}"
        # The characters are those of meta.pkl.
        ours, theirs = (self.run("sample", f"--out_dir={out}", "--num_samples=1", "--max_new_tokens=50", "--device=cpu").stdout
                        for out in ("ours", "nano-2"))
        assert ours == theirs and len(ours) > 50, (ours, theirs)
        self.run("eval", "--out_dir=nano-2", "--eval_iters=2", "--device=cpu")
        self.run("export", "--from=nano-2", "--to=exported")
        assert any((self.folder / "exported" / name).exists() for name in ("meta.json", "meta.pkl"))
        result = self.run("sample", "--init_from=exported", "--num_samples=1", "--max_new_tokens=5", "--device=cpu")
        assert result.stdout, result
        # A run goes on with its data.
        self.run("train", "--init_from=resume", "--out_dir=nano-2", "--device=cpu", "--max_iters=7")
        assert curve_of(self.folder / "nano-2")[-2][0] == 6, curve_of(self.folder / "nano-2")
        # Of a newer Python, or by hand.
        (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65}, protocol=0))
        result = self.program.run("train", "--dataset=nano", "--device=cpu", *words_of(TINY))
        assert result.returncode == 1 and "protocol 2 or later" in result.stderr, result

    def test_llmc(self):
        folder = self.folder / "data/llmc"
        for wide in False, True:
            folder.mkdir(exist_ok=True)
            tokens = self.parts["train"]
            for i, part in enumerate((tokens[:1000], tokens[1000:])):
                write_llmc(folder / f"text_train_{i:06}.bin", part, wide)
            write_llmc(folder / "text_val_000000.bin", self.parts["val"], wide)
            self.write_meta(folder, 4)
            assert self.curve(f"llmc-{wide}", "llmc") == self.expected, f"wide {wide}"
        (folder / "meta.pkl").unlink()
        # Without a tokenizer the vocabulary is Llama 3's, and there are no texts.
        result = self.run("train", "--out_dir=llama", "--dataset=./data/llmc", "--device=cpu", "--max_iters=1", *words_of(TINY))
        assert "vocabulary 128256" in result.stdout, result.stdout
        result = self.program.run("sample", "--out_dir=llama", "--device=cpu")
        assert result.returncode == 1 and "expected a tokenizer beside the weights" in result.stderr, result

    def test_habits(self):
        config = self.folder / "finetune.py"
        config.write_text("import time\n\nout_dir = 'habits'\nwandb_log = False # feel free\nwandb_run_name = 'ft-' + str(time.time())\n"
                          "max_iters = 2\nlr_decay_iters = max_iters\nwarmup_iters = 0\n")
        result = self.run("train", config, "--dataset=text", "--device=cpu", "--wandb_log=True", "--backend=gloo", "--n_layer=3",
                          *words_of(TINY))
        for note in (f"note: {config}: wandb_log has", f"note: {config}: wandb_run_name has", "note: --wandb_log has", "note: --backend has"):
            assert note in result.stderr, result.stderr
        state = json.loads((self.folder / "habits/state.json").read_text())
        assert state["model"]["n_layer"] == 1 and state["step"] == 2, state

    def test_end_of_text(self):
        self.run("prepare", "text.txt", "--train-bpe=300", "--dataset=pairs")
        self.run("train", "--dataset=pairs", "--out_dir=pairs", "--device=cpu", "--max_iters=1", *words_of(TINY))
        result = self.run("sample", "--out_dir=pairs", "--device=cpu", "--start=", "--num_samples=1", "--max_new_tokens=3")
        assert result.stdout.startswith("<|endoftext|>"), result.stdout

    def test_configurations(self, nanogpt):
        names = sorted((nanogpt / "config").glob("*.py"))
        assert len(names) == 7, names
        for name in names:
            self.run("train", name, "--dataset=text", "--device=cpu", "--init_from=scratch", "--eval_only=True", "--out_dir=configured",
                     *words_of(TINY))
            print(f"{name.name}: read")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--nanogpt", type=lambda text: pathlib.Path(text).resolve(), default=None)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        test = Test(Program(o.program, name))
        test.test_nanogpt()
        test.test_llmc()
        test.test_habits()
        test.test_end_of_text()
        if o.nanogpt:
            test.test_configurations(o.nanogpt)
    print("the same curves, to the last bit")


if __name__ == "__main__":
    main()
