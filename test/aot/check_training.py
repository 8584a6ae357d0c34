"""check_training.py AHEAD_OF_TIME WITH_COMPILER DEVICE [--start-within SECONDS]

The example learns its spirals and has the losses of the same program with a compiler. --start-within: the fastest of ten runs
to the first loss takes at most so long, from the start of the process to its end (10 ms on a quiet machine).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("ahead")
parser.add_argument("compiled")
parser.add_argument("device")
parser.add_argument("--start-within", type=float)
options = parser.parse_args()
ahead, compiled, device = options.ahead, options.compiled, options.device


def run(program, *arguments, **environment):
    done = subprocess.run([program, "--device", device, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode:
        if device != "cpu" and done.stderr.startswith("no device"):
            print("skipped:", done.stderr)
            sys.exit(77)
        sys.exit(f"{program}: {done.stderr}")
    return done.stdout


def losses(text):
    return [float(number) for number in re.findall(r"loss ([0-9.]+)", text)]


text = run(ahead)
print(text)
got = losses(text)
with tempfile.TemporaryDirectory() as cache:
    expected = losses(run(compiled, NEREID_CACHE_DIR=cache))
assert len(got) == len(expected) == 11, (got, expected)
# The first steps are the same but for the order of sums; later ones grow apart as any two orders do.
for step, (a, b) in enumerate(zip(got, expected)):
    assert abs(a - b) <= (1e-4 if step == 0 else 0.02 + 0.1 * b), (step, a, b)
assert 0.5 < got[0] < 5, got
assert got[-1] < 0.02, got
assert float(re.search(r"right: ([0-9.]+)", text).group(1)) >= 99

if options.start_within:
    seconds, inside = [], []
    for _ in range(10):
        start = time.perf_counter()
        text = run(ahead, "--steps", "0")
        seconds.append(time.perf_counter() - start)
        inside.append(float(re.search(r"there ([0-9.]+) ms", text).group(1)))
    print(f"a whole run to the first loss: {1e3 * min(seconds):.2f} ms; of it after the beginning of main: {min(inside):.2f} ms")
    assert min(seconds) < options.start_within, seconds

for wrong in (["--steps", "many"], ["--steps", "-1"], ["--steps"], ["--n", "1"]):
    done = subprocess.run([ahead, *wrong], capture_output=True, text=True)
    assert done.returncode == 1 and "expected" in done.stderr, (wrong, done)
