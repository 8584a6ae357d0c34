"""@triton.jit: a function whose launches are a nereid._native.Core's."""
import functools
import hashlib
import inspect
import threading
import types

from nereid import _native

from triton import knobs
from triton.language.core import constexpr, dtype
from ._async_compile import active_mode, key_of
from ._source import Composed, SourceFunction, _closure_of
from ._specialize import mangle_type, native_specialize_impl  # noqa: F401: torch looks for them here

_EMPTY = inspect.Parameter.empty


class KernelInterface:
    """Something with kernel[grid](...): calls `run` with the grid."""

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError

    def warmup(self, *args, grid, **kwargs):
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class MockTensor:
    """Stands for an array of a dtype where a kernel is compiled without running."""

    @staticmethod
    def wrap_dtype(argument):
        if type(argument).__name__ == "dtype" and type(argument).__module__ == "torch":
            return MockTensor(argument)
        return argument

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        strides = [1]
        for size in self.shape[1:]:
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def ptr_range():
        return 0


class TensorWrapper:
    """A tensor whose elements are taken for another dtype (triton.reinterpret)."""

    def __init__(self, base, dtype):
        self.dtype, self.base = dtype, base
        self.data = getattr(base, "data", base)
        self.device, self.shape = base.device, base.shape

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self):
        return self.base.element_size()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def new_zeros(self, sizes):
        return TensorWrapper(self.base.new_zeros(sizes), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def __repr__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """`tensor` with elements of the language dtype `dtype`, which must be as wide."""
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if not hasattr(base, "data_ptr"):
        raise TypeError(f"triton.reinterpret: expected a tensor, got {type(tensor).__name__}")
    return base if getattr(base, "dtype", None) == dtype else TensorWrapper(base, dtype)


class KernelParam:
    """A parameter of a jit function."""

    def __init__(self, num, parameter, do_not_specialize, do_not_specialize_on_alignment):
        self.num, self._param = num, parameter
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def name(self):
        return self._param.name

    @property
    def annotation(self):
        annotation = self._param.annotation
        return "" if annotation is _EMPTY else annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))

    @property
    def is_constexpr(self):
        return "constexpr" in self.annotation

    @property
    def is_const(self):
        return "const" in self.annotation and not self.is_constexpr

    @property
    def default(self):
        return self._param.default

    @property
    def has_default(self):
        return self._param.default is not _EMPTY


