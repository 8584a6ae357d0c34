"""One tiny kernel for each name of upstream's language: what `names.py --check` compiles.

Statements of a kernel that has read, by EXAMPLES' prelude:

    i   int32 [16], 0 to 15       s, f   scalars, int32 and float32
    x   float32 [16]              a      float16 [16, 16]
    n   int32 [16]                m      int1 [16]
    p, h, q   pointers to float32, float16, int32;  d  a descriptor of float32 [8, 8]

Every one but those of STUBS is valid in upstream as well: `names.py --oracle` sends them through its front end.
"""

FILE = '''import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def double(a):
    return a * 2


@triton.constexpr_function
def half(a):
    return a // 2


@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    @triton.constexpr_function
    def __init__(self, first, second):
        self.first = first
        self.second = second


'''

PRELUDE = '''    i = tl.arange(0, 16)
    x = tl.load(p + i)
    n = tl.load(q + i)
    a = tl.load(h + i[:, None] * 16 + i[None, :])
    m = i < 8
'''

# Types of p, h, q, s, f.
PARAMETERS = {"p": "*fp32", "h": "*fp16", "q": "*i32", "s": "i32", "f": "fp32"}

DESCRIPTOR = "d = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [8, 8])\n"
ROWS = ("d = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [1, 8])\n"
        "r = tl.arange(0, 8)\n")
SAME = "abs ceil cos erf exp exp2 floor log log2 rsqrt sigmoid sin softmax sqrt sqrt_rn".split()
TYPES = "bfloat16 float16 float32 float64 int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
ATOMIC = {name: f"{name}(q + i, n, m, 'acq_rel', 'gpu')"
          for name in "atomic_add atomic_and atomic_max atomic_min atomic_or atomic_xchg atomic_xor".split()}
SCALED = "tl.dot_scaled(tl.zeros([32, 32], tl.uint8), tl.full([32, 2], 127, tl.uint8), 'e2m1', "\
         "tl.zeros([32, 32], tl.uint8), tl.full([32, 2], 127, tl.uint8), 'e2m1')"

