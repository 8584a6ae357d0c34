"""The forty faults of docs/testing/TrainerFaults.md, each as its user met it: a command, and what is right in its place.

    apps/gpt2/test/reported.py build/bin/nereid-gpt2 [NUMBER...]
    apps/gpt2/test/reported.py OLDER/nereid-gpt2 --all-wrong      each fault is there: a program of commit 0bbecfb

Only options of that commit are used, so that a test fails by its fault. A fault that cannot be tried here (no IPv6, no PyTorch) is
skipped with the reason. Several tests wait for seconds: a command of its own, not one for each change.
"""
import argparse
import base64
import contextlib
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from foreign_files import write_llmc, write_raw
from hosts import listening_of
from program import Program, curve_of, state_of, words_of
from token_files import read_part, vocabulary_bytes

SMALL = dict(device="cpu", n_layer=1, n_head=2, n_embd=32, block_size=32, batch_size=12, gradient_accumulation_steps=1, max_iters=6,
             eval_interval=3, eval_iters=2, warmup_iters=2, lr_decay_iters=6, log_interval=1, learning_rate=1e-3, min_lr=1e-4)
LONG = SMALL | dict(max_iters=10**6, lr_decay_iters=10**6, eval_interval=10**6)
BRIEF = ["--device=cpu", "--num_samples=1", "--max_new_tokens=3"]


class Skipped(Exception):
    pass


class Wrong(Exception):
    """The fault is there. An AssertionError is another mistake: of the test, or of a step before it."""


def right(condition, *what):
    """Is it as it should be? Else the fault is there, and `what` shows it."""
    if not condition:
        raise Wrong(" ".join(str(one).strip() for one in what)[-300:])


