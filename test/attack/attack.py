#!/usr/bin/env python3
"""Attacks the command with hostile sources, arguments, files, environments and limits.

  attack.py --binary build/bin/nereid [--count 300] [--seed 1] [--jobs 2] [--only sources,...] [--skip ...]
            [--keep FOLDER] [--record FILE] [--replay FILE...]

Attack number N of a seed is always the same. Each runs in a folder of its own, under 2 GB of address space and 20
seconds of a processor. What must hold (Verdict): it ends by itself, with a status of docs/EXIT-STATUSES.md other than "Nereid is
wrong"; its messages name no internal; a refusal says where, what was expected and what it got.

What fails is shrunk: files lose lines, the command loses words, as long as the same rule is broken. The result goes to
--keep as a .json file, and is printed. The files of test/attack/found are attacks that once succeeded; every run tries
them first."""
import argparse
import base64
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generators  # noqa: E402

ADDRESS_SPACE = 2 << 30
PROCESSOR_SECONDS = 20
IDLE_SECONDS = 60

# Words of the implementation. A user types none of them.
INTERNAL = re.compile(
    r"std::|mlir::|llvm::|nereid::(?!none|Kernel|Tensor)|LLVM ERROR|\b_ZN\w+|bad_alloc|basic_string|length_error|"
    r"bad_function_call|Assertion|terminate called|nlohmann|json\.exception|CLI::|LAUNCHING PASS|"
    r"internal error|UNREACHABLE|Stack dump|PLEASE submit a bug|\(anonymous namespace\)|vector::_M|"
    r"pthread_create has failed|builtin\.unrealized|failed to legalize|Sanitizer|"
    r"\b_apply_\w+|\b_(list|dict|tuple|set|frozenset|constexpr|dtype|type)\b")
# Every error of a message is one of three (README.md tells them): a refusal of what was given, which says where, what
# was expected and what it got; a fault of a running kernel; a failure of the machine.
ERROR = re.compile(r"(?m)^(?=.*?\berror: )")
EXCERPT = r"^[ \t]+[^\n]*\n[ \t]+[~^]*\^"
WHERE = re.compile(r":\d+:\d+: (error|note): |(^| )-{1,2}[a-zA-Z][\w-]*|\S*=|'[^']*'|\"[^\"]*\"|\S+\.\w+: |NEREID_\w+|standard input", re.M)
GOT = re.compile(rf"\bgot\b|'[^']*'|\"[^\"]*\"|{EXCERPT}", re.M)
EXPECTED = re.compile(r"\bexpected\b|\bthere (is|are)\b|\bdid you mean\b|^ *hint: ", re.M)
FAULT = re.compile(r"\w+: (the kernel was stopped|the devices disagree)|error: [^\n]* in kernel '|device_assert failed|"
                   r"out-of-bounds access|not a number|expected no problem, got \d+")
MACHINE = re.compile(r"^(\S+ (\S+: )?)?cannot (read|write|open|create|make|remove|start) [\s\S]*: \S|(no|out of) memory\b|"
                     r"expected every launch to be ok")


# Files that are not their text.
SPECIAL = re.compile(r"(base64|fifo|sparse|link|folder|mode|nested):")


def incomplete(text):
    """The first error of a message that is none of the three."""
    lines = []
    for line in text.split("\n"):  # of several launches: a line of JSON each
        try:
            answer = json.loads(line) if line.startswith("{") else None
        except ValueError:
            answer = None
        lines.append(line if not isinstance(answer, dict) else
                     "error: " + answer["error"] if answer.get("error") else "")
    for error in ERROR.split("\n".join(lines)):
        message = error.partition("error: ")[2]
        if not message or FAULT.search(error) or MACHINE.search(message):
            continue
        for what, pattern in (("where", WHERE), ("what it got", GOT), ("what was expected", EXPECTED)):
            if not pattern.search(error):
                return f"{what}: {message.partition(chr(10))[0][:100]}".strip()
    return ""


@dataclasses.dataclass
class Attack:
    """Files are {name: text}, where text may be "base64:...", "fifo:", "sparse:BYTES", "link:TARGET", "folder:",
    "mode:444:..." and "nested:COUNT:...*...", COUNT pairs of brackets for the star; the command's words may name them."""
    kind: str
    words: list
    files: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    limits: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""
    stdout: str = ""  # empty: kept; "full": /dev/full; "closed"
    program: str = ""  # beside --binary; empty: --binary itself

    def to_json(self):
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=True)


@dataclasses.dataclass
class Outcome:
    status: int
    seconds: float
    err: str
    rule: str  # that is broken; empty: none


