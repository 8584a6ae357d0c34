"""The recorder's command line.

  python test/corpus/record run OUT SUITE ROOT -- PROGRAM.py [ARGS...]   one program
  python test/corpus/record run OUT SUITE ROOT -- -m MODULE [ARGS...]
  python test/corpus/record run OUT SUITE ROOT -- -pytest MOST [ARGS...] at most MOST cases of a test function
  python test/corpus/record visible OUT CORPORA [--jobs N] [--limit SECONDS] [--only TEXT]
                                                                         the visible corpora, many programs at once
  python test/corpus/record pack OUT DEST [--budget MIB]                 archives for test/corpus/replay

ROOT is the checkout that the sources lie in. Environment: RECORD_STUBS names host packages to stand in for;
RECORD_TIMED=20 times every recorded launch so often on the GPU; RECORD_ON=cpu makes programs written for `cuda` run on the
CPU in upstream's interpreter; RECORD_FROM=cpu makes programs written for `cpu` run on the GPU.
"""
from pathlib import Path
import sys

HERE = Path(__file__).resolve().parent


def main():
    sys.path[0] = str(HERE.parent)
    from record import packing, plan, program, visible
    commands = {"run": program.main, "visible": visible.main, "pack": packing.main, "plan": plan.main}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    # What a program imports must not be one of this folder's modules.
    sys.path.pop(0)
    return commands[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
