"""Compiled kernels, and the questions that are asked of a back end."""
import collections
import hashlib
import os
import re
import tempfile
import types
import weakref

from nereid import _native

from triton import knobs
from triton.backends.compiler import BaseBackend, GPUTarget
from triton.language.core import constexpr, dtype

_STAGES = {"ttir": "tile-opt", "tile": "tile", "llir": "llvm", "ast": "ast"}
_CPU_STAGES = {**_STAGES, "cpu": "cpu", "asm": "asm", "obj": "obj"}
_GPU_STAGES = {**_STAGES, "ttgir": "tilegpu", "ptx": "ptx"}
#: Options of `triton.compile` that the compiler takes; the others are a driver's or a launcher's.
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "debug", "enable_fp_fusion")


class LazyDict(dict):
    """A dict of what is there, and of what functions add when it is first asked for."""

    def __init__(self, data):
        super().__init__(data)
        self.extras = []

    def get(self, key=None, default=None):
        while self.extras:
            function, args = self.extras.pop()
            self.update(function(*args))
        return self if key is None else super().get(key, default)

    def __getitem__(self, key):
        self.get()
        return super().__getitem__(key)

    def add(self, function, args):
        self.extras.append((function, args))


class _Asm(collections.abc.Mapping):
    """Stages of a compilation as text, made when they are asked for."""

    def __init__(self, form):
        self._form, self._made = form, {}
        self._stages = _GPU_STAGES if form.is_gpu else _CPU_STAGES
        if form.machine_code is not None:
            self._stages = {**self._stages, "cubin": None}
            self._made["cubin"] = form.machine_code

    def __getitem__(self, stage):
        if stage not in self._stages:
            raise KeyError(stage)
        if stage not in self._made:
            self._made[stage] = self._form.emit(self._stages[stage])
        return self._made[stage]

    def __iter__(self):
        return iter(self._stages)

    def __len__(self):
        return len(self._stages)


class _TextOwner:
    """What stands for a jit function where only its text came along: a kernel that another process compiled."""

    def __init__(self, name, parameters, text):
        self.__name__ = name
        self._text = text
        self._core = _native.Core(self, name, parameters)

    def _build(self, core):
        text, path, bindings, lines, cache, interpreted = self._text
        core.build(text, path, bindings, (), {}, cache, interpreted, lines)