class _Callable:
    """What jit functions and constexpr functions share: a Python function and its text."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn, updated=())
        self.fn = fn
        self.__globals__ = fn.__globals__
        self._source_function = SourceFunction(fn)

    @property
    def source_function(self):
        return self._source_function

    @property
    def src(self):
        return self._source_function.source

    @property
    def raw_src(self):
        return self._source_function.raw_lines

    @property
    def starting_line_number(self):
        return self._source_function.first_line


def _digest(composed):
    values = sorted((name, repr(value)) for name, value in composed.bindings.items())
    return hashlib.sha256(repr((composed.text, values, _native.build_id())).encode()).hexdigest()


class ConstexprFunction(_Callable):
    """A function of numbers, for hosts, and for kernels while they are compiled."""
    text_decorator = "constexpr_function"

    def _unsafe_update_src(self, new_src):
        """Another text, from `def` on."""
        self._source_function.replace(new_src)

    def text_options(self):
        return {}

    @property
    def cache_key(self):
        """Equal for functions that mean the same. RuntimeError of one that asks for more than numbers and the language."""
        composed = Composed(self, is_jit=lambda thing: isinstance(thing, (JITFunction, ConstexprFunction)))
        if composed.modules:
            raise RuntimeError(f"{self.__name__}: expected names of the language and of numbers in a constexpr_function, got the module '{composed.modules[0]}'")
        return _digest(composed)

    def __call__(self, *args, **kwargs):
        unwrap = lambda value: value.value if isinstance(value, constexpr) else value  # noqa: E731
        return self.fn(*map(unwrap, args), **{name: unwrap(value) for name, value in kwargs.items()})

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def constexpr_function(fn):
    return ConstexprFunction(fn)


class JITFunction(_native.Subscripted, _Callable, KernelInterface):
    """A kernel, or a function that kernels call. Its base has kernel[grid]: the core's launcher, or what `_subscript` gives."""
    text_decorator = "jit"

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):
        super().__init__(fn)
        self.module = fn.__module__
        self.version = version
        self.do_not_specialize = list(do_not_specialize or [])
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or [])
        self.debug, self.noinline = debug, noinline
        self.launch_metadata = launch_metadata
        self._repr = repr
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self.signature = inspect.signature(fn)
        self.params = []
        for i, parameter in enumerate(self.signature.parameters.values()):
            self.params.append(KernelParam(i, parameter, i in self.do_not_specialize or parameter.name in self.do_not_specialize,
                                           i in self.do_not_specialize_on_alignment or parameter.name in self.do_not_specialize_on_alignment))
        self.arg_names = [parameter.name for parameter in self.params]
        self.constexprs = [parameter.num for parameter in self.params if parameter.is_constexpr]
        self.pre_run_hooks = []
        self.hash = None
        self.used_global_vals = {}
        self._hash_lock = threading.RLock()
        self._variants = {}
        self._composed = None
        self._core = self._new_core()

    # The text

    def text_options(self):
        names = lambda given: [self.arg_names[item] if isinstance(item, int) else item for item in given]  # noqa: E731
        options = {}
        if self.do_not_specialize:
            options["do_not_specialize"] = names(self.do_not_specialize)
        if self.do_not_specialize_on_alignment:
            options["do_not_specialize_on_alignment"] = names(self.do_not_specialize_on_alignment)
        return options

    def _compose(self, extra=()):
        return Composed(self, extra, is_jit=lambda thing: isinstance(thing, (JITFunction, ConstexprFunction)))

    @property
    def cache_key(self):
        """Equal for functions that mean the same: of the text and all that its names stand for."""
        with self._hash_lock:
            if self.hash is None:
                composed = self._compose()
                self.hash = _digest(composed)
                self.used_global_vals = {(name, id(scope)): (value, scope) for scope, name, value in composed.globals if isinstance(value, constexpr)}
            return self.hash

    def _unsafe_update_src(self, new_src):
        """Another text, from `def` on."""
        self._source_function.replace(new_src)
        self.hash = None
        self._variants.clear()
        self._core.reset()

    # Launches

    def _core_parameters(self):
        told = lambda parameter: 0 if parameter.do_not_specialize else 1 if parameter.do_not_specialize_on_alignment else 2  # noqa: E731
        return tuple((parameter.name, parameter.is_constexpr, told(parameter), *([parameter.default] if parameter.has_default else []))
                     for parameter in self.params)

    def _new_core(self):
        return _native.Core(self, self.__name__, self._core_parameters())

    def portable_text(self):
        """(parameters, what a Core is built from): for another process, where the function's globals are not."""
        composed = self._compose()
        return self._core_parameters(), (composed.text, composed.path, composed.bindings, composed.lines, knobs.cache.given_dir,
                                         knobs.runtime.interpret)

    def _build(self, core):
        """For the Core: called before its first launch, and after a reset."""
        extra = next((functions for (functions, _), variant in self._variants.items() if variant is core), ())
        composed = self._compose(extra)
        core.set_defaults(bool(self.debug), knobs.runtime.debug, knobs.language.default_fp_fusion)
        core.build(composed.text, composed.path, composed.bindings, tuple(composed.globals), composed.functions,
                   knobs.cache.given_dir, knobs.runtime.interpret, composed.lines)

    def _variant(self, functions):
        """For the Core: one whose text also has these jit functions, which a launch was given."""
        key = tuple(functions), tuple(function.source_function.version for function in functions)
        if key not in self._variants:
            core = self._new_core()
            self._variants[key] = core
            self._build(core)
        return self._variants[key]

    def _globals_changed(self, core, name, before, now):
        """For the Core: a global that the text was made with has another value."""
        for cell, held in _closure_of(self.fn).items():
            if name == "value" and isinstance(held, constexpr) and held.value is now:
                raise RuntimeError(f"{cell} has changed since we compiled this kernel, from constexpr[{before}] to constexpr[{now}]")
        same = type(before) is type(now) and isinstance(before, (constexpr, dtype, int, float, str, bool, type(None))) and bool(before == now)
        if isinstance(before, (constexpr, dtype)) and not same:
            raise RuntimeError(f"Global variable {name} has value {now}, but when kernel {self.__name__} was compiled it had value "
                               f"{before}: expected it not to change; hint: pass it to the kernel as a tl.constexpr argument")
        core.reset()

    def add_pre_run_hook(self, hook):
        """`hook(*args, **kwargs)` before each launch."""
        if not callable(hook):
            raise TypeError(f"add_pre_run_hook: expected a function, got {type(hook).__name__}")
        self.pre_run_hooks.append(hook)

    def run(self, *args, grid, warmup, **kwargs):
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        mode = active_mode.get() if warmup else None
        if mode is not None:
            return mode.submit(key_of(self, args, kwargs), lambda: self._core.run(grid, args, kwargs, True))
        if warmup or not knobs.runtime.has_hooks:
            return self._core.run(grid, args, kwargs, warmup)
        return self._run_with_hooks(grid, args, kwargs)

    def _run_with_hooks(self, grid, args, kwargs):
        from triton.compiler.compiler import LazyDict
        from triton.runtime.driver import driver
        compiled = self._core.run(grid, args, kwargs, True)
        metadata = LazyDict({"name": compiled.name, "function": compiled, "stream": driver.active.get_current_stream(None)})
        if self.launch_metadata is not None:
            metadata.add(self.launch_metadata, (grid, compiled.metadata, dict(zip(self.arg_names, args), **kwargs)))
        if knobs.runtime.launch_enter_hook:
            knobs.runtime.launch_enter_hook(metadata)
        result = self._core.run(grid, args, kwargs, False)
        if knobs.runtime.launch_exit_hook:
            knobs.runtime.launch_exit_hook(metadata)
        return result

    def preload(self, specialization_data):
        """Compiles, or loads from the cache, the form that a hook was given as `specialization_data`."""
        import json
        data = json.loads(specialization_data)
        if data["name"] != self._fn_name:
            raise RuntimeError(f"Specialization data is for {data['name']}: expected that of {self._fn_name}")
        from triton.compiler.compiler import arguments_of
        arguments, options = arguments_of(data)
        return self._core.run((1, ), tuple(arguments), options, True)

    def _subscript(self, grid):
        if self.pre_run_hooks or "run" in self.__dict__ or type(self).run is not JITFunction.run or knobs.runtime.has_hooks:
            return KernelInterface.__getitem__(self, grid)
        return self._core[grid]

    def __call__(self, *_args, **_kwargs):
        raise RuntimeError(f"{self.__name__}: expected a grid, as in {self.__name__}[grid](...); hint: Cannot call @triton.jit'd outside of the scope of a kernel")

    @property
    def repr(self):
        return (lambda _specialization: self._fn_name) if self._repr is None else self._repr

    @repr.setter
    def repr(self, function):
        self._repr = function

    @property
    def device_caches(self):
        return _DeviceCaches(self)

    def __repr__(self):
        return f"JITFunction({self.module}:{self.fn.__qualname__ if self.fn else self.__name__})"

    def __reduce__(self):
        if self.fn is not None:
            return _find, (self.__module__, self.__qualname__)
        # torch has taken out what belongs to this process, and puts it back there.
        kept = ("__name__", "__qualname__", "__module__", "__doc__", "module", "version", "do_not_specialize", "do_not_specialize_on_alignment",
                "debug", "noinline", "_repr", "_fn_name", "arg_names", "params", "constexprs", "hash")
        text = types.SimpleNamespace(source=self.src, raw_lines=self.raw_src, first_line=self.starting_line_number)
        return _hollow, ({**{name: self.__dict__.get(name) for name in kept}, "_source_function": text}, )

    def __deepcopy__(self, _memo):
        return self


