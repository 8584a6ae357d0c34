#!/usr/bin/env python3
"""The ladder on hip:0, the simulated AMD GPU below the whole runtime: `nereid run
--check` compares each launch with the reference executor and the processor.

    test/amd/driven.py NEREID NEREID_AMD_RUN [TARGET...]
"""

import os
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "gpu" / "amd_kernels.py"
TARGETS = ("gfx942", "gfx1100", "gfx1201")

# kernel, grid, waves, arguments.
LAUNCHES = (
    ("add", 3, 4, "x_ptr=randn:f32[700] y_ptr=randn:f32[700] z_ptr=zeros:f32[700] n=700 BLOCK=256"),
    ("softmax", 2, 8, "x_ptr=randn:f32[2,200] z_ptr=zeros:f32[2,200] n=200 BLOCK=256"),
    ("layer_norm", 2, 2, "x_ptr=randn:f32[2,200] z_ptr=zeros:f32[2,200] n=200 BLOCK=256"),
    ("transpose", 1, 4, "x_ptr=randn:f32[32,16] z_ptr=zeros:f32[16,32] M=32 N=16"),
    ("product", 1, 4, "x_ptr=randn:f32[16,32] y_ptr=randn:f32[32,16] z_ptr=zeros:f32[16,16] M=16 N=16 K=32"),
    ("loop_of_programs", 2, 1, "x_ptr=randn:f32[1000] z_ptr=zeros:f32[256] n=1000 BLOCK=128"),
    ("histogram", 1, 4, "x_ptr=randint:0:16:i32[256] z_ptr=zeros:i32[16] BLOCK=256 BINS=16"),
    ("scanned", 1, 8, "x_ptr=randint:-50:50:i32[256] z_ptr=zeros:i32[256] BLOCK=256"),
    ("sorted_up", 1, 4, "x_ptr=randint:-1000:1000:i32[128] z_ptr=zeros:i32[128] BLOCK=128"),
    ("attention_of_halves", 1, 4, "q_ptr=randn:f16[64,32] k_ptr=randn:f16[32,32] v_ptr=randn:f16[32,32] z_ptr=zeros:f16[64,32] M=64 N=32 D=32"),
)


def main():
    nereid, targets = sys.argv[1], sys.argv[3:] or TARGETS
    failures = launches = 0
    for target in targets:
        environment = {**os.environ, "NEREID_HIP_DRIVER": "simulator", "NEREID_SIMULATOR": f"{target},races"}
        for kernel, grid, waves, arguments in LAUNCHES:
            launches += 1
            done = subprocess.run([nereid, "run", f"{KERNELS}:{kernel}", *arguments.split(), f"num_warps={waves}", "--grid",
                                   str(grid), "--device", "hip:0", "--check"], capture_output=True, text=True, env=environment)
            if done.returncode:
                failures += 1
                print(f"{kernel} for {target} on {waves} waves:\n{done.stdout}{done.stderr}", flush=True)
    print(f"{launches} launches, {failures} failed")
    sys.exit(1 if failures else 0)


main()