class CompiledKernel:
    """What kernel[grid](...) and kernel.warmup give: the code of one form of a kernel. Others pickle its __dict__, and make another of it in
    another process: what belongs to this one stands beside it."""

    #: _compiled_in: ((name, type, value, is a multiple of 16), ...) of the parameters, and the options. It is no part of __dict__: a copy in
    #: another process has none.
    __slots__ = ("_compiled_in", "__dict__", "__weakref__")
    launch_enter_hook = launch_exit_hook = None
    _forms = weakref.WeakKeyDictionary()
    _cores = weakref.WeakKeyDictionary()
    _loaded = weakref.WeakSet()
    #: What `compile` was asked for; None of a launch's.
    _described = _options = None

    def __init__(self, function, form, specialization=((), {})):
        CompiledKernel._forms[self] = form
        self._compiled_in = specialization
        self.src = types.SimpleNamespace(fn=function, name=form.kernel)
        self.name = form.kernel
        self._facts = {fact: getattr(form, fact) for fact in ("key", "target", "entry", "num_warps", "num_stages", "num_ctas", "fp_fusion", "shared", "n_regs",
                                                              "spill_bytes", "is_gpu")}

    @property
    def _form(self):
        return types.SimpleNamespace(**self._facts)

    @property
    def asm(self):
        form = CompiledKernel._forms.get(self)
        return _Asm(form) if form is not None else {}

    def _core(self):
        # That of the function, if it is of this process: a core keeps its compiled kernels, and must not be kept by them.
        core = getattr(self.src.fn, "_core", None) or CompiledKernel._cores.get(self)
        if core is None:
            owner = _TextOwner(self.name, *self._portable)
            core = CompiledKernel._cores[self] = owner._core
        return core

    @classmethod
    def of_launch(cls, function, form, specialization, is_warmup, diagnostics, lines):
        """For nereid._native: a launch's form, where no launch before had it."""
        for diagnostic in diagnostics:
            from triton.compiler import _failures
            _failures.warn(diagnostic, lines)
        compiled = cls(function, form, specialization)
        compiled._tell_hooks(is_warmup)
        return compiled

    @property
    def _specialization(self):
        return getattr(self, "_compiled_in", ((), {}))

    @property
    def specialization_data(self):
        """The form as text: `preload` of the same function, in any process, compiles or loads it."""
        import json
        parameters, options = self._specialization
        return json.dumps({"name": getattr(self.src.fn, "_fn_name", self.name),
                           "parameters": [[name, _plain(ty), _plain(value), aligned] for name, ty, value, aligned in parameters],
                           "options": {name: _plain(value) for name, value in options.items()}})

    def _tell_hooks(self, is_warmup):
        runtime, form = knobs.runtime, self._form
        loads = [hook for hook in (runtime.kernel_load_start_hook, runtime.kernel_load_end_hook) if hook]
        if runtime.jit_cache_hook is None and runtime.jit_post_compile_hook is None and not loads:
            return
        function, parameters = self.src.fn, self._specialization[0]
        compile = {"key": self.hash, "num_warps": form.num_warps, "num_ctas": form.num_ctas, "num_stages": form.num_stages,
                   "enable_fp_fusion": form.fp_fusion, "launch_cooperative_grid": False, "extern_libs": None, "device": form.target,
                   "signature": {name: ty for name, ty, _, _ in parameters},
                   "constants": {(place, ): value for place, (_, ty, value, _) in enumerate(parameters) if ty == "constexpr"},
                   "configs": [{(place, ): [["tt.divisibility", 16]] if aligned is True else [] for place, (_, ty, _, aligned) in enumerate(parameters)
                                if ty != "constexpr"}],
                   "specialization_data": self.specialization_data, "is_warmup": is_warmup}
        for hook, is_compiled in ((runtime.jit_cache_hook, False), (runtime.jit_post_compile_hook, True)):
            if hook is not None:
                hook(key=self.hash, repr=self.name, fn=types.SimpleNamespace(jit_function=function, name=getattr(function, "__qualname__", self.name), module=function.__module__),
                     compile=compile, is_manual_warmup=is_warmup, already_compiled=is_compiled)
        for hook in loads:
            hook(self.module, self.function, self.name, self.metadata, self.hash)

    def __getitem__(self, grid):
        """kernel[grid](*arguments): a launch of this form. The arguments are all of the function's, or all that are no tl.constexpr."""
        core = self._core()
        parameters, options = self._specialization
        fixed = {place: parameters[place][2] for place in getattr(self.src.fn, "constexprs", ()) if place < len(parameters)}
        options = options or {"num_warps": self._facts["num_warps"], "num_stages": self._facts["num_stages"]}

        def run(*args, stream=None):
            if fixed and len(args) == len(parameters) - len(fixed):
                given = iter(args)
                args = tuple(fixed[place] if place in fixed else next(given) for place in range(len(parameters)))
            core.run(tuple(grid), args, options, False)

        return run

    @property
    def hash(self):
        """Of the function's text, of what of the arguments is compiled in, and of the options."""
        if "hash" not in self._facts:
            form = self._form
            text = (getattr(self.src.fn, "cache_key", self.name), [value.cache_key for _, _, value, _ in self._specialization[0] if hasattr(value, "cache_key")])
            self._facts["hash"] = hashlib.sha256(repr((text, form.key, form.target, form.num_warps, form.num_stages, form.num_ctas,
                                                       form.fp_fusion)).encode()).hexdigest()
        return self._facts["hash"]

    @property
    def metadata(self):
        form = self._form
        target = GPUTarget("cuda", form.target, 32) if form.is_gpu else GPUTarget("cpu", form.target, 32)
        fields = {"name": form.entry, "num_warps": form.num_warps, "num_stages": form.num_stages, "num_ctas": form.num_ctas,
                  "shared": form.shared, "target": target, "hash": self.hash, "cluster_dims": (1, 1, 1), "launch_pdl": False,
                  "launch_cooperative_grid": False, "global_scratch_size": 0, "profile_scratch_size": 0}
        return collections.namedtuple("KernelMetadata", sorted(fields))(**fields)

    @property
    def n_regs(self):
        """Registers of a thread of a GPU; None on the CPU, and of code that is not loaded yet."""
        return self._form.n_regs or None if self._form.is_gpu else None

    @property
    def n_spills(self):
        """Registers of a GPU's thread that went to memory; None on the CPU, and of code that is not loaded yet."""
        return None if self.n_regs is None else self._form.spill_bytes // 4

    @property
    def shared(self):
        return self._form.shared

    # What torch launches by: it gives all parameters, constexpr ones among them, and the handles of before.

    module = function = None

    @property
    def packed_metadata(self):
        return None

    def launch_metadata(self, grid, stream, *args):
        return None

    def _init_handles(self):
        """Loads code for a GPU into this process, onto the current device: OutOfResources where that has too little. A launch does it as well."""
        if not self._facts["is_gpu"] or self._described is None or self in CompiledKernel._loaded:
            return
        from triton.runtime.driver import CudaDriver
        device = types.SimpleNamespace(type="cuda", index=CudaDriver().get_current_device())
        loaded = self._core().run((1, ), _arguments(self._described, device), self._options, True)
        self._facts.update({fact: loaded._facts[fact] for fact in ("n_regs", "spill_bytes", "shared")})
        CompiledKernel._loaded.add(self)

    @property
    def run(self):
        core = self._core()
        options = self._options if self._options is not None else {"num_warps": self._facts["num_warps"], "num_stages": self._facts["num_stages"]}

        def run(grid_0, grid_1, grid_2, stream, handle, packed_metadata, launch_metadata, enter_hook, exit_hook, *args):
            if enter_hook:
                enter_hook(launch_metadata)
            core.run((grid_0, grid_1, grid_2), args, options, False)
            if exit_hook:
                exit_hook(launch_metadata)

        return run

    def __repr__(self):
        return f"CompiledKernel({self.name} for {self._form.target})"


