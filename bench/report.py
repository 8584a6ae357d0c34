"""Tables, JSON and the plot of bench/compare_pytorch.py."""

import json
import math
from pathlib import Path


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def heading():
    return ("| case | type | Nereid ms | eager ms | compiled ms | GB/s | x better PyTorch | x copy | x target | "
            "max diff (PyTorch's) |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")


def line(r):
    def ms(name):
        return f"{r['ms'][name]:.3f}" if name in r["ms"] else ""

    def times(name):
        return f"{r['ratios'][name]:.2f}" if name in r["ratios"] else ""

    target = "; ".join(f"{name} {r['ratios'][name]:.2f} of {least:.2f}{'' if r['ratios'][name] >= least else ' MISSED'}"
                       for name, least in r["targets"].items())
    differences = r["differences"]
    peer = f" ({differences['pytorch']:.1e})" if "pytorch" in differences else ""
    speed = f"{r['gflop_per_s']:.1f} GFLOP/s" if "gflop_per_s" in r else f"{r['gb_per_s']:.1f}"
    return (f"| {r['case']} | {r['dtype']} | {ms('nereid')} | {ms('eager')} | {ms('compiled')} | {speed} | "
            f"{times('pytorch')} | {times('copy')} | {target} | {differences['nereid']:.1e}{peer} |")


def geometric_mean(results):
    ratios = [r["ratios"]["pytorch"] for r in results if "pytorch" in r["targets"]]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def missed(results):
    slow = [f"{r['case']} {r['dtype']}: {name} {r['ratios'][name]:.2f}, wanted {least:.2f}"
            for r in results for name, least in r["targets"].items() if r["ratios"][name] < least]
    return slow + [f"{r['case']} {r['dtype']}: WRONG, differs by {r['differences']['nereid']:.2e}"
                   for r in results if not correct(r)]


def correct(r):
    """As near to float64 as PyTorch is, times two; sums of two floats exactly.
    Times four for a product of matrices and sums over tiles: one chain of
    additions an element or lane, where PyTorch adds up blocks."""
    factor = 4 if r["case"].startswith(("matmul", "tiles, row sum", "tiles, column sum")) else 2
    return r["differences"]["nereid"] <= factor * r["differences"].get("pytorch", 0)


def all_met(results):
    mean = geometric_mean(results)
    return not missed(results) and (mean is None or mean >= 1.3)


def verdicts(results):
    mean, misses = geometric_mean(results), missed(results)
    lines = []
    if mean is not None:
        lines.append(f"Softmax and layer norm: {mean:.2f}x the better of PyTorch eager and compiled in the geometric mean "
                     f"(target 1.30).")
    lines.append(f"{len(misses)} targets missed." if misses else "Every target is met.")
    return "\n".join(lines + [f"- {m}" for m in misses])


def write(stem, about, results):
    stem.with_suffix(".json").write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")
    stem.with_suffix(".svg").write_text(plot(results))
    facts = "\n".join(f"- {name}: {value}" for name, value in about.items())
    table = "\n".join([heading()] + [line(r) for r in results])
    stem.with_suffix(".md").write_text(f"""# Speed on the CPU, beside PyTorch

Written by `bench/compare_pytorch.py`; the method is in [BENCHMARKING.md](BENCHMARKING.md). Times are medians; a
"x" column is the median of the ratios within a round, above 1 when Nereid is faster. "x copy" is the share of the
copy bandwidth measured in the same rounds, for tensors larger than the last-level cache.

{facts}

{verdicts(results)}

![Speed against the better of PyTorch eager and compiled]({stem.name}.svg)

{table}
""")


def plot(results):
    """Bars: how many times faster than the better PyTorch; a line at 1."""
    shown = [r for r in results if "pytorch" in r["ratios"]]
    bar, left, width = 18, 250, 420
    height = bar * len(shown) + 50
    most = max([2.0] + [r["ratios"]["pytorch"] for r in shown])
    scale = width / most
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" '
             'font-family="sans-serif" font-size="11">',
             f'<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="16" font-size="12">times faster than the better of PyTorch eager and compiled</text>']
    for i, r in enumerate(shown):
        y, value = 30 + i * bar, r["ratios"]["pytorch"]
        colour = "#2b7bba" if r["dtype"] == "fp32" else "#e08214"
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{r["case"]} {r["dtype"]}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{value * scale:.1f}" height="{bar - 5}" fill="{colour}"/>')
        parts.append(f'<text x="{left + value * scale + 4:.1f}" y="{y + 11}">{value:.2f}</text>')
    x = left + scale
    parts.append(f'<line x1="{x:.1f}" y1="24" x2="{x:.1f}" y2="{height - 14}" stroke="black" stroke-dasharray="4 3"/>')
    return "\n".join(parts + ["</svg>"]) + "\n"
