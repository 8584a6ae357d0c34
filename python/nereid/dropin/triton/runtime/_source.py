"""The text that the compiler gets for a kernel: its function and every function that it reaches, as they stand in their
files, each at its own line; and what their globals mean.

A name means to the compiler what it means to Python: it is looked up in the function's closure and globals here, never
guessed from the file. All functions share one text, so a name that stands for different things in two of them is
written differently in one.
"""
import ast
import builtins
import enum
import inspect
import types

from triton.language.core import builtin, constexpr, dtype, pointer_type

_LANGUAGE = ("triton", "math")
_HIDDEN = "__nereid_triton"


class SourceFunction:
    """A Python function as its file has it."""

    def __init__(self, fn):
        self.fn = fn
        self.version = 0  # how often it was replaced
        try:
            self.raw_lines, self.first_line = inspect.getsourcelines(fn)
        except (OSError, TypeError) as error:
            raise ValueError(f"{fn.__qualname__}: expected a function that was read from a file, got one without source text; "
                             "hint: kernels must be in a .py file, not in code given to exec") from error
        self.path = inspect.getsourcefile(fn) or fn.__code__.co_filename
        self._set("".join(self.raw_lines))

    def _set(self, text):
        indent = text[:len(text) - len(text.lstrip())]
        # Indented functions are parsed under an `if`, which leaves columns as they are.
        self.indent = indent
        shift = 1 if indent else 0
        tree = ast.parse(("if True:\n" if indent else "") + text)
        node = tree.body[0].body[0] if indent else tree.body[0]
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            raise ValueError(f"{self.fn.__qualname__}: expected a function written with 'def', got "
                             f"{type(node).__name__.lower()}; hint: a lambda cannot be a kernel")
        self.node = node
        lines = text.splitlines(keepends=True)
        head = node.lineno - shift - 1
        self.lines = [line.rstrip("\r\n") for line in lines[head:node.end_lineno - shift]]
        self.line = self.first_line + head  # of `def`
        self._offset = node.lineno  # of a node's lineno, to the index in `lines`

    def replace(self, source):
        """Another text for the function, from `def` on."""
        self._set(source)
        self.version += 1
        self.line = self.first_line + next((i for i, line in enumerate(self.raw_lines) if line.lstrip().startswith("def ")), 0)

    def decorate(self, decorator):
        """Puts a decorator in front, where the text has its own."""
        self.lines.insert(0, f"{self.indent}@{decorator}")
        self.line -= 1
        self._offset -= 1

    @property
    def source(self):
        """From `def` on, without indentation."""
        import textwrap
        return textwrap.dedent("\n".join(self.lines) + "\n")

    def index(self, node):
        return node.lineno - self._offset


class Lines:
    """The file and the line there for each line of the text."""

    def __init__(self, path):
        self.path = path
        self.parts = []  # (first line, one past the last, path, line there)
        self.functions = []  # (path, first line, one past the last, indentation, name), of files

    def within(self, path, line, column):
        """("name", line from its `def` on, column there) of a place in a file; None outside of all functions."""
        for file, first, end, indent, name in self.functions:
            if file == path and first <= line < end:
                return name, line - first + 1, max(column - indent, 0)
        return None

    def place(self, line):
        for first, end, path, there in self.parts:
            if first <= line < end:
                return path, there + line - first
        return self.path, line