TL = {
    **{name: f"tl.{name}(x)" for name in SAME},
    **{name: f"tl.static_assert(tl.zeros([4], tl.{name}).dtype == tl.{name})" for name in TYPES},
    **{name: f"tl.{call}" for name, call in ATOMIC.items()},
    **{name: f"tl.static_assert(x.to(tl.{name}).dtype == tl.{name})" for name in ("float8e4nv", "float8e5")},
    "PropagateNan": "tl.maximum(x, f, propagate_nan=tl.PropagateNan.ALL)",
    "TRITON_MAX_TENSOR_NUMEL": "tl.static_assert(tl.TRITON_MAX_TENSOR_NUMEL == 1048576)",
    "add": "tl.add(n, 1, sanitize_overflow=False)",
    "aggregate_replace": "tl.store(q, tl.aggregate_replace(Pair(s, s + 1), second=s).second)",
    "arange": "tl.arange(0, 8)",
    "argmax": "tl.argmax(x, 0, tie_break_left=True, keep_dims=True)",
    "argmin": "tl.argmin(x, 0, tie_break_left=False)",
    "associative_scan": "tl.associative_scan(x, 0, plus, reverse=True)",
    "assume": "tl.assume(s > 0)",
    "atomic_cas": "tl.atomic_cas(q, s, s + 1, sem='relaxed', scope='cta')",
    "atomic_load": "tl.store(p + i, tl.atomic_load(p + i, m, sem='relaxed', scope='sys'))",
    "atomic_poll": "tl.store(q + i, tl.atomic_poll(q + i, n, sem='acquire', scope='gpu', timeout_ns=1000))",
    "atomic_store": "tl.atomic_store(p + i, x, m, sem='release', scope='gpu')",
    "bitonic_merge": "tl.bitonic_merge(x, 0, True)",
    "block_type": "tl.static_assert(x.type == tl.block_type(tl.float32, [16]))",
    "broadcast": "tl.broadcast(x[:, None], x[None, :])",
    "broadcast_to": "tl.broadcast_to(x[:, None], [16, 4])",
    "cast": "tl.cast(x, tl.float16, fp_downcast_rounding='rtz')",
    "cat": "tl.static_assert(tl.cat(a, a, dim=1).shape[1] == 32)",
    "cdiv": "tl.cdiv(s, 4)",
    "clamp": "tl.static_assert(tl.clamp(n, 0, 5, propagate_nan=tl.PropagateNan.NONE).dtype == tl.int32)",
    "condition": "while tl.condition(s > 0, disable_licm=True):\n    s = s - 1",
    "const": "isinstance(p, tl.const)",
    "constexpr": "c: tl.constexpr = 3\ntl.arange(0, c + 1)",
    "constexpr_type": "isinstance(3, tl.constexpr_type)",
    "cumprod": "tl.cumprod(x, 0, reverse=True, dtype=tl.float64)",
    "cumsum": "tl.cumsum(n, 0, reverse=False, dtype=tl.int64)",
    "debug_barrier": "tl.debug_barrier()",
    "device_assert": "tl.device_assert(s > 0, 'positive')",
    "device_print": "tl.device_print('s', s, hex=True)",
    "div_rn": "tl.div_rn(x, 3.0)",
    "dot": "tl.static_assert(tl.dot(a, a, acc=tl.zeros([16, 16], tl.float16)).dtype == tl.float16)",
    "dot_scaled": SCALED,
    "dtype": "tl.static_assert(isinstance(tl.float32, tl.dtype))",
    "expand_dims": "tl.expand_dims(x, -1)",
    "expect_zero": "tl.store(p + i, tl.expect_zero(x, m), ~m)",
    "extra": "tl.extra.cuda.num_warps()",
    "fdiv": "tl.static_assert(tl.fdiv(a, 3, ieee_rounding=True).dtype == tl.float32)\ntl.fdiv(x, 3, approx=True)",
    "flip": "tl.flip(x, -1)",
    "fma": "tl.fma(x, 2, f)",
    "full": "tl.full([4], 1.5, tl.float16)",
    "gather": "tl.gather(x, i, 0)",
    "histogram": "tl.histogram(n, 8, m)",
    "inline_asm_elementwise": "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [n], dtype=tl.int32, is_pure=True, pack=1)",
    "interleave": "tl.interleave(x, x)",
    "join": "tl.join(x, f)",
    "load": "tl.load(p + i, m, 0.0, cache_modifier='.cs', eviction_policy='evict_last', volatile=True)",
    "load_tensor_descriptor": DESCRIPTOR + "tl.load_tensor_descriptor(d, [0, 8])",
    "make_tensor_descriptor": "tl.make_tensor_descriptor(p, [64, s], [64, 1], [8, 8], padding_option='nan')",
    "map_elementwise": "tl.map_elementwise(double, x, pack=1)",
    "math": "tl.math.exp(x)",
    "max": "tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True, keep_dims=True)",
    "max_constancy": "tl.max_constancy(n, [4])",
    "max_contiguous": "tl.max_contiguous(n, [4])",
    "maximum": "tl.static_assert(tl.maximum(a, 0.0).dtype == tl.float16)",
    "min": "tl.min(x, 0)",
    "minimum": "tl.minimum(x, f)",
    "mul": "tl.mul(n, 3)",
    "multiple_of": "tl.multiple_of(n, [4])",
    "num_programs": "tl.num_programs(axis=0)",
    "pair_uniform_to_normal": "tl.pair_uniform_to_normal(x, x)",
    "permute": "tl.permute(a, (1, 0))",
    "philox": "tl.philox(s, n, n, n, n, n_rounds=10)",
    "philox_impl": "u = n.to(tl.uint32)\ntl.philox_impl(u, u, u, u, u, u, 10)",
    "pi32_t": "p.to(tl.pi32_t)",
    "pointer_type": "p.to(tl.pointer_type(tl.int32))",
    "program_id": "tl.program_id(2)",
    "rand": "tl.rand(s, n, n_rounds=6)",
    "rand4x": "tl.rand4x(s, n)",
    "randint": "tl.randint(s, n)",
    "randint4x": "tl.randint4x(s, n)",
    "randn": "tl.randn(s, n)",
    "randn4x": "tl.randn4x(s, n)",
    "range": "for k in tl.range(0, s, 1, num_stages=2, loop_unroll_factor=1, disallow_acc_multi_buffer=True, flatten=False, "
             "warp_specialize=False, disable_licm=True):\n    tl.store(q + k, k)",
    "ravel": "tl.ravel(a)",
    "reduce": "tl.reduce((x, x), 0, pair_plus, keep_dims=True)",
    "reduce_or": "tl.reduce_or(n, 0)",
    "reshape": "tl.reshape(a, [4, 64])",
    "slice": "isinstance(p, tl.slice)",
    "sort": "tl.sort(x, 0, descending=True)",
    "split": "tl.split(tl.join(x, x))",
    "squeeze": "tl.static_assert(len(tl.squeeze(x[:, None], -1).shape) == 1)",
    "static_assert": "tl.static_assert(4 == 4, 'equal')",
    "static_print": "tl.static_print('x', x.dtype, sep=' ')",
    "static_range": "for k in tl.static_range(0, 4, 2):\n    tl.store(q + k, k)",
    "store": "tl.store(p + i, x, m, cache_modifier='.wb', eviction_policy='evict_first')",
    "store_tensor_descriptor": DESCRIPTOR + "tl.store_tensor_descriptor(d, [0, 8], tl.zeros([8, 8], tl.float32))",
    "sub": "tl.sub(n, 3)",
    "sum": "tl.sum(n, 0, keep_dims=True, dtype=tl.int64)",
    "swizzle2d": "tl.swizzle2d(s, s, 8, 8, 2)",
    "target_info": "tl.static_assert(not tl.target_info.is_hip())",
    "tensor": "tl.static_assert(isinstance(x, tl.tensor))",
    "tensor_descriptor": "isinstance(p, tl.tensor_descriptor)",
    "tensor_descriptor_type": "isinstance(p, tl.tensor_descriptor_type)",
    "to_tensor": "tl.static_assert(tl.to_tensor(3).dtype == tl.int32)",
    "topk": "tl.topk(x, 4, 0, descending=False)",
    "trans": "tl.trans(a)",
    "tuple": "tl.static_assert(isinstance((1, 2), tl.tuple))",
    "tuple_type": "isinstance(p, tl.tuple_type)",
    "uint_to_uniform_float": "tl.uint_to_uniform_float(n)",
    "umulhi": "tl.umulhi(n, 5)",
    "unsqueeze": "tl.static_assert(tl.unsqueeze(x, -1).shape[1] == 1)",
    "view": "tl.view(a, [4, 64])",
    "void": "isinstance(p, tl.dtype)",
    "where": "tl.where(m, x, 0.0)",
    "xor_sum": "tl.xor_sum(n, 0)",
    "zeros": "tl.zeros([4, 4], tl.float32)",
    "zeros_like": "tl.zeros_like(x)",
}

