"""What bench/operators/compare.py runs: each operator beside PyTorch's functions, on shapes that models have."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F


@dataclass
class Case:
    operator: str
    shape: str  # for the table
    inputs: list  # tensors or None
    function: object  # the same by PyTorch: of the inputs
    numbers: tuple = ()
    gradients: tuple = ()  # which inputs want one; none: forward alone
    tolerance: float = 0.02  # of the largest element
    peers: dict = field(default_factory=dict)  # further ways to compute it, by name


def layer_norm(make, dtype):
    for rows, columns in ((12288, 768), (4096, 4096), (8192, 1024), (512, 8192)):
        inputs = [make(rows, columns, dtype=dtype), make(columns, dtype=dtype), make(columns, dtype=dtype)]
        yield Case("layer_norm", f"{rows}x{columns}", inputs,
                   lambda x, w, b, n=columns: F.layer_norm(x, (n,), w, b, 1e-5), (1e-5,), (0, 1, 2))


FAMILIES = {"layer_norm": (layer_norm, ("fp32", "bf16"))}
