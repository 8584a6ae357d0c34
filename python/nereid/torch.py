"""torch.compile with Nereid as Inductor's Triton.

    import nereid.torch
    nereid.torch.enable()     # in front of the first torch.compile
"""
import nereid


def enable(api=None):
    """`nereid.enable(api)`, and kernels for the CPU are Triton's too, in place of Inductor's C++. Kernels for GPUs are in any case. Raises
    ImportError where another `triton` is imported already, as torch._dynamo does: call it first."""
    nereid.enable(api)
    import torch._inductor.config as inductor
    inductor.cpu_backend = "triton"
