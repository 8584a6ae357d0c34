"""What a run leaves behind, beside what an undisturbed one leaves."""
import os
import sys

from program import curve_of, state_of


def fail(message):
    sys.exit("error: " + message)


def sets_of(state):
    """The checkpoints that a state.json names: the last one, the best one, older ones."""
    return [state, *([state["best"]] if "best" in state else []), *state.get("older", [])]


def without_names(state):
    """Of state.json: all but what names this run, and the checksum over it. A resumed run has its model's vocabulary from the
    checkpoint; names of files may have a count after the step."""
    del state["checksum"]
    for one in sets_of(state):
        for name in ("out_dir", "init_from", "vocab_size"):
            del one["options"][name]
        for file in one["files"].values():
            del file["name"]
    return state


def compare_log(out, whole, what):
    lines, others = curve_of(out), curve_of(whole)
    for line, other in zip(lines, others):
        if line != other:
            fail(f"{what}: expected the line {other} in the log, got {line}")
    if len(lines) != len(others):
        fail(f"{what}: expected {len(others)} lines in the log, got {len(lines)}")


def compare_files(out, one, whole, other, what):
    """Of two checkpoints."""
    for key in ("weights", "optimizer"):
        if (out / one["files"][key]["name"]).read_bytes() != (whole / other["files"][key]["name"]).read_bytes():
            fail(f"{what}: the {key} of step {one['step']} are not those of the undisturbed run's step {other['step']}")


def compare(out, whole, what):
    """Bits of weights and optimiser of each checkpoint, the state, and the log."""
    ours, expected = state_of(out), state_of(whole)
    if len(sets_of(ours)) != len(sets_of(expected)):
        fail(f"{what}: {len(sets_of(ours))} checkpoints, expected {len(sets_of(expected))}")
    for one, other in zip(sets_of(ours), sets_of(expected)):
        compare_files(out, one, whole, other, what)
    ours, expected = without_names(ours), without_names(expected)
    for key, value in expected.items():
        if ours.get(key) != value:
            fail(f"{what}: state.json: {key}: expected {value}, got {ours.get(key)}")
    compare_log(out, whole, what)


def compare_best(out, whole, what):
    """The best checkpoint and the log, of a run that keeps others where it is stopped."""
    compare_files(out, state_of(out)["best"], whole, state_of(whole)["best"], what)
    compare_log(out, whole, what)


def parts_of(out):
    """Files of a save that is under way or was killed: temporary ones, and tensors that state.json does not name."""
    if not (out / "state.json").exists():
        return set(os.listdir(out)) - {"log.jsonl", "tokenizer"} if out.exists() else set()
    named = {file["name"] for one in sets_of(state_of(out)) for file in one["files"].values()}
    return {name for name in os.listdir(out) if name.startswith((".tmp-", "ckpt-", "optimizer-"))} - named


def lines_of_log(out):
    return (out / "log.jsonl").read_bytes().count(b"\n") if (out / "log.jsonl").exists() else 0
