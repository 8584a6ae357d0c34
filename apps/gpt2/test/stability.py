"""Steps that are skipped, losses that are scaled and questions that are answered, in one process and in two, and in runs that are
resumed: a resumed run has the bits of one that nothing disturbed.

    apps/gpt2/test/stability.py build/bin/nereid-gpt2
"""
import json
import random
import sys
import tempfile

from program import SMALL, Program, curve_of, state_of, words_of
from runs import compare, fail

OPTIONS = SMALL | dict(n_layer=1, device="cpu", log_interval=1)


def lines_of(out):
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def train(program, out, options, *words):
    result = program.train(out, options, *words)
    if result.returncode:
        fail(f"{out}: {result.stdout[-1000:]}{result.stderr}")
    return result.stdout


def in_two_parts(program, out, options, first):
    """The same run, stopped after some steps and resumed."""
    train(program, out, options | dict(max_iters=first))
    result = program.run("train", "--init_from=resume", f"--out_dir={out}", f"--max_iters={options['max_iters']}")
    if result.returncode:
        fail(result.stderr)


def check_fp16(program):
    """Few tokens a step, and a high rate: gradients of a loss times 65536 are more than fp16 holds."""
    options = OPTIONS | dict(dtype="float16", batch_size=2, block_size=4, max_iters=40, lr_decay_iters=40, learning_rate=0.3)
    text = train(program, "half", options)
    scales = [line["loss_scale"] for line in lines_of(program.folder / "half") if "loss_scale" in line]
    if not 0 < scales[-1] < scales[0] or f", loss scale {scales[-1]:g}, " not in text:
        fail(f"expected a loss scale that backs off from 65536, got {scales}")
    state = state_of(program.folder / "half")
    if state["schedule"]["stability"]["loss_scale"] != scales[-1] or not state["schedule"]["stability"]["good_steps"] > 0:
        fail(f"expected the loss scale in state.json, got {state['schedule']}")
    in_two_parts(program, "half2", options, 20)
    compare(program.folder / "half2", program.folder / "half", "fp16, resumed")
    # Others go on from it, and it from them.
    for number, dtype in enumerate(("float32", "bfloat16", "float16")):
        result = program.run("train", "--init_from=resume", "--out_dir=half2", f"--max_iters={42 + number}", f"--dtype={dtype}")
        if result.returncode or f"dtype was {('float16', 'float32', 'bfloat16')[number]}, is {dtype}" not in result.stderr:
            fail(f"{dtype}: {result.stdout}{result.stderr}")
    for words in ("sample", "--max_new_tokens=4", "--num_samples=2"), ("eval", "--eval_iters=2"):
        result = program.run(*words, "--out_dir=half", "--device=cpu", "--dtype=float16")
        if result.returncode:
            fail(f"{words}: {result.stderr}")
    # Gradients travel in fp16 between processes.
    options |= dict(learning_rate=1e-3, block_size=32)
    train(program, "half_of_one", options)
    train(program, "half_of_two", options, "--processes=2")
    for ours, expected in zip(curve_of(program.folder / "half_of_two"), curve_of(program.folder / "half_of_one")):
        if ours[1] is not None and abs(ours[1] - expected[1]) > 2e-3 * expected[1]:
            fail(f"fp16 in two processes: expected the line {expected}, got {ours}")


def check_outliers(program):
    options = OPTIONS | dict(max_iters=180, lr_decay_iters=180, eval_interval=45, skip_update_gradz=1, skip_update_lossz=1)
    text = train(program, "skips", options)
    lines = [line for line in lines_of(program.folder / "skips") if "skipped" in line]
    if lines[127]["skipped"] != 0 or not 0 < lines[-1]["skipped"] < 90:
        fail(f"expected skipped steps after 128, got {[line['skipped'] for line in lines]}")
    for part in ", 1 step skipped, ", f"; outliers skipped: {lines[-1]['skipped']}\n":
        if part not in text:
            fail(f"expected '{part}' in {text[-1000:]}")
    in_two_parts(program, "skips2", options, 150)
    compare(program.folder / "skips2", program.folder / "skips", "outliers, resumed")
    train(program, "skips_of_two", options, "--processes=2")
    two = [line["skipped"] for line in lines_of(program.folder / "skips_of_two") if "skipped" in line]
    if two != [line["skipped"] for line in lines]:
        fail("two processes skip other steps than one")


def check_choices(program):
    """Words of the text, and words of other letters."""
    draw = random.Random(3)
    words = (program.folder / "text.txt").read_text().split()
    questions = []
    while len(questions) < 40:
        at = draw.randrange(len(words) - 4)
        right = words[at + 3].strip(".").lower()
        endings = ["".join(draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=draw.randint(1, 8))) for _ in range(4)]
        label = draw.randrange(4)
        endings[label] = right
        questions.append(json.dumps(dict(ctx=" ".join(words[at:at + 3]), endings=endings, label=label)))
    (program.folder / "questions.jsonl").write_text("\n".join(questions) + "\n")
    options = OPTIONS | dict(max_iters=100, lr_decay_iters=100, eval_interval=50, learning_rate=1e-2, dropout=0)
    text = train(program, "choices", options, "--multiple_choice=questions.jsonl", "--csv")
    keys = "choice_acc", "choice_acc_norm", "choice_acc_token"
    lines = [line for line in lines_of(program.folder / "choices") if "val_loss" in line]
    if len(lines) != 3 or not lines[-1]["choice_acc_norm"] > 0.7:
        fail(f"expected a model that prefers the text's letters, got {lines}")
    said = "multiple choice: 40 questions, accuracy {:.4f} by sum, {:.4f} by character, {:.4f} by token\n"
    if said.format(*(lines[-1][key] for key in keys)) not in text:
        fail(f"expected the last line in {text[-1500:]}")
    result = program.run("eval", "--out_dir=choices", "--device=cpu", "--multiple_choice=questions.jsonl", "--checkpoint=last")
    if result.returncode or said.format(*(lines[-1][key] for key in keys)).split(": ")[1] not in result.stdout:
        fail(f"eval: expected the run's last line, got {result.stdout}{result.stderr}")
    # The training is the same, in one process and in two, with questions and without.
    train(program, "none", options)
    if curve_of(program.folder / "none") != curve_of(program.folder / "choices"):
        fail("a run that answers questions has other losses")
    train(program, "choices_of_two", options, "--multiple_choice=questions.jsonl", "--processes=2")
    two = [line for line in lines_of(program.folder / "choices_of_two") if "val_loss" in line]
    if any(abs(one[key] - other[key]) > 0.025 for one, other in zip(two, lines) for key in keys):
        fail(f"two processes: expected {lines}, got {two}")
    (program.folder / "questions.jsonl").rename(program.folder / "moved.jsonl")
    more = ["--init_from=resume", "--out_dir=choices", "--max_iters=101"]
    result = program.run("train", *more)
    if result.returncode != 1 or "questions.jsonl" not in result.stderr or "--multiple_choice=FILE" not in result.stderr:
        fail(f"expected a word on the file, got {result.returncode}: {result.stderr}")
    for word in "--multiple_choice=", "--multiple_choice=moved.jsonl":
        if (result := program.run("train", *more, word)).returncode:
            fail(f"{word}: {result.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        program.prepare()
        check_fp16(program)
        check_outliers(program)
        check_choices(program)
        print("fp16, outliers and questions: resumed and in two processes as in one")


if __name__ == "__main__":
    main()
