"""What bench/operators/compare.py runs: each operator beside PyTorch's functions, on shapes that models have."""

import math
from dataclasses import dataclass, field

import torch
import torch.nn.attention
import torch.nn.functional as F


@dataclass
class Case:
    operator: str
    shape: str  # for the table
    inputs: list  # tensors or None
    function: object  # the same by PyTorch: of the inputs
    numbers: tuple = ()
    gradients: tuple = ()  # which inputs want one; none: forward alone
    tolerance: float = 0.02  # of the largest element
    peers: dict = field(default_factory=dict)  # further ways to compute it, by name
    compiles: bool = True  # by torch.compile


def layer_norm(make, dtype):
    for rows, columns in ((12288, 768), (4096, 4096), (8192, 1024), (512, 8192)):
        inputs = [make(rows, columns, dtype=dtype), make(columns, dtype=dtype), make(columns, dtype=dtype)]
        yield Case("layer_norm", f"{rows}x{columns}", inputs,
                   lambda x, w, b, n=columns: F.layer_norm(x, (n,), w, b, 1e-5), (1e-5,), (0, 1, 2))


def matmul(make, dtype):
    for size in (256, 512, 1024, 2048, 4096):
        yield Case("matmul", f"{size}", [make(size, size, dtype=dtype), make(size, size, dtype=dtype)], torch.matmul)


def thin_matmul(make, dtype):
    """Of few blocks, that are cut along K; of weights' gradients; of one token."""
    for m, n, k in ((64, 768, 12288), (768, 768, 12288), (1, 4096, 4096)):
        yield Case("matmul", f"{m}x{k} by {n}", [make(m, k, dtype=dtype), make(k, n, dtype=dtype)], torch.matmul)


def byte_products(make, dtype):
    """Operands of 8 bits, the right one a transposed weight, on GPUs. Of fp8 both add up blocks of K in fp32."""
    device = make(1, dtype="fp32").device
    one = torch.ones((), device=device)

    def by_torch(a, b):
        if a.dtype == torch.int8:
            return torch._int_mm(a, b)
        return torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16) if a.dtype == torch.float8_e4m3fn else a @ b
    for m, k, n in ((512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (12288, 768, 3072), (12288, 3072, 768),
                    (4096, 4096, 11008), (4096, 11008, 4096)):
        inputs = [torch.randint(-100, 101, (rows, k), device=device, dtype=torch.int8) if dtype == "i8" else
                  torch.randn(rows, k, device=device).to(torch.float8_e4m3fn) for rows in (m, n)]
        yield Case("matmul", f"{m}x{k} by {n}", [inputs[0], inputs[1].t()], by_torch, compiles=False)


def unaligned_products(make, dtype):
    """Large ones whose rows are no multiples of 16 elements, or not even of 16 bytes."""
    for m, k, n in ((3000, 3000, 3000), (3001, 3001, 3001), (4096, 4096, 4095), (4096, 1001, 4096), (1000, 1000, 1000)):
        yield Case("matmul", f"{m}x{k} by {n}", [make(m, k, dtype=dtype), make(k, n, dtype=dtype)], torch.matmul, (), (0, 1))


def linear_gelu(make, dtype):
    for rows, k, n in ((12288, 768, 3072), (512, 768, 3072)):
        inputs = [make(rows, k, dtype=dtype), make(n, k, dtype=dtype, scale=k**-0.5), make(n, dtype=dtype)]
        yield Case("linear_gelu", f"{rows}x{k}x{n}", inputs, lambda x, w, b: F.gelu(F.linear(x, w, b)), (), (0, 1, 2))


def attention(make, dtype):
    # The host computes exactly the same, of fewer and shorter sequences.
    on_host = make(1, dtype=dtype).device.type == "cpu"
    shapes = ((1, 8, 512, 64), (1, 4, 2048, 64), (1, 4, 1024, 128)) if on_host else (
        (4, 32, 2048, 64), (4, 32, 4096, 128), (12, 12, 1024, 64), (4, 32, 2048, 128))
    for batch, heads, length, size in shapes:
        for causal in (True, False):
            inputs = [make(batch, heads, length, size, dtype=dtype) for _ in range(3)]
            def function(q, k, v, causal=causal):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

            def flash(*inputs, function=function):
                with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                    return function(*inputs)
            yield Case("attention", f"B{batch} H{heads} T{length} D{size}{' causal' if causal else ''}", inputs, function,
                       (causal,), (0, 1, 2), peers={} if on_host or dtype == "fp32" else {"flash": flash})


def decoding(make, dtype):
    """One token of each sequence; PyTorch gets as an argument that all keys of the cache are there."""
    on_host = make(1, dtype=dtype).device.type == "cpu"
    shapes = ((4, 8, 8, 1024, 64), (4, 8, 2, 1024, 64)) if on_host else (
        (64, 16, 16, 4096, 64), (64, 32, 8, 4096, 128), (1, 32, 8, 32768, 128))
    for batch, heads, kv_heads, length, size in shapes:
        q = make(batch, heads, size, dtype=dtype)
        k, v = (make(batch, kv_heads, length, size, dtype=dtype) for _ in range(2))
        lengths = torch.full((batch,), length, dtype=torch.int32, device=q.device)
        yield Case("decoding", f"B{batch} H{heads}/{kv_heads} T{length} D{size}", [q, k, v, lengths],
                   lambda q, k, v, lengths: F.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0])


