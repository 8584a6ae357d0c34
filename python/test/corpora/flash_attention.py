"""A plugin of pytest: flash-attention's operators in the language, without its extension in CUDA; on the tensors of torch's `cpu` where
NEREID_TEST_DEVICE says so."""
import contextlib
import os
import sys
import types

import torch

sys.modules.setdefault("flash_attn_2_cuda", types.ModuleType("flash_attn_2_cuda"))
if os.environ.get("NEREID_TEST_DEVICE") == "cpu":
    torch.cuda.device = lambda device=None: contextlib.nullcontext()
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    torch.cuda.get_device_properties = lambda device=None: types.SimpleNamespace(total_memory=0)
    torch.cuda.synchronize = lambda device=None: None
