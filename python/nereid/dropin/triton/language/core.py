"""Values of the language that host code also has: constexpr, dtypes, and the names of functions."""
import operator


class constexpr:
    """A number, text, dtype or function that is known when a kernel is compiled. Behaves as its value."""

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value
        self.type = constexpr_type(value)

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, key):
        return constexpr(self.value[_unwrap_if_constexpr(key)])

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter(self.value)

    def logical_and(self, other):
        return constexpr(self.value and _unwrap_if_constexpr(other))

    def logical_or(self, other):
        return constexpr(self.value or _unwrap_if_constexpr(other))

    def __not__(self):
        return constexpr(not self.value)


def _binary(function, reflected=False):
    if reflected:
        return lambda self, other: constexpr(function(_unwrap_if_constexpr(other), self.value))
    return lambda self, other: constexpr(function(self.value, _unwrap_if_constexpr(other)))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
    _function = getattr(operator, _name + "_" if _name in ("and", "or") else _name)
    setattr(constexpr, f"__{_name}__", _binary(_function))
    setattr(constexpr, f"__r{_name}__", _binary(_function, reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(constexpr, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "pos", "invert"):
    setattr(constexpr, f"__{_name}__", (lambda function: lambda self: constexpr(function(self.value)))(getattr(operator, _name)))
del _name, _function


class const:
    """Annotation: a pointer that is only read through."""


class constexpr_type:
    """The type of a constexpr: its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash((constexpr_type, self.value))

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


def _unwrap_if_constexpr(value):
    return value.value if isinstance(value, constexpr) else value


_unwrap_shape = lambda shape: [_unwrap_if_constexpr(size) for size in _unwrap_if_constexpr(shape)]  # noqa: E731

# In the order of nereid::DType; then those that Nereid has no element type for.
_ELEMENTS = ["int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64"]
_WITHOUT_ELEMENTS = ["fp8e4b15", "fp8e4b8", "fp8e5b16", "void"]
_BITS = {"int1": 1, "bf16": 16, "void": 0, **{f"fp8{form}": 8 for form in ("e4nv", "e5", "e4b15", "e4b8", "e5b16")}}
_MANTISSA = {"fp8e4nv": 3, "fp8e5": 2, "fp8e4b15": 3, "fp8e4b8": 3, "fp8e5b16": 2, "fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}


class dtype:
    """An element type. Of each name there is as good as one: equal names are equal types."""
    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = [name for name in _ELEMENTS + _WITHOUT_ELEMENTS if name.startswith(("fp", "bf"))]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    def __init__(self, name):
        name = _unwrap_if_constexpr(name)
        if name not in _ELEMENTS and name not in _WITHOUT_ELEMENTS:
            raise ValueError(f"tl.dtype: expected one of {', '.join(_ELEMENTS + _WITHOUT_ELEMENTS)}, got {name!r}")
        self.name = name
        self._index = _ELEMENTS.index(name) if name in _ELEMENTS else None
        bits = _BITS[name] if name in _BITS else int("".join(filter(str.isdigit, name)))
        self.primitive_bitwidth = bits
        self.itemsize = bits // 8
        self.int_bitwidth = bits if self.is_int() else None
        self.int_signedness = ("signed" if name in dtype.SINT_TYPES else "unsigned") if self.is_int() else None
        if name in _MANTISSA:
            self.fp_mantissa_width = _MANTISSA[name]
            self.exponent_bias = {"fp8e4nv": 7, "fp8e5": 15, "fp8e4b15": 15, "fp8e4b8": 8, "fp8e5b16": 16, "fp16": 15, "bf16": 127, "fp32": 127, "fp64": 1023}[name]

    def is_fp8(self):
        return "fp8" in self.name

    def is_floating(self):
        return self.name in dtype.FP_TYPES

    def is_standard_floating(self):
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int(self):
        return self.name in dtype.SINT_TYPES + dtype.UINT_TYPES

    def is_int_signed(self):
        return self.name in dtype.SINT_TYPES

    def is_int_unsigned(self):
        return self.name in dtype.UINT_TYPES

    def is_bool(self):
        return self.name == "int1"

    def is_block(self):
        return False

    def is_ptr(self):
        return False

    def is_const(self):
        return False

    def is_void(self):
        return self.name == "void"

    @property
    def scalar(self):
        return self

    @property
    def shape(self):
        return ()

    @property
    def __name__(self):
        return self.cache_key_part

    @property
    def cache_key_part(self):
        return _PYTHON_NAMES.get(self.name, self.name)

    def codegen_name(self):
        return _PYTHON_NAMES.get(self.name, self.name)

    def __eq__(self, other):
        other = _unwrap_if_constexpr(other)
        return isinstance(other, dtype) and type(other) is type(self) and self.name == other.name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.name,))

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{_PYTHON_NAMES.get(self.name, self.name)}"

    def __deepcopy__(self, _memo):
        return self

    def __reduce__(self):
        return dtype, (self.name,)

    def to(self, *_args, **_kwargs):
        _refuse("dtype.to")


_PYTHON_NAMES = {"fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15", "fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16",
                 "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
str_to_ty_names = _PYTHON_NAMES

void = dtype("void")
int1, int8, int16, int32, int64 = map(dtype, ["int1", "int8", "int16", "int32", "int64"])
uint8, uint16, uint32, uint64 = map(dtype, ["uint8", "uint16", "uint32", "uint64"])
float8e4nv, float8e5, float8e4b15, float8e4b8, float8e5b16 = map(dtype, ["fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16"])
float16, bfloat16, float32, float64 = map(dtype, ["fp16", "bf16", "fp32", "fp64"])


class pointer_type(dtype):
    """A pointer to elements of one type."""

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = _unwrap_if_constexpr(element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"pointer_type: expected a dtype, got {type(element_ty).__name__}")
        self.element_ty, self.address_space, self.const = element_ty, address_space, const
        self.name = f"pointer<{element_ty}>"
        self._index = None
        self.primitive_bitwidth = 64
        self.itemsize = 8

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def __reduce__(self):
        return pointer_type, (self.element_ty, self.address_space, self.const)


pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth, signed):
    return dtype(f"{'' if signed or bitwidth == 1 else 'u'}int{bitwidth}")


class tensor:
    """Annotation, and for isinstance: values of kernels exist only while a kernel runs."""


class tuple(tuple):
    """Annotation, and for isinstance: tuples of kernels."""


class tensor_descriptor:
    """Annotation, and for isinstance: made by make_tensor_descriptor, or given as
    triton.tools.tensor_descriptor.TensorDescriptor."""


class tensor_descriptor_base(tensor_descriptor):
    pass


class slice:
    pass


CONSTEXPR_0 = constexpr(0)
TRITON_MAX_TENSOR_NUMEL = 1048576
PropagateNan = type("PropagateNan", (), {"NONE": "NONE", "ALL": "ALL"})


def _refuse(name):
    raise ValueError(f"{name}: expected to be called by a kernel, got a call of the host; "
                     "hint: Did you forget to add @triton.jit ?")


class builtin:
    """A function that the compiler has: the host holds its name only."""

    def __init__(self, module, name):
        self.__module__ = module
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{module}.{name}: for kernels (docs/BUILTINS.md)."

    def __call__(self, *_args, **_kwargs):
        _refuse(f"{self.__module__}.{self.__name__}")

    def __repr__(self):
        return f"<function {self.__module__}.{self.__name__}>"

    def __reduce__(self):
        import importlib
        return getattr, (importlib.import_module(self.__module__), self.__name__)

    def __deepcopy__(self, _memo):
        return self


def view(input, *shape, _semantic=None):
    _refuse("triton.language.core.view")


def _fill(namespace, module):
    """Gives a module its functions; names that it has already stay."""
    from ._names import NAMES
    for name in NAMES[module]:
        namespace.setdefault(name, builtin(module, name))


def _aggregate(cls):
    """Decorator, of older versions: triton.aggregate."""
    from triton.runtime.jit import aggregate
    return aggregate(cls)


def __getattr__(name):
    # core and language have the same functions.
    import triton.language as language
    if name in language.__dict__:
        return language.__dict__[name]
    raise AttributeError(f"module 'triton.language.core' has no attribute {name!r}")
