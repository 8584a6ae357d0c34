"""autotune, heuristics, Config and testing."""
import pytest
import torch
import triton
import triton.language as tl


def configs(**more):
    return [triton.Config({"BLOCK": block}, num_warps=warps, **more) for block, warps in ((16, 1), (32, 2), (64, 4))]


def make(**options):

    @triton.autotune(configs(), key=["n"], do_bench=lambda call, quantiles: [call() or 1.0] * 3, **options)
    @triton.jit
    def accumulate(x_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)

    return accumulate


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]), )


@pytest.mark.parametrize("option", ["restore_value", "reset_to_zero"])
def test_trials_leave_no_trace(option):
    x = torch.zeros(100)
    kernel = make(**{option: ["x_ptr"]})
    kernel[grid](x, 100)
    assert torch.equal(x, torch.ones(100))


def test_a_key_is_tuned_once():
    kernel = make()
    kernel[grid](torch.zeros(100), 100)
    kernel[grid](torch.zeros(100), 100)
    kernel[grid](torch.zeros(100), 99)
    kernel[grid](torch.zeros(100, dtype=torch.float64), 99)
    assert len(kernel.cache) == 3
    assert kernel.best_config in kernel.configs


def test_pruning_comes_first():
    seen = []

    def prune(configs, named_args, **kwargs):
        seen.append(named_args["n"])
        return [config for config in configs if config.kwargs["BLOCK"] == 32]

    kernel = make(prune_configs_by={"early_config_prune": prune})
    kernel[grid](torch.zeros(100), 100)
    assert seen == [100] and kernel.best_config.kwargs == {"BLOCK": 32}


def test_a_configuration_that_does_not_compile_is_skipped():

    @triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=[])
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK == 32)
        tl.store(x, BLOCK)

    x = torch.zeros(1)
    kernel[(1, )](x)
    assert x.item() == 32 and kernel.best_config.kwargs == {"BLOCK": 32}


def test_hooks_of_a_configuration_run_before_each_launch():
    calls = []

    @triton.autotune([triton.Config({"BLOCK": 16}, pre_hook=lambda args: calls.append(args["BLOCK"]))], key=[])
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x, BLOCK)

    kernel[(1, )](torch.zeros(1))
    kernel[(1, )](torch.zeros(1))
    assert calls == [16, 16]


def test_tuned_parameters_are_not_passed():
    with pytest.raises(ValueError, match="BLOCK"):
        make()[grid](torch.zeros(100), 100, BLOCK=16)


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0, "TWICE": lambda args: 2 * args["EVEN"]})
@triton.jit
def with_heuristics(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, TWICE: tl.constexpr):
    tl.store(x, TWICE)


def test_heuristics_are_computed_in_order():
    x = torch.zeros(1)
    with_heuristics[(1, )](x, 32, BLOCK=16)
    assert x.item() == 2
    with_heuristics[(1, )](x, 33, BLOCK=16)
    assert x.item() == 0


@triton.autotune([triton.Config({"BLOCK": 8}, num_warps=128), triton.Config({"BLOCK": 4})], key=["n"])
@triton.jit
def of_many_threads(x, n, BLOCK: tl.constexpr):
    tl.store(x, BLOCK)


def test_a_configuration_of_more_threads_than_there_are_is_passed_over():
    x = torch.zeros(1)
    of_many_threads[(1, )](x, 5)
    assert x.item() == 4 and of_many_threads.best_config.kwargs == {"BLOCK": 4}
    with pytest.raises(triton.OutOfResources, match="out of resource: threads, Required: 4096"):
        of_many_threads.fn[(1, )](x, 5, BLOCK=4, num_warps=128)


def test_do_bench_gives_milliseconds():
    assert triton.testing.do_bench(lambda: None, warmup=1, rep=1) >= 0
    assert len(triton.testing.do_bench(lambda: None, warmup=1, rep=1, quantiles=[0.5, 0.2, 0.8])) == 3
    with pytest.raises(ValueError, match="return_mode"):
        triton.testing.do_bench(lambda: None, warmup=1, rep=1, return_mode="best")


def test_perf_report_prints_a_row_for_each_value(capsys, tmp_path):

    @triton.testing.perf_report(
        triton.testing.Benchmark(x_names=["n"], x_vals=[1, 2], line_arg="provider", line_vals=["a", "b"], line_names=["A", "B"],
                                 plot_name="sizes", args={"scale": 10}))
    def measure(n, provider, scale):
        return n * scale + (provider == "b")

    measure.run(print_data=True, save_path=str(tmp_path))
    assert (tmp_path / "sizes.csv").read_text().splitlines() == ["n,A,B", "1,10,11", "2,20,21"]
    assert "sizes:" in capsys.readouterr().out


def test_assert_close_says_what_differs():
    triton.testing.assert_close(torch.ones(3), torch.ones(3) + 1e-3)
    with pytest.raises(AssertionError):
        triton.testing.assert_close(torch.ones(3), torch.zeros(3))


def test_arithmetic_of_hosts():
    assert [triton.cdiv(7, 4), triton.cdiv(8, 4)] == [2, 2]
    assert [triton.next_power_of_2(n) for n in (1, 2, 3, 1000, 2**40 + 1)] == [1, 2, 4, 1024, 2**41]
