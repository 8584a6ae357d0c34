"""A plugin of pytest: FlagGems on the tensors of torch's `cpu`. It has a back end for them (`_arm`) that its list of vendors leaves out, and asks
torch for functions that torch.cpu does not have. Nothing of FlagGems is changed on the disk."""
import contextlib
import importlib.util
import os
import sys
import types

import torch


class Generator:
    """torch's generators for GPUs keep a seed and an offset, which FlagGems' random functions read and advance; that for CPUs has another state."""

    def __init__(self):
        self.state = torch.tensor([20231, 0]).view(torch.uint8)

    def get_state(self):
        return self.state.clone()

    def set_state(self, state):
        self.state = state


class Cpu(str):
    """The current device: a name for torch, an index of lists."""

    def __new__(cls):
        return super().__new__(cls, "cpu")

    def __index__(self):
        return 0


def _vendors():
    """FlagGems' module of vendors, with one more."""
    name = "flag_gems.runtime.commom_utils"
    package = importlib.util.find_spec("flag_gems")
    path = os.path.join(package.submodule_search_locations[0], "runtime", "commom_utils.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    known = module.vendors.get_all_vendors()
    module.vendors.get_all_vendors = classmethod(lambda cls: {**known, "arm": "arm"})
    sys.modules[name] = module


torch.cpu.device = lambda device=None: contextlib.nullcontext()
torch.cpu.current_device = Cpu
torch.cpu.get_device_capability = lambda device=None: (0, 0)
torch.cpu.default_generators = (Generator(), )
torch.cpu.get_device_properties = lambda device=None: types.SimpleNamespace(
    multi_processor_count=os.cpu_count(), total_memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
os.environ["GEMS_VENDOR"] = "arm"
# Its own forms of three operators, and its heuristics, which lack those of newer operators: the general ones are tested.
sys.modules["_arm.ops"] = sys.modules["_arm.heuristics_config_utils"] = None
_vendors()
