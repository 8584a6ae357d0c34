"""Nereid's kernels as operators of torch, on the CPU and on GPUs, with gradients and under torch.compile.

    from nereid.ops import layer_norm
    y = layer_norm(x, weight, bias)

They run with Nereid's triton: `nereid.enable()` is called here, and raises ImportError where another `triton` is imported already.
"""
import nereid

nereid.enable()

from .layer_norm import TritonLayerNorm, layer_norm, triton_layer_norm  # noqa: E402

#: For programs that ask before they choose these operators; where they cannot run, importing them failed.
TRITON_AVAILABLE = True

__all__ = ["TRITON_AVAILABLE", "TritonLayerNorm", "layer_norm", "triton_layer_norm"]
