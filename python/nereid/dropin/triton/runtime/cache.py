"""What upstream's caches are asked for by others."""
import base64

from nereid import _native


def triton_key():
    """Changes with the compiler's build."""
    return "nereid-" + _native.build_id()


def _base32(key):
    return base64.b32encode(bytes.fromhex(key)).decode("utf-8").rstrip("=")
