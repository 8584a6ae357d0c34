"""Paths into nested tuples, and names of dtypes."""


def get_iterable_path(iterable, path):
    for index in path:
        iterable = iterable[index]
    return iterable


def find_paths_if(iterable, predicate):
    """Paths of the leaves that `predicate(path, leaf)` holds of, in order."""
    found = []

    def visit(path, value):
        if isinstance(value, (tuple, list)):
            for index, item in enumerate(value):
                visit((*path, index), item)
        elif predicate(path, value):
            found.append(path)

    visit((), iterable)
    return found


#: Names of torch's dtypes, and of the language's that are not short.
_SHORT = {"bool": "i1", "int1": "i1", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64",
          "double": "fp64", "float8_e4m3fn": "fp8e4nv", "float8e4nv": "fp8e4nv", "float8_e5m2": "fp8e5", "float8e5": "fp8e5",
          "float8_e4m3fnuz": "fp8e4b8", "float8e4b8": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16", "float8e5b16": "fp8e5b16", "float8e4b15": "fp8e4b15"}


def canonicalize_dtype(dtype):
    """"fp32" of torch.float32, of tl.float32 and of their names."""
    name = str(dtype).split(".")[-1]
    if name in _SHORT:
        return _SHORT[name]
    return name.replace("uint", "u").replace("int", "i")
