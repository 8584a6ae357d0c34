from . import libdevice, cuda, hip  # noqa: F401
