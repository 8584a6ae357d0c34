"""Mistakes of upstream Triton 3.6 that random kernels meet, each with its mending.

A kernel whose results differ is run again with one of them mended: if it then agrees, the difference is upstream's.
README.md has for each a kernel that shows it.
"""
import ast
import contextlib
import tempfile


@contextlib.contextmanager
def loops_carry_what_they_assign():
    """`CodeGenerator._find_carries` generates the body of a loop once on trial, and takes a variable as carried if its
    value is then another one. Two variables that hold one value in front of the loop and change places are not."""
    from triton.compiler import code_generator
    generator = code_generator.CodeGenerator
    original = generator._find_carries

    def find_carries(self, node, liveins, ignore=frozenset()):
        names, handles, types = original(self, node, liveins, ignore)
        assigned = {
            name.id
            for statement in node.body for name in ast.walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        for name, value in liveins.items():
            if name in assigned - {*names, *ignore} and code_generator._is_triton_value(value):
                names.append(name)
                types.append(value.type)
                handles.extend(code_generator.flatten_values_to_ir([value]))
        return names, handles, types

    generator._find_carries = find_carries
    try:
        yield
    finally:
        generator._find_carries = original


@contextlib.contextmanager
def own_cache():
    """What is compiled here is neither taken from the cache on disk nor left in it."""
    from triton import knobs
    with tempfile.TemporaryDirectory() as folder, knobs.cache.scope():
        knobs.cache.dir = folder
        yield


MISTAKES = {"a loop forgets a variable that takes another one's equal value": loops_carry_what_they_assign}
