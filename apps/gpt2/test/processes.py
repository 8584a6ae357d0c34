"""A run in one, two and four processes, which divide each step's tokens: the same losses. Its checkpoint goes on in any number
of processes. Where a process dies, the run ends and says so.

    apps/gpt2/test/processes.py build/bin/nereid-gpt2
"""
import os
import pathlib
import signal
import sys
import tempfile
import time

from program import SMALL, Program, curve_of, words_of

OPTIONS = SMALL | dict(batch_size=8, gradient_accumulation_steps=4, max_iters=12, log_interval=1, device="cpu")


def fail(message):
    sys.exit("error: " + message)


def losses_agree(one, other, what):
    if len(one) != len(other):
        fail(f"{what}: {len(other)} lines of the log, expected {len(one)}")
    largest = max(abs(a - b) / abs(a) for x, y in zip(one, other) for a, b in zip(x, y) if a is not None)
    if largest > 1e-6:
        fail(f"{what}: losses differ by {largest:.1e}, expected at most 1e-6")
    return largest


def curve(program, out):
    return curve_of(program.folder / out, ("loss", "train_loss", "val_loss"))


def check_losses(program):
    for count in (1, 2, 4):
        result = program.train(f"of{count}", OPTIONS, f"--processes={count}")
        if result.returncode:
            fail(f"{count} processes: {result.stderr}")
    alone = curve(program, "of1")
    for count in (2, 4):
        largest = losses_agree(alone, curve(program, f"of{count}"), f"{count} processes")
        print(f"{count} processes: {len(alone)} lines of the log, losses within {largest:.1e} of one process's")


def check_resume(program):
    """From a checkpoint of four processes, whose optimiser was divided between them."""
    longer = OPTIONS | dict(max_iters=20)
    for count in (1, 2):
        out = program.folder / f"on{count}"
        os.system(f"cp -r '{program.folder}/of4' '{out}'")
        result = program.train(out.name, longer, "--init_from=resume", f"--processes={count}")
        if result.returncode:
            fail(f"resumed in {count} processes: {result.stderr}")
    largest = losses_agree(curve(program, "on1"), curve(program, "on2"), "resumed in 2 processes")
    print(f"resumed from 4 processes in 1 and 2: losses within {largest:.1e}")


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def check_death(program):
    run = program.start("train", "--out_dir=dies", "--dataset=text", *words_of(OPTIONS | dict(max_iters=100000)), "--processes=2")
    log = program.folder / "dies" / "log.jsonl"
    end = time.monotonic() + 60
    while not (log.exists() and len(log.read_text().splitlines()) > 3):
        if time.monotonic() > end or run.poll() is not None:
            fail("the run did not begin: " + run.communicate()[0])
        time.sleep(0.05)
    children = children_of(run.pid)
    if len(children) != 2:
        fail(f"expected 2 processes, got {len(children)}")
    begin = time.monotonic()
    os.kill(children[1], signal.SIGKILL)
    text = run.communicate(timeout=60)[0]
    seconds = time.monotonic() - begin
    if run.returncode == 0 or "was ended by signal 9" not in text:
        fail(f"a process died: status {run.returncode}, got {text[-400:]}")
    if seconds > 30:
        fail(f"a process died: the run ended after {seconds:.0f} s, expected at most 30")
    if any(pathlib.Path(f"/proc/{child}").exists() for child in children):
        fail("a process died: another one is left")
    print(f"a process that dies ends the run after {seconds:.1f} s")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        program.prepare()
        check_losses(program)
        check_resume(program)
        check_death(program)


if __name__ == "__main__":
    main()
