"""What the drivers share: loading a file of somebody else's, and going on when a call fails."""
import ast
import sys
import traceback

failures = 0


def attempt(label, call, *args, **kwargs):
    """The result of the call, or None after saying what went wrong."""
    global failures
    try:
        return call(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failures += 1
        place = traceback.extract_tb(error.__traceback__)[-1]
        print(f"{label}: {type(error).__name__}: {str(error)[:300]} ({place.filename.split('/')[-1]}:{place.lineno})", flush=True)
        return None


def load(path, name="__main__", **values):
    """The names that a program defines. Its statements run one by one; one that fails is reported and skipped. `values` take
    the place of functions that the program defines."""
    text = open(path).read()
    space = dict(__name__=name, __file__=str(path), __builtins__=__builtins__)
    module = sys.modules.get(name)
    if module is not None:
        space = module.__dict__
        space["__file__"] = str(path)
    for statement in ast.parse(text).body:
        code = compile(ast.Module([statement], []), str(path), "exec")
        attempt(f"{path}:{statement.lineno}", exec, code, space)
        space.update((key, value) for key, value in values.items() if key in space)
    return space


def finish():
    print(f"{failures} calls failed")
