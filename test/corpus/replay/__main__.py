"""The replayer's command line.

  python test/corpus/replay run --tool build/bin/nereid --corpora .corpora TRACE... [--device cpu|interp|cuda:0] [--json OUT]
  python test/corpus/replay table OUT.json... [--explained FILE]     markdown: counts, and everything that is not right
  python test/corpus/replay show TRACE... --only TEXT --to FOLDER    writes launch files, to be run by hand
  python test/corpus/replay ptx TRACE... --driver FAKE --to FOLDER   the PTX of every launch, without a GPU
"""
from pathlib import Path
import sys

HERE = Path(__file__).resolve().parent


def main():
    sys.path[0] = str(HERE.parent)
    from replay import code, report, replayer
    commands = {"run": replayer.main, "ptx": code.main, "show": replayer.main_show, "table": report.main}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
