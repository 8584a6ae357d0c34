#!/usr/bin/env python3
"""Time and memory of the compiler over the length of programs.

    scaling.py NEREID                every chain, up to its full length
    scaling.py --short NEREID        what scripts/speed runs: a few lengths of each
    scaling.py --compiles NEREID     the longer of these lengths, with the stack that a process has by default; that it
                                     compiles, and no time or memory
    scaling.py --compiles --sample NEREID    what scripts/test runs of these: each chain for one target, in turn
    A stack that is limited to less is a reason to skip (status 77).
    scaling.py --only TEXT NEREID    chains whose name contains TEXT

For each chain and target it prints the processor time and the memory of one
compilation, without the process's own, and how both grow from length to
length. Growth of more than 1.3 times that of the length is a failure, of
--short 2 times (a machine that tests run on is busy; what is quadratic grows by
4). What looks like a failure is measured again, both lengths: the least of all
measures counts, since others on the machine can only add to it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

HEAD = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = "@triton.jit\ndef k(p, n):\n"
LOADED = "    o = tl.arange(0, 128)\n    a = tl.load(p + o)\n"
STORED = "    tl.store(p + o, a)\n"


def lines(count, line):
    return "".join("    " + line(i) + "\n" for i in range(count))


def scalars(n):
    return KERNEL + "    a = n\n" + lines(n // 2, lambda i: f"a = a * 3 + {i}") + "    tl.store(p, a)\n"


def float_scalars(n):
    return KERNEL + "    a = n * 0.5\n" + lines(n // 2, lambda i: f"a = a * 0.75 + {i}.5") + "    tl.store(p, a.to(tl.int32))\n"


def blocks(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"a = a * 3 + {i}") + STORED


def argument_blocks(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"a = (a * n) ^ {i}") + STORED


def mixed_blocks(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"a = (a ^ {i}) * {2 * i + 3}") + STORED


def doubled_blocks(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"a = (a + a) ^ {i}") + STORED


def loads(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"a ^= tl.load(p + o + {i})") + STORED


def stores(n):
    return KERNEL + LOADED + lines(n // 2, lambda i: f"tl.store(p + o + {128 * i}, a + {i})")


def branches(n):
    return KERNEL + "    a = n\n" + "".join(f"    if n == {i}:\n        a += {i * 7 % 1000}\n" for i in range(n)) + "    tl.store(p, a)\n"


def chain(n, test, body):
    return "".join(f"    {'el' if i else ''}if {test(i)}:\n        {body(i)}\n" for i in range(n))


def elifs(n):
    return KERNEL + "    a = n\n" + chain(n, lambda i: f"n == {i}", lambda i: f"a = {i * 7 % 1000}") + "    tl.store(p, a)\n"


def loading_elifs(n):
    return (KERNEL + "    a = n\n" + chain(n, lambda i: f"tl.load(p + {i}) == n", lambda i: f"a = tl.load(p + n + {i})") +
            "    tl.store(p, a)\n")


def block_elifs(n):
    return KERNEL + LOADED + chain(n, lambda i: f"n == {i}", lambda i: f"a += {i}") + STORED


def returning_elifs(n):
    return KERNEL + chain(n, lambda i: f"n == {i}", lambda i: "return") + "    tl.store(p, n)\n"


def returns(n):
    return (KERNEL + "    a = n\n" + "".join(f"    if n == {i}:\n        return\n    a += {i * 7 % 1000}\n" for i in range(n)) +
            "    tl.store(p, a)\n")


def whiles(n):
    return (KERNEL + "    a = n\n" + "".join(f"    while a > {i}:\n        a = a // 2 - {i % 7}\n" for i in range(n)) +
            "    tl.store(p, a)\n")


def fors(n):
    return (KERNEL + "    a = n\n" + "".join(f"    for i in range(n):\n        a = a * 3 + {i % 7}\n" for i in range(n)) +
            "    tl.store(p, a)\n")


def block_fors(n):
    return KERNEL + LOADED + "".join(f"    for i in range(n):\n        a = a * 3 + {i % 7}\n" for i in range(n)) + STORED


def trips(n):
    return KERNEL + LOADED + lines(n, lambda i: f"a += tl.sum(a) * {i}") + STORED


def branch_trips(n):
    return KERNEL + LOADED + "".join(f"    if n == {i}:\n        a += tl.sum(a) * {i}\n" for i in range(n)) + STORED


def loop_trips(n):
    return KERNEL + LOADED + "".join(f"    for i in range(n):\n        a += tl.sum(a) * {i}\n" for i in range(n)) + STORED


def copying_fors(n):
    return (KERNEL + LOADED + "".join(f"    for j in tl.range(n, num_stages=3):\n        a += tl.load(p + o + 128 * j + {i})\n"
                                      for i in range(n)) + STORED)


def helpers(n):
    return ("".join(f"@triton.jit\ndef h{i}(x):\n    return x * 3 + {i}\n\n\n" for i in range(n)) + KERNEL + LOADED +
            lines(n, lambda i: f"a = h{i}(a)") + STORED)


LONG = [1000, 2000, 4000, 8000, 16000]
CHAIN = [250, 500, 1000, 2000]
# name: program, lengths, lengths of --short
CHAINS = {
    "scalars": (scalars, LONG, [4000, 16000]),
    "float-scalars": (float_scalars, LONG, [8000, 16000]),
    "blocks": (blocks, LONG, [4000, 16000]),
    "mixed-blocks": (mixed_blocks, LONG, [2000, 8000]),
    "argument-blocks": (argument_blocks, LONG, [2000, 8000]),
    "doubled-blocks": (doubled_blocks, LONG, [2000, 8000]),
    "loads": (loads, [500, 1000, 2000, 4000], [500, 2000]),
    "stores": (stores, [2000, 4000, 8000], [2000, 4000]),
    "branches": (branches, CHAIN, [500, 2000]),
    "elifs": (elifs, CHAIN, [500, 2000]),
    "loading-elifs": (loading_elifs, CHAIN, [500, 2000]),
    "block-elifs": (block_elifs, CHAIN, [500, 2000]),
    "returning-elifs": (returning_elifs, CHAIN, [500, 2000]),
    "returns": (returns, CHAIN, [500, 2000]),
    "whiles": (whiles, CHAIN, [500, 2000]),
    "fors": (fors, CHAIN[:-1], [250, 1000]),
    "block-fors": (block_fors, CHAIN[:-1], [250, 1000]),
    "helpers": (helpers, [250, 500, 1000, 2000], [500, 2000]),
}
# Trips through shared memory, for the passes that place them and their barriers.
TRIPS = {
    "trips": (trips, LONG, [4000, 16000]),
    "branch-trips": (branch_trips, LONG, [2000, 8000]),
    "loop-trips": (loop_trips, CHAIN[:-1], [250, 500]),
    "copying-fors": (copying_fors, CHAIN[:-1], [250, 500]),
}
# name: target, stage, chains
TARGETS = {
    "cpu": ("cpu", "obj", CHAINS),
    "interp": ("interp", "tile-opt", CHAINS),
    "sm_90a": ("sm_90a", "ptx", CHAINS),
    "tilegpu": ("sm_90a", "tilegpu", TRIPS),
}


# Bytes that a process has by default.
STACK = 8 << 20


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


def limit_stack_and_time():
    limit_stack()
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def measure(nereid, folder, program, target, limit=limit_stack_and_time):
    """Seconds of processor time and megabytes of one compilation."""
    source = os.path.join(folder, "k.py")
    with open(source, "w") as file:
        file.write(HEAD + program)
    device, stage, _ = TARGETS[target]
    command = [nereid, "compile", source + ":k", "--signature", "*i32,i32", "--target", device, "--emit", stage,
               "-o", os.path.join(folder, "out")]
    environment = dict(os.environ, NEREID_CACHE_SIZE="0")
    process = subprocess.Popen(command, env=environment, preexec_fn=limit, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    text = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise SystemExit(f"{target}: status {status}\n{text[:2000]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def check_compiles(options):
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for target, (_, _, chains) in TARGETS.items():
            for number, (name, (make, _, short)) in enumerate(chains.items()):
                # The reference executor takes a stage on the others' way.
                is_in_turn = chains is not CHAINS or target == ("cpu", "sm_90a")[number % 2]
                if options.only in name and (is_in_turn or not options.sample):
                    measure(options.nereid, folder, make(short[-1]), target, limit_stack)
                    count += 1
    print(f"{count} long programs compile")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nereid")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--compiles", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if hard != resource.RLIM_INFINITY and hard < STACK:
        print(f"skipped: the hard limit of the stack is {hard} bytes, programs need {STACK}")
        sys.exit(77)
    if options.compiles:
        return check_compiles(options)
    allowed = 2 if options.short else 1.3
    failures = []
    print(f"{'chain':16}{'target':8}{'n':>7}{'seconds':>9}{'x':>6}{'MB':>8}{'x':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for target, (_, _, chains) in TARGETS.items():
            # What a compilation of next to nothing takes.
            base = [min(measures) for measures in zip(*(measure(options.nereid, folder, scalars(2), target)
                                                        for _ in range(3)))]
            for name, (make, full, short) in chains.items():
                if options.only not in name:
                    continue
                runs = {}  # by length

                def least(n):
                    return [max(min(values) - own, 0) for values, own in zip(zip(*runs[n]), base)]

                def repeat(n):
                    runs.setdefault(n, []).append(measure(options.nereid, folder, make(n), target))

                lengths = short if options.short else full
                for last, n in zip([None, *lengths], lengths):
                    for _ in range(2):
                        repeat(n)
                    growth = ["", ""]
                    for attempt in range(4 if last else 0):
                        # Less than 50 ms or 20 MB says nothing.
                        ratios = [now / max(before, floor) for now, before, floor in zip(least(n), least(last), (0.05, 20))]
                        if max(ratios) <= allowed * n / last or attempt == 3:
                            break
                        repeat(last)
                        repeat(n)
                    seconds, megabytes = least(n)
                    if last:
                        growth = [f"{ratio:.2f}" for ratio in ratios]
                        if max(ratios) > allowed * n / last:
                            failures.append(f"{name} on {target}: {last} to {n} takes {growth[0]} times as long and "
                                            f"{growth[1]} times the memory")
                    print(f"{name:16}{target:8}{n:7}{seconds:9.2f}{growth[0]:>6}{megabytes:8.0f}{growth[1]:>6}", flush=True)
                    if name == "mixed-blocks" and target == "cpu" and n == 16000 and seconds > 5:
                        failures.append(f"16,000 operations on blocks take {seconds:.1f} s on cpu; at most 5")
    print("\n".join(failures) if failures else "every chain within bounds")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
