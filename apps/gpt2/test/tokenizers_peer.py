"""nereid-gpt2 prepare beside Hugging Face's tokenizers: the same tokens for mixed text and for every code point, with merges
that either of them trained; the same merges from the same text; decoding gives the bytes back. With --speed, megabytes a second.

    .venv/bin/python apps/gpt2/test/tokenizers_peer.py build/bin/nereid-gpt2 [--megabytes=20] [--speed] [--at-least=20]
        [--seed=N]

--megabytes: how much mixed text (default 2). --speed: measures megabytes a second, too, and whether all threads work.
--at-least: fails below so many megabytes for each second of a processor. The text is drawn from the seed (default 1). Bytes that are no UTF-8 cannot be given to the peer: of them it is tested
that they come back (PieceScannerTest.cpp has what they become).

Ends with 77 where tokenizers or numpy are not installed.
"""
import argparse
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import tokenizers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import token_files

ROOT = pathlib.Path(__file__).resolve().parents[3]
END = "<|endoftext|>"
SPACES = [chr(c) for c in (9, 10, 11, 12, 13, 0x1C, 0x1F, 0x20, 0x85, 0xA0, 0x1680, 0x180E, 0x2000, 0x2009, 0x200B, 0x2028,
                           0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF)]
EDGES = ["", " ", "  ", "\n", "\r\n", "\t\t x", "'", "''", "'s", " 's", "I'll", "'LL", "don't've", "a'b", "'\u017F", "\u2019s",
         "e\u0301", "\u0301", " \u0301x", "\u00C5\u212B\u0041\u030A", "\uFB01", "\u1E9B\u0323", "\u0130i\u0307", "\u00DF\u1E9E",
         "\U0001F469\u200D\U0001F469\u200D\U0001F467", "\U0001F1E9\U0001F1EA", "\u2764\uFE0F", "\u0000", "a\u0000b", "\u007F",
         "\u0080\u009F", "\uE000\uF8FF", "\uFFFD\uFFFE\uFFFF", "\U0010FFFF", "\U000E0001\U000E0041", "\u202Eabc\u202C",
         "\u0660\u06F1\u0967\u17E3", "\u2167\u2460\u00BD\u00B2", "1\u0660a\u0967", "x" * 1000, "ab" * 5000, " " * 777 + "x",
         "1" * 300, "!?" * 200, "\u4E00" * 500, END, END * 3, "a" + END, END + " a", "<|endoftext", "<|endoftext|", " " + END,
         "<|" + END + "|>", "\ud7ff\ue000"]


def whole_range(generator):
    code = generator.choice((0x80, 0x250, 0x800, 0x3000, 0x10000, 0x20000, 0x110000))
    while True:
        c = generator.randrange(code)
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def unicode_text(generator, size):
    """Runs of one script, white space of every kind, contractions, numbers, single characters of the whole range."""
    parts, length = [], 0
    while length < size:
        kind = generator.random()
        if kind < 0.4:  # of one script: neighbours in the table
            start = ord(whole_range(generator))
            part = "".join(chr(c) for c in (start + generator.randrange(64) for _ in range(generator.randrange(1, 12)))
                           if c < 0x110000 and not 0xD800 <= c < 0xE000)
        elif kind < 0.6:
            part = "".join(whole_range(generator) for _ in range(generator.randrange(1, 6)))
        elif kind < 0.7:
            part = "".join(generator.choices(SPACES, k=generator.randrange(1, 5)))
        else:
            part = generator.choice(("'s", "'ll", "don't", "42", "3.14", "--", "...", "\n\n", "Nereid", "the", END, "_x1"))
        parts.append(part + generator.choice(("", "", " ", " ", "\n")))
        length += len(parts[-1].encode())
    return "".join(parts)


def repository_text():
    """Sources and documentation, as one text."""
    names = sorted(itertools.chain.from_iterable(
        (ROOT / folder).rglob(f"*.{ending}") for folder in ("docs", "nereid", "kernels", "apps", "tutorials")
        for ending in ("md", "h", "cpp", "py")))
    return "\n".join(name.read_text(errors="replace") for name in names)


