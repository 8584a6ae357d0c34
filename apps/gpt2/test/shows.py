"""What a run shows beside its losses: its settings, the time that is left, texts, log.csv, a file of events; and when it ends by
itself.

    apps/gpt2/test/shows.py build/bin/nereid-gpt2
"""
import csv
import json
import shutil
import struct
import sys
import tempfile

from program import SMALL, Program, curve_of, state_of, words_of
from runs import fail

OPTIONS = SMALL | dict(max_iters=12, lr_decay_iters=12, eval_interval=4, device="cpu")


def numbers_of_events(path):
    """(step, tag, value) of each scalar, read as the format says."""
    content, at, found = path.read_bytes(), 0, []

    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at

    while at < len(content):
        length, = struct.unpack_from("<Q", content, at)
        event = content[at + 12:at + 12 + length]
        at += 16 + length
        step, place = varint(event, 10)
        if event[place] != 0x2a:
            continue
        size, place = varint(event, place + 1)
        end = place + size
        while place < end:
            _, place = varint(event, place + 1)
            taken, place = varint(event, place + 1)
            tag, place = event[place:place + taken].decode(), place + taken
            found.append((step, tag, struct.unpack_from("<f", event, place + 1)[0]))
            place += 5
    return found


def check_files(program):
    result = program.train("files", OPTIONS, "--csv", "--tensorboard", "--sample_every=5")
    if result.returncode:
        fail(result.stderr)
    text = result.stdout
    for part in ("data       dataset=text, batch_size=4, block_size=32", "model      n_layer=2, n_head=2", " s left\n", " GFLOP/s, ",
                 "sample of step 5:\n", "sample of step 10:\n"):
        if part not in text:
            fail(f"expected '{part}' in {text}")
    out = program.folder / "files"
    # Texts are no part of the training.
    if program.train("plain", OPTIONS).returncode or curve_of(program.folder / "plain") != curve_of(out):
        fail("a run that writes texts has other losses")
    # The number of threads changes no bit.
    if program.train("one", OPTIONS, "--threads=1").returncode or curve_of(program.folder / "one") != curve_of(out):
        fail("a run of one thread has other losses")
    # On, by way of a checkpoint.
    result = program.run("train", "--init_from=resume", "--out_dir=files", "--max_iters=14")
    if result.returncode:
        fail(result.stderr)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    with open(out / "log.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    if lines != [{key: json.loads(value) for key, value in row.items() if value} for row in rows]:
        fail("log.csv: expected the lines of log.jsonl")
    events = [one for path in sorted(out.glob("events.out.tfevents.*")) for one in numbers_of_events(path)]
    for line in lines:
        for key, value in line.items():
            if key != "iter" and not any(e[:2] == (line["iter"], key) and abs(e[2] - value) <= 1e-6 * abs(value) for e in events):
                fail(f"expected {key} of step {line['iter']} among the events")


def check_ends(program):
    # Three times the data's tokens.
    meta = json.loads((program.folder / "data/text/meta.json").read_text())
    options = {key: value for key, value in OPTIONS.items() if key not in ("max_iters", "lr_decay_iters")} | dict(
        batch_size=32, gradient_accumulation_steps=4, epochs=3, eval_interval=1000)
    steps = -(-3 * meta["train"]["tokens"] // (4 * 32 * 32))
    result = program.train("epochs", options)
    if result.returncode or state_of(program.folder / "epochs")["step"] != steps:
        fail(f"expected {steps} steps, got {result.stdout[-300:]}{result.stderr}")
    rates = [line[2] for line in curve_of(program.folder / "epochs") if line[2] is not None]
    if not rates[-1] < 1.2e-4:
        fail(f"expected a rate that falls until the last step, got {rates}")
    # A rate at which nothing gets better.
    result = program.train("patience", OPTIONS | dict(max_iters=400, lr_decay_iters=400, learning_rate=1, warmup_iters=0, patience=2))
    state = state_of(program.folder / "patience")
    if result.returncode or state["step"] >= 400 or state["step"] != state["best_step"] + 8 or \
            f"stopped at step {state['step']}: no validation loss below {state['best_loss']:.4f}" not in result.stdout:
        fail(f"expected an early end, got {result.stdout[-600:]}{result.stderr}")


def check_schedule(program):
    """--epochs sets the end of the decay where no other option has."""
    options = {key: value for key, value in OPTIONS.items() if key not in ("max_iters", "lr_decay_iters")} | dict(
        batch_size=32, gradient_accumulation_steps=4, eval_interval=1000)
    decay = lambda: [state_of(program.folder / "decay")["options"][name] for name in ("max_iters", "lr_decay_iters")]
    for word, follows in ("--lr_decay_iters=1000", False), ("--overwrite", True):
        for words in [word], ["--init_from=resume", "--epochs=1.5"], ["--init_from=resume", "--epochs=2"]:
            result = program.train("decay", options | dict(epochs=1), *words)
            if result.returncode or (decay()[0] == decay()[1]) != follows or not follows and decay()[1] != 1000:
                fail(f"{words}: expected {'max_iters' if follows else 1000} for lr_decay_iters, got {decay()}: {result.stderr}")
    result = program.train("short", {key: value for key, value in options.items() if key != "warmup_iters"} | dict(epochs=1))
    if result.returncode != 2 or "--epochs: expected at least as many steps as warmup_iters (2000), got " not in result.stderr or \
            " times the data; a lower --warmup_iters fits" not in result.stderr:
        fail(f"expected a word on --epochs, got {result.stderr}")


def check_tokenizers(program):
    """A vocabulary that leaves numbers out has texts, too; another run's tokenizer leaves nothing of it."""
    def run(*words):
        result = program.run(*words, errors="replace")  # bytes of no character, too
        if result.returncode:
            fail(f"{words}: {result.stderr}")
        return result

    run("prepare", "text.txt", "--dataset=pairs", "--train-bpe=260")
    tokenizer = program.folder / "far"
    tokenizer.mkdir()
    for name in "vocab.json", "merges.txt":
        shutil.copy(program.folder / "data/pairs" / name, tokenizer)
    (tokenizer / "added_tokens.json").write_text('{"<|far|>": 2000}')
    run("prepare", "text.txt", "--dataset=gaps", "--tokenizer=far")
    words = ["--out_dir=tokens", *words_of(OPTIONS | dict(max_iters=4, eval_interval=4))]
    result = run("train", "--dataset=gaps", "--sample_every=3", *words)
    if "sample of step 3:\n" not in result.stdout or "\ufffd" not in result.stdout:
        fail(f"expected a text, got {result.stdout}{result.stderr}")
    files = program.folder / "tokens/tokenizer"
    if not (files / "added_tokens.json").exists():
        fail("expected the added tokens beside the checkpoint")
    run("train", "--dataset=pairs", "--overwrite", *words)
    run("sample", "--out_dir=tokens", "--device=cpu", "--num_samples=1", "--max_new_tokens=3")
    if sorted(path.name for path in files.iterdir()) != ["merges.txt", "meta.json", "vocab.json"]:
        fail(f"expected the files of one tokenizer, got {list(files.iterdir())}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        program.prepare()
        check_files(program)
        check_ends(program)
        check_schedule(program)
        check_tokenizers(program)
    print("settings, time left, texts, CSV, events, epochs, patience, schedules and tokenizers: as they should be")


main()
