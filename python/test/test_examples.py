"""The scripts of examples/python as they are, by `python -m nereid`, at small sizes. Each compares its results with torch's."""
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/python"


def run(script, *arguments):
    done = subprocess.run([sys.executable, "-m", "nereid", str(FOLDER / script), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("script, arguments, text", [
    ("fused_bias_layer_norm.py", (16, 256), "Triton fused:"),
    ("simple_fusion.py", (20, 300), "speedup:"),
    ("flash_attention_lite.py", (70, ), "causal=True: max diff"),
    ("memory_analysis.py", (10_000, ), "1 kernel"),
    ("nanogpt/train.py", (8, ), "Using Triton-accelerated LayerNorm: True"),
])
def test_scripts(script, arguments, text):
    assert text in run(script, *arguments)


def test_a_benchmark_with_traces_and_a_table(tmp_path):
    text = run("layer_norm_kernel.py", tmp_path, 16, 512)
    assert "right" in text and "layer-norm-performance" in text
    assert {path.name for path in tmp_path.iterdir()} >= {"triton_profile.json", "pytorch_profile.json", "layer-norm-performance.csv"}
    assert (tmp_path / "triton_profile.json").stat().st_size > 100