def _hollow(state):
    """A jit function without its Python function."""
    function = JITFunction.__new__(JITFunction)
    function.__dict__.update(state, fn=None, __globals__=None, pre_run_hooks=[], used_global_vals={}, _hash_lock=None, launch_metadata=None)
    return function


def aggregate(cls):
    """Decorator of a class whose objects kernels make: a value of each annotated field."""
    if not isinstance(cls, type):
        raise TypeError(f"triton.aggregate: expected a class, got {type(cls).__name__}")
    cls._is_aggregate = True
    return cls


def must_use_result(x, reason=True):
    """Decorator of a jit function: a kernel that calls it and drops the result does not compile. @must_use_result("why") says why."""
    if isinstance(x, str):
        return lambda function: must_use_result(function, x)
    x._must_use_result = reason
    return x


def _find(module, name):
    import importlib
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    while not isinstance(found, JITFunction) and hasattr(found, "fn"):
        found = found.fn
    return found


class _DeviceCaches:
    """device_caches[device][0]: what the function's launches were compiled to."""

    def __init__(self, function):
        self._function = function

    def _cores(self):
        return [self._function._core, *self._function._variants.values()]

    def __getitem__(self, _device):
        return (_FormCache(self), )

    def clear(self):
        """Launches look for code on the disk, or compile, as at first."""
        for core in self._cores():
            core.reset()


class _FormCache(dict):

    def __init__(self, caches):
        super().__init__()
        for core in caches._cores():
            for form in core.forms():
                # Forms of a function before and after its text was replaced may have one hash by now.
                key, number = form.hash, 1
                while key in self:
                    key, number = f"{form.hash}-{number}", number + 1
                self[key] = form
        self._caches = caches

    def clear(self):
        super().clear()
        self._caches.clear()


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
        debug=None, noinline=None):
    """Decorator of kernels and of functions that kernels call: @triton.jit, @triton.jit(...) or triton.jit(fn)."""

    def decorate(fn):
        if isinstance(fn, JITFunction):
            return fn
        if not inspect.isfunction(fn):
            raise TypeError(f"triton.jit: expected a function, got {type(fn).__name__}")
        return JITFunction(fn, version=version, do_not_specialize=do_not_specialize,
                           do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug, noinline=noinline, repr=repr,
                           launch_metadata=launch_metadata)

    return decorate if fn is None else decorate(fn)
