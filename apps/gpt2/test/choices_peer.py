"""Multiple choice beside transformers: a model is trained here and exported; transformers' log likelihoods of the endings choose
as many right ones, summed, by character (lm-eval's acc_norm) and by token (llm.c's).

    .venv/bin/python apps/gpt2/test/choices_peer.py build/bin/nereid-gpt2 [--questions=60]

Ends with 77 where transformers is not installed.
"""
import argparse
import json
import random
import re
import sys
import tempfile

try:
    import torch
    from transformers import GPT2LMHeadModel, GPT2TokenizerFast
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from program import SMALL, Program, words_of

OPTIONS = SMALL | dict(device="cpu", dropout=0, bias=True, max_iters=150, lr_decay_iters=150, eval_interval=150, learning_rate=1e-2)


def draw_questions(text, count):
    """Pieces of the text; the wrong endings are pieces of other places, some of them cut in words, some with other letters."""
    draw, questions = random.Random(5), []
    while len(questions) < count:
        at = draw.randrange(len(text) - 80)
        context = text[at:at + draw.randint(1, 60)].rstrip()
        right = text[at + len(context):][:draw.randint(2, 20)].strip()
        wrong = [text[place:place + draw.randint(2, 20)].strip() for place in draw.sample(range(len(text) - 20), 3)]
        if not context or not right or not all(wrong):
            continue
        endings = [right, *wrong[:2], wrong[2] + draw.choice(["é", "中文", "😀", "?!"])]
        label = draw.randrange(4)
        endings[0], endings[label] = endings[label], endings[0]
        questions.append(dict(ctx=context, endings=endings, label=label))
    return questions


def rights_of(model, tokenizer, questions, context):
    """How many are chosen rightly by sum, character and token; questions whose best two are nearly equal, apart."""
    rights, close = [0, 0, 0], [0, 0, 0]
    for question in questions:
        rules = [[], [], []]
        for ending in question["endings"]:
            more = tokenizer(" " + ending)["input_ids"]
            tokens = (tokenizer(question["ctx"])["input_ids"] + more)[-context:]
            with torch.no_grad():
                logs = model(torch.tensor([tokens])).logits[0].double().log_softmax(-1)
            total = sum(logs[i - 1, tokens[i]].item() for i in range(len(tokens) - len(more), len(tokens)))
            for rule, unit in zip(rules, (1, len(ending), len(more))):
                rule.append(total / unit)
        for i, rule in enumerate(rules):
            first, second = sorted(rule)[-1:-3:-1]
            close[i] += first - second < 1e-4 * abs(first)
            rights[i] += max(range(4), key=rule.__getitem__) == question["label"]
    return rights, close


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--questions", type=int, default=60)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(o.program, folder)
        program.prepare()

        def run(*words):
            result = program.run(*words)
            if result.returncode:
                sys.exit(f"error: {words}: {result.stderr}")
            return result.stdout

        run("prepare", "text.txt", "--dataset=pairs", "--train-bpe=320")
        run("train", "--dataset=pairs", "--out_dir=out", *words_of(OPTIONS))
        run("export", "--out_dir=out", "--to=theirs")
        questions = draw_questions((program.folder / "text.txt").read_text(), o.questions)
        (program.folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
        said = run("eval", "--out_dir=out", "--device=cpu", "--multiple_choice=questions.jsonl").splitlines()[-1]
        model = GPT2LMHeadModel.from_pretrained(program.folder / "theirs").eval()
        tokenizer = GPT2TokenizerFast.from_pretrained(program.folder / "theirs")
        rights, close = rights_of(model, tokenizer, questions, OPTIONS["block_size"])
    ours = [float(share) for share in re.findall(r"([\d.]+) by ", said)]
    for name, got, right, near in zip(("sum", "character", "token"), ours, rights, close):
        print(f"by {name}: {got:.4f} here, {right / len(questions):.4f} there")
        if abs(got * len(questions) - right) > near + 0.1:  # of four digits
            sys.exit(f"error: by {name}: expected {right} of {len(questions)}, got {got * len(questions):.1f}")


if __name__ == "__main__":
    main()