def element_wise(make, dtype):
    on_host = make(1, dtype=dtype).device.type == "cpu"
    for rows, columns in ((4096, 1024),) if on_host else ((65536, 1024), (12288, 3072)):
        x, y = make(rows, columns, dtype=dtype), make(rows, columns, dtype=dtype)
        shape = f"{rows}x{columns}"
        yield Case("gelu", shape, [x], F.gelu, (), (0,))
        yield Case("gelu_tanh", shape, [x], lambda x: F.gelu(x, approximate="tanh"), (), (0,))
        yield Case("swiglu", shape, [x, y], lambda gate, up: F.silu(gate) * up, (), (0, 1))
        yield Case("element_wise_chain", shape, [x, make(columns, dtype=dtype), y],
                   lambda x, bias, gate: F.silu(F.gelu(x + bias) * gate) + x * 0.5, (), (0, 1, 2))


def rotary(make, dtype):
    def by_pytorch(x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        cos, sin = cos[None, :, None], sin[None, :, None]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    for batch, length, heads, size in ((4, 1024, 12, 64), (2, 1024, 16, 128)):
        yield Case("rotary", f"B{batch} T{length} H{heads} D{size}",
                   [make(batch, length, heads, size, dtype=dtype), make(length, size // 2, dtype=dtype),
                    make(length, size // 2, dtype=dtype)], by_pytorch, (), (0,))


def add_layer_norm(make, dtype):
    for rows, columns in ((12288, 768), (4096, 4096)):
        inputs = [make(rows, columns, dtype=dtype), make(rows, columns, dtype=dtype), make(columns, dtype=dtype),
                  make(columns, dtype=dtype)]

        def function(x, residual, w, b, n=columns):
            total = x + residual
            return F.layer_norm(total, (n,), w, b, 1e-5), total
        yield Case("add_layer_norm", f"{rows}x{columns}", inputs, function, (1e-5,), (0, 1, 2, 3))


def rms_norm(make, dtype):
    for rows, columns in ((12288, 768), (4096, 4096), (512, 8192)):
        inputs = [make(rows, columns, dtype=dtype), make(columns, dtype=dtype)]
        yield Case("rms_norm", f"{rows}x{columns}", inputs, lambda x, w, n=columns: F.rms_norm(x, (n,), w, 1e-6), (1e-6,),
                   (0, 1))


def softmax(make, dtype):
    for rows, columns in ((12288, 1024), (4096, 4096), (512, 32768)):
        yield Case("softmax", f"{rows}x{columns}", [make(rows, columns, dtype=dtype)], lambda x: F.softmax(x, -1), (1.0, 0.0),
                   (0,))
    x = make(48, 1024, 1024, dtype=dtype)
    mask = torch.ones(1024, 1024, dtype=torch.bool, device=x.device).triu(1)
    yield Case("softmax", "48x1024x1024 causal", [x], lambda x: F.softmax((x * 0.125).masked_fill(mask, float("-inf")), -1),
               (0.125, 1.0), (0,))


def log_softmax(make, dtype):
    for rows, columns in ((4096, 4096), (512, 50304)):
        yield Case("log_softmax", f"{rows}x{columns}", [make(rows, columns, dtype=dtype)], lambda x: F.log_softmax(x, -1), (),
                   (0,))


def cross_entropy(make, dtype):
    shapes = [(8192, 1000), (2048, 50304)]
    if make(1).is_cuda:
        shapes.append((12288, 50304))
    for rows, classes in shapes:
        logits = make(rows, classes, dtype=dtype)
        targets = torch.randint(classes, (rows,), device=logits.device)
        yield Case("cross_entropy", f"{rows}x{classes}", [logits, targets], F.cross_entropy, (), (0,))


def linear_cross_entropy(make, dtype):
    for rows, columns, classes in ((12288, 768, 50304),) if make(1).is_cuda else ((1024, 256, 8192),):
        x, w = make(rows, columns, dtype=dtype), make(classes, columns, dtype=dtype, scale=columns ** -0.5)
        targets = torch.randint(classes, (rows,), device=x.device)
        yield Case("linear_cross_entropy", f"{rows}x{columns}x{classes}", [x, w, targets],
                   lambda x, w, t: F.cross_entropy(F.linear(x, w), t), (), (0, 1))


def group_norm(make, dtype):
    for samples, channels, size, last in ((8, 320, 64, False), (8, 320, 64, True), (8, 1280, 16, False)):
        x = make(samples, channels, size, size, dtype=dtype)
        if last:
            x = x.contiguous(memory_format=torch.channels_last)
        yield Case("group_norm", f"{samples}x{channels}x{size}x{size}{' channels last' if last else ''}",
                   [x, make(channels, dtype=dtype), make(channels, dtype=dtype)], lambda x, w, b: F.group_norm(x, 32, w, b),
                   (32.0,), (0, 1, 2))


def embedding(make, dtype):
    for tokens, rows, columns in ((12288, 50304, 768), (8192, 2048, 1024)):
        weight = make(rows, columns, dtype=dtype)
        indices = torch.randint(rows, (tokens,), device=weight.device)
        yield Case("embedding", f"{tokens} of {rows}x{columns}", [weight, indices], lambda w, i: F.embedding(i, w), (), (0,))


def adamw(make, dtype):
    """One step over all tensors of GPT-2 124M, as PyTorch's fused optimiser takes it; the host has two layers of it."""
    layers, vocabulary, width = (12, 50304, 768) if make(1).is_cuda else (2, 5000, 768)
    shapes = [(vocabulary, width), (1024, width)]
    for _ in range(layers):
        for n, k in ((3 * width, width), (width, width), (4 * width, width), (width, 4 * width)):
            shapes += [(n, k), (n,)]
        shapes += [(width,)] * 4
    parameters = [make(*shape, dtype=dtype) for shape in shapes]
    gradients = [make(*shape, dtype=dtype, scale=0.01) for shape in shapes]
    optimizers = {}

    def step(*tensors):
        if tensors[0].data_ptr() not in optimizers:
            own = [t.clone() for t in tensors[:len(shapes)]]
            for t, gradient in zip(own, tensors[len(shapes):]):
                t.grad = gradient
            optimizers[tensors[0].data_ptr()] = own[0], torch.optim.AdamW(own, lr=1e-3, weight_decay=0.1, fused=True)
            return own[0]  # the first call only asks for the shape
        first, optimizer = optimizers[tensors[0].data_ptr()]
        optimizer.step()
        return first

    yield Case("adamw", f"{sum(map(math.prod, shapes)) / 1e6:.0f}M", [*parameters, *gradients], step, compiles=False)


# What models have beside large training shapes: few rows, awkward lengths, grouped heads, few classes, transposed operands.


def few_rows(make, dtype):
    """Norms whose weights' gradients are sums over few rows, and over very long ones."""
    for rows, columns in ((1, 1024), (1, 4096), (32, 768), (7, 32768), (7, 100003)):
        inputs = [make(rows, columns, dtype=dtype), make(columns, dtype=dtype), make(columns, dtype=dtype)]
        yield Case("layer_norm", f"{rows}x{columns}", inputs,
                   lambda x, w, b, n=columns: F.layer_norm(x, (n,), w, b, 1e-5), (1e-5,), (0, 1, 2))
        yield Case("rms_norm", f"{rows}x{columns}", inputs[:2], lambda x, w, n=columns: F.rms_norm(x, (n,), w, 1e-6), (1e-6,),
                   (0, 1))
    yield Case("softmax", "100000x16", [make(100000, 16, dtype=dtype)], lambda x: F.softmax(x, -1), (1.0, 0.0), (0,))


def odd_attention(make, dtype):
    for batch, heads, groups, queries, keys, size in ((2, 8, 8, 77, 77, 64), (1, 8, 8, 17, 1000, 80), (1, 8, 1, 1, 2048, 128),
                                                      (1, 8, 2, 512, 512, 64), (32, 8, 8, 16, 16, 64)):
        q = make(batch, heads, queries, size, dtype=dtype)
        k, v = (make(batch, groups, keys, size, dtype=dtype) for _ in range(2))
        yield Case("attention", f"B{batch} H{heads}/{groups} Tq{queries} Tk{keys} D{size}", [q, k, v],
                   lambda q, k, v, shares=groups < heads: F.scaled_dot_product_attention(q, k, v, enable_gqa=shares), (0,),
                   (0, 1, 2))


def products(make, dtype):
    """With gradients; of batches."""
    for m, k, n in ((1, 768, 768), (8, 768, 3072), (513, 511, 509), (1000, 1000, 1000)):
        yield Case("matmul", f"{m}x{k} by {n}", [make(m, k, dtype=dtype), make(k, n, dtype=dtype)], torch.matmul, (), (0, 1))
    for batch, size in ((64, 64), (256, 16)):
        yield Case("matmul", f"{batch} of {size}", [make(batch, size, size, dtype=dtype), make(batch, size, size, dtype=dtype)],
                   torch.matmul, (), (0, 1))
    for rows, k, n in ((1, 768, 3072), (7, 1024, 1024), (64, 768, 768), (1000, 100, 10)):
        yield Case("linear", f"{rows}x{k}x{n}", [make(rows, k, dtype=dtype), make(n, k, dtype=dtype, scale=k**-0.5),
                                                 make(n, dtype=dtype)], F.linear, (), (0, 1, 2))
    inputs = [make(1, 768, dtype=dtype), make(3072, 768, dtype=dtype, scale=768**-0.5), make(3072, dtype=dtype)]
    yield Case("linear_gelu", "1x768x3072", inputs, lambda x, w, b: F.gelu(F.linear(x, w, b)), (), (0, 1, 2))


def classes(make, dtype):
    for rows, count in ((20000, 10), (4096, 2), (256, 128256)):
        logits = make(rows, count, dtype=dtype)
        targets = torch.randint(count, (rows,), device=logits.device)
        yield Case("cross_entropy", f"{rows}x{count}", [logits, targets], F.cross_entropy, (), (0,))


def layouts(make, dtype):
    yield Case("gelu", "16384x1024", [make(16384, 1024, dtype=dtype)], F.gelu, (), (0,))
    yield Case("gelu", "1024x2048 transposed", [make(2048, 1024, dtype=dtype).t()], F.gelu, (), (0,))


def torch_transformer(heads, layers):
    """As bench/operators/Transformer.cpp: the loss of a decoder in GPT-2's form."""
    def norm(x, w, b):
        return F.layer_norm(x, w.shape, w, b, 1e-5)

    def loss(tokens, targets, words, places, *weights):
        left = list(weights)

        def take():
            return left.pop(0), left.pop(0)
        x = F.embedding(tokens, words) + places
        batch, length, width = x.shape
        for _ in range(layers):
            qkv = F.linear(norm(x, *take()), *take())
            q, k, v = (t.view(batch, length, heads, width // heads).transpose(1, 2) for t in qkv.split(width, dim=2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
            x = x + F.linear(y, *take())
            x = x + F.linear(F.gelu(F.linear(norm(x, *take()), *take()), approximate="tanh"), *take())
        x = norm(x, *take()).view(batch * length, width)
        return F.cross_entropy(F.linear(x, words), targets)
    return loss


def transformer(make, dtype):
    """Loss and gradients of a whole model: in fp32 they are PyTorch's to 1e-5."""
    layers = 2
    for batch, length, width, heads, vocabulary in ((2, 37, 48, 3, 101), (4, 128, 128, 4, 1000)):
        def matrix(rows, columns):
            return [make(rows, columns, dtype=dtype, scale=columns**-0.5), make(rows, dtype=dtype, scale=0.1)]

        def norm():
            return [make(width, dtype=dtype, scale=0.1) + 1, make(width, dtype=dtype, scale=0.1)]
        device = make(1, dtype=dtype).device
        inputs = [torch.randint(vocabulary, (batch, length), device=device),
                  torch.randint(vocabulary, (batch * length,), device=device),
                  make(vocabulary, width, dtype=dtype, scale=0.1), make(length, width, dtype=dtype, scale=0.1)]
        for _ in range(layers):
            inputs += [*norm(), *matrix(3 * width, width), *matrix(width, width), *norm(), *matrix(4 * width, width),
                       *matrix(width, 4 * width)]
        inputs += norm()
        yield Case("transformer", f"B{batch} T{length} C{width}", inputs, torch_transformer(heads, layers), (heads, layers),
                   tuple(range(2, len(inputs))), 1e-5 if dtype == "fp32" else 0.05)


FAMILIES = {"adamw": (adamw, ("fp32",)), "attention": (attention, ("fp32", "bf16", "fp16")), "decoding": (decoding, ("fp32", "bf16")),
            "element_wise": (element_wise, ("fp32", "bf16")), "layer_norm": (layer_norm, ("fp32", "bf16")),
            "linear_gelu": (linear_gelu, ("fp32", "bf16", "fp16")), "matmul": (matmul, ("fp32", "bf16", "fp16")),
            "rotary": (rotary, ("fp32", "bf16")), "thin_matmul": (thin_matmul, ("fp32", "bf16")),
            **{f.__name__: (f, ("fp32", "bf16")) for f in (add_layer_norm, cross_entropy, embedding, group_norm,
                                                           linear_cross_entropy, log_softmax, rms_norm, softmax,
                                                           transformer)},
            "few_rows": (few_rows, ("fp32", "bf16")),
            **{f.__name__: (f, ("fp32",)) for f in (classes, layouts, odd_attention)}, "products": (products, ("fp32", "bf16")),
            "byte_products": (byte_products, ("i8", "fp8")), "unaligned_products": (unaligned_products, ("bf16",))}
ON_GPUS = ("byte_products", "unaligned_products")
