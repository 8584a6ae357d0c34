"""nereid-gpt2 as the tests of whole runs start it: a small text, a small model, and what a run leaves behind."""
import json
import pathlib
import random
import subprocess

# Seconds on one core; dropout and micro-steps, so that every generator and counter matters.
SMALL = dict(n_layer=2, n_head=2, n_embd=64, block_size=32, batch_size=4, gradient_accumulation_steps=2, dropout=0.1,
             max_iters=120, eval_interval=10, eval_iters=2, warmup_iters=5, lr_decay_iters=120, learning_rate=1e-3, min_lr=1e-4)


def words_of(options):
    return [f"--{name}={value}" for name, value in options.items()]


def write_text(path, characters=30000, seed=1):
    """Words of few letters, which a small model learns a little of in a hundred steps."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(1, 8))) for _ in range(200)]
    text = ""
    while len(text) < characters:
        text += " ".join(draw.choices(words, k=draw.randint(3, 12))).capitalize() + ".\n"
    pathlib.Path(path).write_text(text)


class Program:

    def __init__(self, path, folder):
        self.path, self.folder = str(pathlib.Path(path).resolve()), pathlib.Path(folder)

    def start(self, *words, **more):
        """A process in the folder, which the caller ends."""
        return subprocess.Popen([self.path, *map(str, words)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, **more)

    def run(self, *words, **more):
        return subprocess.run([self.path, *map(str, words)], cwd=self.folder, text=True, capture_output=True, **more)

    def prepare(self, name="text", **more):
        """A data set of characters in the folder's data/."""
        write_text(self.folder / f"{name}.txt", **more)
        result = self.run("prepare", f"{name}.txt", f"--dataset={name}")
        assert result.returncode == 0, result.stderr

    def train(self, out, options, *words, **more):
        return self.run("train", f"--out_dir={out}", "--dataset=text", *words_of(options), *words, **more)


def state_of(out):
    return json.loads((out / "state.json").read_text())


def curve_of(out, names=("iter", "loss", "lr", "grad_norm", "train_loss", "val_loss")):
    """The log's numbers, without times and memory."""
    lines = map(json.loads, (out / "log.jsonl").read_text().splitlines())
    return [tuple(line.get(name) for name in names) for line in lines]
