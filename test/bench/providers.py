#!/usr/bin/env python3
"""Code of others beside a kernel: a shared library by nereid/Bench/provider.h, and a Python function by tools/nereid/provider.py.

    test/bench/providers.py build/bin/nereid cc SOURCES

Where this interpreter has no PyTorch, the table says so.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARY = """
#include "nereid/Bench/provider.h"

int add(const NereidCall *call) {
  const NereidArray *x = nereid_array(call, "x"), *y = nereid_array(call, "y_ptr"), *z = nereid_array(call, "z");
  const NereidNumber *n = nereid_number(call, "n");
  int64_t i;
  if (!x || !y || !z || !n || n->integer != x->shape[0] || x->rank != 1 || x->dtype != NEREID_FP32 || call->stream)
    return 1;
  for (i = 0; i < n->integer; ++i)
    ((float *)z->data)[i] = ((float *)x->data)[i] + ((float *)y->data)[i];
  return 0;
}

int refuse(const NereidCall *call) { return call ? 7 : 0; }
"""
FUNCTIONS = """
import torch

def add(x, y):
    print("what is printed is no answer")
    return x + y

def into(left, right, to):
    to.copy_(left + right)

def wrong(x, y):
    return x

def raises(x):
    raise ValueError("not today")
"""


def bench(nereid, folder, *against, status=0):
    command = [nereid, "bench", "vector_add", "n=64,1000", "--seconds", "0", "--times-only", "--json", "-", "--python",
               sys.executable]
    for text in against:
        command += ["--against", text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, (done.returncode, done.stdout[-3000:], done.stderr)
    return json.loads(done.stdout)["rows"]


def check_library(nereid, compiler, sources, folder):
    (folder / "mine.c").write_text(LIBRARY)
    subprocess.run([compiler, "-std=c99", "-pedantic", "-Wall", "-Werror", "-shared", "-fPIC", "-I", sources, "mine.c", "-o",
                    "mine.so"], cwd=folder, check=True)
    rows = bench(nereid, folder, "by hand=lib:mine.so:add", "lib:./mine.so:refuse")
    ours = [row for row in rows if row["provider"] == "by hand"]
    assert len(ours) == 2 and all(row["time [ms]"] > 0 and row["max diff"] < 1e-6 for row in ours), ours
    refused = [row for row in rows if row["provider"] == "lib:./mine.so:refuse"]
    assert all("has returned status 7; expected 0" in row["failure"] for row in refused), refused
    missing = bench(nereid, folder, "lib:mine.so:missing")
    assert all("missing" in row["failure"] for row in missing if row["provider"].startswith("lib")), missing


def check_python(nereid, folder):
    (folder / "functions.py").write_text(FUNCTIONS)
    rows = bench(nereid, folder, "PyTorch=torch:functions.add", "torch:functions.py:into left=x_ptr right=y to=z_ptr",
                 "torch:functions.raises")
    ours = [row for row in rows if row["provider"] == "PyTorch"]
    assert len(ours) == 2 and all(row["time [ms]"] > 0 and row["max diff"] < 1e-6 for row in ours), ours
    into = [row for row in rows if row["provider"].startswith("torch:functions.py:into")]
    assert all(row["max diff"] < 1e-6 for row in into), into
    raised = [row for row in rows if row["provider"] == "torch:functions.raises"]
    assert all("ValueError: not today" in row["failure"] for row in raised), raised
    wrong = bench(nereid, folder, "torch:functions.wrong", status=1)
    assert any(row.get("differs") for row in wrong), wrong


def folder_of(bench):
    """Where it exchanges arrays with its provider: it holds a lock there."""
    links = [Path(os.readlink(link)) for link in Path(f"/proc/{bench.pid}/fd").iterdir() if link.is_symlink()]
    found = [link.parent for link in links if link.name == "lock" and link.parent.name.startswith("nereid-provider-")]
    assert len(found) == 1, links
    return found[0]


def check_killed(nereid, folder):
    """What a process leaves that was killed is removed by the next one; what a living one has stays."""
    for name in ("answers", "blocks"):
        os.mkfifo(folder / name)
    python = folder / "python"
    # In place of the shell: it ends with the process that started it.
    answers, blocks = shlex.quote(str(folder / "answers")), shlex.quote(str(folder / "blocks"))
    python.write_text(f"#!/bin/sh\necho here > {answers}\nexec cat {blocks}\n")
    python.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [nereid, "bench", "vector_add", "n=64", "--seconds", "0", "--times-only", "--against", "torch:a.b", "--python"]

    def start():
        """One that waits for its provider's answer, and its folder."""
        bench = subprocess.Popen([*command, str(python)], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        (folder / "answers").read_text()
        return bench, folder_of(bench)

    killed, left = start()
    killed.kill()
    killed.wait()
    # Whatever bench comes next removes it: it need not be the one below.
    living, used = start()
    assert not left.exists(), "the next one removes it"
    subprocess.run([*command, "/bin/false"], cwd=folder, env=environment, capture_output=True)
    assert used.exists(), "it is in use"
    living.kill()
    living.wait()
    subprocess.run([*command, "/bin/false"], cwd=folder, env=environment, capture_output=True)
    assert not used.exists(), used


def check_one_process(nereid, folder):
    """Points share the process, which takes seconds to load PyTorch; one that has failed is not asked again."""
    python, starts = folder / "counted", folder / "starts"
    python.write_text(f"""#!{sys.executable}
import json, sys
open({str(starts)!r}, "a").write("started\\n")
for line in sys.stdin:
    request = json.loads(line)
    for path in request["results"]:
        open(path, "wb").close()
    fails = request["numbers"]["n"] == 32
    print(json.dumps({{"failure": "no 32"}} if fails else {{"samples": [1.0, 1.0], "runs": 1}}), flush=True)
""")
    python.chmod(0o755)
    command = [nereid, "bench", "vector_add", "n=8,16,32,64", "--seconds", "0", "--times-only", "--against", "theirs=torch:a.b", "--json", "-",
               "--python", str(python)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    theirs = [row for row in json.loads(done.stdout)["rows"] if row["provider"] == "theirs"]
    assert [row.get("time [ms]") for row in theirs] == [1.0, 1.0, None, 1.0], theirs
    assert starts.read_text() == "started\n" * 2, starts.read_text()


def main():
    nereid, compiler, sources = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as name:
        check_killed(nereid, Path(name))
        check_one_process(nereid, Path(name))
        check_library(nereid, compiler, sources, Path(name))
        try:
            import torch  # noqa: F401
        except ImportError:
            rows = bench(nereid, Path(name), "torch:functions.add")
            assert all("has no PyTorch" in row["failure"] for row in rows if row["provider"].startswith("torch")), rows
            print("the library is timed beside the kernel; there is no PyTorch, and the table says so")
            return
        check_python(nereid, Path(name))
    print("a library and a Python function are timed beside the kernel")


main()
