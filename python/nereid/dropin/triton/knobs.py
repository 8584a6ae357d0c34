"""Settings, by upstream's names: attributes of groups, which start as the environment says. Those that mean nothing here are kept for the
program that set them; docs/guide/FromTriton.md lists those that have an effect."""
import os

from nereid import _native

#: A setting that is given this is again what the environment says.
env = object()
#: Settings that a program makes become variables of its environment: processes that it starts have them, too.
propagate_env = True


class HookChain:
    """Functions that are called in turn: those in `calls`, which stays the same list."""

    def __init__(self, reversed=False):
        self.calls, self.reversed = [], reversed

    def add(self, function):
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function):
        if function in self.calls:
            self.calls.remove(function)

    def __call__(self, *args, **kwargs):
        for function in self.calls[::-1] if self.reversed else self.calls:
            function(*args, **kwargs)

    def __bool__(self):
        return bool(self.calls)


class env_base:
    """A setting: an attribute of a group, else the variable `key`, else `default`, or what `default` makes of the group."""

    def __init__(self, key, default=None):
        self.key, self.default = key, default

    def __set_name__(self, _owner, name):
        self.name = name

    def __get__(self, group, _owner=None):
        if group is None:
            return self
        if self.name in group.__dict__:
            return group.__dict__[self.name]
        text = os.environ.get(self.key)
        if text is not None:
            return self.read(text)
        return self.default(group) if callable(self.default) else self.default

    def __set__(self, group, value):
        if value is env:
            return self.__delete__(group)
        group.__dict__[self.name] = value
        if propagate_env:
            text = self.write(value)
            if text is None:
                os.environ.pop(self.key, None)
            else:
                os.environ[self.key] = text

    def __delete__(self, group):
        group.__dict__.pop(self.name, None)

    def listed(self, group):
        """The value, for lists of all."""
        return self.__get__(group)

    def read(self, text):
        return text

    def write(self, value):
        return None if value is None else str(value)


class env_str(env_base):
    pass


class env_opt_str(env_base):
    pass


class env_opt_bool(env_base):

    def read(self, text):
        return text.lower() in ("1", "true", "yes", "on", "y")

    def write(self, value):
        return None if value is None else "1" if value else "0"


class env_bool(env_opt_bool):

    def __init__(self, key, default=False):
        super().__init__(key, default)


class env_int(env_base):

    def __init__(self, key, default=0):
        super().__init__(key, default)

    def read(self, text):
        try:
            return int(text)
        except ValueError:
            raise RuntimeError(f"{self.key}: expected an integer, got {text!r}") from None


class env_class(env_base):
    """A class, in the environment as module:name."""

    def read(self, text):
        import importlib
        module, _, name = text.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError):
            raise RuntimeError(f"{self.key}: expected module:class, got {text!r}") from None

    def write(self, value):
        return None if value is None else f"{value.__module__}:{value.__qualname__}"


class NvidiaTool:
    """A program of NVIDIA's toolkit: where it is."""

    def __init__(self, path):
        self.path = path

    def __repr__(self):
        return f"NvidiaTool({self.path!r})"


class env_nvidia_tool(env_base):
    """One of PATH, unless a variable says where."""

    def __init__(self, program):
        super().__init__(f"TRITON_{program.upper().replace('-', '_')}_PATH", self._find)
        self.program = program

    def listed(self, group):
        try:
            return self.__get__(group)
        except RuntimeError:
            return None  # it is not there

    def _find(self, _group):
        import shutil
        path = shutil.which(self.program)
        if path is None:
            raise RuntimeError(f"Cannot find {self.program}: expected it in PATH, or {self.key}")
        return NvidiaTool(path)

    def read(self, text):
        return NvidiaTool(text)

    def __set__(self, group, value):
        super().__set__(group, NvidiaTool(value) if isinstance(value, str) else value)

    def write(self, value):
        return getattr(value, "path", None)


class base_knobs:
    """A group of settings."""

    @classmethod
    def _settings(cls):
        return {name: setting for base in reversed(cls.__mro__) for name, setting in vars(base).items() if isinstance(setting, env_base)}

    @property
    def knobs(self):
        """Name and value of each."""
        return {name: setting.listed(self) for name, setting in self._settings().items()}

    def copy(self):
        other = type(self)()
        other.__dict__.update(self.__dict__)
        return other

    def reset(self):
        """What the environment says again."""
        for name in self._settings():
            self.__dict__.pop(name, None)
        return self

    def scope(self):
        """with knobs.runtime.scope(): what is set inside is undone, in the environment, too."""
        import contextlib

        @contextlib.contextmanager
        def restore():
            before = dict(self.__dict__)
            variables = {setting.key: os.environ.get(setting.key) for setting in self._settings().values()}
            try:
                yield
            finally:
                self.__dict__.clear()
                self.__dict__.update(before)
                for key, text in variables.items():
                    if text is None:
                        os.environ.pop(key, None)
                    else:
                        os.environ[key] = text
                _native.hooks_changed()

        return restore()


class build_knobs(base_knobs):
    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl = None

    @property
    def backend_dirs(self):
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


def _at_home(folder):
    return lambda group: os.path.join(group.home_dir, ".triton", folder)


class cache_knobs(base_knobs):
    home_dir = env_str("TRITON_HOME", lambda _group: os.path.expanduser("~/"))
    dump_dir = env_str("TRITON_DUMP_DIR", _at_home("dump"))
    override_dir = env_str("TRITON_OVERRIDE_DIR", _at_home("override"))
    dir = env_str("TRITON_CACHE_DIR", _at_home("cache"))
    manager_class = env_class("TRITON_CACHE_MANAGER")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND")

    @property
    def given_dir(self):
        """The folder that the program or its environment asks for; "" for Nereid's own."""
        is_given = any(name in self.__dict__ for name in ("dir", "home_dir")) or any(name in os.environ for name in ("TRITON_CACHE_DIR", "TRITON_HOME"))
        return self.dir if is_given else ""


class compilation_knobs(base_knobs):
    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    listener = None


class autotuning_knobs(base_knobs):
    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")


class runtime_knobs(base_knobs):
    interpret = env_bool("TRITON_INTERPRET")
    debug = env_bool("TRITON_DEBUG")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")

    def __init__(self):
        self.launch_enter_hook, self.launch_exit_hook = HookChain(), HookChain(reversed=True)
        self.kernel_load_start_hook, self.kernel_load_end_hook = HookChain(), HookChain(reversed=True)
        self.jit_cache_hook = self.jit_post_compile_hook = None

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        _native.hooks_changed()

    @property
    def has_hooks(self):
        return bool(self.launch_enter_hook) or bool(self.launch_exit_hook)


class language_knobs(base_knobs):
    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")
    libhip_path = env_opt_str("TRITON_LIBHIP_PATH")
    scalarize_packed_fops = env_bool("AMDGCN_SCALARIZE_PACKED_FOPS")


build, redis, cache, compilation, autotuning = build_knobs(), redis_knobs(), cache_knobs(), compilation_knobs(), autotuning_knobs()
runtime, language, nvidia, amd = runtime_knobs(), language_knobs(), nvidia_knobs(), amd_knobs()


def refresh_knobs():
    """All settings are again what the environment says."""
    for group in (build, redis, cache, compilation, autotuning, runtime, language, nvidia, amd):
        group.reset()
