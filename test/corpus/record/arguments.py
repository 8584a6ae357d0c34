"""Describes the arguments of a launch, and the memory that they reach.

A description is plain data (JSON). Tensors name a storage by number: tensors that share memory share the number. Of each
storage the bytes from the lowest argument in it to its end are kept, because kernels legally touch what their masks do
not exclude inside of an allocation.
"""
import gc
import inspect
import struct

from record import memory
from record.sources import source_of

POINTERS_AT_MOST = 1024  # elements of an integer tensor that are looked at as addresses
LOWEST_ADDRESS = 1 << 20


class Storages:
    """The memory reached by one launch: address of the storage -> entry."""

    def __init__(self):
        self.entries = {}

    def add(self, tensor):
        """(entry, offset of the tensor in its storage in bytes)."""
        storage = tensor.untyped_storage()
        base = storage.data_ptr()
        entry = self.entries.setdefault(base, dict(number=len(self.entries), storage=storage, device=tensor.device, lo=None,
                                                   hi=0, bytes=storage.nbytes(), base=base, pointers=[]))
        offset = tensor.data_ptr() - base
        extent = 0 if tensor.numel() == 0 else 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
        entry["lo"] = offset if entry["lo"] is None else min(entry["lo"], offset)
        entry["hi"] = max(entry["hi"], offset + extent * tensor.element_size())
        return entry, offset

    def ordered(self):
        return list(self.entries.values())


class Describer:
    def __init__(self, root):
        self.root = root

    def describe(self, value, storages):
        import torch
        if value is None:
            return dict(kind="none")
        if isinstance(value, bool):
            return dict(kind="bool", value=value)
        if isinstance(value, int):
            return dict(kind="int", value=str(int(value)))
        if isinstance(value, float):
            return dict(kind="float", value=value.hex())
        if isinstance(value, str):
            return dict(kind="str", value=value)
        if isinstance(value, torch.Tensor):
            return self.tensor(value, value.dtype, storages)
        if isinstance(value, torch.dtype):
            return dict(kind="other", type="torch.dtype", value=str(value))
        name = type(value).__name__
        if name == "TensorWrapper" and hasattr(value, "base"):
            return self.tensor(value.base, value.dtype, storages)
        if hasattr(value, "base") and hasattr(value, "block_shape"):
            return dict(kind="descriptor", base=self.describe(value.base, storages), shape=[int(n) for n in value.shape],
                        strides=[int(n) for n in value.strides], block=[int(n) for n in value.block_shape],
                        padding=str(getattr(value, "padding", "zero")))
        if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
            return self.pointer_holder(value, storages)
        if isinstance(value, (tuple, list)):
            return dict(kind="tuple", type=name, names=list(getattr(value, "_fields", [])),
                        items=[self.describe(item, storages) for item in value])
        if name == "constexpr":
            return dict(self.describe(value.value, storages), wrapped=True)
        if name == "dtype":
            return dict(kind="dtype", value=str(value))
        function = value
        while function is not None and not inspect.isfunction(function):
            function = getattr(function, "fn", None)
        if function is not None:
            file, line, _ = source_of(function, self.root)
            return dict(kind="function", value=function.__qualname__, file=file, line=line)
        return dict(kind="other", type=name, value=repr(value)[:200])

    def tensor(self, tensor, dtype, storages):
        entry, offset = storages.add(tensor)
        if tensor.dtype in _address_types() and 0 < tensor.numel() <= POINTERS_AT_MOST:
            self.find_pointers(tensor, entry, offset, storages)
        return dict(kind="tensor", dtype=str(dtype).replace("torch.", ""), size=tensor.element_size(),
                    shape=list(tensor.shape), stride=list(tensor.stride()), storage=entry["number"], offset=offset)

    def pointer_holder(self, value, storages):
        """An object with data_ptr() that is no tensor: the address lies in some tensor's storage."""
        tensor = owner_of(value.data_ptr(), live_tensors())
        if tensor is None:
            return dict(kind="other", type=type(value).__name__, value=repr(value)[:200])
        entry, _ = storages.add(tensor)
        offset = value.data_ptr() - entry["base"]
        strides = value.stride() if callable(getattr(value, "stride", None)) else ()
        shape = list(getattr(value, "shape", ()))
        size = value.dtype.itemsize
        # Such objects may have negative strides, which tensors have not.
        reach = [(n - 1) * s for n, s in zip(shape, strides)]
        entry["lo"] = min(entry["lo"], max(0, offset + sum(r for r in reach if r < 0) * size))
        entry["hi"] = max(entry["hi"], offset + (1 + sum(r for r in reach if r > 0)) * size)
        return dict(kind="tensor", dtype=str(value.dtype).replace("torch.", ""), size=size, shape=shape, stride=list(strides),
                    storage=entry["number"], offset=offset)

    def find_pointers(self, tensor, entry, offset, storages):
        """Elements of an integer tensor that are addresses in live tensors; the launch reaches those too."""
        if not tensor.is_contiguous():
            return
        data = memory.of(tensor.device).read(tensor.data_ptr(), tensor.numel() * 8)
        flat = struct.unpack(f"<{tensor.numel()}Q", data)
        if max(flat) < LOWEST_ADDRESS:
            return
        tensors = live_tensors()
        for index, address in enumerate(flat):
            owner = owner_of(address, tensors) if address >= LOWEST_ADDRESS else None
            if owner is not None:
                target, _ = storages.add(owner)
                entry["pointers"].append([offset + index * tensor.element_size(), target["number"], address - target["base"]])


def _address_types():
    import torch
    return (torch.int64, torch.uint64)


def live_tensors():
    import torch
    return [o for o in gc.get_objects() if type(o) is torch.Tensor or type(o) is torch.nn.Parameter]


def owner_of(address, tensors):
    for tensor in tensors:
        try:
            storage = tensor.untyped_storage()
            if storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
                return tensor
        except (RuntimeError, NotImplementedError):
            continue
    return None
