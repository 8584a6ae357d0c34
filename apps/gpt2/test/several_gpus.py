"""A run on several GPUs is the run on one: the losses of the same batches on 1, 2, 4 ... of them, plain, with recomputed
activations, with dropout, with other numbers of micro-steps, in fp16, and with outliers skipped; a run that loses a process;
resumes on the same and on another number of GPUs. Text: the Python library's own sources.

    apps/gpt2/test/several_gpus.py build/bin/nereid-gpt2 --gpus 1 2 4          # 124M, 200 steps; minutes
    apps/gpt2/test/several_gpus.py build/bin/nereid-gpt2 --gpus 1 2 --device=cpu --steps=8 --small

Ends with an error where a loss is off by more than --bound of itself, where a run that goes on as it was has other losses, and
where the end of a process is not reported within 30 s.
"""
import argparse
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time

from program import Program, words_of
from runs import fail
from stops import children_of

LARGE = dict(n_layer=12, n_head=12, n_embd=768, block_size=1024, batch_size=12)
SMALL = dict(n_layer=2, n_head=2, n_embd=64, block_size=32, batch_size=4)


def write_text(path, size):
    """Sources of the library in the order of their names."""
    text = bytearray()
    for file in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        text += file.read_bytes().decode("utf-8", "ignore").encode()
        if len(text) >= size:
            break
    path.write_bytes(text)


class Runs:

    def __init__(self, o, folder):
        self.o, self.program, self.folder = o, Program(o.program, folder), pathlib.Path(folder)
        write_text(self.folder / "text.txt", 300_000 if o.small else 20_000_000)
        done = self.program.run("prepare", "text.txt", "--dataset=text", f"--train-bpe={400 if o.small else 4096}")
        if done.returncode:
            fail(done.stderr)
        self.options = (SMALL if o.small else LARGE) | dict(
            max_iters=o.steps, lr_decay_iters=600000, warmup_iters=o.warmup, log_interval=1, eval_interval=1000000, eval_iters=1,
            gradient_accumulation_steps=max(o.gpus), dtype="auto" if o.device == "cuda" else "bfloat16")

    def words(self, out, gpus, options):
        place = [f"--gpus={gpus}"] if self.o.device == "cuda" else ["--device=cpu", f"--processes={gpus}"]
        return ["train", f"--out_dir={out}", "--dataset=text", *words_of(self.options | options), *place]

    def losses(self, out, gpus, options, *more):
        begin = time.monotonic()
        done = self.program.run(*self.words(out, gpus, options), *more)
        if done.returncode:
            fail(f"{out}: status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        lines = map(json.loads, (self.folder / out / "log.jsonl").read_text().splitlines())
        self.seconds = time.monotonic() - begin
        steps = [line for line in lines if "loss" in line]
        self.norms = {line["iter"]: line["grad_norm"] for line in steps}
        self.skipped = steps[-1].get("skipped", 0)
        return {line["iter"]: line["loss"] for line in steps}

    def compare(self, name, expected, got, bound):
        if expected.keys() != got.keys() or not all(map(math.isfinite, got.values())):
            fail(f"{name}: expected losses of {len(expected)} steps, got {len(got)}")
        off = {step: abs(got[step] - loss) / abs(loss) for step, loss in expected.items()}
        worst = max(off, key=off.get)
        same = next((step for step in sorted(off) if off[step]), None)
        print(f"{name:44} {'all bits equal' if same is None else f'off by {off[worst]:.1e} at step {worst}, the first time at step {same}'}"
              f", {self.seconds:.0f} s", flush=True)
        if off[worst] > bound:
            fail(f"{name}: a loss is off by {off[worst]:.1e}, expected {bound:.0e} at most")

    def same_batches(self):
        most = max(self.o.gpus)
        kinds = {"plain": {}, "recompute": dict(recompute=True), "dropout": dict(dropout=0.1),
                 f"{2 * most} micro-steps": dict(gradient_accumulation_steps=2 * most), "1 micro-step": dict(gradient_accumulation_steps=1),
                 "fp16": dict(dtype="float16"), "outliers": dict(skip_update_gradz=self.o.outliers, skip_update_lossz=self.o.outliers)}
        for name, options in kinds.items():
            if self.o.only and name.split()[-1] not in self.o.only:
                continue
            alone = None
            for number, gpus in enumerate(self.o.gpus):
                losses = self.losses(f"{name.replace(' ', '-')}-{number}", gpus, options)
                if alone is None:
                    alone, norms = losses, self.norms
                    print(f"{name}, {gpus} alone: loss {losses[0]:.4f} to {losses[max(losses)]:.4f}, {self.seconds:.0f} s", flush=True)
                else:
                    self.compare(f"{name}: {gpus} against {self.o.gpus[0]}", alone, losses, self.o.bound)
                    differs = next((step for step in norms if norms[step] != self.norms[step]), None)
                    if differs is not None:
                        print(f"    norms differ from step {differs} on", flush=True)
                if name in ("fp16", "outliers"):
                    print(f"    {self.skipped} steps of {len(losses)} skipped", flush=True)

    def resumes(self):
        gpus, half = max(self.o.gpus), self.o.steps // 2
        whole = self.losses("whole", gpus, {})
        for other in self.o.gpus:
            out = f"half-{other}"
            self.losses(out, gpus, dict(max_iters=half))
            # A folder that goes on has the first half's lines, too.
            losses = self.losses(out, other, {}, "--init_from=resume")
            self.compare(f"resumed on {other}, begun on {gpus}", whole, losses, 0 if other == gpus else self.o.bound)

    def death(self):
        gpus = max(self.o.gpus)
        process = self.program.start(*self.words("death", gpus, dict(max_iters=1000000)), start_new_session=True)
        try:
            text, lines = "", 0
            for line in process.stdout:
                text += line
                lines += line.startswith("iter")
                if lines == 5:
                    break
            if lines < 5:
                fail(f"death: the run ended by itself\n{text[-1500:]}")
            victim = children_of(process.pid)[-1]
            begin = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            try:
                text += process.communicate(timeout=60)[0]
            except subprocess.TimeoutExpired:
                fail(f"a process was killed, and the others go on after a minute\n{text[-1500:]}")
            seconds = time.monotonic() - begin
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        errors = [line for line in text.splitlines() if "error" in line]
        print(f"a process of {gpus} killed: status {process.returncode} after {seconds:.1f} s: {errors[:2]}", flush=True)
        if process.returncode == 0 or seconds > 30 or not any(f"process {rank}" in line for line in errors for rank in range(gpus)):
            fail(f"expected an error that names the process within 30 s\n{text[-1500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: processes instead of GPUs")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=2000, help="steps until the learning rate is that of the defaults")
    parser.add_argument("--bound", type=float, default=1e-3)
    parser.add_argument("--small", action="store_true", help="a model of seconds")
    parser.add_argument("--only", nargs="*", choices=["plain", "recompute", "dropout", "micro-steps", "micro-step", "fp16", "outliers", "resumes", "death"])
    parser.add_argument("--outliers", type=float, default=2, help="standard deviations from which on a step is skipped")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(o, folder)
        runs.same_batches()
        if not o.only or "resumes" in o.only:
            runs.resumes()
        if not o.only or "death" in o.only:
            runs.death()


if __name__ == "__main__":
    sys.exit(main())