class Composed:
    """`text`, `path`, `bindings`, `globals` (dict, name, value), `functions` (jit function -> name), `lines`."""

    def __init__(self, root, extra=(), is_jit=None):
        self._is_jit = is_jit
        self.path = root.source_function.path
        self.bindings, self.globals, self.functions = {}, [], {}
        self.lines = Lines(self.path)
        self._names = {}  # id of a thing -> its name in the text
        self._taken = {_HIDDEN: None}
        self._keep = []  # what ids are of
        self._trailer = [f"import triton as {_HIDDEN}"]
        self._placed = []  # (SourceFunction, lines)
        self.modules = []  # names of modules that are no part of the language
        self._name(root, root.__name__)
        self._function(root)
        for function in extra:
            self._entity(function, function.__name__)
        for function in (root, *extra):
            self.functions[function] = self._names[id(function)]
        self.text = self._layout()

    # Names

    def _name(self, thing, wanted):
        number, name = 0, wanted
        while name in self._taken or (number and hasattr(builtins, name)):
            number += 1
            name = f"{wanted}_{number}"
        self._taken[name] = thing
        self._names[id(thing)] = name
        self._keep.append(thing)
        return name

    def _constant(self, value, wanted):
        """Numbers of equal value and name are one thing."""
        plain = value.value if isinstance(value, constexpr) else value
        key = (wanted, type(value), type(plain), repr(plain))
        if key not in self._names:
            number, name = 0, wanted
            while name in self._taken:
                number += 1
                name = f"{wanted}_{number}"
            self._taken[name] = value
            self._names[key] = name
            if isinstance(value, (constexpr, dtype)) or isinstance(plain, (str, tuple)) or plain is None:
                self.bindings[name] = value
            else:
                # Not constexpr: the compiler says so, where the name is used.
                self._trailer.append(f"{name} = {value!r}")
        return self._names[key]

    def _entity(self, thing, wanted):
        """The name in the text of what a function's global is; None: it has none."""
        if id(thing) in self._names:
            return self._names[id(thing)]
        if self._is_jit(thing):
            name = self._name(thing, wanted)
            self._function(thing)
            return name
        if isinstance(thing, pointer_type):
            return self._statement(thing, wanted, f"{{}} = {_HIDDEN}.language.pointer_type({_HIDDEN}.language.{thing.element_ty.codegen_name()})")
        if isinstance(thing, (constexpr, dtype)):
            inner = thing.value if isinstance(thing, constexpr) else None
            if inner is not None and (self._is_jit(inner) or isinstance(inner, builtin)):
                return self._entity(inner, wanted)
            if isinstance(inner, types.FunctionType):
                return self._host_function(inner, wanted)
            return self._constant(thing, wanted)
        if isinstance(thing, enum.Enum):
            return self._entity(type(thing), type(thing).__name__) + "." + thing.name
        if thing is None or isinstance(thing, (bool, int, float, str)):
            return self._constant(thing, wanted)
        if isinstance(thing, tuple) and type(thing) is tuple and all(map(self._is_plain, thing)):
            return self._constant(thing, wanted)
        if isinstance(thing, types.ModuleType):
            if thing.__name__.split(".")[0] not in _LANGUAGE:
                self.modules.append(thing.__name__)
            return self._statement(thing, wanted, f"import {thing.__name__} as {{}}")
        module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
        if isinstance(module, str) and isinstance(name, str) and module.split(".")[0] in _LANGUAGE:
            return self._statement(thing, wanted, f"from {module} import {name} as {{}}")
        if isinstance(thing, type):
            return self._class(thing, wanted)
        if isinstance(thing, types.FunctionType):
            return self._plain_function(thing, wanted)
        kind = type(thing)
        return self._statement(thing, wanted, f"from {kind.__module__} import {kind.__name__} as {{}}")

    @staticmethod
    def _is_plain(value):
        return value is None or isinstance(value, (bool, int, float, str, constexpr, dtype)) or (
            type(value) is tuple and all(map(Composed._is_plain, value)))

    def _statement(self, thing, wanted, form):
        name = self._name(thing, wanted)
        self._trailer.append(form.format(name))
        return name

    def _plain_function(self, function, wanted):
        try:
            source = SourceFunction(function)
        except (ValueError, SyntaxError):
            return self._statement(function, wanted, f"from {function.__module__} import {function.__name__} as {{}}")
        name = self._name(function, wanted)
        self._add(source, name, function)
        return name

    def _host_function(self, function, wanted):
        """A function under `@tl.constexpr`: as under `@triton.constexpr_function`."""
        if id(function) not in self._names:
            name = self._plain_function(function, wanted)
            self._trailer.append(f"{name} = {_HIDDEN}.constexpr_function({name})")
        return self._names[id(function)]

    def _class(self, cls, wanted):
        fields = getattr(cls, "_fields", None)
        name = self._name(cls, wanted)
        if issubclass(cls, tuple) and isinstance(fields, tuple) and cls.__bases__ == (tuple, ):
            self._trailer += ["import collections as __nereid_collections",
                              f"{name} = __nereid_collections.namedtuple({cls.__name__!r}, {list(fields)!r})"]
            return name
        try:
            source = SourceFunction(cls)
        except (ValueError, SyntaxError):
            self._trailer.append(f"from {cls.__module__} import {cls.__qualname__.split('.')[-1]} as {name}")
            return name
        if getattr(cls, "_is_aggregate", False):
            source.decorate(f"{_HIDDEN}.aggregate")
        self._add(source, name, cls, scope=getattr(inspect.getmodule(cls), "__dict__", {}))
        return name

    # Functions

    def _function(self, function):
        name = self._names[id(function)]
        self._add(function.source_function, name, function.fn)
        options = "".join(f", {key}={value!r}" for key, value in function.text_options().items())
        self._trailer.append(f"{name} = {_HIDDEN}.{function.text_decorator}({name}{options})")
        reason = getattr(function, "_must_use_result", None)
        if reason is not None:
            self._trailer.append(f"{name} = {_HIDDEN}.must_use_result{f'({reason!r})' if isinstance(reason, str) else ''}({name})")

    def _scope(self, fn):
        return _closure_of(fn), fn.__globals__

    def _add(self, source, name, fn, scope=None):
        closure, scope = (_closures_of(fn), scope) if scope is not None else self._scope(fn)
        lines = list(source.lines)
        edits = []  # (line index, column in bytes, end, text)
        skipped = set()
        local = _local_names(source.node)
        for node in _references(source.node):
            if id(node) in skipped:
                continue
            base = node
            while isinstance(base, ast.Attribute):
                base = base.value
            if base.id in local and base.id not in closure:
                # Upstream reads a global where its name is assigned only later in the function.
                if isinstance(scope.get(base.id), constexpr) and base is node:
                    self._entity(scope[base.id], base.id)
                    self.globals.append((scope, base.id, scope[base.id]))
                continue
            if base.id in closure:
                value = closure[base.id]
                if isinstance(value, constexpr):
                    self.globals.append((value.__dict__, "value", value.value))
            elif base.id in scope:
                value = scope[base.id]
                is_watched = any(g[0] is scope and g[1] == base.id for g in self.globals)
                if not is_watched and not isinstance(value, types.ModuleType):
                    self.globals.append((scope, base.id, value))
            else:
                continue  # Python's, or unknown: the compiler says which
            target, value = self._resolve(node, base, value, skipped)
            self._keep.append(value)
            wanted = base.id if target is base else "_".join(ast.unparse(target).split("."))
            written = self._entity(value, wanted)
            if written != ast.unparse(target) and target.lineno == target.end_lineno:
                edits.append((source.index(target), target.col_offset, target.end_col_offset, written))
        for index, start, end, text in sorted(edits, reverse=True):
            line = lines[index].encode()
            lines[index] = (line[:start] + text.encode() + line[end:]).decode()
        if name != source.node.name:
            keyword = "class " if isinstance(source.node, ast.ClassDef) else "def "
            at = source.index(source.node)
            head, rest = lines[at].split(keyword, 1)
            lines[at] = head + keyword + name + rest[len(source.node.name):]
        self._placed.append((source, lines))

    def _resolve(self, node, base, value, skipped):
        """Of `a.b.c` the longest part that the compiler has to know: modules of the language and values that it
        knows have attributes of their own."""
        chain = []
        while node is not base:
            chain.append(node)
            node = node.value
        target = base
        for attribute in reversed(chain):
            is_language = isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _LANGUAGE and not self._is_constant_at(value, chain)
            if is_language or not isinstance(value, (types.ModuleType, type)) or isinstance(value, type) and _is_described(value):
                break
            try:
                value = getattr(value, attribute.attr)
            except AttributeError:
                break
            skipped.add(id(attribute.value))
            target = attribute
        return target, value

    @staticmethod
    def _is_constant_at(value, chain):
        """Does the chain lead from a module to a constexpr, as tl.core.CONSTEXPR_0 does?"""
        for attribute in reversed(chain):
            if isinstance(value, types.ModuleType):
                value = getattr(value, attribute.attr, None)
        return isinstance(value, constexpr)

    # The text

    def _layout(self):
        text, appended = {}, []
        for source, lines in sorted(self._placed, key=lambda placed: placed[0].line):
            first = source.line
            before = {first - 1: "if True:"} if source.indent and (first - 1) not in text else {}
            placed = {**before, **{first + i: line for i, line in enumerate(lines)}}
            fits = source.path == self.path and first > 0 and not any(number in text for number in placed) and (not source.indent or before)
            if fits:
                text.update(placed)
            else:
                appended.append((source, lines))
        for source, _ in self._placed:
            head = source.line + source.index(source.node)
            self.lines.functions.append((source.path, head, source.line + len(source.lines), len(source.indent), source.node.name))
        result = [text.get(i, "") for i in range(1, max(text, default=0) + 1)]
        for source, lines in appended:
            if source.indent:
                result.append("if True:")
            first = len(result) + 1
            result += lines
            self.lines.parts.append((first, first + len(lines), source.path, source.line))
        return "\n".join(result + self._trailer) + "\n"


