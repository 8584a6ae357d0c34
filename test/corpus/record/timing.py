"""How long a launch takes on the device, by its own clock."""
import torch

SLEEP = 2_000_000  # cycles: about a millisecond, so that the launches stand in the queue before the first one begins


def fastest_ms(call, count):
    """The fastest of `count` launches, each between two events. Other processes may share the GPU: the fastest was alone."""
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    torch.cuda._sleep(SLEEP)
    for begin, end in events:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return min(begin.elapsed_time(end) for begin, end in events)
