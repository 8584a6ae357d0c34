"""What goes wrong with a run, and what is then said: each message's words, the exit status, and that the last good
checkpoint still loads.

    apps/gpt2/test/faults.py build/bin/nereid-gpt2 [--device=cuda] [TEST...]
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from program import SMALL, Program, curve_of, state_of, words_of

BRIEF = SMALL | dict(max_iters=20, lr_decay_iters=20, gradient_accumulation_steps=1)


class Faults:

    def __init__(self, program, device):
        self.program, self.folder = program, program.folder
        self.options = BRIEF | dict(device=device)

    def expect(self, result, status, *parts):
        """The status, and texts of standard error in their order."""
        at = 0
        for part in parts or ("",):
            found = result.stderr.find(part, at)
            if found < 0 or result.returncode != status:
                sys.exit(f"error: {' '.join(map(str, result.args))}\nexpected status {status} and '{part}', got status "
                         f"{result.returncode} and:\n{result.stderr}")
            at = found
        assert "Assertion" not in result.stderr and "internal error" not in result.stderr, result.stderr

    def train(self, out, *words, **changes):
        return self.program.train(out, self.options | changes, *words)

    def trained(self, out, **changes):
        result = self.train(out, **changes)
        assert result.returncode == 0, result.stderr
        return self.folder / out

    def resume(self, out, **changes):
        return self.train(out, "--init_from=resume", **changes)

    def expect_whole(self, out, step):
        """The checkpoint is that of `step`, and a run goes on from it."""
        assert state_of(self.folder / out)["step"] == step, state_of(self.folder / out)["step"]
        result = self.resume(out, max_iters=step + 2)
        assert result.returncode == 0 and f"resumed after step {step}" in result.stdout, result.stderr

    # Options.

    def test_options(self):
        words = words_of(self.options)
        table = [
            ("train --batchsize=3", "expected an option or argument of nereid-gpt2 train, got '--batchsize=3'; did you mean '--batch_size'?"),
            ("train --batch_size=x", "--batch_size: expected an integer from 1 to 1000000, got 'x'"),
            ("train --batch_size=0", "--batch_size: expected an integer from 1 to 1000000, got '0'"),
            ("train --batch_size=2.5", "--batch_size: expected an integer from 1 to 1000000, got '2.5'"),
            ("train --max_iters=-1", "--max_iters: expected an integer from 0 to 1000000000000000, got '-1'"),
            ("train --dropout=1", "--dropout: expected a number from 0 to below 1, got '1'"),
            ("train --dropout=nan", "--dropout: expected a number from 0 to below 1, got 'nan'"),
            ("train --beta2=", "--beta2: expected a value, got none"),
            ("train --learning_rate=-1e-3", "--learning_rate: expected a number from 0 to 1000000, got '-1e-3'"),
            ("train --bias=maybe", "--bias: expected True or False, got 'maybe'"),
            ("train --dtype=bfloat", "--dtype: expected one of auto, float32, bfloat16, float16, got 'bfloat'; did you mean 'bfloat16'?"),
            ("train --dtype=float8", "--dtype: expected one of auto, float32, bfloat16, float16, got 'float8'"),
            ("train --device=gpu", "no device 'gpu'; expected cpu, cuda or cuda:N (the CPU where there is no GPU)"),
            ("train --device=mps", "no device 'mps'; expected cpu, cuda or cuda:N (the CPU where there is no GPU)"),
            ("train --n_embd=33 --n_head=4", "n_head: expected a divisor of n_embd (33), got 4"),
            ("train --n_embd=1024 --n_head=2", "n_embd: expected heads of at most 256 elements (n_embd / n_head), got 512"),
            ("train --warmup_iters=10 --lr_decay_iters=5", "lr_decay_iters: expected at least warmup_iters (10), got 5"),
            ("train --learning_rate=1e-5 --min_lr=1e-4", "min_lr: expected at most learning_rate (1e-05), got 1e-04"),
            ("train --n_head=2 --n_head=0", "--n_head: expected an integer from 1 to 4096, got '0'"),
            ("train --out_dir", "--out_dir: expected a value, got none"),
            ("train nothing.py", "cannot read 'nothing.py': No such file or directory"),
            ("trian", "expected one of the commands prepare, ", "got 'trian'; did you mean 'train'?"),
            ("--hlep", "expected an option or argument of nereid-gpt2, got '--hlep'; did you mean '--help'?"),
            ("", "expected one of the commands prepare, ", "got none"),
            ("prepare", "expected TEXT, got none"),
            ("prepare nothing.txt", "nothing.txt: No such file or directory"),
            ("prepare text.txt --train-bpe=3", "--train-bpe: expected the size of the vocabulary, 257"),
            ("prepare text.txt --val-fraction=1", "--val-fraction: expected a number from 0 to below 1, got 1"),
            ("prepare text.txt --vocab=v.json", "expected --vocab and --merges together, got --vocab alone"),
            ("export", "expected --to, got none"),
            ("export --to=x --dtype=int8", "--dtype: expected float32, bfloat16 or float16, got 'int8'"),
            ("export --to=x --out_dir=nothing", "'nothing': expected a folder of checkpoints"),
        ]
        for line, *parts in table:
            result = self.program.run(*line.split())
            self.expect(result, 1 if "No such file" in parts[-1] or "no device" in parts[0] or "nothing" in line else 2, "error: ", *parts)
        for line in "--help", "--version", "train --help":
            result = self.program.run(*line.split())
            assert result.returncode == 0 and result.stdout and not result.stderr, line
        help = self.program.run("train", "--help").stdout
        for word in words:
            assert word.split("=")[0] in help, f"train --help does not tell of {word}"

    def test_config_files(self):
        table = [
            ("batch_size = 4\n  n_hed = 3\n", "2:3: error: expected an option of training, got 'n_hed'; did you mean 'n_head'?", "n_hed = 3"),
            ("n_head == 3", "1:1: error: expected 'name = value'", "a configuration file assigns options"),
            ("if True:\n", "1:1: error: expected 'name = value'"),
            ("\nn_head =  # none\n", "2:8: error: expected a value after '='"),
            ("n_layer = 2\nn_head = many", "2:10: error: expected a name that was assigned before, got 'many'"),
            ("n_head = 'two'", "1:10: error: n_head: expected an integer from 1 to 4096, got 'two'"),
            ("out_dir = 'here", "1:11: error: expected the quote that ends this text"),
            ("out_dir = 'here' 'there'", "1:18: error: expected the end of the line, got ''there''"),
        ]
        for text, *parts in table:
            (self.folder / "config.py").write_text(text)
            result = self.program.run("train", "config.py")
            self.expect(result, 2, "config.py:" + parts[0], *parts[1:])
            assert "error: error" not in result.stderr and "error: config" not in result.stderr, result.stderr
        (self.folder / "config.py").write_text("wandb_log = True\nn_head = 2 * 1 # two\nout_dir = \"from-config\"\n")
        options = {k: v for k, v in self.options.items() if k != "n_head"}
        result = self.program.run("train", "config.py", "--dataset=text", *words_of(options))
        assert result.returncode == 0 and "note: config.py: wandb_log has no effect here" in result.stderr, result.stderr
        assert state_of(self.folder / "from-config")["step"] == 20

    # Data.

    def test_data(self):
        run = lambda name, **more: self.program.run("train", "--out_dir=data-out", f"--dataset={name}", *words_of(self.options | more))
        self.expect(run("none"), 1, "data/none: expected a folder of tokens, got no such folder; nereid-gpt2 prepare TEXT")
        self.expect(run("./text.txt"), 1, "./text.txt: expected a folder of tokens, got a file; nereid-gpt2 prepare ./text.txt")
        (self.folder / "empty").mkdir()
        self.expect(run("./empty"), 1, "./empty: expected a folder of tokens, got one without meta.json")
        self.expect(run("text", block_size=5000), 2, "expected at least 5001 tokens, one more than the block, got", "a smaller --block_size")
        result = self.program.run("prepare", "text.txt", "--dataset=training-alone", "--val-fraction=0")
        assert result.returncode == 0, result.stderr
        self.expect(run("training-alone"), 2, "expected tokens to validate with, got none; prepare the data with a --val-fraction above 0")
        for part in "train", "val":
            for damage, message in {"cut": "cut off or damaged: expected", "header": "another one; nereid-gpt2 prepare makes such files",
                                    "middle": "damaged: the checksum of"}.items():
                copy = self.folder / f"damaged-{part}-{damage}"
                shutil.copytree(self.folder / "data/text", copy)
                shard = copy / state_of_data(copy)[part]["shards"][0]
                content = bytearray(shard.read_bytes())
                if damage == "cut":
                    del content[-100:]
                else:
                    content[0 if damage == "header" else len(content) // 2] ^= 1
                shard.write_bytes(content)
                self.expect(run(f"./{copy.name}"), 1, "error: ", shard.name, message, "prepare")
        copy = self.folder / "gone"
        shutil.copytree(self.folder / "data/text", copy)
        (copy / state_of_data(copy)["val"]["shards"][0]).unlink()
        self.expect(run("./gone"), 1, "cannot open ./gone/", "No such file or directory")
        (copy / "meta.json").write_text("{")
        self.expect(run("./gone"), 1, "./gone/meta.json:1:2: error: expected JSON")

    # Checkpoints.

    def test_checkpoints(self):
        self.expect(self.resume("nowhere"), 1, "'nowhere': expected a checkpoint (state.json), got none; train one first, or name")
        out = self.trained("good")
        files = {key: value["name"] for key, value in state_of(out)["files"].items()}
        for key, name in files.items():
            # Without the optimiser's tensors the weights are still whole.
            advice = "start again with --init_from=scratch" if key == "weights" else "the weights are whole: --init_from="
            for damage, message in {"cut": "the checkpoint is damaged: expected", "bit": "expected the checksum that state.json has",
                                    "gone": "the checkpoint is not complete: expected this file"}.items():
                copy = self.folder / f"{damage}-{name}"
                shutil.copytree(out, copy, symlinks=True)
                content = bytearray((copy / name).read_bytes())
                content[-1] ^= 1
                if damage == "gone":
                    (copy / name).unlink()
                else:
                    (copy / name).write_bytes(content[:-7] if damage == "cut" else content)
                self.expect(self.resume(copy.name), 1, name, message, advice)
                used = [self.program.run("sample", f"--out_dir={copy.name}", "--device=cpu", "--num_samples=1", "--max_new_tokens=3"),
                        self.program.run("export", f"--out_dir={copy.name}", f"--to=exported-{copy.name}"),
                        self.train(f"tuned-{copy.name}", init_from=copy.name, max_iters=2)]
                for result in used:
                    self.expect(result, *((1, name, message) if key == "weights" else (0,)))
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "state.json").write_text('{"format": "of another"}')
        self.expect(self.resume("foreign"), 1, "state.json", "got that of another program; choose another folder")
        (foreign / "model.safetensors").write_bytes(b"PK\3\4 a zip file" + bytes(100))
        self.expect(self.train("new", init_from="foreign/model.safetensors"), 1, "foreign/model.safetensors", "the zip is damaged or cut off")
        (foreign / "model.safetensors").write_bytes(b"\x89HDF another file" + bytes(100))
        self.expect(self.train("new", init_from="foreign/model.safetensors"), 1, "foreign/model.safetensors", "expected a safetensors file")
        shutil.copytree(self.folder / f"exported-bit-{files['optimizer']}", self.folder / "model")
        for name, content in ("config.json", b"{"), ("config.json", b"{}"), ("model.safetensors", b"short"):
            before = (self.folder / "model" / name).read_bytes()
            (self.folder / "model" / name).write_bytes(content)
            for command in "eval", "sample":
                self.expect(self.program.run(command, "--init_from=model", "--dataset=text", "--device=cpu"), 1, "error: 'model")
            (self.folder / "model" / name).write_bytes(before)
        self.expect(self.train("new", init_from="nothing.safetensors"), 1, "'nothing.safetensors': expected a folder of checkpoints, ")
        self.expect_whole("good", 20)

    def test_two_writers(self):
        process = self.program.start("train", "--out_dir=twice", "--dataset=text", *words_of(self.options | dict(max_iters=10**6)))
        for line in process.stdout:
            if line.startswith("step"):
                break
        self.expect(self.train("twice", "--overwrite"), 1, "another process writes its checkpoints here; choose another --out_dir")
        process.kill()
        process.communicate()

    # Disks.

    def test_full_disk(self):
        """A file system of two megabytes, in a mount namespace of this test's own."""
        mount = self.folder / "small"
        mount.mkdir()
        script = f'mount -t tmpfs -o size=2m none {mount} && "$@"; status=$?; mkdir -p kept && cp -a {mount}/. kept; exit $status'
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", mount], capture_output=True).returncode:
            print("note: no file system may be mounted here; disks are tried with a limit of the files' sizes alone")
            return
        # A checkpoint has 1.3 MB, and the next one is written beside it.
        command = ["unshare", "-m", "sh", "-c", script, "sh", self.program.path, "train", f"--out_dir={mount}", "--dataset=text",
                   *words_of(self.options)]
        result = subprocess.run(command, cwd=self.folder, text=True, capture_output=True)
        self.expect(result, 1, f"error: cannot write '{mount}/", "on this disk", "make room, or choose another folder",
                    "the checkpoint before this one is kept")
        self.expect_whole("kept", 10)

    def test_large_files(self):
        """Files may not grow: what an ulimit does, and much like a full disk."""
        self.trained("limited")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        result = self.program.train("limited", self.options | dict(max_iters=40), "--init_from=resume", preexec_fn=limit)
        self.expect(result, 1, "File too large; files may not be as large here", "the checkpoint before this one is kept")
        self.expect_whole("limited", 20)
        (self.folder / "file").write_text("")
        self.expect(self.train("file"), 1, "error: cannot use the folder 'file': it is a file")
        self.expect(self.train("file/below"), 1, "file/below': Not a directory")
        result = self.train("full-plot", plot="/dev/full/x.svg")
        self.expect(result, 1, "error: cannot write", "/dev/full/x.svg")
        assert not (self.folder / "full-plot").exists(), "the plot is tried before anything is done"

    # Numbers and memory.

    def test_loss(self):
        self.trained("finite")
        result = self.resume("finite", learning_rate=1e6, min_lr=1e5, grad_clip=0, max_iters=60, lr_decay_iters=60)
        self.expect(result, 1, "error: the loss of step ", "; the last checkpoint is kept; hint: lower --learning_rate")
        self.expect_whole("finite", 20)
        result = self.train("never", learning_rate=1e6, min_lr=1e5, grad_clip=0, warmup_iters=0, eval_interval=100)
        self.expect(result, 1, "error: the loss of step ", "; hint: lower --learning_rate")
        assert "-nan" not in result.stdout and "loss nan" in result.stdout, result.stdout
        assert "is kept" not in result.stderr, result.stderr

    def test_memory(self):
        parts = "error: out of memory: a step of ", " sequences of 32 tokens takes about ", " GB free; --batch_size="
        # 320 GB; with a limit, whatever memory the machine has.
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
        result = self.program.train("large", self.options | dict(batch_size=1000000),
                                    preexec_fn=limit if self.options["device"] == "cpu" else None)
        self.expect(result, 1, *parts, " would fit, or ", " with --recompute; more --gradient_accumulation_steps make up for it")
        result = self.train("large", n_layer=4096, n_embd=65536, n_head=4096)
        self.expect(result, 1, "error: out of memory: ", "of this model no batch fits: its parameters " +
                    ("and a checkpoint's copy of them " if self.options["device"] == "cpu" else "") + "take ", "a smaller --block_size")
        if self.options["device"] != "cpu":
            return
        result = self.program.train("large", self.options | dict(batch_size=50000), preexec_fn=limit)
        self.expect(result, 1, *parts, " would fit")
        # What it says is true.
        fits = int(result.stderr.split("--batch_size=")[1].split(" ")[0])
        assert 1000 < fits < 50000, fits
        result = self.program.train("large", self.options | dict(batch_size=fits // 2, max_iters=1, lr_decay_iters=10), preexec_fn=limit)
        assert result.returncode == 0, result.stderr

    # Signals.

    def test_signals(self):
        options = self.options | dict(max_iters=4000, lr_decay_iters=4000, eval_interval=100000, dropout=0.1)
        for number, name in (signal.SIGTERM, "TERM"), (signal.SIGINT, "INT"), (signal.SIGHUP, "HUP"):
            out = f"stopped-{name}"
            process = subprocess.Popen([self.program.path, "train", f"--out_dir={out}", "--dataset=text", *words_of(options)],
                                       cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for line in process.stdout:
                if line.startswith("iter 20:"):
                    break
            process.send_signal(number)
            errors = process.communicate()[1]
            step = state_of(self.folder / out)["step"]
            assert process.returncode == -number, process.returncode
            assert f"stopped by SIG{name} after step {step}; --init_from=resume goes on" in errors, errors
            assert 20 < step < 4000, step
            # The bits are those of a run that was not stopped.
            end = step + 5
            result = self.program.train(out, options | dict(max_iters=end), "--init_from=resume")
            assert result.returncode == 0, result.stderr
            whole = self.trained(f"whole-{name}", **(options | dict(max_iters=end)))
            assert curve_of(whole) == curve_of(self.folder / out), f"SIG{name}: another log"
            for key in "weights", "optimizer":
                a, b = ((folder / state_of(folder)["files"][key]["name"]).read_bytes() for folder in (whole, self.folder / out))
                assert a == b, f"SIG{name}: other {key}"

    def test_stop_in_evaluation(self):
        """An evaluation that takes long is given up, and is made when the run goes on."""
        long = self.options | dict(eval_iters=10**6, max_iters=14, dropout=0.1)
        whole = self.trained("evaluated", **(long | dict(eval_iters=2)))

        def stop(out, line, *words):
            process = self.program.start("train", f"--out_dir={out}", "--dataset=text", *words_of(long), *words)
            text = ""
            for got in process.stdout:
                text += got
                if got.startswith(line):
                    break
            process.send_signal(signal.SIGTERM)
            text += process.communicate()[0]
            assert process.returncode == -signal.SIGTERM and "train loss" not in text, text
            return text

        for count in 1, 2:
            out, words = f"in-evaluation-{count}", [f"--processes={count}"]
            assert "stopped by SIGTERM after step 0\n" in stop(out, "layer norm", *words)
            result = self.train(out, *words, **(long | dict(eval_iters=2, max_iters=8, eval_interval=100)))
            assert result.returncode == 0, result.stderr
            text = stop(out, "iter 9:", "--init_from=resume", *words)
            assert "stopped by SIGTERM after step 10; --init_from=resume goes on" in text, text
            result = self.resume(out, **(long | dict(eval_iters=2)))
            assert result.returncode == 0, result.stderr
            ours, expected = state_of(self.folder / out), state_of(whole)
            assert [s["best"]["step"] for s in (ours, expected)] == [14, 14] and (count > 1 or ours["best_loss"] == expected["best_loss"])

    def test_best_checkpoint(self):
        """A stop leaves the best checkpoint as it is, and the last one beside it; each can be taken."""
        options = self.options | dict(max_iters=4000, lr_decay_iters=4000, eval_interval=10, log_interval=1, learning_rate=0.03,
                                      always_save_checkpoint=False)
        process = self.program.start("train", "--out_dir=best", "--dataset=text", *words_of(options))
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("iter 55:"):
                break
        process.send_signal(signal.SIGINT)
        text += process.communicate()[0]
        state, out = state_of(self.folder / "best"), self.folder / "best"
        losses = {line[0]: line[5] for line in curve_of(out) if line[5] is not None}
        step = min(losses, key=losses.get)
        assert state["best"]["step"] == step < state["step"], (state["best"]["step"], losses, state["step"])
        assert state["best"]["loss"] == state["best_loss"] == losses[step] and state["loss"] is None, state
        # A line for each, and what there is at the end.
        names = {one: state_of(out)[one]["files"]["weights"]["name"] if one == "best" else state["files"]["weights"]["name"]
                 for one in ("best", "last")}
        assert f"saved best/{names['best']}: step {step}, validation loss {losses[step]:.4f}, the best so far\n" in text, text
        assert f"saved best/{names['last']}: step {state['step']}, loss of the last batch " in text, text
        assert f"best validation loss {losses[step]:.4f}, at step {step}\ncheckpoints in best; texts: nereid-gpt2 sample --out_dir=best; " \
               "on: nereid-gpt2 train --init_from=resume --out_dir=best --max_iters=N" in text, text
        run = lambda *words: self.program.run(*words, "--out_dir=best")
        best, last = f"step {step} (validation loss {losses[step]:.4f})", f"step {state['step']}"
        brief = ["--device=cpu", "--num_samples=1", "--max_new_tokens=3"]
        self.expect(run("sample", *brief), 0, f"note: best: the best checkpoint, of {best}; --checkpoint=last is of {last}")
        self.expect(run("sample", *brief, "--checkpoint=last"), 0, f"note: best: the last checkpoint, of {last}")
        self.expect(run("eval", "--device=cpu", "--eval_iters=1", f"--checkpoint={step}"), 0, f"note: best: the checkpoint, of {best}")
        self.expect(run("export", "--to=exported-best", "--checkpoint=3"), 1, f"expected one of its checkpoints, last ({last}), best (step {step})")
        self.expect(run("export", "--to=exported-best"), 0, f"note: best: the best checkpoint, of {best}")
        assert (out / "best.safetensors").resolve().name == names["best"] and (out / "ckpt.safetensors").resolve().name == names["last"]

        result = self.program.run("train", "--init_from=best", "--out_dir=from-best", "--dataset=text", "--device=cpu", "--max_iters=0",
                                  "--eval_iters=1")
        self.expect(result, 0, f"note: best: the best checkpoint, of {best}; --checkpoint=last is of {last}")
        result = run("train", "--init_from=resume", "--checkpoint=best", f"--max_iters={step + 1}")
        self.expect(result, 0)
        assert f"resumed after step {step}\n" in result.stdout, result.stdout
        self.expect(result, 0, f"note: the next checkpoint replaces those after step {step}, of step {state['step']}; a copy of best ")

    # Going on.

    def test_options_of_the_run(self):
        """A run goes on with its own options; what differs is reported, and what cannot differ is refused."""
        own = self.options | dict(seed=7, batch_size=3, max_iters=6, eval_interval=3)
        self.trained("own", **own)
        whole = self.trained("own-whole", **(own | dict(max_iters=9)))
        result = self.program.run("train", "--init_from=resume", "--out_dir=own", "--max_iters=9")
        self.expect(result, 0, "note: max_iters was 6, is 9\n")
        assert result.stderr.count("note: ") == 1, result.stderr
        assert curve_of(whole) == curve_of(self.folder / "own"), "a resumed run is another one"
        (self.folder / "own.py").write_text("batch_size = 6\ndropout = 0.2\n")
        result = self.program.run("train", "own.py", "--init_from=resume", "--out_dir=own", "--max_iters=10", "--processes=2",
                                  "--n_layer=2", "--vocab_size=0")
        self.expect(result, 0, "note: batch_size was 3, is 6\n", "note: dropout was 0.1, is 0.2\n", "note: max_iters was 9, is 10\n",
                    "note: processes was 1, is 2\n")
        self.expect(self.program.run("train", "--init_from=resume", "--out_dir=own", "--max_iters=5"), 0,
                    "note: step 10 of max_iters 5: nothing is left to train; --max_iters=N goes on")
        for word, has, got in (("n_layer=5", "2", "5"), ("n_head=4", "2", "4"), ("n_embd=32", "64", "32"), ("bias=True", "False", "True"),
                               ("tanh_gelu=False", "True", "False"), ("vocab_size=128", "", "128"), ("block_size=64", "at most 32", "64")):
            for begin in "--init_from=resume", "--init_from=own":
                result = self.program.run("train", begin, "--out_dir=own", "--overwrite", "--dataset=text", "--device=cpu", f"--{word}")
                self.expect(result, 2, f"--{word.split('=')[0]}: expected {has}", "as the model in 'own' has, got " + got, "leave the option out")
        self.expect_whole("own", 10)

    def test_folder_with_checkpoints(self):
        """A new run asks before it takes a folder, and has touched nothing."""
        out = self.trained("taken")
        before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        for words in [], ["--processes=2"], ["--init_from=taken"]:
            self.expect(self.train("taken", *words), 1, "'taken': expected a folder without checkpoints for a new run, got the one of step 20",
                        "--init_from=resume goes on with it, --overwrite replaces it, another --out_dir keeps it")
        assert before == {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        # Nothing goes before the new run has a checkpoint.
        whole = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        result = self.train("taken", "--overwrite", learning_rate=1e6, min_lr=1e5, grad_clip=0, warmup_iters=0, eval_interval=100)
        self.expect(result, 1, "error: the loss of step ", "; the last checkpoint is kept")
        (out / "log.jsonl.new").unlink()
        assert whole == {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        result = self.train("taken", "--overwrite", max_iters=3, eval_interval=3)
        assert [line[0] for line in curve_of(out)][-1] == 3 and not (out / "log.jsonl.new").exists(), curve_of(out)
        assert result.returncode == 0 and state_of(out)["step"] == 3 and state_of(out)["best"]["step"] == 3, result.stderr
        result = self.train("taken", "--eval_only=True")
        assert result.returncode == 0, "an evaluation writes nothing: " + result.stderr

    def test_going_back(self):
        """The log keeps the lines of steps that have a checkpoint, until another one replaces it."""
        out = self.trained("back", keep=3, eval_interval=5)
        before = curve_of(out)
        back = lambda *words: self.program.run("train", "--init_from=resume", "--out_dir=back", "--checkpoint=10", *words)
        result = back("--max_iters=10")
        self.expect(result, 0, "note: the next checkpoint replaces those after step 10, of step ")
        assert state_of(out)["step"] == 20 and curve_of(out) == before, curve_of(out)
        self.expect(back("--max_iters=15"), 0)
        assert state_of(out)["step"] == 15 and curve_of(out) == [line for line in before if line[0] < 15 or line[0] == 15 and line[1] is None]

    def test_data_of_the_run(self):
        self.trained("data-run", max_iters=4, eval_interval=4)
        # As many characters of another alphabet.
        text = (self.folder / "text.txt").read_text()
        (self.folder / "other.txt").write_text(text.replace("e", "\u00e9"))
        (self.folder / "more.txt").write_text(text.swapcase() + text)
        for name, words in ("other", []), ("more", ["--tokenizer=data/text"]):
            result = self.program.run("prepare", f"{name}.txt", f"--dataset={name}", *words)
            assert result.returncode == 0, result.stderr
        resume = lambda *words: self.program.run("train", "--init_from=resume", "--out_dir=data-run", "--device=cpu", *words)
        self.expect(resume("--max_iters=5", "--dataset=other"), 1, "dataset other: expected the tokenizer that data-run was trained with, got another")
        self.expect(self.program.run("eval", "--out_dir=data-run", "--device=cpu", "--dataset=other"), 1, "data/other: expected the tokenizer that")
        self.expect(self.program.run("sample", "--out_dir=data-run", "--device=cpu", "--dataset=other"), 1, "data/other: expected the tokenizer that")
        # Other tokens of the same tokenizer are no accident where they are asked for.
        self.expect(resume("--max_iters=5", "--eval_interval=100", "--dataset=more"), 0, "note: dataset was text, is more",
                    "note: dataset more: expected the tokens that the run in 'data-run' has been trained on, got others")
        self.trained("changed", max_iters=4, eval_interval=4)
        kept = self.folder / "text.kept"
        (self.folder / "data/text").rename(kept)
        shutil.copytree(self.folder / "data/more", self.folder / "data/text")
        result = self.program.run("train", "--init_from=resume", "--out_dir=changed", "--max_iters=5")
        self.expect(result, 1, "dataset text: expected the tokens that the run in 'changed' has been trained on, got others; --dataset=text goes on")
        shutil.rmtree(self.folder / "data/text")
        kept.rename(self.folder / "data/text")

    def test_other_folders(self):
        """A run is used from another working directory, and after it was moved, with its data or alone."""
        home = self.folder / "home"
        home.mkdir()
        shutil.copytree(self.folder / "data", home / "data")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        at = lambda folder, *words: subprocess.run([self.program.path, *words], cwd=folder, text=True, capture_output=True)
        result = at(home, "train", "--out_dir=out", "--dataset=text", *words_of(self.options | dict(max_iters=4, eval_interval=4)))
        assert result.returncode == 0, result.stderr
        brief = ["--device=cpu", "--num_samples=1", "--max_new_tokens=3"]
        self.expect(at(elsewhere, "sample", "--out_dir=../home/out", *brief), 0)
        self.expect(at(elsewhere, "eval", "--out_dir=../home/out", "--device=cpu", "--eval_iters=1"), 0)
        self.expect(at(elsewhere, "train", "--init_from=resume", "--out_dir=../home/out", "--max_iters=5"), 0)
        home.rename(self.folder / "moved")
        self.expect(at(elsewhere, "train", "--init_from=resume", "--out_dir=../moved/out", "--max_iters=6"), 0)
        shutil.move(self.folder / "moved/out", elsewhere / "alone")
        shutil.rmtree(self.folder / "moved")
        self.expect(at(elsewhere, "sample", "--out_dir=alone", *brief), 0)
        self.expect(at(elsewhere, "sample", "--init_from=alone/ckpt.safetensors", *brief), 0)
        self.expect(at(elsewhere, "export", "--out_dir=alone", "--to=exported"), 0)
        assert (elsewhere / "exported/meta.json").exists()

    def test_types(self):
        """Weights in bfloat16 and in float32 go on from each other, by way of the master weights."""
        self.trained("types", dtype="bfloat16", max_iters=4, eval_interval=4)
        step = lambda step, dtype: self.program.run("train", "--init_from=resume", "--out_dir=types", f"--max_iters={step}", f"--dtype={dtype}")
        self.expect(step(6, "float32"), 0, "note: dtype was bfloat16, is float32", "note: weights were bf16, are fp32")
        self.expect(step(8, "bfloat16"), 0, "note: dtype was float32, is bfloat16", "note: weights were fp32, are bf16")
        losses = [line[1] for line in curve_of(self.folder / "types") if line[1] is not None]
        assert len(losses) == 8 and max(abs(a - b) for a, b in zip(losses, losses[1:])) < 0.2, losses

    def test_numbers(self):
        """Weights that are no numbers are an error; without clipping the norm is reported."""
        self.trained("norms", grad_clip=0, max_iters=3, eval_interval=3)
        assert all(line[3] > 0.1 for line in curve_of(self.folder / "norms") if line[1] is not None)
        self.program.run("export", "--out_dir=norms", "--to=nan")
        file = self.folder / "nan/model.safetensors"
        content = bytearray(file.read_bytes())
        content[-4:] = b"\0\0\xc0\xff"
        file.write_bytes(content)
        for command in "eval", "sample":
            self.expect(self.program.run(command, "--init_from=nan", "--dataset=text", "--device=cpu"), 1, "'nan': tensor '",
                        "': expected numbers, got nan as element ", "take an earlier checkpoint")

    def test_context_of_the_checkpoint(self):
        """A run goes on with the context that its weights have, also where --block_size is not said again."""
        self.trained("context", max_iters=5, eval_interval=5)
        for words in ["--out_dir=context", "--init_from=resume"], ["--out_dir=tuned", "--init_from=context"]:
            result = self.program.run("train", *words, "--dataset=text", "--device=cpu", "--max_iters=6", "--batch_size=4",
                                      "--gradient_accumulation_steps=1", "--eval_iters=1")
            assert result.returncode == 0, result.stderr
            assert state_of(self.folder / words[0].split("=")[1])["options"]["block_size"] == 32

    def test_closed_output(self):
        """A reader that goes away ends no training."""
        process = self.program.start("train", "--out_dir=closed", "--dataset=text", *words_of(self.options))
        process.stdout.close()
        assert process.wait() == 1, "expected a status that tells of lost output"
        self.expect_whole("closed", 20)


def state_of_data(folder):
    import json
    return json.loads((folder / "meta.json").read_text())


def main():
    words = sys.argv[1:]
    device = next((w.split("=")[1] for w in words if w.startswith("--device=")), "cpu")
    program, *chosen = [w for w in words if not w.startswith("--")]
    with tempfile.TemporaryDirectory() as name:
        faults = Faults(Program(program, name), device)
        faults.program.prepare()
        tests = [test for test in dir(Faults) if test.startswith("test_") and (not chosen or test[5:] in chosen)]
        for test in tests:
            getattr(faults, test)()
            print(f"{test[5:].replace('_', ' ')}: as it should be", flush=True)
        assert tests, f"expected names of tests, got {chosen}"


main()
