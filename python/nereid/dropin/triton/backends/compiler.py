"""What describes a target."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class GPUTarget:
    """`backend` "cuda" or "cpu"; `arch` 90 of an H100; `warp_size` 32, also of the CPU: others divide by it."""
    backend: str
    arch: object
    warp_size: int


class BaseBackend:
    """Base of back ends; Nereid's own are in C++."""
