"""Runs one program with its launches recorded."""
import os
from pathlib import Path
import runpy
import signal
import sys

from record import hooks, stand_ins
from record.cases import FewCases
from record.recorder import Recorder


def main(words):
    if "--" not in words or words.index("--") != 3 or len(words) < 5:
        raise SystemExit("expected: run OUT SUITE ROOT -- PROGRAM [ARGS...]")
    out, suite, root = words[:3]
    rest = words[4:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the summary is written
    stand_ins.stub_modules(os.environ.get("RECORD_STUBS", "").split())
    stand_ins.performance_model()
    if os.environ.get("RECORD_TRITON_VERSION"):
        import triton
        triton.__version__ = os.environ["RECORD_TRITON_VERSION"]
    if os.environ.get("RECORD_ON") == "cpu":
        stand_ins.move_devices("cuda", "cpu")
    elif os.environ.get("RECORD_FROM") == "cpu":
        stand_ins.move_devices("cpu", "cuda")
    hooks.install(Recorder(out, suite, root, " ".join(Path(w).name if "/" in w else w for w in rest)))
    if rest[0] == "-pytest":  # -pytest MOST[:PART/PARTS] ARGS...
        return run_pytest(rest[1], rest[2:])
    if rest[0] == "-m":
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = rest
        sys.path.insert(0, str(Path(rest[0]).resolve().parent))
        runpy.run_path(rest[0], run_name="__main__")
    return 0


def device_fixture():
    """For suites whose conftest.py selects another device: the fixture `device` is the GPU."""
    import pytest

    class DeviceFixture:
        @pytest.fixture
        def device(self):
            return "cuda"

    return DeviceFixture()


def run_pytest(choice, words):
    import pytest
    most, _, part = choice.partition(":")
    numbers = [int(n) for n in part.split("/")] if part else [0, 1]
    plugins = [FewCases(int(most), *numbers)]
    if "--noconftest" in words:
        plugins.append(device_fixture())
    sys.path.insert(0, os.getcwd())
    return int(pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "--tb=line", *words], plugins=plugins))
