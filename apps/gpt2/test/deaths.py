"""Runs of two to four processes, each started by itself, one killed, or stopped for good, at a random moment of the
training: all others end by themselves and name it, within ten seconds, or thirty where it is silent.

    apps/gpt2/test/deaths.py build/bin/nereid-gpt2 --kills=20 --seed=1
"""
import os
import random
import signal
import socket
import sys
import tempfile
import time

from program import Program, words_of

# 10 M parameters: for much of a step the processes are in the midst of sums.
OPTIONS = dict(n_layer=6, n_head=4, n_embd=384, block_size=16, batch_size=12, gradient_accumulation_steps=1, max_iters=1000000,
               eval_interval=1000000, eval_iters=1, log_interval=1, device="cpu")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(program, size, out):
    place = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "NEREID_NUM_THREADS": "1"}
    return [program.start("train", f"--out_dir={out}", "--dataset=text", *words_of(OPTIONS),
                          env=os.environ | place | {"RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(size)]


def main():
    options = dict(word[2:].split("=") for word in sys.argv[2:])
    draw = random.Random(int(options["seed"]))
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        program.prepare()
        slowest = {}
        for i in range(int(options["kills"])):
            size = draw.choice((2, 3, 4))
            processes = start(program, size, f"out{i}")
            for line in processes[0].stdout:
                if line.startswith("iter"):
                    break
            time.sleep(draw.uniform(0, 1))
            victim, number = draw.randrange(size), draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
            begin = time.monotonic()
            processes[victim].send_signal(number)
            for rank, process in enumerate(processes):
                if rank != victim:
                    text = process.communicate()[0]
                    if process.returncode == 0 or f"process {victim} of {size}" not in text:
                        sys.exit(f"error: kill {i}, {number.name} of process {victim} of {size}: process {rank} ended with status "
                                 f"{process.returncode}: {text[-600:]}")
            took = time.monotonic() - begin
            if took > (10 if number == signal.SIGKILL else 30):
                sys.exit(f"error: kill {i}, {number.name} of process {victim} of {size}: the others took {took:.1f} s to end")
            processes[victim].kill()
            processes[victim].communicate()
            slowest[number.name] = max(took, slowest.get(number.name, 0))
        print("all others end and name the process; the slowest: " +
              ", ".join(f"{took:.1f} s after {name}" for name, took in sorted(slowest.items())))


if __name__ == "__main__":
    main()