def _plain(value):
    """As JSON has it: objects of one key stand for what is no number or text."""
    from triton.runtime.jit import JITFunction
    if isinstance(value, constexpr):
        return {"constexpr": _plain(value.value)}
    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, JITFunction):
        return {"function": [value.__module__, value.__qualname__]}
    return value if value is None or isinstance(value, (bool, int, float, str)) else {"repr": repr(value)}


def _from_plain(value):
    if not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind == "constexpr":
        return constexpr(_from_plain(content))
    if kind == "dtype":
        return dtype(content)
    if kind == "tuple":
        return tuple(map(_from_plain, content))
    if kind == "function":
        from triton.runtime.jit import _find
        return _find(*content)
    raise RuntimeError(f"specialization data: expected numbers, texts, dtypes, tuples and jit functions, got {content}")


def arguments_of(data):
    """(arguments, options) that compile the form of `specialization_data`, which was read from JSON."""

    def argument(name, ty, value, aligned):
        if isinstance(ty, tuple):
            return tuple(argument(name, *item) for item in zip(ty, value, aligned))
        if ty == "constexpr":
            return value
        element, value = _described(name, ty, aligned)
        return value if element is None else _Unspecialised(element, value, None)

    parameters = ((name, _from_plain(ty), _from_plain(value), _tuples(aligned)) for name, ty, value, aligned in data["parameters"])
    return [argument(*parameter) for parameter in parameters], {name: _from_plain(value) for name, value in data["options"].items()}


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class ASTSource:
    """A kernel with the types of its parameters."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn, self.name = fn, fn.__name__
        self.signature = signature
        constants = constexprs or {}
        place = lambda key: (fn.arg_names.index(key), ) if isinstance(key, str) else key  # noqa: E731
        self.constants = {place(key): value for key, value in constants.items()}
        self.attrs = attrs or {}

    def make_ir(self, target, options, codegen_fns, module_map, context):
        """What it reads and writes (compiler/_effects.py): all that others look for in intermediate code."""
        from triton.compiler._effects import Effects
        if re.search(r"is_pure\s*=\s*False", self.fn.portable_text()[1][0]):
            raise NotImplementedError(f"{self.name}: its inline assembly may write anything")
        form = CompiledKernel._forms[compile(self, target)]
        passed = [name for name in self.fn.arg_names if self.signature.get(name, "constexpr") != "constexpr" and self.constants.get((self.fn.arg_names.index(name), ), 0) is not None]
        return Effects(self.name, passed, {name for name in passed if self.signature[name].startswith("*")}, set(form.written))

    def hash(self):
        constants = sorted((key, str(value)) for key, value in self.constants.items())
        return hashlib.sha256(repr((self.fn.cache_key, sorted(self.signature.items()), constants, sorted(map(str, self.attrs.items())))).encode()).hexdigest()


class Backend(BaseBackend):
    """What others ask a back end."""
    binary_ext = "obj"

    def __init__(self, target):
        self.target = target

    def hash(self):
        return f"{_native.build_id()}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, options):
        known = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "enable_fp_fusion": knobs.language.default_fp_fusion, "debug": False, "extern_libs": None,
                 "supported_fp8_dtypes": ("fp8e4nv", "fp8e5"), "backend_name": self.target.backend, "arch": self.target.arch,
                 "launch_pdl": False, "launch_cooperative_grid": False, "maxnreg": None, "sanitize_overflow": True,
                 "default_dot_input_precision": "tf32", "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee")}
        if self.target.backend == "hip":
            known |= {"waves_per_eu": 0, "matrix_instr_nonkdim": 0, "kpack": 1}
        return types.SimpleNamespace(**{**known, **{key: value for key, value in options.items() if key in known}})


def make_backend(target):
    return Backend(target)


class _Unspecialised:
    """An argument of a pointer type, as a signature and its attributes describe it."""

    def __init__(self, element, is_aligned, device):
        self.dtype, self._address, self.device = dtype(element), 0 if is_aligned else 1, device

    def data_ptr(self):
        return self._address


#: Of each type a value that says nothing but its type, and one that is a multiple of 16.
_SCALARS = {"i1": (True, True), "u1": (True, True), "i32": (2, 16), "i64": (2**40 + 2, 2**40), "u64": (2**63 + 2, 2**63), "fp32": (0.5, 0.5)}


def _described(name, ty, is_divisible):
    """(element, is aligned) of an array, or (None, value)."""
    if ty.startswith("*"):
        element = ty.lstrip("*k")
        element = {"i": "int", "u": "uint"}[element[0]] + element[1:] if element[0] in "iu" and element[1:].isdigit() else element
        return element, is_divisible
    if ty not in _SCALARS:
        raise NotImplementedError(f"triton.compile: parameter '{name}': expected a pointer or one of {', '.join(_SCALARS)}, got {ty!r}; "
                                  "hint: kernel.warmup(*arguments, grid=...) compiles for any arguments")
    return None, _SCALARS[ty][is_divisible]


def _arguments(descriptions, device=None):
    """Arguments of a launch; `device`: where its arrays would be."""
    return tuple(value if element is None else _Unspecialised(element, value, device) for element, value in descriptions)


def _name_of(target):
    """As the compiler calls a GPUTarget; None for the host."""
    if target.backend == "cuda":
        # From 9.0 on the matrix instructions are in the architecture's own set.
        return f"sm_{target.arch}{'a' if int(target.arch) >= 90 else ''}"
    return str(target.arch).split(":")[0] if target.backend == "hip" else None


def _offer_machine_code(compiled, src, form):
    """Puts machine code where launchers of others look for it: torch's static one, which then loads and launches it without this package. It
    passes the parameters that the signature does not make constants."""
    folder, code = knobs.cache.given_dir, form.machine_code
    passed = [name for place, name in enumerate(src.fn.arg_names) if src.signature.get(name) != "constexpr" and (place, ) not in src.constants]
    if not folder or code is None or form.entry != src.fn.__name__ or form.parameters != passed:
        return
    from triton.runtime.cache import _base32
    place = os.path.join(folder, _base32(compiled.hash))
    path = os.path.join(place, f"{form.entry}.cubin")
    if os.path.exists(path):
        return
    os.makedirs(place, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(code)
    os.replace(file.name, path)


def compile(src, target=None, options=None, _env_vars=None):
    """Compiles an ASTSource without running: for this machine's CPU, or for a GPU, which need not be here. Code for a GPU is not loaded, and no
    driver is asked: the process may be one that has no GPU, or one that was forked from one that works with it. A device_assert in it is
    CUDA's: launches do not wait for it, and one that fails ends the work on the GPU."""
    if not isinstance(src, ASTSource):
        raise TypeError(f"triton.compile: expected an ASTSource, got {type(src).__name__}; hint: Nereid reads no intermediate code")
    if target is None:
        from triton.runtime.driver import driver
        target = driver.active.get_current_target()
    described = []
    for place, name in enumerate(src.fn.arg_names):
        attributes = src.attrs.get((place, ), [])
        if (place, ) in src.constants:
            described.append((None, src.constants[place, ]))
        elif name not in src.signature:
            raise TypeError(f"triton.compile: expected a type of the parameter '{name}' in the signature, got none")
        else:
            described.append(_described(name, src.signature[name], ["tt.divisibility", 16] in [list(item) for item in attributes]))
    known = {name: value for name, value in (options or {}).items() if name in _OPTIONS}
    if target.backend == "cuda" and known.get("debug"):
        known["assert_traps"] = True
    gpu = _name_of(target)
    compiled = src.fn._core.run((1, ), _arguments(described), known, True, *([gpu] if gpu else []))
    compiled._portable = src.fn.portable_text()
    compiled._described, compiled._options = described, known
    compiled.src = src
    compiled._facts["hash"] = hashlib.sha256(repr((src.hash(), compiled._facts["target"], sorted(known.items()))).encode()).hexdigest()
    if gpu:
        _offer_machine_code(compiled, src, CompiledKernel._forms[compiled])
    return compiled
