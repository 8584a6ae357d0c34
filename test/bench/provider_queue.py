#!/usr/bin/env python3
"""tools/nereid/provider.py on a GPU that is made up, whose host takes longer to launch a kernel than the kernel runs.

    test/bench/provider_queue.py tools/nereid/provider.py

The time is the kernel's, as triton.testing.do_bench has it, whose larger buffer keeps the host ahead of the device.
"""

import importlib.util
import sys
import types

HOST, LAUNCH, FLUSH, KERNEL = 3e-6, 40e-6, 10e-6, 14e-6  # seconds of an operation, a launch, and on the device


class Machine:
    """Seconds of the host's clock, and when the device has done all that is queued."""
    now = busy = 0.0

    def queue(self, host, device):
        self.now += host
        self.busy = max(self.busy, self.now) + device


def torch_on(machine):
    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            machine.queue(HOST, 0)
            self.at = machine.busy

        def elapsed_time(self, other):
            return (other.at - self.at) * 1e3

    def synchronize():
        machine.now = max(machine.now, machine.busy) + HOST

    buffer = types.SimpleNamespace(zero_=lambda: machine.queue(HOST, FLUSH))
    cuda = types.SimpleNamespace(Event=Event, synchronize=synchronize,
                                 _sleep=lambda cycles: machine.queue(HOST, cycles / 1.98e9))
    return types.SimpleNamespace(cuda=cuda, int32=None, empty=lambda *_, **__: buffer)


def main():
    spec = importlib.util.spec_from_file_location("provider", sys.argv[1])
    provider = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(provider)
    for is_cold in (True, False):
        machine = Machine()
        provider.time = types.SimpleNamespace(perf_counter=lambda of=machine: of.now)
        request = {"device": "cuda:0", "seconds": 0.1, "least_samples": 10, "most_samples": 1000, "flush_bytes": 64,
                   "cold": is_cold}
        samples, runs = provider.measure(torch_on(machine), lambda of=machine: of.queue(LAUNCH, KERNEL), request)
        # Warm runs follow each other as fast as the host launches them.
        expected = KERNEL if is_cold else LAUNCH
        assert len(samples) >= 10 and all(abs(ms * 1e-3 / expected - 1) < 0.05 for ms in samples), (is_cold, runs, samples)
    print("times of single runs are the device's, whatever the host takes")


main()
