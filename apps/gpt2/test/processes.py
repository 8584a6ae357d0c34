"""A run in one, two and four processes, which divide each step's tokens: the same log, with the same losses where the weights
are the same. Its checkpoint goes on in any number of processes. Where one gets a signal to stop, all do, with a checkpoint; where
one dies, the run ends and says so.

    apps/gpt2/test/processes.py build/bin/nereid-gpt2
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from program import SMALL, Program, curve_of, state_of, words_of

OPTIONS = SMALL | dict(batch_size=8, gradient_accumulation_steps=4, max_iters=12, log_interval=1, device="cpu")


def fail(message):
    sys.exit("error: " + message)


def losses_of(program, out):
    return curve_of(program.folder / out, ("iter", "loss", "train_loss", "val_loss", "grad_norm"))


# Of gradients: sums of fewer than 2^10 roundings, with magnitudes of up to ten times the sum's. A process that is left out, or
# counted twice, changes the norm by a tenth and more.
NORM_BOUND = 10 * 2**10 * 2**-24


def losses_agree(one, other, last, what):
    """The same lines of the log; until `last`, the first step that begins with other weights, the same losses but for the
    roundings of a mean of micro-steps (or batches of an evaluation) in two orders: so many fp32 sums each. Later a rounding
    of a gradient that is 0 may turn a whole step of AdamW, so that nothing is claimed of them here; that weights stay equal
    is DataParallelTest's, whose sums are exact."""
    if [line[0] for line in one] != [line[0] for line in other]:
        fail(f"{what}: {len(other)} lines of the log, expected {len(one)}")
    terms = max(OPTIONS["gradient_accumulation_steps"], OPTIONS["eval_iters"])
    bound = 2 * terms * 2**-24
    largest = compared = norms = 0
    for x, y in zip(one, other):
        if x[0] <= last:
            if [a is None for a in x] != [b is None for b in y]:
                fail(f"{what}: step {x[0]} has other numbers")
            for a, b in zip(x[1:-1], y[1:-1]):
                if a is not None:
                    largest = max(largest, abs(a - b) / abs(a))
                    compared += 1
            if x[-1] is not None:
                norms += 1
                difference = abs(x[-1] - y[-1]) / x[-1]
                if difference > NORM_BOUND:
                    fail(f"{what}: gradients of step {x[0]} have norms {difference:.1e} apart, expected at most {NORM_BOUND:.1e}")
    if not compared or not norms:
        fail(f"{what}: no loss or no norm until step {last} in the log")
    if largest > bound:
        fail(f"{what}: losses differ by {largest:.1e}, expected at most {bound:.1e}")
    return largest


def check_losses(program):
    for count in (1, 2, 4):
        result = program.train(f"of{count}", OPTIONS, f"--processes={count}")
        if result.returncode:
            fail(f"{count} processes: {result.stderr}")
    alone = losses_of(program, "of1")
    for count in (2, 4):
        largest = losses_agree(alone, losses_of(program, f"of{count}"), 0, f"{count} processes")
        print(f"{count} processes: {len(alone)} lines of the log, first losses within {largest:.1e} of one process's")


def check_resume(program):
    """From a checkpoint of four processes, whose optimiser was divided between them."""
    longer = OPTIONS | dict(max_iters=20)
    for count in (1, 2):
        out = program.folder / f"on{count}"
        os.system(f"cp -r '{program.folder}/of4' '{out}'")
        result = program.train(out.name, longer, "--init_from=resume", f"--processes={count}")
        if result.returncode:
            fail(f"resumed in {count} processes: {result.stderr}")
    begun_at = OPTIONS["max_iters"]
    largest = losses_agree(losses_of(program, "on1"), losses_of(program, "on2"), begun_at, "resumed in 2 processes")
    print(f"resumed from 4 processes in 1 and 2: first losses within {largest:.1e}")


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def begun(program, out, **more):
    """A run of two processes that has logged steps, and their numbers."""
    options = OPTIONS | dict(max_iters=100000, eval_interval=100000)
    run = program.start("train", f"--out_dir={out}", "--dataset=text", *words_of(options), "--processes=2", **more)
    text = ""
    for line in run.stdout:
        text += line
        if line.startswith("iter 3:"):
            break
    else:
        fail("the run did not begin: " + text)
    children = children_of(run.pid)
    if len(children) != 2:
        fail(f"expected 2 processes, got {len(children)}")
    return run, children


def check_signals(program):
    """Whatever process hears of it, all stop after one step, with a checkpoint."""
    ways = {
        "the starter": lambda run, children: run.send_signal(signal.SIGTERM) or signal.SIGTERM,
        # A terminal sends it to each process of the group; the starter sends it on, too.
        "the group": lambda run, children: os.killpg(run.pid, signal.SIGINT) or signal.SIGINT,
        "the last process": lambda run, children: os.kill(children[1], signal.SIGHUP) or signal.SIGHUP,
    }
    for i, (name, send) in enumerate(ways.items()):
        run, children = begun(program, f"stopped{i}", start_new_session=True)
        number = send(run, children)
        text = run.communicate()[0]
        if run.returncode != -number or text.count("stopped by " + number.name) != 1 or "--init_from=resume goes on" not in text or "error" in text:
            fail(f"a signal to {name}: status {run.returncode}, got {text[-400:]}")
        step = state_of(program.folder / f"stopped{i}")["step"]
        result = program.train(f"stopped{i}", OPTIONS | dict(max_iters=step + 2), "--init_from=resume", "--processes=2")
        if result.returncode:
            fail(f"a signal to {name}: resumed: {result.stderr}")
        print(f"a signal to {name}: all stop after step {step}, and go on")


def check_scripts(program):
    """As mpirun of MPICH starts a script that starts the program: each process has a parent of its own."""
    runs = []
    for rank in range(2):
        place = dict(PMI_RANK=str(rank), PMI_SIZE="2", MPI_LOCALRANKID=str(rank), MPI_LOCALNRANKS="2", TMPDIR=str(program.folder))
        words = ["train", "--out_dir=scripts", "--dataset=text", *words_of(OPTIONS)]
        runs.append(subprocess.Popen(["sh", "-c", '"$@"; exit $?', "sh", program.path, *words], cwd=program.folder, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | place))
    for run in runs:
        text = run.communicate()[0]
        if run.returncode:
            fail(f"two scripts: status {run.returncode}, got {text[-400:]}")
    print("two processes that scripts have started meet")


def check_death(program):
    run, children = begun(program, "dies")
    os.kill(children[1], signal.SIGKILL)
    text = run.communicate()[0]
    if run.returncode == 0 or "was ended by signal 9" not in text:
        fail(f"a process died: status {run.returncode}, got {text[-400:]}")
    if any(pathlib.Path(f"/proc/{child}").exists() for child in children):
        fail("a process died: another one is left")
    print("a process that dies ends the run")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        program.prepare()
        check_losses(program)
        check_resume(program)
        check_signals(program)
        check_scripts(program)
        check_death(program)


if __name__ == "__main__":
    main()
