#!/usr/bin/env python3
"""Shared libraries of the preset `portable`: what it links them with takes Debian's archives of zlib and zstd, which were
compiled for programs, and keeps their symbols inside.

    test/portable/shared_libraries.py SOURCES

The preset is configured into a folder of its own, without the sources of oneTBB and Gloo. The commands that link the libraries
of the test harness and of the operators' benchmark then link a library of one function, which calls both archives; it is
loaded and called. The libraries themselves take minutes to compile: `scripts/portable NereidBridge NereidOperatorBench`.
"""

import ctypes
import shlex
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

SOURCE = """#include <zlib.h>
#include <zstd.h>
unsigned long checksum(const unsigned char *bytes, unsigned count) {
  unsigned char packed[4096], unpacked[1024];
  size_t size = ZSTD_compress(packed, sizeof packed, bytes, count, 1);
  size = ZSTD_decompress(unpacked, sizeof unpacked, packed, size);
  return crc32(0, unpacked, (unsigned)size);
}
"""
# The sources that cmake/NereidGloo.cmake names.
GLOO = ("common/linux", "common/logging", "rendezvous/context", "rendezvous/file_store", "rendezvous/store")
TEXT = b"a library with archives inside" * 20


def run(*command, folder=None):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def write_empty(*files):
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


def check(folder, target):
    """Links as `target` is linked, but of one object and the two archives that `target` names."""
    words = shlex.split(run("ninja", "-t", "commands", target, folder=folder).splitlines()[-1])
    words = words[words.index("&&") + 1:]
    archives = [word for word in words if Path(word).name in ("libz.a", "libzstd.a")]
    if {Path(word).name for word in archives} != {"libz.a", "libzstd.a"}:
        sys.exit(f"{target}: expected libz.a and libzstd.a among what is linked, got {archives}")
    library = folder / f"{target}.so"
    flags = [word for word in words[:words.index("-o")]
             if word != "-Xlinker" and not word.startswith(("-Wl,-soname", "--dependency-file"))]
    run(*flags, "-o", library, folder / "checksum.o", *dict.fromkeys(archives))
    exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    if exported != ["checksum"]:
        sys.exit(f"{target}: expected no symbol of the archives among the library's own, got {exported[:5]}")
    checksum = ctypes.CDLL(str(library)).checksum
    checksum.restype = ctypes.c_ulong
    if checksum(TEXT, len(TEXT)) != zlib.crc32(TEXT):
        sys.exit(f"{target}: a wrong checksum")
    print(f"{target}: links")


def main():
    sources = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tbb, gloo = folder / "tbb", folder / "gloo"
        write_empty(tbb / "src/tbb/version.cpp", tbb / "include/empty.h", gloo / "gloo/allreduce.cc", gloo / "gloo/config.h.in",
                    *(gloo / f"gloo/{source}.cc" for source in GLOO))
        run("cmake", "-S", sources, "-B", folder / "build", "--preset", "portable", f"-DNEREID_TBB_DIR={tbb}", f"-DNEREID_GLOO_DIR={gloo}")
        (folder / "checksum.c").write_text(SOURCE)
        run("clang-22", "-O2", "-fPIC", "-c", folder / "checksum.c", "-o", folder / "build/checksum.o")
        for target in ("NereidBridge", "NereidOperatorBench"):
            check(folder / "build", target)


if __name__ == "__main__":
    main()
