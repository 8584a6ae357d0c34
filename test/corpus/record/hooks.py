"""Puts the recorder into upstream Triton: every launch goes through it, on a GPU or in upstream's interpreter.

Trials of autotuning are not recorded: the first configuration that launches is taken, without timing.
"""
import inspect
import os

OPTION_NAMES = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl")


def install(recorder):
    import torch
    torch.manual_seed(0)
    # Fills torch.empty: what no kernel wrote is NaN, or the largest integer.
    torch.use_deterministic_algorithms(True, warn_only=True)
    hook_compiled(recorder)
    if os.environ.get("TRITON_INTERPRET") == "1":
        hook_interpreter(recorder)
    hook_autotuner(recorder)
    hook_benchmarks()


def numbers_of(grid, bound):
    if callable(grid):
        grid = grid(bound)
    if isinstance(grid, int):
        grid = (grid,)
    return [int(n) for n in grid]


def plain(value):
    return value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)


def options_of(kwargs, names):
    return {k: plain(v) for k, v in kwargs.items() if k not in names and k in OPTION_NAMES and v is not None}


def hook_compiled(recorder):
    from triton.runtime import jit
    original = jit.JITFunction.run

    def run(self, *args, grid, warmup, **kwargs):
        if warmup or recorder.quiet:
            return original(self, *args, grid=grid, warmup=warmup, **kwargs)
        names = {p.name for p in self.params}
        try:
            bound = self.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in names})
            bound.apply_defaults()
            numbers = numbers_of(grid, bound.arguments)
        except TypeError:
            return original(self, *args, grid=grid, warmup=warmup, **kwargs)
        if not all(numbers):
            return original(self, *args, grid=grid, warmup=warmup, **kwargs)

        def call():
            return original(self, *args, grid=tuple(numbers), warmup=False, **kwargs)

        return recorder.launch(self.fn, [(p.name, p.is_constexpr) for p in self.params], bound.arguments,
                               options_of(kwargs, names), numbers, call, dict(noinline=bool(getattr(self, "noinline", False))))

    jit.JITFunction.run = run


def hook_interpreter(recorder):
    from triton.runtime import interpreter
    original = interpreter.GridExecutor.__call__

    def execute(self, *args, **kwargs):
        names = set(self.arg_names)
        bound = inspect.signature(self.fn).bind(*args, **{k: v for k, v in kwargs.items() if k in names})
        bound.apply_defaults()
        numbers = numbers_of(self.grid, bound.arguments)
        if recorder.quiet or not all(numbers):
            return original(self, *args, **kwargs)
        return recorder.launch(self.fn, [(n, n in self.constexprs) for n in self.arg_names], bound.arguments,
                               options_of(kwargs, names), numbers, lambda: original(self, *args, **kwargs),
                               dict(interpreted=True))

    interpreter.GridExecutor.__call__ = execute


def hook_autotuner(recorder):
    import torch
    from triton.runtime import autotuner
    original_bench = autotuner.Autotuner._bench
    original_run = autotuner.Autotuner.run

    def bench(self, *args, config, **meta):
        if getattr(self, "_recorder_found", False):
            return [2.0, 2.0, 2.0]

        def once(kernel_call, quantiles=None):
            recorder.quiet += 1
            try:
                kernel_call()
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
            finally:
                recorder.quiet -= 1
            return [1.0, 1.0, 1.0]

        self.__dict__["do_bench"] = once
        times = original_bench(self, *args, config=config, **meta)
        if times[0] == 1.0:
            self._recorder_found = True
        return times

    def run(self, *args, **kwargs):
        self._recorder_found = False
        return original_run(self, *args, **kwargs)

    autotuner.Autotuner._bench = bench
    autotuner.Autotuner.run = run


def hook_benchmarks():
    import triton.testing

    def do_bench(fn, *args, quantiles=None, return_mode="mean", **kwargs):
        fn()
        return [1.0] * len(quantiles) if quantiles else 1.0

    triton.testing.do_bench = do_bench
    triton.testing.do_bench_cudagraph = do_bench
    triton.testing.Mark.run = lambda self, *args, **kwargs: None