MATH = {name: TL[name].replace("tl.", "tl.math.").replace("tl.math.static", "tl.static").replace("tl.math.float", "tl.float")
        for name in "abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi".split()}

CUDA = {
    "gdc_launch_dependents": "tl.extra.cuda.gdc_launch_dependents()",
    "gdc_wait": "tl.extra.cuda.gdc_wait()",
    "globaltimer": "tl.static_assert(tl.extra.cuda.globaltimer().dtype == tl.int64)",
    "num_threads": "tl.static_assert(tl.extra.cuda.num_threads() == 128)",
    "num_warps": "tl.static_assert(tl.extra.cuda.num_warps() == 4)",
    "smid": "tl.static_assert(tl.extra.cuda.smid().dtype == tl.int32)",
}

TARGET = {
    **{name: f"tl.static_assert(not tl.target_info.{name}())"
       for name in "is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250".split()},
    "cuda_capability_geq": "tl.static_assert(tl.target_info.cuda_capability_geq(9, 0) or True)",
    "current_target": "tl.target_info.current_target()",
    "is_cuda": "tl.static_assert(tl.target_info.is_cuda() or True)",
}

TENSOR = {
    **{name: f"x.{name}()" for name in SAME},
    **{name: call.replace("q + i, ", "").replace(f"{name}(", f"(q + i).{name}(") for name, call in ATOMIC.items()},
    "T": "a.T",
    "argmax": "x.argmax(0)",
    "argmin": "x.argmin(0)",
    "associative_scan": "x.associative_scan(0, plus)",
    "atomic_cas": "q.atomic_cas(s, s + 1)",
    "atomic_load": "q.atomic_load()",
    "atomic_poll": "q.atomic_poll(s)",
    "atomic_store": "q.atomic_store(s)",
    "broadcast_to": "x[:, None].broadcast_to(16, 4)",
    "cast": "x.cast(tl.float16)",
    "cdiv": "n.cdiv(4)",
    "cumprod": "x.cumprod(0)",
    "cumsum": "x.cumsum(0)",
    "dtype": "tl.static_assert(x.dtype == tl.float32)",
    "expand_dims": "x.expand_dims(0)",
    "flip": "x.flip(0)",
    "gather": "x.gather(i, 0)",
    "histogram": "n.histogram(8)",
    "item": "tl.store(p, tl.max(x, 0, keep_dims=True).item())",
    "logical_and": "m.logical_and(m)",
    "logical_or": "m.logical_or(m)",
    "max": "x.max(0)",
    "min": "x.min(0)",
    "numel": "tl.static_assert(x.numel == 16)",
    "permute": "a.permute(1, 0)",
    "ravel": "a.ravel()",
    "reduce": "x.reduce(0, plus)",
    "reduce_or": "n.reduce_or(0)",
    "reshape": "a.reshape(4, 64)",
    "shape": "tl.static_assert(x.shape[0] == 16)",
    "sort": "x.sort()",
    "split": "tl.join(x, x).split()",
    "store": "(p + i).store(x)",
    "sum": "x.sum(0)",
    "to": "x.to(tl.float16)",
    "trans": "a.trans()",
    "type": "tl.static_assert(x.type.element_ty == tl.float32)",
    "view": "a.view(4, 64)",
    "xor_sum": "n.xor_sum(0)",
}

