from . import cpu, cuda, hip, libdevice  # noqa: F401
