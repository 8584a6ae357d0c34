"""The configurations of @triton.autotune in the public corpora, by CPython and by Nereid: the same?

  decorators_python.py [--tool build/bin/nereid] [--corpora .corpora] [--only TEXT] [--verbose]

CPython imports each file with upstream's triton, whose autotune is replaced by one that notes its configurations; torch and
Triton's driver answer as docs/HOST.md says of an sm_90. Files that need more than this machine has (a device, a package) are left
out, and counted. Exit status 1 where configurations differ; 77 without torch, triton or corpora.
"""
import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import os
from pathlib import Path
import subprocess
import sys
import types

ROOT = Path(__file__).resolve().parents[2]
NOTED = {}


def prepare(corpora):
    import torch
    import triton
    from triton.backends.compiler import GPUTarget

    properties = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32,
                  "sm_clock_rate": 1980000, "mem_clock_rate": 2619000, "mem_bus_width": 5120}
    active = types.SimpleNamespace(
        utils=types.SimpleNamespace(get_device_properties=lambda device=0: properties),
        get_current_target=lambda: GPUTarget("cuda", 90, 32), get_current_device=lambda: 0,
        get_active_torch_device=lambda: torch.device("cuda", 0), get_device_interface=lambda: torch.cuda,
        get_benchmarker=lambda: None)
    triton.runtime.driver.set_active(active)
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    torch.cuda.get_device_properties = lambda device=None: types.SimpleNamespace(
        name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30, warp_size=32)
    torch.cuda.get_device_name = lambda device=None: "NVIDIA H200"

    def autotune(configs, key=(), **options):
        def note(function):
            inner = function
            while hasattr(inner, "fn"):
                inner = inner.fn
            rows = [{**{k: plain(v) for k, v in c.kwargs.items()}, "num_warps": c.num_warps, "num_stages": c.num_stages}
                    for c in configs]
            NOTED[os.path.realpath(inner.__code__.co_filename), inner.__name__] = rows
            return function
        return note

    triton.autotune = triton.runtime.autotuner.autotune = autotune
    # The package without what its __init__ imports.
    flag_gems = types.ModuleType("flag_gems")
    flag_gems.__path__ = [str(corpora / "FlagGems/src/flag_gems")]
    sys.modules["flag_gems"] = flag_gems
    os.environ["GEMS_VENDOR"] = "nvidia"
    sys.argv = ["program"]


def plain(value):
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def load(path, corpora):
    source = corpora / "FlagGems/src"
    if path.is_relative_to(source):
        importlib.import_module(".".join(path.relative_to(source).with_suffix("").parts))
        return
    spec = importlib.util.spec_from_file_location(f"corpus_{len(sys.modules)}", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def nereid(tool, path):
    done = subprocess.run([str(tool), "tune", str(path), "--list"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "GEMS_VENDOR": "nvidia"})
    return {found["kernel"]: found for found in json.loads(done.stdout)} if done.returncode == 0 else {}


def same(ours, theirs):
    """Values that JSON writes otherwise (a dtype) are compared as texts; defaults of Config may be left out."""
    def row(config):
        return {key: plain(value) for key, value in config.items()}
    return len(ours) == len(theirs) and all(
        all(row(a).get(key) == value for key, value in row(b).items()) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, default=ROOT / "build/bin/nereid")
    parser.add_argument("--corpora", type=Path, default=ROOT / ".corpora")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    corpora = options.corpora.resolve()
    files = [path for path in sorted(corpora.rglob("*.py"))
             if options.only in str(path) and "/test" not in str(path)
             and "autotune" in path.read_text(errors="replace")] if corpora.is_dir() else []
    if not files:
        print("skipped: no corpora; scripts/fetch-corpora fetches them")
        return 77
    try:
        prepare(corpora)
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    left_out, compared, unknown, different = 0, 0, 0, 0
    for path in files:
        NOTED.clear()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                load(path, corpora)
        except (Exception, SystemExit) as why:
            left_out += not NOTED
            if options.verbose:
                print(f"{path.relative_to(corpora)}: CPython: {type(why).__name__}: {why}")
        noted = {name: rows for (file, name), rows in NOTED.items() if file == os.path.realpath(path)}
        ours = nereid(options.tool, path) if noted else {}
        for name, theirs in noted.items():
            found = ours.get(name, {})
            if not found.get("configs"):
                unknown += 1
                if options.verbose:
                    print(f"{path.relative_to(corpora)}: {name}: not evaluated here; CPython: {theirs}")
            elif same(found["configs"], theirs):
                compared += 1
            else:
                different += 1
                print(f"{path.relative_to(corpora)}: {name}:\n  here   {found['configs']}\n  python {theirs}")
    print(f"{compared} lists of configurations as CPython's, {different} different, {unknown} not evaluated here; "
          f"{left_out} files that CPython does not load on this machine")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
