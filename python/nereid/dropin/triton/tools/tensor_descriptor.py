"""Descriptors that the host makes and gives to kernels."""
import dataclasses
import typing


@dataclasses.dataclass
class TensorDescriptor:
    """A tensor and the shape of the blocks that a kernel loads and stores of it. Strides count elements, and the last
    is 1. The launch checks the rest."""
    base: typing.Any
    shape: typing.List[int]
    strides: typing.List[int]
    block_shape: typing.List[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self):
        rank = len(self.shape)
        if rank < 1 or len(self.strides) != rank or len(self.block_shape) != rank:
            raise ValueError(f"TensorDescriptor: expected shape, strides and block_shape of one length from 1 on, got {rank}, "
                             f"{len(self.strides)} and {len(self.block_shape)}")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f"TensorDescriptor: expected padding 'zero' or 'nan', got {self.padding!r}")

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), list(block_shape), padding, round_f32_to_tf32)
