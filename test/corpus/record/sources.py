"""Where the source of a kernel lies."""
import ast
import inspect
from pathlib import Path
import textwrap


def source_of(function, root):
    """(path below root, line, False), or (name of the file, line, True) of a file elsewhere: one made at run time."""
    path = Path(inspect.getsourcefile(function) or function.__code__.co_filename).resolve()
    line = function.__code__.co_firstlineno
    try:
        return path.relative_to(root).as_posix(), line, False
    except ValueError:
        return path.name, line, True


def written_out(function, root):
    """The text of a file with the function at module level: the file that it was made in, and what that file lacks.

    Programs make kernels at run time in two ways: text written to a file and imported, with functions put into the module
    by assignment; and functions inside of functions, with values of the enclosing one."""
    path = inspect.getsourcefile(function)
    text = Path(path).read_text() if path and Path(path).is_file() else ""
    lines = []
    if "<locals>" in function.__qualname__ or not text:
        lines += closure_lines(function) + [plain_source(function)]
    for name, value in sorted(missing_globals(function, text).items()):
        lines.append(definition(name, value))
    return "\n".join([text.rstrip("\n"), "", *filter(None, lines), ""])


def plain_source(function):
    """The source without its indentation, and with no decorator but triton.jit."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(["@triton.jit", *lines[start:]])


def closure_lines(function):
    lines = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            lines.append(definition(name, cell.cell_contents))
        except ValueError:  # never assigned
            continue
    return lines


def missing_globals(function, text):
    """Names that the function uses and that the text of its module does not define."""
    known = module_names(text)
    return {name: function.__globals__[name] for name in function.__code__.co_names
            if name in function.__globals__ and name not in known}


def module_names(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    names = set()
    for node in tree.body + [inner for node in tree.body if isinstance(node, (ast.If, ast.Try)) for inner in ast.walk(node)]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    return names


def definition(name, value):
    """A line that gives the name its value, or an empty one where there is no such line."""
    function = value
    while function is not None and not inspect.isfunction(function):
        function = getattr(function, "fn", None)
    if function is not None:
        if "<locals>" in function.__qualname__:
            return plain_source(function)
        alias = "" if function.__name__ == name else f" as {name}"
        return f"from {function.__module__} import {function.__name__}{alias}"
    if isinstance(value, (bool, int, float, str)):
        return f"{name} = {value!r}"
    if type(value).__name__ == "constexpr":
        return f"{name} = tl.constexpr({value.value!r})"
    if type(value).__name__ == "dtype" and hasattr(value, "name"):
        return f"{name} = tl.{value.name if value.is_floating() else str(value)}" if hasattr(value, "is_floating") else ""
    return ""