def mixed_texts(generator, megabytes):
    """Texts of about a megabyte, half of each of the two kinds."""
    repository, texts = repository_text(), []
    for _ in range(megabytes):
        at = generator.randrange(max(1, len(repository) - 500000))
        texts.append(repository[at:at + 500000] + unicode_text(generator, 500000))
    return texts


def code_point_texts():
    """Every code point after a letter, a space and itself, in texts of 2^16."""
    codes = (c for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    while some := list(itertools.islice(codes, 0x10000)):
        yield "".join(f"x{chr(c)} {chr(c)}{chr(c)}1" for c in some)


class Ours:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.number = 0

    def files(self, texts):
        self.number += 1
        names = []
        for i, text in enumerate(texts):
            names.append(self.folder / f"text-{self.number}-{i}.txt")
            names[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
        return [str(name) for name in names]

    def command(self, names, options):
        self.number += 1
        data = self.folder / f"data-{self.number}"
        return data, [self.program, "prepare", *names, f"--dataset={data}", "--val-fraction=0", *options]

    def prepare(self, texts, *options):
        """The folder of the data set."""
        data, command = self.command(self.files(texts), options)
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"error: status {result.returncode}: {result.stderr}")
        return data


def train_theirs(texts, size, folder):
    """A folder with vocab.json and merges.txt of the peer's trainer."""
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    folder.mkdir()
    peer.model.save(str(folder))
    return folder


def load_theirs(folder):
    peer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = decoders.ByteLevel()
    peer.add_special_tokens([END])
    return peer


def merges_of(folder):
    return [line for line in (folder / "merges.txt").read_text().split("\n") if line and not line.startswith("#version")]


def check_tokens(name, got, texts, encodings, end, decode=lambda ids: "?"):
    """Ends with an error unless `got` is the encodings of the texts, lists of tokens, with `end` between them."""
    at = 0
    for i, encoding in enumerate(encodings):
        expected = np.array(encoding + ([end] if i + 1 < len(texts) else []), np.int64)
        part = got[at:at + len(expected)]
        if not np.array_equal(part, expected):
            first = next((j for j, (a, b) in enumerate(zip(part, expected)) if a != b), min(len(part), len(expected)))
            around = slice(max(0, first - 4), first + 4)
            sys.exit(f"error: {name}: text {i}, token {first}: expected {expected[around]}, got {part[around]}; "
                     f"the text there: {decode(list(expected[around]))!r}")
        at += len(expected)
    if at != len(got):
        sys.exit(f"error: {name}: expected {at} tokens, got {len(got)}")


def compare(name, ours, texts, folder, seed):
    """Our tokens of the texts beside the peer's, both with the vocabulary of `folder`; returns how many bytes."""
    data = ours.prepare(texts, f"--vocab={folder}/vocab.json", f"--merges={folder}/merges.txt")
    tokens = token_files.read_part(data)
    got = np.array(tokens, np.int64)
    peer = load_theirs(folder)
    encodings = (encoding.ids for encoding in peer.encode_batch_fast(texts, add_special_tokens=False))
    check_tokens(f"{name}, seed {seed}", got, texts, encodings, peer.token_to_id(END), peer.decode)
    whole = END.join(texts).encode()
    if token_files.decode(tokens, token_files.vocabulary_bytes(folder)) != whole:
        sys.exit(f"error: {name}, seed {seed}: the tokens do not decode to the text")
    print(f"{name}: {len(whole) / 1e6:.1f} MB, {len(got)} tokens, all equal to those of tokenizers {tokenizers.__version__}")
    return len(whole)


def check_bytes(ours, generator, folder, seed):
    """Bytes that are no UTF-8 come back."""
    texts = [bytes(generator.randrange(256) for _ in range(5000)), b"\xff", b"\xed\xa0\x80\xed\xb0\x80", b"a\xe2\x82 b\xc0\x80",
             b"\xf4\x90\x80\x80", bytes(range(256)) * 3, b"\xe2\x82\xac"[:2]]
    data = ours.prepare(texts, f"--vocab={folder}/vocab.json", f"--merges={folder}/merges.txt")
    back = token_files.decode(token_files.read_part(data), token_files.vocabulary_bytes(folder))
    if back != END.encode().join(texts):
        sys.exit(f"error: seed {seed}: bytes that are no UTF-8 do not come back")
    print("bytes that are no UTF-8 come back")


def seconds_of_threads(process):
    """Processor seconds of each thread of a process until it ends, the most first."""
    seconds, tick = {}, os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                seconds[task.name] = (int(fields[11]) + int(fields[12])) / tick
            except OSError:
                pass  # a thread that has ended
        time.sleep(0.01)
    return sorted(seconds.values(), reverse=True)


def measure(ours, name, texts, folder, threads):
    """Encodes each text 40 times; returns megabytes for each second of a processor, of all that prepare does."""
    names = ours.files(texts) * 40
    megabytes = sum(os.path.getsize(name) for name in names) / 1e6
    data, command = ours.command(names, [f"--vocab={folder}/vocab.json", f"--merges={folder}/merges.txt", f"--threads={threads}"])
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seconds = seconds_of_threads(process)
    told = re.search(r"encoded in (.*) to ", process.communicate()[0])[1]
    for file in data.glob("*.tokens"):
        file.unlink()
    speed = megabytes / sum(seconds)
    print(f"{name}, {threads} of {os.cpu_count()} cores: {speed:.0f} MB a processor's second, " +
          " and ".join(f"{second:.1f} s" for second in seconds[:threads]) + f" by its threads; {megabytes:.0f} MB encoded in {told}")
    # Shares, not times: another program may have the cores now.
    used = sum(second > 0.5 / threads * sum(seconds) for second in seconds)
    if used != threads:
        sys.exit(f"error: {name}: expected {threads} threads that work, got {used}")
    return speed


def measure_theirs(name, texts, folder):
    peer = load_theirs(folder)
    start = time.process_time()
    peer.encode_batch_fast(texts, add_special_tokens=False)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{name}, tokenizers: {megabytes / (time.process_time() - start):.1f} MB a processor's second")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=int, default=2)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--at-least", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=2000)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = Ours(arguments.program, folder)
        texts = mixed_texts(generator, arguments.megabytes)
        training = [text.replace(END, "") for text in texts[:max(1, len(texts) // 4)]]
        trained = {"our merges": ours.prepare(training, f"--train-bpe={arguments.vocabulary}"),
                   "their merges": train_theirs(training, arguments.vocabulary, folder / "theirs")}
        first, second = map(merges_of, trained.values())
        if first != second:
            at = next(i for i, pair in enumerate(itertools.zip_longest(first, second)) if pair[0] != pair[1])
            sys.exit(f"error: seed {arguments.seed}: merge {at}: expected {second[at:at + 3]}, got {first[at:at + 3]}")
        print(f"{len(first)} merges, the same from both trainers")
        for merges, where in trained.items():
            compare(f"mixed text, {merges}", ours, texts, where, arguments.seed)
            compare(f"edge cases, {merges}", ours, [edge for edge in EDGES if edge], where, arguments.seed)
        compare("all code points", ours, list(code_point_texts()), trained["our merges"], arguments.seed)
        check_bytes(ours, generator, trained["our merges"], arguments.seed)
        if not arguments.speed:
            return
        kinds = {"mixed text": texts}
        if arguments.megabytes >= 20:
            kinds["sources and documentation"] = [repository_text()]
        for kind, its in kinds.items():
            speed = measure(ours, kind, its, trained["our merges"], 1)
            measure(ours, kind, its, trained["our merges"], min(2, os.cpu_count()))
            measure_theirs(kind, its, trained["our merges"])
            if speed < arguments.at_least:
                sys.exit(f"error: {kind}: expected at least {arguments.at_least} MB a processor's second, got {speed:.1f}")


if __name__ == "__main__":
    main()
