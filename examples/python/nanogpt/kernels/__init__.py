"""Kernels of the model, where there is Triton."""
try:
    from .layer_norm import TritonLayerNorm, triton_layer_norm
    TRITON_AVAILABLE = True
except ImportError:
    TritonLayerNorm = triton_layer_norm = None
    TRITON_AVAILABLE = False

__all__ = ["TRITON_AVAILABLE", "TritonLayerNorm", "triton_layer_norm"]
