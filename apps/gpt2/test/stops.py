"""Runs that are asked to stop, by each signal, to one process or to the group, once or twice, in one to four processes, some of
them while a checkpoint is written: each stop writes one checkpoint and ends with the signal's status, and with
--init_from=resume the run ends as one that nothing disturbed, bit for bit, its best checkpoint too.

    apps/gpt2/test/stops.py build/bin/nereid-gpt2 [--stops=N] [--processes=N] [--seed=N] [--gaps]

Two signals are sent back to back. With --gaps others may run between them: on a busy machine that takes longer than the second
within which two signals are one wish, and then the run ends without a checkpoint.
"""
import argparse
import os
import pathlib
import random
import signal
import tempfile

from program import SMALL, Program, curve_of, state_of, words_of
from runs import compare, compare_best, fail, lines_of_log, parts_of

OPTIONS = SMALL | dict(batch_size=4, gradient_accumulation_steps=6, max_iters=60, lr_decay_iters=60, eval_interval=6, log_interval=1,
                       learning_rate=0.03, device="cpu")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def yield_to_others(times):
    for _ in range(times):
        os.sched_yield()


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Stop:
    """When, to whom and how often."""

    def __init__(self, draw, processes, number, gaps):
        self.signal = SIGNALS[number % 3]
        self.to = draw.choice(["the group", "the starter", "one process"] if processes > 1 else ["the group", "the process"])
        self.often = 1 + number // 3 % 2
        self.lines = draw.randrange(25)
        self.is_in_save = number % 4 == 3
        self.gap = draw.randrange(300) if gaps else 0
        self.child = draw.randrange(processes)

    def __str__(self):
        return f"{self.signal.name} to {self.to}, {'twice' if self.often == 2 else 'once'}"

    def send(self, process):
        for _ in range(self.often):
            try:
                if self.to == "the group":
                    os.killpg(process.pid, self.signal)
                elif self.to == "one process":
                    os.kill(self.target, self.signal)
                else:
                    os.kill(process.pid, self.signal)
            except ProcessLookupError:
                pass  # the run was done, or has stopped between the two
            yield_to_others(self.gap)

    def choose(self, process):
        """A process of the run: its handlers are in place, for it has spoken."""
        if self.to == "one process":
            children = children_of(process.pid)
            self.target = children[self.child % len(children)] if children else process.pid


def stopped_run(program, out, options, processes, stop):
    """Starts the run, or goes on with it, and stops it. Was it done before? Was a checkpoint being written?"""
    words = ["--init_from=resume"] if (out / "state.json").exists() else []
    begun = lines_of_log(out) if words else 0
    process = program.start("train", f"--out_dir={out}", "--dataset=text", *words_of(options), f"--processes={processes}", *words,
                            start_new_session=True)
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith(("step", "iter")):
            break
    stop.choose(process)
    while process.poll() is None and lines_of_log(out) < begun + stop.lines:
        os.sched_yield()
    before = parts_of(out)
    while stop.is_in_save and process.poll() is None and not parts_of(out) - before:
        os.sched_yield()
    is_in_save = bool(parts_of(out) - before)
    stop.send(process)
    text += process.communicate()[0]
    check_stop(process.returncode, text, out, stop)
    return process.returncode == 0, is_in_save


def check_stop(status, text, out, stop):
    def wrong(what):
        fail(f"{stop}: {what}: status {status}\n{text[-1500:]}")

    if "error" in text or "Assertion" in text:
        wrong("an error")
    if status not in (0, -stop.signal):
        wrong("expected the signal's status, or that of a run that was done")
    stops = text.count("stopped by")
    if stops != (status != 0):
        wrong("expected one line that tells of the stop")
    if stops and f"stopped by {stop.signal.name} after step " not in text:
        wrong("expected the signal's name")
    saved = text.count(", loss of the last batch ")
    if saved != text.count("--init_from=resume goes on"):
        wrong("expected one checkpoint for the stop, where it had made a step")
    if not (out / "state.json").exists():
        return
    state = state_of(out)
    if len(state["older"]) > state["options"]["keep"]:
        wrong(f"{len(state['older'])} older checkpoints, expected {state['options']['keep']}")
    losses = {line[0]: line[5] for line in curve_of(out) if line[5] is not None and line[0] > 0}
    if "best" in state:
        best = state["best"]
        if best["loss"] != min(loss for step, loss in losses.items() if step <= state["step"]) or losses[best["step"]] != best["loss"]:
            wrong(f"the best checkpoint is that of step {best['step']}, loss {best['loss']}, of {losses}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--stops", type=int, default=9)
    parser.add_argument("--processes", type=int, default=2, help="at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gaps", action="store_true", help="between two signals")
    o = parser.parse_args()
    draw = random.Random(o.seed)
    for number in SIGNALS:  # one that nohup ignores stops no run
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = Program(o.program, folder)
        program.prepare()
        wholes, number, in_save, runs = {}, 0, 0, 0
        while number < o.stops:
            processes = 1 + runs % o.processes
            # What evaluations keep: every checkpoint, or the best one alone.
            options = OPTIONS | dict(always_save_checkpoint=runs // o.processes % 2 == 0, keep=runs % 3)
            key = (processes, options["always_save_checkpoint"], options["keep"])
            if key not in wholes:
                wholes[key] = folder / f"whole{len(wholes)}"
                result = program.train(wholes[key].name, options, f"--processes={processes}")
                if result.returncode:
                    fail(result.stderr)
            out, is_done = folder / f"run{runs}", False
            while not is_done:
                if number < o.stops:
                    is_done, is_in_save = stopped_run(program, out, options, processes, stop := Stop(draw, processes, number, o.gaps))
                    number += not is_done
                    in_save += not is_done and is_in_save
                    if not is_done:
                        print(f"{number}: {processes} processes, {stop}{', while a checkpoint was written' if is_in_save else ''}: "
                              f"step {state_of(out)['step'] if (out / 'state.json').exists() else 0}", flush=True)
                else:
                    result = program.train(out.name, options, f"--processes={processes}",
                                           *(["--init_from=resume"] if (out / "state.json").exists() else []))
                    if result.returncode:
                        fail(result.stderr)
                    is_done = True
            # A stop leaves a last checkpoint, and with it an older one, that an undisturbed run has not.
            same = compare if options["always_save_checkpoint"] and not options["keep"] else compare_best
            same(out, wholes[key], f"run {runs}, {processes} processes, after {number} stops")
            runs += 1
        print(f"{number} stops, {in_save} of them while a checkpoint was written, in {runs} runs: weights, optimiser, best checkpoint "
              "and log as undisturbed, bit for bit")


if __name__ == "__main__":
    main()
