"""What a driver is, for classes of others that are one."""


class DriverBase:
    """Tells which device is current, and its streams."""
    utils = launcher_cls = None

    @staticmethod
    def is_active():
        return False

    def get_current_target(self):
        raise NotImplementedError(f"{type(self).__name__}.get_current_target")

    def get_active_torch_device(self):
        raise NotImplementedError(f"{type(self).__name__}.get_active_torch_device")

    def get_benchmarker(self):
        from triton.testing import do_bench
        return do_bench


class GPUDriver(DriverBase):
    """A driver of devices that torch.cuda knows."""

    def get_current_device(self):
        import torch
        return torch.cuda.current_device()

    def set_current_device(self, device):
        import torch
        torch.cuda.set_device(device)

    def get_current_stream(self, device=None):
        import torch
        return torch.cuda.current_stream(device).cuda_stream

    def get_device_capability(self, device=None):
        import torch
        return torch.cuda.get_device_capability(device)
