"""nereid-gpt2 prepare when things go wrong: killed while it writes it leaves the earlier data set, the new one or none; a full
disk, what cannot be read, addresses, files that hold no text, wrong options: the exact message and status of each.

    apps/gpt2/test/prepare_faults.py build/bin/nereid-gpt2 [--kills=200] [--seed=N] [--moments]

A kill comes when as many files are written as the seed says; with --moments, after a random time.
"""
import argparse
import http.server
import os
import pathlib
import pty
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import token_files
from program import Program

HELP = "\n(nereid-gpt2 prepare --help tells more)"
BPE_SIZE = "the size of the vocabulary, 257 (the bytes and <|endoftext|>) to 16777216"
TOKENIZER = ("expected a folder with a tokenizer, that is meta.json (nereid-gpt2 prepare writes it), vocab.json and merges.txt, "
             "tokenizer.json, encoder.json and vocab.bpe, a .tiktoken file or meta.pkl")

# Words of the command line, status, standard error after "error: ".
ERRORS = [
    ("", 2, "expected TEXT, got none" + HELP),
    ("text.txt --train-bpe=abc", 2, f"--train-bpe: expected {BPE_SIZE}, got abc"),
    ("text.txt --train-bpe=0", 2, f"--train-bpe: expected {BPE_SIZE}, got 0"),
    ("text.txt --train-bpe=256", 2, f"--train-bpe: expected {BPE_SIZE}, got 256"),
    ("text.txt --train-bpe=300.5", 2, f"--train-bpe: expected {BPE_SIZE}, got 300.5"),
    ("text.txt --train_bpe=16777217", 2, f"--train-bpe: expected {BPE_SIZE}, got 16777217"),
    ("text.txt --train-bpe=99999999999999999999", 2, f"--train-bpe: expected {BPE_SIZE}, got 99999999999999999999"),
    ("text.txt --train-bpe", 2, "--train-bpe: expected a value, got none" + HELP),
    ("text.txt --val-fraction=1", 2, "--val-fraction: expected a number from 0 to below 1, got 1"),
    ("text.txt --val-fraction=-0.1", 2, "--val-fraction: expected a number from 0 to below 1, got -0.1"),
    ("text.txt --val_fraction=nan", 2, "--val-fraction: expected a number from 0 to below 1, got nan"),
    ("text.txt --val-fraction=half", 2, "--val-fraction: expected a number from 0 to below 1, got half"),
    ("text.txt --shard-tokens=0", 2, "--shard-tokens: expected a number of tokens, 1 to 2^47, got 0"),
    ("text.txt --shard_tokens=-5", 2, "--shard-tokens: expected a number of tokens, 1 to 2^47, got -5"),
    ("text.txt --threads=0", 2, "--threads: expected a number of cores, 1 to 4096, got 0"),
    ("text.txt --threads=4097", 2, "--threads: expected a number of cores, 1 to 4096, got 4097"),
    ("text.txt --threads=all", 2, "--threads: expected a number of cores, 1 to 4096, got all"),
    ("text.txt --tokenizer=bpe", 2,
     "--tokenizer=bpe: expected --vocab=vocab.json and --merges=merges.txt, or --train-bpe=N, got neither"),
    ("text.txt --vocab=vocab.json", 2, "expected --vocab and --merges together, got --vocab alone"),
    ("text.txt --merges=merges.txt --train-bpe=300", 2, "expected --vocab and --merges together, got --merges alone"),
    ("text.txt --vocab=v --merges=m --train-bpe=300", 2, "expected either --train-bpe or --vocab and --merges, got both"),
    ("text.txt --tokenizer=char --train-bpe=300", 2, "--tokenizer: expected bpe beside --train-bpe or --vocab, got char"),
    ("text.txt --tokenizer=none", 1, f"none: {TOKENIZER}, got none of them"),
    ("text.txt --datset=x", 2,
     "expected an option or argument of nereid-gpt2 prepare, got '--datset=x'; did you mean '--dataset'?" + HELP),
    ("text.txt --dataset=a --dataset=b", 2, "--dataset: expected at most 1 of it, got 2" + HELP),
    ("text.txt --dataset=", 2, "--dataset: expected a value, got none" + HELP),
    ("none.txt", 1, "cannot read none.txt: No such file or directory"),
    ("text.txt none.txt", 1, "cannot read none.txt: No such file or directory"),
    (".", 1, "cannot read '.': expected a file, got a folder"),
    ("/dev/zero", 1, "cannot read '/dev/zero': expected a file, got a device"),
    ("empty.txt", 1, "empty.txt: expected text, got an empty file"),
    ("file:///text.txt", 2, "file:///text.txt: expected a path, or an address of http:// or https://, got file://"),
    ("binary.txt", 1, "binary.txt:1:4: error: expected UTF-8, got a byte that is none; --tokenizer=bpe takes any bytes"),
    ("text.txt --dataset=text.txt/", 1, "cannot make the folder text.txt: Not a directory"),
    ("text.txt --dataset=text.txt/x", 1, "cannot make the folder text.txt/x: Not a directory"),
    ("text.txt --dataset=/proc/x", 1, "cannot make the folder /proc/x: No such file or directory"),
    ("text.txt --vocab=none.json --merges=none.txt", 1, "cannot read 'none.json': No such file or directory"),
    ("text.txt --vocab=text.txt --merges=text.txt", 1,
     "text.txt:1:1: error: expected JSON, got a syntax error while parsing value - invalid literal; last read: 'S'"),
]


