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

    @staticmethod
    def parse_attr(key):
        """Of native_specialize_impl's key, as a signature has it."""
        return [["tt.divisibility", 16]] if "D" in key else []

    def load_dialects(self, context):
        pass

    def get_codegen_implementation(self, options):
        return {}

    def get_module_map(self):
        return {}