BLOCK = "tl.zeros([8, 8], tl.float32)"
INTEGERS = "d = tl.make_tensor_descriptor(q, [64, 64], [64, 1], [8, 8])\n"
TENSOR_DESCRIPTOR = {
    **{name: INTEGERS + f"d.{name}([0, 8], tl.zeros([8, 8], tl.int32))"
       for name in "atomic_add atomic_and atomic_max atomic_min atomic_or atomic_xor".split()},
    "block_shape": DESCRIPTOR + "tl.static_assert(d.block_shape[0] == 8)",
    "block_type": DESCRIPTOR + "tl.static_assert(d.block_type.shape[0] == 8)",
    "dtype": DESCRIPTOR + "tl.static_assert(d.dtype == tl.float32)",
    "gather": ROWS + "d.gather(r, 8)",
    "load": DESCRIPTOR + "d.load([0, 8])",
    "scatter": ROWS + "d.scatter(tl.zeros([8, 8], tl.float32), r, 8)",
    "store": DESCRIPTOR + f"d.store([0, 8], {BLOCK})",
}

DTYPE = {
    **{f"is_{name}": f"tl.static_assert(x.dtype.is_{name}() or True)" for name in
       "bf16 block bool const floating fp16 fp32 fp64 fp8 fp8e4b15 fp8e4b8 fp8e4nv fp8e5 fp8e5b16 int int1 int16 int32 int64 "
       "int8 int_signed int_unsigned ptr standard_floating uint16 uint32 uint64 uint8".split()},
    "element_ty": "tl.static_assert(p.dtype.element_ty == tl.float32)",
    "get_int_max_value": "tl.static_assert(tl.int8.get_int_max_value() == 127)",
    "get_int_min_value": "tl.static_assert(tl.int8.get_int_min_value() == -128)",
    "int_bitwidth": "tl.static_assert(tl.int8.int_bitwidth == 8)",
    "itemsize": "tl.static_assert(tl.float32.itemsize == 4)",
    "kind": "tl.static_assert(tl.int8.kind() == tl.int32.kind())",
    "name": "tl.static_assert(tl.float32.name == 'fp32')",
    "primitive_bitwidth": "tl.static_assert(tl.float16.primitive_bitwidth == 16)",
    "scalar": "tl.static_assert(tl.float32.scalar == tl.float32)",
}

TRITON = {
    "Config": "tl.store(p, f)",
    "aggregate": "tl.store(q, Pair(s, s + 1).second)",
    "autotune": "tl.store(p, f)",
    "cdiv": "c: tl.constexpr = triton.cdiv(10, 4)\ntl.static_assert(c == 3)",
    "constexpr_function": "c: tl.constexpr = half(8)\ntl.static_assert(c == 4)",
    "heuristics": "if EVEN:\n    tl.store(p, f)",
    "jit": "tl.store(p, plus(f, f))",
    "language": "triton.language.arange(0, 4)",
    "must_use_result": "tl.store(p, used(f))",
    "next_power_of_2": "c: tl.constexpr = triton.next_power_of_2(9)\ntl.static_assert(c == 16)",
}
CONFIGS = ("[triton.Config({}, num_warps=4, num_stages=2, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None)]")
# Lines above the kernel, and parameters after its own.
DECORATORS = {
    "Config": f"@triton.autotune({CONFIGS}, ['s'])\n",
    "autotune": f"@triton.autotune(configs={CONFIGS}, key=['s'],\n"
                "                 prune_configs_by={'early_config_prune': keep}, reset_to_zero=['p'],\n"
                "                 restore_value=['h'], pre_hook=None, post_hook=None, warmup=None, rep=None,\n"
                "                 use_cuda_graph=False, do_bench=None, cache_results=False)\n",
    "heuristics": "@triton.heuristics(values={'EVEN': lambda args: args['s'] % 2 == 0})\n",
}
EXTRA = {"heuristics": ", EVEN: tl.constexpr = True"}
JIT = {"jit": "(version=1, repr=None, launch_metadata=None, do_not_specialize=['s'], "
              "do_not_specialize_on_alignment=['p'], debug=True, noinline=False)"}