def fail(message):
    sys.exit("error: " + message)


def expect(name, got, expected):
    if got != expected:
        fail(f"{name}: expected {expected!r}, got {got!r}")


def told(result):
    return result.stderr.removesuffix("\n").removeprefix("error: ")


def check_errors(program):
    for words, status, message in ERRORS:
        result = program.run("prepare", *words.split(), stdin=subprocess.DEVNULL)
        expect(f"prepare {words}", (result.returncode, told(result)), (status, message))
        expect(f"prepare {words}: standard output", result.stdout, "")
    left = sorted(path.name for path in program.folder.iterdir())
    expect("files beside the texts", left, ["binary.txt", "data", "empty.txt", "text.txt"])
    expect("folders of data", sorted(path.name for path in (program.folder / "data").iterdir()), [])
    if os.geteuid():
        (program.folder / "secret.txt").write_text("text")
        (program.folder / "secret.txt").chmod(0)
        expect("no permission", told(program.run("prepare", "secret.txt")), "cannot read secret.txt: Permission denied")
        (program.folder / "secret.txt").unlink()
    print(f"{len(ERRORS)} wrong command lines: the message and the status of each")


def check_texts(program):
    """Texts that are taken, though a run may not like them."""
    result = program.run("prepare", "binary.txt", "--train-bpe=300", "--val-fraction=0")
    expect("binary text", result.returncode, 0)
    if "warning: binary.txt:1:4: bytes that are not UTF-8: 2, the first one here; they are taken as they are" not in result.stderr:
        fail(f"binary text: {result.stderr}")
    data = program.folder / "data/binary"
    expect("binary text", token_files.decode(token_files.read_part(data), token_files.vocabulary_bytes(data)),
           (program.folder / "binary.txt").read_bytes())
    (program.folder / "short.txt").write_text("short")
    expect("short text", program.run("prepare", "short.txt").returncode, 0)
    result = program.run("train", "--dataset=short", "--block_size=64", "--max_iters=1", "--device=cpu", "--out_dir=out")
    expect("train on a short text", (result.returncode, told(result).splitlines()[-1]),
           (2, "data/short/train-00000.tokens: expected at least 65 tokens, one more than the block, got 4; a smaller --block_size "
               "or more text will do"))
    result = program.run("prepare", "-", "--dataset=piped", "--val-fraction=0", input="from a pipe")
    expect("standard input", (result.returncode, len(token_files.read_part(program.folder / "data/piped"))), (0, 11))
    expect("nothing in a pipe", told(program.run("prepare", "-", "--dataset=piped", input="")),
           "cannot read '/dev/stdin': nothing is written to this pipe")
    print("binary and short texts, the standard input")


