"""Runs that are killed with SIGKILL, some of them while a checkpoint is written, and go on with --init_from=resume: they end with the weights, the optimiser's tensors and the log of a run that nothing disturbed, bit for
bit. Two undisturbed runs are equal as well.

    apps/gpt2/test/kill_and_resume.py build/bin/nereid-gpt2 [--kills=50] [--device=cuda] [--dtype=bfloat16] [--compile=True]
        [--seed=N] [--moments]

A kill comes when the log has as many lines as the seed says. With --moments it comes after a random time, and at least one must
hit a checkpoint that is being written.
"""
import argparse
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

from program import SMALL, Program, curve_of, words_of
from runs import compare, fail, lines_of_log, parts_of


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--compile", default="True")
    parser.add_argument("--seed", type=int, default=1, help="of the kills")
    parser.add_argument("--moments", action="store_true")
    return parser.parse_args()


class AtMoments:
    """Kills after a random time of up to a fifth of a run."""

    def __init__(self, draw, seconds):
        self.draw, self.seconds = draw, seconds

    def wait(self, process, out):
        end = time.monotonic() + self.seconds / 5 * self.draw.random()
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.0005)


class AtLines:
    """Kills when the log has grown by a random number of lines, up to a fifth of a run's."""

    def __init__(self, draw, lines):
        self.draw, self.lines = draw, lines

    def wait(self, process, out):
        end = lines_of_log(out) + self.draw.randrange(self.lines // 5)
        while process.poll() is None and lines_of_log(out) < end:
            os.sched_yield()


class Never:

    def wait(self, process, out):
        process.wait()


def kill_once(process, out, kill, aims):
    """When `kill` says; where it aims, as soon as a save is under way then. Was the run done before, and was a checkpoint being
    written?"""
    before, output = parts_of(out), ""
    for line in process.stdout:
        output += line
        if line.startswith("step"):
            break
    kill.wait(process, out)
    while aims and process.poll() is None and not parts_of(out) - before:
        os.sched_yield()
    process.kill()
    output += process.communicate()[0]
    if process.returncode not in (0, -signal.SIGKILL):
        fail(f"a run ended with status {process.returncode}: {output}")
    return process.returncode == 0, bool(parts_of(out) - before)


def disturbed_run(program, out, options, kills, kill, is_enough):
    """One run, killed and resumed until it is done; adds to kills = [all, those while a checkpoint was written, resumes]."""
    isDone = False
    while not isDone:
        isResumed = (out / "state.json").exists()
        process = program.start("train", f"--out_dir={out}", "--dataset=text", *words_of(options),
                                *(["--init_from=resume"] if isResumed else []))
        isDone, isPart = kill_once(process, out, Never() if is_enough(kills) else kill, aims=kills[0] % 3 == 1)
        kills[0] += not isDone
        kills[1] += not isDone and isPart
        kills[2] += isResumed


def main():
    o = parse()
    draw = random.Random(o.seed)
    options = SMALL | dict(device=o.device, dtype=o.dtype, compile=o.compile)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = Program(o.program, folder)
        program.prepare()
        for out in "whole", "again":
            begin = time.monotonic()
            result = program.train(out, options)
            seconds = time.monotonic() - begin
            if result.returncode:
                fail(result.stderr)
        compare(folder / "again", folder / "whole", "a second run")
        lines = len(curve_of(folder / "whole"))
        print(f"two undisturbed runs: {options['max_iters']} steps in {seconds:.2f} s, {lines} lines of the log, equal bit for bit")

        kills, runs = [0, 0, 0], 0
        kill = AtMoments(draw, seconds) if o.moments else AtLines(draw, lines)

        def is_enough(kills):
            return kills[0] >= o.kills and (kills[1] > 0 or not o.moments)

        while not is_enough(kills):
            out = folder / f"run{runs}"
            disturbed_run(program, out, options, kills, kill, is_enough)
            compare(out, folder / "whole", f"run {runs}, after {kills[0]} kills")
            runs += 1
            if kills[0] > 5 * o.kills + 20:
                fail(f"{kills[0]} kills, and none of them while a checkpoint was written")
        print(f"{kills[0]} kills, {kills[1]} of them while a checkpoint was written; {kills[2]} resumes in {runs} runs: "
              "weights, optimiser, state and log as undisturbed, bit for bit")


main()
