"""python -m nereid script.py ARGUMENTS..., or -m module ARGUMENTS..., or -c CODE: as python does, with Nereid's triton. In front of these,
--api 3.6 to 3.9 says which generation of it (nereid.enable)."""
import os
import runpy
import sys

import nereid

_USAGE = "usage: python -m nereid [--api GENERATION] (SCRIPT | -m MODULE | -c CODE) [ARGUMENT...]"


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    api = None
    if arguments[0] == "--api":
        if len(arguments) < 3:
            print(f"nereid: expected a generation and a script behind --api, got {arguments[1:]}; {_USAGE}", file=sys.stderr)
            return 2
        api, arguments = arguments[1], arguments[2:]
    try:
        nereid.enable(api)
    except ValueError as error:
        print(f"nereid: {error}", file=sys.stderr)
        return 2
    kind, rest = arguments[0], arguments[1:]
    if kind in ("-m", "-c"):
        if not rest:
            print(f"nereid: expected {'a module' if kind == '-m' else 'code'} behind {kind}, got nothing; {_USAGE}", file=sys.stderr)
            return 2
        sys.path.insert(1, "")
        if kind == "-m":
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *rest[1:]]
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
        return 0
    if kind.startswith("-"):
        print(f"nereid: expected a script, -m or -c, got '{kind}'; {_USAGE}", file=sys.stderr)
        return 2
    if not os.path.exists(kind):
        print(f"nereid: expected a script, got '{kind}', which is no file", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path.insert(1, os.path.dirname(os.path.abspath(kind)))
    runpy.run_path(kind, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