def check_disk(program):
    """A limit of the size of a file is answered as a full disk is; a small file system where one may be mounted."""
    (program.folder / "large.txt").write_bytes(b"some words of text\n" * 100000)
    assert program.run("prepare", "text.txt", "--dataset=kept").returncode == 0
    before = token_files.read_part(program.folder / "data/kept")
    result = program.run("prepare", "large.txt", "--dataset=kept",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    part = "data/kept/.prepare-partial/train-00000.tokens"
    expect("size limit", (result.returncode, told(result)), (1, f"cannot write '{part}': File too large"))
    expect("the data set before it", token_files.read_part(program.folder / "data/kept"), before)
    expect("what is left", (program.folder / "data/kept/.prepare-partial").exists(), False)
    small = program.folder / "small"
    small.mkdir()
    script = (f"mount -t tmpfs -o size=2m none {small} && {{ {program.path} prepare large.txt --dataset=small/set; status=$?; "
              f"ls -A {small}; exit $status; }}")
    probe = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", small], capture_output=True)
    if probe.returncode == 0:
        result = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=program.folder, capture_output=True, text=True)
        expect("full disk", (result.returncode, told(result), result.stdout),
               (1, "cannot write 'small/set/.prepare-partial/train-00000.tokens': No space left on device", ""))
        print("a full disk and a limit of sizes")
    else:
        print("a limit of sizes (no file system may be mounted here)")


class Pages(http.server.BaseHTTPRequestHandler):

    def do_GET(self):
        pages = {"/text.txt": (200, b"text of a server"), "/to": (302, b""), "/away": (302, b"")}
        status, body = pages.get(self.path.partition("?")[0], (404, b"none"))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/text.txt" if self.path == "/to" else "file:///etc/hostname")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def check_addresses(program):
    server = http.server.HTTPServer(("127.0.0.1", 0), Pages)
    address = f"http://127.0.0.1:{server.server_port}"
    environment = {**os.environ, "no_proxy": "127.0.0.1"}
    result = program.run("prepare", address + "/text.txt", env={**environment, "PATH": str(program.folder)})
    expect("no curl", (result.returncode, told(result)),
           (1, f"cannot fetch {address}/text.txt: expected the program curl in PATH, got No such file or directory; fetch the "
               "file with another program and give its path"))
    if shutil.which("curl") is None:
        print("no curl: its absence is answered")
        return
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for words, dataset in ((["/text.txt"], "text"), (["/text.txt?a=b", "--dataset=query"], "query"), (["/to"], "to")):
        result = program.run("prepare", address + words[0], *words[1:], "--val-fraction=0", env=environment)
        expect(words[0], (result.returncode, result.stderr), (0, ""))
        expect(words[0], len(token_files.read_part(program.folder / "data" / dataset)), 16)
        expect(words[0], sorted(path.name for path in (program.folder / "data" / dataset).iterdir()),
               ["meta.json", "train-00000.tokens", "val-00000.tokens"])
    for page, reason in (("/none", "404"), ("/away", "rotocol")):
        result = program.run("prepare", address + page, env=environment)
        if result.returncode != 1 or not told(result).startswith(f"cannot fetch {address}{page}: curl: ") or reason not in told(result):
            fail(f"{page}: status {result.returncode}, {result.stderr}")
    server.shutdown()
    server.server_close()
    result = program.run("prepare", address + "/text.txt", "--dataset=refused", env=environment)
    if result.returncode != 1 or not told(result).startswith(f"cannot fetch {address}/text.txt: curl: (7)"):
        fail(f"no server: status {result.returncode}, {result.stderr}")
    expect("a folder of what was not fetched", (program.folder / "data/refused").exists(), False)
    print("addresses: fetched, redirected, refused, not found, without curl")


