from . import errors  # noqa: F401
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from .compiler import ASTSource, CompiledKernel, LazyDict, compile, make_backend
