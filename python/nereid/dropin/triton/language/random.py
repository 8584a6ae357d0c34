"""Upstream's module of this name: the functions are triton.language's."""


def __getattr__(name):
    import triton.language as language
    if name in language.__dict__:
        return language.__dict__[name]
    raise AttributeError(f"module 'triton.language.random' has no attribute {name!r}")
