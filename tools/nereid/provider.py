"""Times a Python function, or a kernel of upstream Triton, for `nereid bench --against torch:... / triton:...`.

Nereid starts this script with its own interpreter (--python), and talks to it by lines of JSON: one says what to run on which
arrays, the answer has the samples in milliseconds. How it measures is as nereid/Bench/Measure.h has it, and as
triton.testing.do_bench: single runs from cold caches, between two events, after a buffer larger than the last-level cache is
written; or warm ones.
"""
import ctypes
import importlib
import importlib.util
import inspect
import json
import os
import random
import statistics
import sys
import time


def load(what):
    """'package.module.function', 'file.py:function'."""
    path, _, name = what.rpartition(":")
    if path:
        spec = importlib.util.spec_from_file_location("nereid_provider_module", path)
        if spec is None or not os.path.exists(path):
            raise FileNotFoundError(f"no file {path!r}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        module_name, _, name = what.rpartition(".")
        if not module_name:
            raise ValueError(f"expected module.function or file.py:function, got {what!r}")
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(module_name)
    return getattr(module, name)


def tensor_of(torch, one, device):
    dtype = getattr(torch, one["dtype"])
    data = bytearray(os.path.getsize(one["file"]))
    with open(one["file"], "rb") as file:
        file.readinto(data)
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return flat.reshape(one["shape"]).to(device, copy=True)


def arguments_for(function, given, arrays, numbers):
    """What is given on the command line, else what the function's parameters are called: x, x_ptr."""
    if given:
        known = {**numbers, **arrays}
        return {name: known[value] if value in known else eval(value, {"__builtins__": {}}, known) for name, value in given}
    known = {**numbers, **arrays}
    for name in list(known):
        if name.endswith("_ptr"):
            known.setdefault(name[:-4], known[name])
    wanted = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in known:
            wanted[name] = known[name]
        elif parameter.default is inspect.Parameter.empty and parameter.kind in (
                parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"no array or argument is called {name!r}; there are {', '.join(sorted(known))}; "
                            f"say which one it is, as in {name}=x")
    return wanted


def torch_call(request, arrays, numbers):
    function = load(request["what"])
    arguments = arguments_for(function, request["arguments"], arrays, numbers)
    return lambda: function(**arguments)


def triton_call(request, arrays, numbers):
    import triton
    kernel = load(request["what"])
    names = list(kernel.arg_names)
    known = {**numbers, **arrays}
    functions = {"cdiv": triton.cdiv, "next_power_of_2": triton.next_power_of_2, "min": min, "max": max}
    own = {name: known[name] for name in names if name in known}
    options = {}
    for name, value in request["arguments"]:
        scope = {**known, **own, **options, **functions}
        result = known[value] if value in known else eval(value, {"__builtins__": {}}, scope)
        (own if name in names else options)[name] = result
    for name, value in request["options"].items():
        options.setdefault(name, value)

    # Read once: the host must stay ahead of short kernels.
    text = compile(request["grid"], "<grid>", "eval")

    def grid(meta):
        sizes = eval(text, {"__builtins__": {}}, {**known, **meta, **functions})
        return sizes if isinstance(sizes, tuple) else (sizes, )

    return lambda: kernel[grid](**own, **options)


def median_uncertainty(samples):
    """Half of the median's 95 % interval, by ranks, as a share of it."""
    ordered, count = sorted(samples), len(samples)
    half = 0.98 * count**0.5
    low, high = max(0, int(count / 2 - half)), min(count - 1, int(count / 2 + half))
    return (ordered[high] - ordered[low]) / 2 / max(statistics.median(ordered), 1e-12)


def keep_busy(torch, seconds):
    """The device works for so long (at 2 GHz; longer at less), so that what is queued after it waits for no host."""
    if hasattr(torch.cuda, "_sleep"):
        torch.cuda._sleep(int(seconds * 2e9))


def measure(torch, call, request):
    is_gpu = request["device"].startswith("cuda")
    seconds, least, most = request["seconds"], request["least_samples"], request["most_samples"]
    buffer = torch.empty(max(request["flush_bytes"] // 4, 1), dtype=torch.int32, device=request["device"])
    samples, begin = [], time.perf_counter()
    if is_gpu:
        while time.perf_counter() - begin < 0.025:
            buffer.zero_()
            torch.cuda.synchronize()
    runs = 1
    if not request["cold"]:
        while runs < 4096:
            start = time.perf_counter()
            for _ in range(runs):
                call()
            if is_gpu:
                torch.cuda.synchronize()
            if time.perf_counter() - start >= (0.0005 if is_gpu else 0.001):
                break
            runs *= 2
    begin, queued, lead, most_lead = time.perf_counter(), 1, 1e-3, 5e-3
    while len(samples) < most:
        spent = time.perf_counter() - begin
        if len(samples) >= least and (spent > seconds or (spent > 0.05 and median_uncertainty(samples) < 0.002)):
            break
        if samples and len(samples) < least and spent > 4 * seconds:
            break
        if not is_gpu:
            if request["cold"]:
                buffer.add_(1)
            else:
                call()
            start = time.perf_counter()
            for _ in range(runs):
                call()
            samples.append((time.perf_counter() - start) * 1e3 / runs)
            continue
        pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(queued)]
        start = time.perf_counter()
        if request["cold"]:
            keep_busy(torch, min(lead * queued, most_lead))
        for first, last in pairs:
            buffer.zero_() if request["cold"] else call()
            first.record()
            for _ in range(runs):
                call()
            last.record()
        lead = 1.5 * (time.perf_counter() - start) / queued  # what the host takes for one of them, and half as much
        torch.cuda.synchronize()
        samples += [first.elapsed_time(last) / runs for first, last in pairs]
        if queued < 32 and time.perf_counter() - start < 0.015:
            queued *= 2
    return samples, runs


def measure_request(torch, request, device):
    with torch.no_grad():
        arrays, made = {}, {}
        for one in request["arrays"]:
            if one["file"] not in made:
                made[one["file"]] = tensor_of(torch, one, device)
            arrays[one["name"]] = made[one["file"]]
        numbers = request["numbers"]
        call = (triton_call if request["kind"] == "triton" else torch_call)(request, arrays, numbers)
        result = call()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        written = [arrays[name] for name in request["written"]]
        if isinstance(result, torch.Tensor) and written:
            if result.numel() != written[0].numel():
                raise ValueError(f"it returns {tuple(result.shape)}; expected {tuple(written[0].shape)}, as {request['written'][0]}")
            written[0] = result
        for name, tensor, path in zip(request["written"], written, request["results"]):
            values = tensor.detach().flatten()[:request["most_compared"]].to("cpu", torch.float64).contiguous()
            with open(path, "wb") as file:
                file.write((ctypes.c_char * (8 * values.numel())).from_address(values.data_ptr()) if values.numel() else b"")
        return measure(torch, call, request)


def answer(request):
    try:
        import torch
    except ImportError as error:
        raise RuntimeError(f"{sys.executable} has no PyTorch ({error}); --python names another interpreter") from error
    device = request["device"]
    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(request["threads"])
    samples, runs = measure_request(torch, request, device)
    if device.startswith("cuda"):
        torch.cuda.empty_cache()  # until the next request the memory is the others'
    return {"samples": samples, "runs": runs, "version": f"PyTorch {torch.__version__}"}


def main():
    # What the function prints is not an answer.
    to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    random.seed(0)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except BaseException as error:  # noqa: BLE001 - reported in the table
            if isinstance(error, KeyboardInterrupt):
                return
            reply = {"failure": f"{type(error).__name__}: {error}"}
        to.write(json.dumps(reply) + "\n")
        to.flush()


if __name__ == "__main__":
    main()
