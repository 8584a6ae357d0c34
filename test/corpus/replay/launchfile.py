"""A recorded launch as a launch file (docs/LaunchFile.md) with its memory images beside it."""
import numpy as np

from replay.compare import TYPES
from replay.traces import tensors_of

SIZES = {name: np.dtype(bits).itemsize for name, (bits, _) in TYPES.items()}


class Inexpressible(Exception):
    pass


def value_of(arg, storages):
    kind = arg["kind"]
    if kind == "none":
        return None
    if kind == "bool":
        return arg["value"]
    if kind == "int":
        return {"int": arg["value"]}
    if kind == "float":
        return {"float": arg["value"]}
    if kind == "str":
        return {"str": arg["value"]}
    if kind == "dtype":
        return {"dtype": arg["value"]}
    if kind == "tensor":
        return {"tensor": view_of(arg, storages)}
    if kind == "tuple":
        value = {"tuple": [value_of(item, storages) for item in arg["items"]]}
        if arg["names"]:
            value.update(names=arg["names"], type=arg["type"])
        return value
    if kind == "descriptor":
        return {"descriptor": dict(base=view_of(arg["base"], storages), shape=arg["shape"], strides=arg["strides"],
                                   block_shape=arg["block"], padding="nan" if "nan" in arg["padding"].lower() else "zero")}
    if kind == "function":
        return {"function": arg["value"]}
    raise Inexpressible(f"an argument of type {arg.get('type', kind)}")


def view_of(arg, storages):
    storage = storages[arg["storage"]]
    offset = arg["offset"] - storage["lo"]
    shape, strides = arg["shape"], arg["stride"]
    if any(s < 0 for s in strides) or 0 in shape or not inside(arg, offset, storage["bytes"]):
        # All that a kernel sees of a tensor is its address and type.
        count = max((storage["bytes"] - offset) // arg["size"], 0)
        shape, strides = [count], [1]
    return dict(dtype=arg["dtype"], shape=shape, strides=strides, storage=storage["number"], offset=offset)


def inside(arg, offset, size):
    last = sum((n - 1) * s for n, s in zip(arg["shape"], arg["stride"]))
    return offset + (last + 1) * arg["size"] <= size


def describe(trace, row, source, folder, name):
    """The launch as plain data; writes the images of the memory before it into the folder."""
    storages = {s["number"]: s for s in row["storages"]}
    arguments = {arg["name"]: value_of(arg, storages) for arg in row["args"]}
    memory = []
    for number in range(len(storages)):
        storage = storages[number]
        before = trace.blob(storage["before"])
        file = folder / f"{name}-{number}.bin"
        file.write_bytes(before)
        entry = dict(file=str(file), bytes=max(len(before), 1), skew=(storage.get("base_align", 256) + storage["lo"]) % 256,
                     out=str(output_file(folder, name, number)))
        table = [dict(at=at - storage["lo"], storage=to, offset=offset - storages[to]["lo"])
                 for at, to, offset in storage.get("pointers", []) if at >= storage["lo"]]
        if table:
            entry["pointers"] = table
        memory.append(entry)
    options = {k: v for k, v in row["options"].items() if v is not None}
    return dict(kernel=dict(file=str(source), name=row["kernel"]), grid=row["grid"], storages=memory, arguments=arguments,
                options=options, id=name)


def widened(launch):
    """The launch with every tensor as long as its storage: an access outside of it then leaves the allocation."""
    def wide(value):
        if isinstance(value, list):
            return [wide(v) for v in value]
        if not isinstance(value, dict):
            return value
        value = {k: wide(v) for k, v in value.items()}
        if "tensor" in value:
            view = value["tensor"]
            size = launch["storages"][view["storage"]]["bytes"]
            item = SIZES[view["dtype"]]
            value["tensor"] = dict(dtype=view["dtype"], shape=[max((size - view["offset"]) // item, 0)], storage=view["storage"],
                                   offset=view["offset"])
        return value
    return dict(launch, arguments=wide(launch["arguments"]))


def output_file(folder, name, number):
    return folder / f"{name}-{number}.out"


def typed_views(row):
    """storage number -> [(first byte, bytes, dtype)] of its tensors, relative to the kept part."""
    storages = {s["number"]: s for s in row["storages"]}
    views = {number: [] for number in storages}
    for arg in tensors_of(row["args"]):
        storage = storages[arg["storage"]]
        offset = arg["offset"] - storage["lo"]
        reach = [(n - 1) * s * arg["size"] for n, s in zip(arg["shape"], arg["stride"])]
        low = max(offset + sum(r for r in reach if r < 0), 0)
        high = min(offset + sum(r for r in reach if r > 0) + arg["size"], storage["bytes"])
        if 0 in arg["shape"]:
            high = low
        views[arg["storage"]].append((low, max(high - low, 0), arg["dtype"]))
    return views
