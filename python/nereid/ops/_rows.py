"""How kernels over rows are launched: as the C++ operators are (kernels/operator/Rows.h)."""
import torch


def floor_power(n):
    return 1 << (max(n, 1).bit_length() - 1)


def plan_rows(columns, element_bytes, on_gpu, kept=1):
    """(rows of a program, warps, whether the kernel goes over a row in a loop) for `kept` values an element in registers."""
    loops = columns * kept > 65536  # 512 threads of 128 values: a program of more would spill
    if not on_gpu or loops:
        return 1, 8, loops
    row_bytes, rows = max(columns * element_bytes, 1), 1
    if row_bytes <= 1024:
        rows = min(floor_power(4096 // row_bytes), 32)
    warps = min(floor_power(row_bytes * rows // 1024), 8)
    least = 1 << (-(-columns * kept // 2048) - 1).bit_length()  # 64 values a thread stay in registers
    return rows, max(1, min(max(warps, least), 16)), False


def programs_for_sums(rows, device, row_bytes=0):
    """Programs that sum up rows each: as many as the device runs at once, and no more than there are rows."""
    if device.type == "cpu":
        return max(1, min(64, rows))
    per_processor = max(1, min(32768 // row_bytes, 8)) if row_bytes else 2
    return max(1, min(per_processor * torch.cuda.get_device_properties(device).multi_processor_count, rows))