def encoded(data):
    try:
        text = data.decode("utf-8")
        if not SPECIAL.match(text):
            return text
    except UnicodeDecodeError:
        pass
    return "base64:" + base64.b64encode(data).decode()


def place(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head, _, rest = content.partition(":")
        if head == "fifo":
            os.mkfifo(path)
        elif head == "folder":
            path.mkdir(exist_ok=True)
        elif head == "sparse":
            path.touch()
            os.truncate(path, int(rest))
        elif head == "link":
            path.symlink_to(rest)
        elif head == "mode":
            mode, _, text = rest.partition(":")
            path.write_text(text, errors="surrogateescape")
            path.chmod(int(mode, 8))
        elif head == "nested":
            count, _, text = rest.partition(":")
            path.write_text(text.replace("*", "[" * int(count) + "]" * int(count)))
        elif head == "base64":
            path.write_bytes(base64.b64decode(rest))
        else:
            path.write_text(content, errors="surrogateescape")


def seconds_used(pid):
    """Of processors, by all threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_waited(pid):
    """How long its threads wanted a processor and had none; 0 where the system does not tell."""
    waited = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            waited += int(path.read_text().split()[1])
        except OSError:
            pass  # the thread has ended
    return waited / 1e9


def limited(limits):
    kinds = {"file": resource.RLIMIT_FSIZE, "files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS,
             "stack": resource.RLIMIT_STACK, "data": resource.RLIMIT_DATA, "processes": resource.RLIMIT_NPROC}
    wanted = {"memory": ADDRESS_SPACE, **limits}

    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for kind, value in wanted.items():
            resource.setrlimit(kinds[kind], (value, value))
    return apply


def broken_rule(attack, status, timed_out, err, files_before, folder):
    if timed_out:
        return "it ends by itself"
    if status < 0:
        return f"no signal ({signal.Signals(-status).name})"
    if status == 3 or status not in (0, 1, 2):
        return f"a status of the table, no bug ({status})"
    found = INTERNAL.search(err)
    if found:
        return f"no message names an internal ({found.group(0)})"
    if status and attack.stdout != "closed" and not err.strip() and "-" not in attack.words:
        return "a failure is told"
    if status and err.strip() and "error: " not in err and not err.startswith("{"):
        return "a refusal is an error"
    missing = incomplete(err) if status else ""
    if missing:
        return f"a refusal says where, expected and got ({missing})"
    if "\x1b" in err:
        return "no control characters reach the terminal"
    for name in attack.files:
        if name.endswith(".py") and files_before.get(name) is not None and "--results" not in attack.words:
            path = folder / name
            if not path.exists() or path.read_bytes() != files_before[name]:
                return "no input is lost"
    if any(path.name.startswith(".tmp-") for path in folder.iterdir()):
        return "no temporary file is left"
    return ""


def attempt(attack, binary):
    if attack.program:
        binary = str(pathlib.Path(binary).with_name(attack.program))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nereid-attack-"))
    try:
        place(folder, attack.files)
        before = {}
        for name in attack.files:
            path = folder / name
            before[name] = path.read_bytes() if path.is_file() and not path.is_symlink() and \
                path.stat().st_size < 1 << 20 else None
        # A kernel that leaves its arrays may do anything to the process; with the check it is an error.
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NEREID_CACHE_DIR": str(folder / "cache"),
                       "NEREID_CUDA_DRIVER": "none", "NEREID_CHECK": "oob", "NEREID_NUM_THREADS": "2",
                       **attack.environment}
        environment = {name: value for name, value in environment.items() if value is not None}
        start = time.monotonic()
        stdout = open("/dev/full", "wb") if attack.stdout == "full" else subprocess.PIPE
        words = [binary, *attack.words]
        if attack.stdout == "closed":
            words = ["bash", "-c", 'exec "$@" >&-', "closed", *words]
        try:
            process = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=stdout,
                stderr=subprocess.PIPE, preexec_fn=limited(attack.limits), start_new_session=True)
        except (OSError, ValueError, subprocess.SubprocessError):
            return Outcome(0, 0, "", "")  # the system refuses such words or limits itself
        timed_out = False
        typed = attack.stdin.encode(errors="surrogateescape")
        while True:
            try:
                out, err = process.communicate(typed, timeout=1)
                break
            except subprocess.TimeoutExpired:
                typed, used = None, seconds_used(process.pid)
                # On a machine that is busy otherwise a command waits for a processor, and is not idle.
                idle = time.monotonic() - start - used - seconds_waited(process.pid)
                if used < PROCESSOR_SECONDS and idle < IDLE_SECONDS:
                    continue
                timed_out = True
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                break
        text = err.decode(errors="replace")
        if "--launch" in attack.words:  # several launches are reported line by line
            text += (out or b"").decode(errors="replace")
        # A machine that cannot even start the program says nothing about it.
        if "error while loading shared libraries" in text or "cannot allocate memory" in text.lower():
            return Outcome(0, 0, text, "")
        rule = broken_rule(attack, process.returncode, timed_out, text, before, folder)
        return Outcome(process.returncode, time.monotonic() - start, text, rule)
    finally:
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def rule_name(rule):
    return rule.split(" (")[0]


def shrink(attack, binary, rule, seconds=60):
    """Greedily: whatever can go while the same rule is broken goes."""
    end = time.monotonic() + seconds

    def still(candidate):
        return time.monotonic() < end and rule_name(attempt(candidate, binary).rule) == rule_name(rule)

    def without(items, begin, size):
        return items[:begin] + items[begin + size:]

    def reduce_list(items, rebuild):
        size = max(1, len(items) // 2)
        while size:
            begin = 0
            while begin < len(items):
                fewer = without(items, begin, size)
                if still(rebuild(fewer)):
                    items = fewer
                else:
                    begin += size
            size //= 2
        return items

    for field in ("environment", "limits"):
        for key in list(getattr(attack, field)):
            fewer = {k: v for k, v in getattr(attack, field).items() if k != key}
            candidate = dataclasses.replace(attack, **{field: fewer})
            if still(candidate):
                attack = candidate
    words = reduce_list(attack.words[1:], lambda w: dataclasses.replace(attack, words=attack.words[:1] + w))
    attack = dataclasses.replace(attack, words=attack.words[:1] + words)
    for name, content in list(attack.files.items()):
        if SPECIAL.match(content):
            continue
        lines = reduce_list(content.splitlines(keepends=True),
                            lambda part: dataclasses.replace(attack, files={**attack.files, name: "".join(part)}))
        attack = dataclasses.replace(attack, files={**attack.files, name: "".join(lines)})
    return attack


def make(kind, seed, number):
    return generators.make(kind, random.Random(f"{seed}:{number}:{kind}"), Attack, encoded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--replay", nargs="*", default=None)
    parser.add_argument("--record", default="", help="every attack's words, status and messages, a line of JSON each")
    parser.add_argument("--show", action="store_true", help="every attack's status and first line")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    kept = [pathlib.Path(name) for name in options.replay] if options.replay is not None else \
        sorted((HERE / "found").glob("*.json"))
    attacks = [(path.name, Attack(**json.loads(path.read_text()))) for path in kept]
    # Not every build has every program.
    attacks = [(name, attack) for name, attack in attacks
               if not attack.program or pathlib.Path(binary).with_name(attack.program).exists()]
    if options.replay is None:
        kinds = [k for k in generators.KINDS if (not options.only or k in options.only.split(","))
                 and k not in options.skip.split(",")]
        for number in range(options.count):
            kind = kinds[number % len(kinds)]
            attacks.append((f"{options.seed}:{number}", make(kind, options.seed, number)))
    broken, statuses, slowest = [], {}, (0, "")
    record = open(options.record, "w") if options.record else None
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, attack), outcome in zip(attacks, pool.map(lambda a: attempt(a[1], binary), attacks)):
            statuses[outcome.status] = statuses.get(outcome.status, 0) + 1
            slowest = max(slowest, (outcome.seconds, name))
            if record:
                record.write(json.dumps({"name": name, "kind": attack.kind, "words": attack.words, "status": outcome.status,
                                         "err": outcome.err[:20000], "rule": outcome.rule}) + "\n")
            if options.show:
                first = outcome.err.strip().splitlines()[:1]
                print(f"{name} {attack.kind} {outcome.status} {outcome.seconds:.1f}s {first}")
            if outcome.rule:
                print(f"{name} ({attack.kind}): broken: {outcome.rule}", flush=True)
                broken.append((name, attack, outcome))
    for name, attack, outcome in broken[:20]:
        small = shrink(attack, binary, outcome.rule)
        print(f"\n--- {name}: broken: {outcome.rule}\n{small.to_json()[:4000]}\n{outcome.err[:2000]}")
        if options.keep:
            folder = pathlib.Path(options.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{attack.kind}-{name.replace(':', '-')}.json").write_text(small.to_json() + "\n")
    tally = ", ".join(f"status {status}: {count}" for status, count in sorted(statuses.items()))
    print(f"{len(attacks)} attacks, {len(broken)} succeeded; {tally}; slowest {slowest[0]:.1f} s ({slowest[1]})")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
