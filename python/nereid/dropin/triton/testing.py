"""Benchmarks and comparisons for scripts."""
import functools
import math
import os
import statistics
import time


def _device_is_cuda():
    from triton.runtime.driver import CudaDriver, driver
    return isinstance(driver.active, CudaDriver)


def _quantile(values, q):
    ordered = sorted(values)
    point = (len(ordered) - 1) * q
    low, high = math.floor(point), math.ceil(point)
    return ordered[low] + (ordered[high] - ordered[low]) * (point - low)


def _summary(times, quantiles, return_mode):
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    modes = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
    if return_mode not in modes:
        raise ValueError(f"do_bench: expected return_mode min, max, mean, median or all, got {return_mode!r}")
    return modes[return_mode](times)


def _time_on_host(fn, count, before):
    times = []
    for _ in range(count):
        before()
        start = time.perf_counter()
        fn()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def _time_on_cuda(fn, count, before):
    import torch
    from triton.runtime.driver import driver
    cache = driver.active.get_empty_cache_for_benchmark()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for start, end in events:
        before()
        driver.active.clear_cache(cache)
        start.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) for start, end in events]


def _estimate_on_cuda(fn, count):
    """Milliseconds of a call and of what precedes it: a short kernel takes less than clearing the cache."""
    import torch
    from triton.runtime.driver import driver
    cache = driver.active.get_empty_cache_for_benchmark()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        driver.active.clear_cache(cache)
        fn()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / count


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of a call of `fn`, of about `rep` ms of calls after about `warmup` ms of them. `quantiles`: a list of them
    instead; gradients of `grad_to_none` are dropped before each call."""

    def before():
        for tensor in grad_to_none or ():
            tensor.grad = None

    on_cuda = _device_is_cuda()
    measure = _time_on_cuda if on_cuda else _time_on_host
    fn()  # compiles
    estimate = max(_estimate_on_cuda(fn, 5) if on_cuda else statistics.fmean(measure(fn, 2, before)), 1e-6)
    measure(fn, max(1, int(warmup / estimate)) if estimate < warmup else 1, before)
    return _summary(measure(fn, max(1, int(rep / estimate)), before), quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As do_bench; on the CPU the same."""
    return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless x and y are close: by default as near as their dtype allows, within 0.01."""
    import numpy
    import torch

    def plain(value):
        value = torch.as_tensor(value)
        return value.detach().cpu().float().numpy() if value.dtype == torch.bfloat16 else value.detach().cpu().numpy()

    pick = lambda limit: limit(getattr(x, "dtype", None)) if callable(limit) else 1e-2 if limit is None else limit  # noqa: E731
    numpy.testing.assert_allclose(plain(x), plain(y), atol=pick(atol), rtol=pick(rtol), err_msg=err_msg, equal_nan=True)


def get_dram_gbps(device=None):
    """Gigabytes a second that a GPU's memory moves at best, by its clocks."""
    from triton.runtime.driver import driver
    properties = driver.active.utils.get_device_properties(0 if device is None else device)
    return properties.get("mem_clock_rate", 0) * properties.get("mem_bus_width", 0) * 2 / 1e6 / 8


class Benchmark:
    """What perf_report measures: one line a value of `line_arg`, over `x_vals` of `x_names`."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", x_log=False, y_log=False,
                 styles=None):
        self.x_names, self.x_vals, self.line_arg, self.line_vals, self.line_names = x_names, x_vals, line_arg, line_vals, line_names
        self.plot_name, self.args, self.xlabel, self.ylabel = plot_name, args, xlabel, ylabel
        self.x_log, self.y_log, self.styles = x_log, y_log, styles


class Mark:
    """A function with its benchmarks; `run` measures them."""

    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks
        functools.update_wrapper(self, fn)

    def _rows(self, bench, **more):
        names = bench.x_names if isinstance(bench.x_names, (list, tuple)) else [bench.x_names]
        for x in bench.x_vals:
            values = x if isinstance(x, (list, tuple)) else [x] * len(names)
            if len(values) != len(names):
                raise ValueError(f"{bench.plot_name}: expected {len(names)} values of {', '.join(names)}, got {len(values)}")
            arguments = dict(zip(names, values))
            measured = []
            for line in bench.line_vals:
                found = self.fn(**arguments, **{bench.line_arg: line}, **bench.args, **more)
                measured.append(found if isinstance(found, tuple) else (found, None, None))
            yield values, measured

    def _run(self, bench, save_path, show_plots, print_data, return_df, **more):
        names = bench.x_names if isinstance(bench.x_names, (list, tuple)) else [bench.x_names]
        rows = list(self._rows(bench, **more))
        heads = [*names, *bench.line_names]
        table = [[*values, *(point[0] for point in measured)] for values, measured in rows]
        if save_path:
            os.makedirs(save_path, exist_ok=True)
            with open(os.path.join(save_path, bench.plot_name + ".csv"), "w") as file:
                file.write(",".join(map(str, heads)) + "\n")
                file.writelines(",".join(map(str, row)) + "\n" for row in table)
        if show_plots or save_path:
            self._plot(bench, names, rows, save_path, show_plots)
        if print_data:
            print(bench.plot_name + ":")
            texts = [list(map(str, heads)), *[[f"{value:.6f}" if isinstance(value, float) else str(value) for value in row] for row in table]]
            widths = [max(len(row[i]) for row in texts) for i in range(len(heads))]
            for i, row in enumerate(texts):
                print(f"{'' if i == 0 else i - 1:<3} " + "  ".join(text.rjust(width) for text, width in zip(row, widths)))
        if return_df:
            import pandas
            return pandas.DataFrame(table, columns=heads)
        return None

    @staticmethod
    def _plot(bench, names, rows, save_path, show_plots):
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            return  # the table says the same
        plt.figure()
        axes = plt.subplot()
        xs = [values[0] for values, _ in rows]
        for i, line in enumerate(bench.line_names):
            color, style = bench.styles[i] if bench.styles else (None, None)
            ys = [measured[i][0] for _, measured in rows]
            axes.plot(xs, ys, label=line, color=color, ls=style)
            low, high = [measured[i][1] for _, measured in rows], [measured[i][2] for _, measured in rows]
            if None not in low and None not in high:
                axes.fill_between(xs, low, high, alpha=0.15, color=color)
        axes.legend()
        axes.set_xlabel(bench.xlabel or names[0])
        axes.set_ylabel(bench.ylabel)
        axes.set_xscale("log" if bench.x_log else "linear")
        axes.set_yscale("log" if bench.y_log else "linear")
        if save_path:
            plt.savefig(os.path.join(save_path, bench.plot_name + ".png"))
        if show_plots:
            plt.show()
        plt.close()

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        several = isinstance(self.benchmarks, (list, tuple))
        found = [self._run(bench, save_path, show_plots, print_data, return_df, **kwargs)
                 for bench in (self.benchmarks if several else [self.benchmarks])]
        return (found if several else found[0]) if return_df else None


def perf_report(benchmarks):
    """Decorator: measures a function as one or several Benchmarks say, by its `run`."""
    return lambda fn: Mark(fn, benchmarks)
