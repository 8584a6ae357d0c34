"""@triton.autotune and @triton.heuristics, on the values of Python."""
import builtins
import inspect
import time

from triton import knobs
from triton.compiler.errors import CompileTimeAssertionFailure
from .errors import AutotunerError, OutOfResources, PTXASError
from .jit import KernelInterface


class Config:
    """Values of constexpr parameters, and options of the launch, that are tried together."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override

    def all_kwargs(self):
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages, "maxnreg": self.maxnreg,
                   "ir_override": self.ir_override}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __str__(self):
        return ", ".join([f"{name}: {value}" for name, value in self.kwargs.items()] +
                         [f"num_warps: {self.num_warps}", f"num_ctas: {self.num_ctas}", f"num_stages: {self.num_stages}", f"maxnreg: {self.maxnreg}"])

    __repr__ = __str__

    def _key(self):
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        return isinstance(other, Config) and self._key() == other._key()


class Autotuner(KernelInterface):
    """A kernel whose configuration is measured for each new value of `key`, and of its arguments' dtypes."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None, prune_configs_by=None,
                 warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
        self.configs = list(configs) or [Config({})]
        self.fn, self.arg_names, self.keys = fn, arg_names, key
        self.cache, self.configs_timings, self.nargs = {}, None, None
        self.reset_to_zero, self.restore_value = list(reset_to_zero or []), list(restore_value or [])
        self.cache_results = cache_results
        self.user_defined_pre_hook = self.user_defined_post_hook = False
        self._restored = {}
        self.pre_hook, self.post_hook = self._clear_or_keep, self._put_back
        if pre_hook:
            self.pre_hook, self.user_defined_pre_hook = pre_hook, True
        if post_hook:
            self.post_hook, self.user_defined_post_hook = post_hook, True
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0) if self.perf_model else None
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps, self.use_cuda_graph = warmup, rep, use_cuda_graph
        self._do_bench = do_bench
        base = fn
        while not inspect.isfunction(base):
            base = base.fn
        self.base_fn = base
        self.__name__, self.__module__, self.__doc__, self.__qualname__ = base.__name__, base.__module__, base.__doc__, base.__qualname__

    @property
    def do_bench(self):
        if self._do_bench is None:
            from triton.testing import do_bench
            limits = {name: value for name, value in (("warmup", self.num_warmups), ("rep", self.num_reps)) if value is not None}
            self._do_bench = lambda call, quantiles: do_bench(call, quantiles=quantiles, **limits)
        return self._do_bench

    # What trials change

    def _clear_or_keep(self, kwargs, reset_only=False):
        for name in self.reset_to_zero:
            kwargs[name].zero_()
        if not reset_only:
            self._restored = {name: kwargs[name].clone() for name in self.restore_value}

    def _put_back(self, kwargs, exception=None):
        for name, value in self._restored.items():
            kwargs[name].copy_(value)
        self._restored = {}

    # Trials

    def _bench(self, *args, config, **meta):
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"{self.__name__}: expected the tuned parameters to be left out of the launch, got {', '.join(sorted(conflicts))}; "
                             "hint: Make sure that you don't re-define auto-tuned symbols")
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def call():
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)

        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError) as error:
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}")
            return [float("inf")] * 3

    def prune_configs(self, kwargs):
        configs = self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, self.nargs, **kwargs))
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. `early_config_prune` should return at least one config.")
        if self.perf_model:
            top = self.configs_top_k
            if isinstance(top, float) and top <= 1.0:
                top = int(len(self.configs) * top)
            if not isinstance(top, int):
                raise TypeError(f"{self.__name__}: expected top_k to be an int, or a float up to 1.0, got {top!r}")
            if len(configs) > top:
                costs = {config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()) for config in configs}
                configs = sorted(costs, key=costs.get)[:top]
        return configs

    def _tuning_key(self, kwargs):
        values = {name: value for name, value in {**self.nargs, **kwargs}.items() if name in self.arg_names}
        key = [values[name] for name in self.keys if name in values]
        key += [str(value.dtype) for value in values.values() if hasattr(value, "dtype")]
        return tuple(key)

    def _tune(self, key, args, kwargs):
        pruned = self.prune_configs(kwargs)
        start = time.perf_counter()
        timings = {config: self._bench(*args, config=config, **kwargs) for config in pruned}
        self.bench_time = time.perf_counter() - start
        best = builtins.min(timings, key=lambda config: timings[config][0] if isinstance(timings[config], (list, tuple)) else timings[config])
        self.cache[key] = best
        full = {**self.nargs, **kwargs, **best.all_kwargs()}
        self.pre_hook(full, reset_only=True)
        self.configs_timings = timings
        if knobs.autotuning.print:
            print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\nfinished after {self.bench_time:.2f}s,\n"
                  f"best config selected: {best};")

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        if len(self.configs) > 1:
            key = self._tuning_key(kwargs)
            if key not in self.cache:
                self._tune(key, args, {name: value for name, value in kwargs.items()})
            config = self.cache[key]
        else:
            config = self.configs[0]
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        result = self.fn.run(*args, **kwargs, **config.all_kwargs())
        self.nargs = None
        return result

    def warmup(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        result = [self.fn.warmup(*args, **{**kwargs, **config.all_kwargs()}) for config in self.prune_configs(kwargs)]
        self.nargs = None
        return result


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None, warmup=None,
             rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    """Decorator: launches without the parameters that `configs` name get the fastest of them."""

    def decorate(fn):
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph, do_bench=do_bench,
                         cache_results=cache_results)

    return decorate


class Heuristics(KernelInterface):
    """A kernel with parameters that are computed from the others."""

    def __init__(self, fn, arg_names, values):
        self.fn, self.values, self.arg_names = fn, values, arg_names
        self.__name__, self.__module__, self.__doc__ = fn.__name__, fn.__module__, fn.__doc__

    def run(self, *args, **kwargs):
        for name, heuristic in self.values.items():
            kwargs[name] = heuristic({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)

    def warmup(self, *args, **kwargs):
        for name, heuristic in self.values.items():
            kwargs[name] = heuristic({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.warmup(*args, **kwargs)


def heuristics(values):
    """Decorator: `values` has a function of all arguments for each computed parameter."""

    def decorate(fn):
        return Heuristics(fn, fn.arg_names, values)

    return decorate
