"""nereid.ops beside torch's own functions: values, gradients, shapes without data, torch.compile."""
import nereid.ops
import pytest
import torch
import torch.nn.functional as F

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def graded(function, leaves, dy):
    leaves = [leaf if leaf is None else leaf.detach().clone().requires_grad_() for leaf in leaves]
    y = function(*leaves)
    y.backward(dy.to(y))
    return [y.detach(), *(leaf.grad for leaf in leaves if leaf is not None)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(3, 7), (5, 4, 96), (64, 768), (10, 1000), (3, 20000), (2, 70000), (1000, )])
@pytest.mark.parametrize("has_weight, has_bias", [(True, True), (True, False), (False, False)])
def test_layer_norm(shape, has_weight, has_bias, device):
    leaves = [numbers(*shape), numbers(shape[-1], seed=1) if has_weight else None, numbers(shape[-1], seed=2) if has_bias else None]
    dy = numbers(*shape, seed=3)
    expected = graded(lambda x, w, b: F.layer_norm(x, shape[-1:], w, b), [leaf if leaf is None else leaf.double() for leaf in leaves], dy)
    found = graded(nereid.ops.layer_norm, [leaf if leaf is None else leaf.to(device) for leaf in leaves], dy)
    torch.testing.assert_close([t.cpu().double() for t in found], expected, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_layer_norm_of_16_bits(dtype, device):
    leaves = [t.to(device, dtype) for t in (numbers(40, 768), numbers(768, seed=1), numbers(768, seed=2))]
    dy = numbers(40, 768, seed=3)
    expected = graded(lambda x, w, b: F.layer_norm(x, (768, ), w, b), [leaf.double() for leaf in leaves], dy)
    found = graded(nereid.ops.layer_norm, leaves, dy)
    assert [t.dtype for t in found] == [dtype] * 4
    torch.testing.assert_close([t.double() for t in found], expected, atol=8e-2, rtol=2e-2)


def test_strides():
    x = numbers(6, 5, 32)
    for given in (x[:, 1:3], x.transpose(0, 1), x.transpose(0, 2), x[::2, :, ::2]):
        torch.testing.assert_close(nereid.ops.layer_norm(given), F.layer_norm(given, given.shape[-1:]))
    assert nereid.ops.layer_norm(x[:0]).shape == (0, 5, 32)


def test_the_operator_is_one_of_torchs():
    x, w, b = numbers(4, 32), numbers(32, seed=1), numbers(32, seed=2)
    leaves = [t.requires_grad_() for t in (x, w, b)]
    torch.library.opcheck(torch.ops.nereid.layer_norm_forward.default, (*leaves, 1e-5))


def test_torch_compile_takes_the_operator_as_it_is():
    x, w, b, dy = numbers(8, 48), numbers(48, seed=1), numbers(48, seed=2), numbers(8, 48, seed=3)
    function = lambda x, w, b: nereid.ops.layer_norm(x * 2, w, b).sin()  # noqa: E731
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(graded(compiled, [x, w, b], dy), graded(function, [x, w, b], dy))


def test_the_names_of_nanogpt_with_kernels():
    from nereid.ops import TRITON_AVAILABLE, TritonLayerNorm, triton_layer_norm
    assert TRITON_AVAILABLE
    x, w, b, dy = numbers(2, 16, 48), numbers(48, seed=1), numbers(48, seed=2), numbers(2, 16, 48, seed=3)
    expected = graded(lambda x, w, b: F.layer_norm(x, (48, ), w, b), [x, w, b], dy)
    torch.testing.assert_close(graded(triton_layer_norm, [x, w, b], dy), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(graded(lambda x, w, b: TritonLayerNorm.apply(x, w, b, 1e-5), [x, w, b], dy), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(triton_layer_norm(x, w), F.layer_norm(x, (48, ), w), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("arguments, message", [
    ((torch.zeros(4, 8, dtype=torch.int32), ), "argument 'x': expected float32, float16 or bfloat16, got torch.int32"),
    ((torch.tensor(1.0), ), "argument 'x': expected one dimension or more"),
    ((torch.zeros(4, 8), torch.zeros(4)), r"argument 'weight': expected the shape \(8,\)"),
    ((torch.zeros(4, 8), None, torch.zeros(8, 1)), r"argument 'bias': expected the shape \(8,\)"),
    ((torch.zeros(4, 8), torch.zeros(8, device="meta")), "argument 'weight': expected a tensor on cpu"),
])
def test_wrong_arguments(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        nereid.ops.layer_norm(*arguments)
