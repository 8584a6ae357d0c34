"""Settings, by upstream's names. Those that mean nothing here are kept for the program that set them."""
import os

from nereid import _native


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


def _flag(name, default=False):
    value = os.environ.get(name)
    return default if value is None else value.lower() in ("1", "true", "yes", "on", "y")


class _Group:

    def reset(self):
        """What the environment says again."""
        for name in [name for name in self.__dict__ if name.startswith("TRITON_")]:
            del self.__dict__[name]

    def scope(self):
        """with knobs.runtime.scope(): what is set inside is undone."""
        import contextlib

        @contextlib.contextmanager
        def restore():
            before = dict(self.__dict__)
            try:
                yield
            finally:
                self.__dict__.clear()
                self.__dict__.update(before)
                _native.hooks_changed()

        return restore()


def _setting(variable, kind):

    def get(self):
        if variable in self.__dict__:
            return self.__dict__[variable]
        return _flag(variable) if kind is bool else os.environ.get(variable)

    def put(self, value):
        self.__dict__[variable] = value

    return property(get, put)


class _Runtime(_Group):
    interpret = _setting("TRITON_INTERPRET", bool)
    debug = _setting("TRITON_DEBUG", bool)

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


class _Autotuning(_Group):
    print = _setting("TRITON_PRINT_AUTOTUNING", bool)
    cache = _setting("TRITON_CACHE_AUTOTUNING", bool)


class _Cache(_Group):
    dir = _setting("TRITON_CACHE_DIR", str)
    home_dir = _setting("TRITON_HOME", str)


class _Compilation(_Group):
    always_compile = _setting("TRITON_ALWAYS_COMPILE", bool)
    listener = None


class _Nvidia(_Group):
    libdevice_path = _setting("TRITON_LIBDEVICE_PATH", str)


class _Language(_Group):
    default_fp_fusion = True


runtime, autotuning, cache, compilation, nvidia, language = _Runtime(), _Autotuning(), _Cache(), _Compilation(), _Nvidia(), _Language()


def refresh_knobs():
    """All settings are again what the environment says."""
    for group in (runtime, autotuning, cache, compilation, nvidia, language):
        group.reset()