# What upstream keeps as a name that raises; block pointers mean here what they did.
BLOCK_POINTER = "tl.make_block_ptr(p, [64, 64], [64, 1], [0, 0], [8, 8], [1, 0])"
STUBS = {
    "tl.make_block_ptr": f"tl.load({BLOCK_POINTER}, boundary_check=(0, 1), padding_option='zero')",
    "tensor.advance": f"{BLOCK_POINTER}.advance([8, 0])",
}
TL["make_block_ptr"], TENSOR["advance"] = STUBS.values()

# Statements and expressions that 3.7, 3.8 and 3.9 began to accept, by what they show.
SYNTAX = {
    "a comparison chain": "tl.store(q, (0 < s < 5).to(tl.int32))",
    "a constant comparison chain": "tl.static_assert(0 < 3 <= 3)",
    "a walrus": "if (t := s + 1) > 3:\n    tl.store(q, t)",
    "an annotation without a value": "c: tl.constexpr\nc = 8\ntl.arange(0, c)",
    "a number that a function returns stays constant": "tl.arange(0, eight())",
    "numbers of two returns meet in a tensor": "tl.store(q, one_or_two(s))",
    "a keyword-only parameter": "tl.store(q, scaled(s, by=3))",
    "more arguments by a star": "tl.store(q, total(s, s, s))",
    "a tuple of arguments by a star": "t = (s, s)\ntl.store(q, plus(*t))",
    "a nested unpacking": "(t, (u, v)) = (s, (f, s))\ntl.store(p, u)\ntl.store(q, t + v)",
    "a comprehension with a filter": "t = [k for k in (1, 2, 3) if k != 2]\ntl.static_assert(len(t) == 2)",
    "a comprehension that unpacks": "t = [k + l for k, l in ((1, s), (2, s))]\ntl.store(q, t[1])",
    "a while over a number": "t = s\nwhile t:\n    t -= 1\ntl.store(q, t)",
    "fields of an aggregate by name": "tl.store(q, Span(start=s, size=s).end())",
    "defaults of an aggregate's fields": "tl.store(q, Span(s).end())",
    "an aggregate of an aggregate": "tl.store(q, NamedSpan(s, s, 3).end())",
    "operators of an aggregate": "tl.store(q, (Span(s, s) + 1).start)",
}

MODULES = {"tl": TL, "tl.math": MATH, "tl.extra.cuda": CUDA, "tl.target_info": TARGET, "tensor": TENSOR,
           "tensor_descriptor": TENSOR_DESCRIPTOR, "dtype": DTYPE, "triton": TRITON, "syntax": SYNTAX}
FILE += '''@triton.jit
def pair_plus(a, b, c, d):
    return a + c, b + d


@triton.must_use_result
@triton.jit
def used(a):
    return a


def keep(configs, named_args, **kwargs):
    return configs


@triton.jit
def eight():
    return 8


@triton.jit
def one_or_two(s):
    if s > 0:
        return 1
    return 2


@triton.jit
def scaled(a, *, by: tl.constexpr = 2):
    return a * by


@triton.jit
def total(*numbers):
    return numbers[0] + numbers[1] + numbers[2]


@triton.aggregate
class Span:
    start: tl.tensor
    size: tl.tensor | tl.constexpr = 4

    @triton.jit
    def end(self):
        return self.start + self.size

    @triton.jit
    def __add__(self, by):
        return Span(self.start + by, self.size)


@triton.aggregate
class NamedSpan(Span):
    name: tl.constexpr


'''


def libdevice(name, types):
    """A call with arguments of these types (as upstream's table of the function has them)."""
    numbers = ", ".join(f"tl.zeros([16], tl.dtype('{t}'))" for t in types)
    return f"libdevice.{name}({numbers})"


def kernel(kernel_name, name, statement):
    """The text of the kernel for a name."""
    lines = "".join(f"    {line}\n" for line in statement.splitlines())
    return (f"{DECORATORS.get(name, '')}@triton.jit{JIT.get(name, '')}\n"
            f"def {kernel_name}({', '.join(PARAMETERS)}{EXTRA.get(name, '')}):\n{PRELUDE}{lines}\n\n")
