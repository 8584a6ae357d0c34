"""Compiled forms: launched by themselves, described to hooks, made again from their description."""
import collections
import json

import numpy as np
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def fill(x, value, N: tl.constexpr, TYPE: tl.constexpr = tl.float32):
    tl.store(x + tl.program_id(0) * N + tl.arange(0, N), tl.full((N, ), value, TYPE))


@triton.jit
def twice(x):
    return x + x


@triton.jit
def apply(x, pair, F: tl.constexpr):
    tl.store(x, F(pair[0]) + pair[1])


@pytest.mark.parametrize("arguments", [lambda x: (x, 5, 4, tl.float32), lambda x: (x, 5)])
def test_a_form_is_launched_with_all_arguments_or_those_that_are_no_constexpr(arguments):
    form = fill[(1, )](torch.zeros(8), 3, 4, num_warps=2)
    x = torch.zeros(8)
    form[(2, )](*arguments(x))
    assert x.tolist() == [5] * 8 and form.metadata.num_warps == 2


def test_a_form_with_a_function_and_a_tuple():
    x = torch.zeros(1)
    form = apply[(1, )](x, (3, 4), twice)
    form[(1, )](x, (5, 6))
    assert x.item() == 16


@pytest.fixture
def heard(monkeypatch):
    found = []
    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", lambda **facts: found.append(facts))
    return found


def fresh_kernel():

    @triton.jit
    def fresh(x, n, pair, N: tl.constexpr, TYPE: tl.constexpr, name: tl.constexpr):
        tl.store(x + tl.arange(0, N), (n + pair[0]).to(TYPE))

    return fresh


def test_hooks_are_given_the_specialization(heard):
    x = torch.zeros(16, dtype=torch.int64)
    fresh_kernel()[(1, )](x, 32, (1, 5), 16, tl.int64, None, num_warps=8)
    compile, function = heard[0]["compile"], heard[0]["fn"]
    assert compile["signature"] == {"x": "*i64", "n": "i32", "pair": ("constexpr", "i32"), "N": "constexpr", "TYPE": "constexpr", "name": "constexpr"}
    assert compile["constants"] == {(3, ): 16, (4, ): tl.int64, (5, ): None} and compile["num_warps"] == 8 and not compile["is_warmup"]
    assert compile["configs"][0][(1, )] == [["tt.divisibility", 16]] and function.name == "fresh_kernel.<locals>.fresh"


def test_a_form_is_made_again_from_its_description(heard):
    kernel = fresh_kernel()
    form = kernel.warmup(torch.float32, 1, (np.int32(3), 1.5), 16, tl.float32, "a", grid=(1, ), num_warps=2)
    assert heard[0]["compile"]["is_warmup"]
    data = heard[0]["compile"]["specialization_data"]
    assert json.loads(data)["options"] == {"num_warps": 2} and data == form.specialization_data
    cache = kernel.device_caches[0][0]
    assert list(cache) == [heard[0]["compile"]["key"]]
    cache.clear()
    assert kernel.preload(data).hash == form.hash and len(kernel.device_caches[0][0]) == 1
    assert kernel.warmup(torch.float32, 1, (np.int32(3), 1.5), 16, tl.float32, "a", grid=(1, ), num_warps=2).hash == form.hash and len(heard) == 2


def test_a_description_of_another_kernel_is_refused(heard):
    form = fill.warmup(torch.float32, 3, 8, grid=(1, ))
    with pytest.raises(RuntimeError, match=r"Specialization data is for .*fill: expected that of .*apply"):
        apply.preload(form.specialization_data)


def test_constants_that_json_does_not_know():
    Pair = collections.namedtuple("Pair", ["a", "b"])
    form = apply.warmup(torch.float32, Pair(1, tl.constexpr(4)), twice, grid=(1, ))
    assert apply.preload(form.specialization_data) is not None


@triton.jit
def fused(out, x, y, z):
    tl.store(out, tl.load(x) * tl.load(y) + tl.load(z))


@pytest.mark.parametrize("option, by_default, is_fused", [({}, True, True), ({}, False, False), ({"enable_fp_fusion": True}, False, True)])
def test_the_default_of_fusion_is_a_setting(monkeypatch, option, by_default, is_fused):
    with triton.knobs.language.scope():
        triton.knobs.language.default_fp_fusion = by_default
        kernel = triton.jit(fused.fn)
        a = 1 + 2**-12
        x, y, z, out = torch.tensor([a]), torch.tensor([a]), torch.tensor([-1 - 2**-11]), torch.zeros(1)
        kernel[(1, )](out, x, y, z, **option)
    assert (out.item() != 0) == is_fused