def check_terminal(program):
    """The progress bar is for a terminal."""
    words = ["prepare", "large.txt", "--train-bpe=265", "--dataset=bar"]
    result = program.run(*words)
    expect("standard error that is no terminal", result.stderr, "")
    ours, theirs = pty.openpty()
    process = subprocess.Popen([program.path, *words], cwd=program.folder, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # Linux's end of a terminal
            break
        if not some:
            break
        shown += some
    os.close(ours)
    expect("prepare on a terminal", process.wait(), 0)
    for label in (b"\rread [", b"\rtrain BPE [", b"\rencode ["):
        if label not in shown:
            fail(f"on a terminal: expected {label!r}, got {shown!r}")
    expect("the line in the end", shown.rpartition(b"\r")[2], b"\x1b[K")
    print("a progress bar on a terminal only")


def state_of(folder, expected):
    """Which of the data sets a folder is; None for none."""
    if not (folder / "meta.json").exists():
        return None
    tokens = token_files.read_part(folder)
    for name, its in expected.items():
        if tokens == its:
            return name
    fail(f"{folder}: a data set of no text")


def files_in(folder):
    try:
        return len(os.listdir(folder))
    except FileNotFoundError:
        return 0


def wait_for_files(process, partial, left, written, renamed):
    """Until a run has written so many files in its folder of partial ones, or, once there are fewer again, has given so many of
    them their names, or is done. `left`: how many an earlier run left there, which this one removes first."""
    while left and process.poll() is None and files_in(partial) == left:
        os.sched_yield()
    most = 0
    while process.poll() is None:
        now = files_in(partial)
        if now >= written or now <= most - renamed:
            return
        most = max(most, now)
        os.sched_yield()


FILES = 1 + 36 + 4  # meta.json, those for training, those for validation


def check_kills(program, kills, generator, moments):
    """Two texts by turns into one folder, in many files, so that the moment of their renaming is long."""
    letters = {"a": "abcdefgh", "b": "stuvwxyz "}
    words, expected = {}, {}
    for name, alphabet in letters.items():
        (program.folder / f"{name}.txt").write_text("".join(generator.choices(alphabet, k=60000)))
        words[name] = ["prepare", f"{name}.txt", "--dataset=killed", "--shard-tokens=1500"]
    folder = program.folder / "data/killed"
    partial, took = folder / ".prepare-partial", []
    for name in letters:
        start = time.monotonic()
        assert program.run(*words[name]).returncode == 0
        took.append(time.monotonic() - start)
        expected[name] = token_files.read_part(folder)
    seen, state = {"before": 0, "none": 0, "new": 0}, "b"
    for _ in range(kills):
        if state is None:
            state = generator.choice("ab")
            assert program.run(*words[state]).returncode == 0
        text = "b" if state == "a" else "a"
        left = files_in(partial)
        process = program.start(*words[text])
        if moments:
            time.sleep(generator.uniform(0, 1.2 * max(took)))
        else:
            wait_for_files(process, partial, left, generator.randrange(2 * FILES), generator.randrange(1, FILES))
        process.kill()
        process.communicate()
        now = state_of(folder, expected)
        if now not in (state, text, None):
            fail(f"killed: expected the data set of {state}, of {text} or none, got that of {now}")
        seen["none" if now is None else "new" if now == text else "before"] += 1
        state = now
    assert program.run(*words["a"]).returncode == 0
    expect("after the kills", state_of(folder, expected), "a")
    left = {path.name for path in folder.iterdir()}
    expect("files after the kills", len(left), FILES)
    print(f"{kills} kills: {seen['before']} times the data set stayed, {seen['new']} times it was the new one, {seen['none']} times "
          "there was none")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moments", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = Program(arguments.program, name)
        (program.folder / "text.txt").write_text("Some text.\n" * 100)
        (program.folder / "empty.txt").write_text("")
        (program.folder / "binary.txt").write_bytes(b"abc\xff\x00\x01\xfe abc abc\n")
        check_errors(program)
        check_texts(program)
        check_disk(program)
        check_addresses(program)
        check_terminal(program)
        check_kills(program, arguments.kills, random.Random(arguments.seed), arguments.moments)


if __name__ == "__main__":
    main()