def framed(text):
    return struct.pack("<I", len(text)) + text


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Reported:

    def __init__(self, program):
        self.program, self.folder, self.started = program, program.folder, []
        program.prepare()
        self.run("prepare", "text.txt", "--dataset=pairs", "--train-bpe=300")

    # Steps of several tests.

    def run(self, *words):
        """What must go well for the test to mean anything."""
        result = self.program.run(*words)
        assert result.returncode == 0, f"{words}: status {result.returncode}: {result.stderr}"

    def start(self, *words, **more):
        self.started.append(self.program.start(*words, **more))
        return self.started[-1]

    def end(self):
        """Of what a fault has left running."""
        for process in self.started:
            process.kill()
            process.wait()

    def train(self, out, *words, **changes):
        return self.program.run("train", f"--out_dir={out}", *words_of(dict(dataset="text") | SMALL | changes), *words)

    def trained(self, out, *words, **changes):
        result = self.train(out, *words, **changes)
        assert result.returncode == 0, result.stderr
        return self.folder / out

    def stopped(self, out, number, to, line="iter 20:", **changes):
        """A run that gets a signal at its line: (status, all that it wrote)."""
        process = self.start("train", f"--out_dir={out}", "--dataset=text", *words_of(LONG | changes), start_new_session=True)
        text = ""
        for got in process.stdout:
            text += got
            if got.startswith(line):
                break
        to(process.pid, number)
        text += process.communicate()[0]
        return process.returncode, text

    def exported(self, data="text", **changes):
        """A model as Hugging Face's files have it."""
        self.trained(f"of-{data}", dataset=data, **changes)
        self.run("export", f"--out_dir=of-{data}", f"--to=model-{data}")
        return self.folder / f"model-{data}"

    def vocabulary(self):
        """Of the byte pairs: texts by number, and the merges."""
        folder = self.folder / "data/pairs"
        vocab = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        merges = [line for line in (folder / "merges.txt").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#version")]
        return vocab, merges

    def reads_tokenizer(self, *words):
        """Is a data set of it the one of the tokenizer that it was made of?"""
        shutil.rmtree(self.folder / "data/again", ignore_errors=True)
        result = self.program.run("prepare", "text.txt", "--dataset=again", *words)
        right(result.returncode == 0, result.stderr)
        for part in "train", "val":
            one, other = (list(read_part(self.folder / f"data/{name}", part)) for name in ("again", "pairs"))
            right(one == other, "other tokens")

    def start_rank(self, rank, address, port):
        """Process `rank` of two."""
        variables = dict(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", MASTER_ADDR=address, MASTER_PORT=str(port))
        return self.start("train", f"--out_dir=two-{port}", "--dataset=text", *words_of(SMALL), env=os.environ | variables)

    def first_of_two(self):
        """Process 0 of two, which waits for the other: the process, its port, and how process 1 is started."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        zero = self.start_rank(0, "127.0.0.1", port)
        while zero.poll() is None and not (found := listening_of(zero.pid)):
            os.sched_yield()
        assert zero.poll() is None, zero.communicate()[0]
        return zero, port, found, lambda: self.start_rank(1, "127.0.0.1", port)

    # Stops.

    def fault_1(self):
        for i in range(5):
            status, text = self.stopped(f"group-{i}", signal.SIGINT, os.killpg, processes=2)
            right((self.folder / f"group-{i}/state.json").exists() and status == -signal.SIGINT, "nothing saved:", text)

    def fault_2(self):
        for i in range(10):
            status, text = self.stopped(f"launcher-{i}", signal.SIGTERM, os.kill, processes=2)
            right((self.folder / f"launcher-{i}/state.json").exists() and "internal error" not in text and status == -signal.SIGTERM, text)

    def fault_3(self):
        options = dict(always_save_checkpoint=False, eval_interval=10, learning_rate=0.03)
        self.stopped("best", signal.SIGINT, os.kill, line="iter 55:", **options)
        losses = {line[0]: line[5] for line in curve_of(self.folder / "best") if line[5] is not None}
        step = min(losses, key=losses.get)
        right(list((self.folder / "best").glob(f"ckpt-{step}*")), f"the best step is {step}, and there are",
              sorted(path.name for path in (self.folder / "best").glob("ckpt*")))

    def fault_40(self):
        _, text = self.stopped("hangup", signal.SIGHUP, os.kill)
        right((self.folder / "hangup/state.json").exists(), "nothing saved:", text)

    # Going on.

    def fault_4(self):
        self.trained("context")
        words = ["--device=cpu", "--max_iters=7", "--batch_size=4", "--gradient_accumulation_steps=1", "--eval_iters=1"]
        result = self.program.run("train", "--out_dir=context", "--dataset=text", "--init_from=resume", *words)
        right(result.returncode == 0, result.stderr)

    def fault_5(self):
        before = bytes_of(self.trained("taken"))
        self.train("taken", max_iters=3)
        right(bytes_of(self.folder / "taken") == before, "the earlier run's files are others now")

    def fault_6(self):
        self.trained("own", seed=7, batch_size=8)
        whole = self.trained("own-whole", seed=7, batch_size=8, max_iters=9)
        said = {name: value for name, value in SMALL.items() if name != "batch_size"} | dict(max_iters=9)
        self.run("train", "--out_dir=own", "--init_from=resume", "--dataset=text", *words_of(said))
        right(curve_of(self.folder / "own") == curve_of(whole), "another curve")

    def fault_7(self):
        self.trained("letters")
        (self.folder / "other.txt").write_text((self.folder / "text.txt").read_text().replace("e", "\u00e9"))
        self.run("prepare", "other.txt", "--dataset=other")
        result = self.train("letters", "--init_from=resume", dataset="other", max_iters=7)
        right(result.returncode == 1 and "tokenizer" in result.stderr, f"status {result.returncode}", result.stderr)

    def fault_19(self):
        self.trained("narrow", dtype="bfloat16")
        result = self.train("narrow", "--init_from=resume", dtype="float32", max_iters=7)
        right(result.returncode == 0, result.stderr)

    def fault_20(self):
        self.trained("here")
        (self.folder / "elsewhere").mkdir()
        result = subprocess.run([self.program.path, "sample", "--out_dir=../here", *BRIEF], cwd=self.folder / "elsewhere", text=True,
                                capture_output=True)
        right(result.returncode == 0, result.stderr)

    def fault_21(self):
        for path in self.trained("weights").glob("optimizer*"):
            path.unlink()
        result = self.program.run("sample", "--out_dir=weights", *BRIEF)
        right(result.returncode == 0, result.stderr)

    def fault_31(self):
        path = self.trained("heads") / "state.json"
        text = path.read_text()
        path.write_text(re.sub(r'("n_head": ?)2', r"\g<1>4", text))
        assert path.read_text() != text
        result = self.program.run("eval", "--out_dir=heads", "--device=cpu", "--eval_iters=1")
        right(result.returncode != 0, "believed:", result.stdout)

    def fault_34(self):
        for path in self.trained("damaged").glob("ckpt-*"):
            path.write_bytes(path.read_bytes()[:-7])
        result = self.program.run("eval", "--out_dir=damaged", "--device=cpu")
        right(result.returncode == 1, f"status {result.returncode}", result.stderr)

    def fault_36(self):
        file = self.exported(bias=True) / "model.safetensors"
        file.write_bytes(file.read_bytes()[:-4] + b"\0\0\xc0\xff")
        result = self.program.run("eval", "--init_from=model-text", "--dataset=text", "--device=cpu", "--eval_iters=1")
        right(result.returncode == 1, f"status {result.returncode}", result.stdout)

    # Other people's files.

    def fault_8(self):
        vocab, merges = self.vocabulary()
        folder = self.folder / "five"
        folder.mkdir()
        (folder / "tokenizer.json").write_text(json.dumps({
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab,
                      "merges": [line.split(" ") for line in merges]}}), encoding="utf-8")
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "TokenizersBackend"}')
        self.reads_tokenizer("--tokenizer=five")

    def fault_9(self):
        vocab, merges = self.vocabulary()
        folder = self.folder / "openai"
        folder.mkdir()
        (folder / "encoder.json").write_text(json.dumps(vocab))
        (folder / "vocab.bpe").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
        self.reads_tokenizer("--tokenizer=openai")
        lines = [f"{base64.b64encode(text).decode()} {number}" for number, text in vocabulary_bytes(self.folder / "data/pairs").items()
                 if not text.startswith(b"<|")]
        (self.folder / "pairs.tiktoken").write_text("\n".join(lines) + "\n")
        self.reads_tokenizer("--tokenizer=pairs.tiktoken")

    def fault_10(self):
        try:
            import torch
        except ImportError as error:
            raise Skipped("no PyTorch") from error
        size = len(json.loads((self.folder / "data/text/meta.json").read_text())["characters"])
        shapes = {"wte": (size, 32), "wpe": (32, 32), "h.0.ln_1": (32, ), "h.0.attn.c_attn": (96, 32), "h.0.attn.c_proj": (32, 32),
                  "h.0.ln_2": (32, ), "h.0.mlp.c_fc": (128, 32), "h.0.mlp.c_proj": (32, 128), "ln_f": (32, )}
        model = {f"transformer.{name}.weight": torch.full(shape, 0.01) for name, shape in shapes.items()}
        model["lm_head.weight"] = model["transformer.wte.weight"]
        arguments = dict(n_layer=1, n_head=2, n_embd=32, block_size=32, bias=False, vocab_size=size, dropout=0.0)
        torch.save(dict(model=model, model_args=arguments, iter_num=3, best_val_loss=torch.tensor(2.0), config=dict(dataset="text")),
                   self.folder / "ckpt.pt")
        result = self.program.run("eval", "--init_from=ckpt.pt", "--dataset=text", "--device=cpu", "--eval_iters=1")
        right(result.returncode == 0, result.stderr)

    def fault_11(self):
        for form in "nano", "llmc":
            folder = self.folder / "data" / form
            folder.mkdir()
            for part in "train", "val":
                tokens = list(read_part(self.folder / "data/text", part))
                if form == "nano":
                    write_raw(folder / f"{part}.bin", tokens)
                else:
                    write_llmc(folder / f"text_{part}.bin", tokens)
            result = self.train(f"of-{form}", dataset=form)
            right(result.returncode == 0, form, result.stderr)

    def fault_12(self):
        (self.folder / "finetune.py").write_text("import time\n\nwandb_run_name = 'ft-' + str(time.time())\nmax_iters = 2\n")
        options = {name: value for name, value in SMALL.items() if name != "max_iters"}
        result = self.program.run("train", "finetune.py", "--out_dir=tuned", "--dataset=text", *words_of(options))
        right(result.returncode == 0, result.stderr)

    def fault_39(self):
        shutil.copytree(self.folder / "data/pairs", self.folder / "marked")
        path = self.folder / "marked/merges.txt"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        self.reads_tokenizer("--vocab=marked/vocab.json", "--merges=marked/merges.txt")

    # Options.

    def fault_13(self):
        result = self.train("noted", "--wandb_log=True", "--backend=gloo")
        right(result.returncode == 0 and "wandb_log" in result.stderr, result.stderr)

    def fault_14(self):
        result = self.train("twice", "--n_layer=2")
        right(result.returncode == 0 and state_of(self.folder / "twice")["model"]["n_layer"] == 2, result.stderr)

    def fault_37(self):
        result = self.program.run("train", "--device=mps")
        right("cuda" in result.stderr, result.stderr)

    def fault_38(self):
        result = self.train("one-thread", "--threads=1")
        right(result.returncode == 0, result.stderr)

    # Meeting.

    def fault_15(self):
        zero, port, found, _ = self.first_of_two()
        zero.kill()
        zero.communicate()
        right(found == {f"0100007F:{port:04X}"}, f"listens at {found}")

    def fault_16(self):
        zero, port, _, one = self.first_of_two()
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(framed(b"nereid-gpt2 0.1.0 1 2"))
            stranger.settimeout(5)
            with contextlib.suppress(OSError):
                right(b"ok " not in stranger.recv(100), "the stranger was let in")
                # A run that lets it in waits for it.
        other = one()
        texts = [process.communicate()[0] for process in (zero, other)]
        right(zero.returncode == other.returncode == 0, *texts)

    def fault_17(self):
        zero, port, _, one = self.first_of_two()
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
        other = one()
        texts = [process.communicate()[0] for process in (zero, other)]
        for connection in silent:
            connection.close()
        right(zero.returncode == other.returncode == 0, *texts)

    def fault_18(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            one = self.start_rank(1, "127.0.0.1", listener.getsockname()[1])
            connection, _ = listener.accept()
            with connection:
                connection.sendall(framed(b"ok zzz"))
                # It ends, or it tries again.
                while one.poll() is None and not select.select([listener], [], [], 0)[0]:
                    os.sched_yield()
        one.kill()
        text = one.communicate()[0]
        right("internal error" not in text, text)

    def fault_35(self):
        try:
            with socket.socket(socket.AF_INET6) as free:
                free.bind(("::1", 0))
                port = free.getsockname()[1]
        except OSError as error:
            raise Skipped("no IPv6") from error
        both = [self.start_rank(rank, "::1", port) for rank in range(2)]
        texts = [process.communicate()[0] for process in both]
        right(all(process.returncode == 0 for process in both), *texts)

    # What is shown.

    def fault_22(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
        options = SMALL | dict(n_layer=8, n_embd=512, n_head=8, max_iters=1, eval_iters=1, block_size=64)
        run = lambda size: self.program.train("limited", options | dict(batch_size=size), preexec_fn=limit)
        fits = int(re.search(r"--batch_size=(\d+) would fit", run(5000).stderr)[1])
        result = run(fits * 9 // 10)
        right(result.returncode == 0, f"{fits} would fit, and {fits * 9 // 10} do not:", result.stderr)

    def fault_23(self):
        out = self.trained("unclipped", grad_clip=0)
        norms = [line[3] for line in curve_of(out) if line[3] is not None]
        right(norms and min(norms) > 0, f"norms {norms}")

    def fault_24(self):
        result = self.train("diverges", learning_rate=1e6, min_lr=1e5, warmup_iters=0, grad_clip=0, max_iters=60, eval_interval=100)
        text = result.stdout + result.stderr
        assert "nan" in text, text
        right("-nan" not in text, text)

    def fault_25(self):
        result = self.train("plotted", plot="/nonexistent/x.svg")
        right("iter 1" not in result.stdout and "error" in result.stderr, "an error after all steps:", result.stderr)

    def fault_26(self):
        self.trained("long", plot="long.svg", max_iters=300, eval_interval=300)
        text = (self.folder / "long.svg").read_text()
        right(text.count("<circle") < 100, f"{text.count('<circle')} rings of 300 steps")

    def fault_27(self):
        result = self.train("told")
        right(re.search(r"saved .*ckpt-", result.stdout) and "best validation loss" in result.stdout, result.stdout)

    def fault_28(self):
        self.trained("begins", dataset="pairs")
        result = self.program.run("sample", "--out_dir=begins", "--start=", *BRIEF)
        right(result.returncode == 0 and result.stdout.startswith("<|endoftext|>"), result.stdout, result.stderr)

    def fault_29(self):
        vocab, _ = self.vocabulary()
        config = json.loads((self.exported("pairs") / "config.json").read_text())
        right(config["eos_token_id"] == vocab["<|endoftext|>"], f"eos_token_id {config['eos_token_id']}")

    def fault_30(self):
        result = self.program.run("bench", "--device=cpu", "--n_layer=1", "--n_head=2", "--n_embd=32", "--block_size=32", "--batch_size=2")
        assert "FLOP/s" in result.stdout, result
        right("0.00 TFLOP/s" not in result.stdout and " GFLOP/s" in result.stdout, result.stdout)

    def fault_32(self):
        text = (self.folder / "text.txt").read_bytes()
        for said, content in ("byte order mark", b"\xef\xbb\xbf" + text), ("UTF-16", b"\xff\xfe" + text.decode().encode("utf-16-le")):
            (self.folder / "other.txt").write_bytes(content)
            result = self.program.run("prepare", "other.txt", "--dataset=other")
            right(said in result.stderr, said, result.stdout, result.stderr)

    def fault_33(self):
        self.run("prepare", "text.txt", "--dataset=training-alone", "--val-fraction=0")
        result = self.train("unvalidated", dataset="training-alone")
        right(result.returncode == 0 or "--val-fraction" in result.stderr, result.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--all-wrong", action="store_true", help="expect each fault")
    o = parser.parse_args()
    # A child does not get what nohup and shells in the background ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)
    unexpected = []
    for number in o.numbers or range(1, 41):
        with tempfile.TemporaryDirectory() as folder:
            reported = Reported(Program(o.program, folder))
            try:
                getattr(reported, f"fault_{number}")()
                outcome, is_wrong = "right", False
            except Skipped as reason:
                print(f"{number}: skipped: {reason}", flush=True)
                continue
            except Wrong as fault:
                outcome, is_wrong = f"wrong: {fault}", True
            finally:
                reported.end()
        print(f"{number}: {outcome}", flush=True)
        if is_wrong != o.all_wrong:
            unexpected.append(number)
    if unexpected:
        sys.exit(f"error: {'right' if o.all_wrong else 'wrong'}: {', '.join(map(str, unexpected))}")


if __name__ == "__main__":
    main()