def _closure_of(fn):
    closure = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            closure[name] = cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    return closure


def _closures_of(cls):
    """Of a class's methods, which are written in one place."""
    closure = {}
    for method in vars(cls).values():
        function = getattr(method, "fn", method)
        if isinstance(function, types.FunctionType):
            closure.update(_closure_of(function))
    closure.pop("__class__", None)
    return closure


def _is_described(cls):
    """Classes whose attributes the compiler evaluates from their text."""
    return issubclass(cls, (enum.Enum, tuple, dtype, constexpr)) or cls.__module__.split(".")[0] == "triton"


def _local_names(node):
    """Names that a function, or the methods of a class, bind."""
    names, foreign = set(), set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            names.add(inner.arg)
        elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            names.add(inner.id)
        elif isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and inner is not node:
            names.add(inner.name)
        elif isinstance(inner, (ast.Global, ast.Nonlocal)):
            foreign.update(inner.names)
        elif isinstance(inner, ast.alias):
            names.add((inner.asname or inner.name).split(".")[0])
    return names - foreign


def _references(node):
    """Names and chains of attributes of names that are read, the longest first; not those of decorators. Defaults of
    parameters are evaluated by Python, but the compiler reads them too."""
    decorators = {id(inner) for decorator in node.decorator_list for inner in ast.walk(decorator)}
    found = []
    for inner in ast.walk(node):
        if id(inner) in decorators:
            continue
        base = inner
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name) and isinstance(base.ctx, ast.Load):
            found.append(inner)
    # ast.walk gives outer nodes first: the parts of a chain are marked as seen by _resolve's caller.
    seen, result = set(), []
    for inner in found:
        if id(inner) in seen:
            continue
        part = inner
        while isinstance(part, ast.Attribute):
            part = part.value
            seen.add(id(part))
        result.append(inner)
    return result
