"""The PTX of recorded launches, compiled without a GPU: for checks of the machine code (test/gpu/check_sass.py).

A driver that answers like one of sm_90 but runs nothing takes the driver's place: the runtime's own fake
(nereid/Runtime/gpu/testing/FakeDriver.cpp), which refuses to load real code. By then the code is written.
"""
import argparse
from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import shutil
import tempfile

from replay import launchfile, replayer
from replay.batch import Tool
from replay.traces import Sources

REFUSES_TO_LOAD = "as the fake driver says"


def write_ptx(tool, sources, job, folder, target, driver):
    """(name, what was in the way or nothing)."""
    trace, row = job
    name = f"{row['number'].replace(':', '-')}-{row['kernel']}"
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        launch = launchfile.describe(trace, row, sources.path_of(trace, row), place, name)
        answer = tool.run([launch], place, NEREID_DUMP=str(place / "dump"), NEREID_CUDA_DRIVER=driver)[name]
        for found in place.glob("dump/**/*.ptx"):
            shutil.copy(found, target / f"{name}.ptx")
        message = answer.get("error", "")
        return name, "" if REFUSES_TO_LOAD in message else replayer.short(message) or answer["status"]
    except launchfile.Inexpressible as error:
        return name, str(error)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def main(words):
    parser = argparse.ArgumentParser(prog="replay ptx")
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--driver", required=True, help="build/nereid/Runtime/gpu/libNereidFakeDriver.so")
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(words)
    target = Path(options.to)
    target.mkdir(parents=True, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="replay-")
    try:
        sources = Sources(options.corpora, scratch)
        tool = Tool(str(Path(options.tool).resolve()), "cuda:0", 60, 1, Path(scratch) / "cache")
        jobs, driver = replayer.jobs_of(options, scratch), os.path.abspath(options.driver)
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = list(pool.map(lambda job: write_ptx(tool, sources, job, scratch, target, driver), jobs))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for name, trouble in answers:
        if trouble:
            print(f"{name}: {trouble}")
    print(f"{sum(not trouble for _, trouble in answers)} of {len(answers)} launches compiled")
    return 0
