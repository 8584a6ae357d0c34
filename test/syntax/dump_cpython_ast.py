"""CPython's syntax tree in the text form of nereid/Syntax/Dump.h."""
import ast
import struct

NO_POSITION = (ast.mod, ast.comprehension, ast.arguments, ast.withitem, ast.match_case)
ESCAPES = {c: f"\\x{c:02x}" for c in (*range(32), 127, ord("\\"), ord("'"))}
SKIPPED = {"type_comment", "type_ignores"}


def quote(text):
    return "'" + text.translate(ESCAPES) + "'"


def constant(value):
    if value is None or value is True or value is False:
        return str(value)
    if value is Ellipsis:
        return "Ellipsis"
    kind = type(value)
    if kind is int:
        return f"int:{value if value < 2**63 else hex(value)}"
    if kind is float:
        return "float:" + struct.pack(">d", value).hex()
    if kind is complex:
        return "complex:" + struct.pack(">d", value.imag).hex()
    if kind is bytes:
        # Raw bytes, as the other side has them; joined into UTF-8 text below.
        return "b" + quote(value.decode("latin-1")).encode("latin-1").decode("utf-8", "surrogateescape")
    return quote(value)


class Dumper:
    def __init__(self):
        self.lines = []

    def node(self, node, head, depth):
        parts = [head, type(node).__name__]
        if not isinstance(node, NO_POSITION):
            parts.append(f" {node.lineno}:{node.col_offset}-{node.end_lineno}:{node.end_col_offset}")
        children = []
        is_constant = isinstance(node, (ast.Constant, ast.MatchSingleton))
        for name in node._fields:
            value = getattr(node, name)
            if name == "value" and is_constant:
                parts.append(" value=" + constant(value))
            elif value is None or name in SKIPPED:
                pass
            elif isinstance(value, list):
                if not value:
                    pass
                elif isinstance(value[0], ast.cmpop):
                    parts.append(f" {name}=" + "".join(type(op).__name__ + "," for op in value))
                elif isinstance(value[0], str):
                    parts.append(f" {name}=" + "".join(map(quote, value)))
                else:
                    children += [(f"{name}[{i}]=", item) for i, item in enumerate(value)]
            elif isinstance(value, ast.AST):
                if value._fields or not isinstance(value, (ast.operator, ast.boolop, ast.unaryop, ast.expr_context)):
                    children.append((name + "=", value))
                else:
                    parts.append(f" {name}={type(value).__name__}")
            elif name == "kind":
                parts.append(" kind=" + value)
            elif isinstance(value, str):
                parts.append(f" {name}={quote(value)}")
            else:
                parts.append(f" {name}={value}")
        self.lines.append("".join(parts))
        depth += 1
        for name, child in children:
            if child is None:
                self.lines.append(" " * depth + name + "None")
            else:
                self.node(child, " " * depth + name, depth)


def dump(tree):
    dumper = Dumper()
    dumper.node(tree, "", 0)
    text = "\n".join(dumper.lines) + "\n"
    return text.encode("utf-8", "surrogatepass") if text.isascii() else encode(text)


def encode(text):
    """Lone surrogates of a str in their three-byte form; those that stand for
    undecodable bytes of a bytes literal as these bytes."""
    out = []
    for line in text.split("\n"):
        is_bytes = " value=b'" in line
        out.append(line.encode("utf-8", "surrogateescape" if is_bytes else "surrogatepass"))
    return b"\n".join(out)
