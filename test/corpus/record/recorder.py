"""Records each launch once per kernel, types of the arguments, constexpr values and launch options.

The launch runs twice from the same memory; what differs between the runs is noted as nondeterminism. A program writes one
index (launches-PID.jsonl) and its memory images (blobs/SHA1.z, zlib), which processes share.
"""
import atexit
import hashlib
import json
import os
from pathlib import Path
import zlib

from record import memory
from record.arguments import Describer, Storages
from record.sources import source_of, written_out

LIMIT_FIRST = 4_500_000  # bytes of memory of a kernel's first launch
LIMIT_MORE = 600_000     # of its further specializations
MOST = 10                # specializations of a kernel in one process
TIMED = int(os.environ.get("RECORD_TIMED", "0"))  # launches that are timed, of each recorded one


def key_of(suite, name, options, args):
    """Launches with the same key are compiled the same, apart from the specialization of integers and alignment."""
    def part(arg):
        if arg["kind"] == "tensor":
            return [arg["name"], arg["dtype"]]
        return [arg["name"], {k: v for k, v in arg.items() if k != "name"} if arg["constexpr"] else arg["kind"]]
    return json.dumps([suite, name, options, [part(a) for a in args]], sort_keys=True, default=str)


class Recorder:
    def __init__(self, out, suite, root, driver):
        self.out, self.suite, self.root, self.driver = Path(out), suite, Path(root).resolve(), driver
        (self.out / "blobs").mkdir(parents=True, exist_ok=True)
        self.index = open(self.out / f"launches-{os.getpid()}.jsonl", "a")
        self.describer = Describer(self.root)
        self.keys, self.counts, self.skipped, self.seen, self.trouble = set(), {}, {}, {}, {}
        self.quiet = 0
        atexit.register(self.finish)

    def finish(self):
        self.write(dict(summary=True, driver=self.driver, suite=self.suite, seen=self.seen, skipped=self.skipped,
                        trouble=self.trouble))
        self.index.close()

    def write(self, row):
        self.index.write(json.dumps(row) + "\n")
        self.index.flush()

    def blob(self, data):
        name = hashlib.sha1(data).hexdigest()
        path = self.out / "blobs" / (name + ".z")
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            temporary.write_bytes(zlib.compress(data, 6))
            temporary.rename(path)
        return name

    def generated(self, function):
        folder = self.out / "generated"
        folder.mkdir(exist_ok=True)
        text = written_out(function, self.root)
        name = f"{hashlib.sha1(text.encode()).hexdigest()[:12]}-{function.__name__}.py"
        if not (folder / name).exists():
            temporary = folder / f"{name}.{os.getpid()}"
            temporary.write_text(text)
            temporary.rename(folder / name)
        return f"generated/{name}"

    def launch(self, function, parameters, bound, options, grid, call, extra):
        """Does call(), which launches, and records it. parameters: [(name, is constexpr)]; bound: name -> value."""
        if self.quiet:
            return call()
        file, line, outside = source_of(function, self.root)
        name = f"{file}:{function.__qualname__}"
        self.seen[name] = self.seen.get(name, 0) + 1
        storages = Storages()
        try:
            args = [dict(self.describer.describe(bound[n], storages), name=n, constexpr=c) for n, c in parameters if n in bound]
        except Exception as error:  # a program of others must run on, whatever it passes
            self.trouble[name] = f"{type(error).__name__}: {error}"[:200]
            return call()
        key = key_of(self.suite, name, options, args)
        if key in self.keys or self.counts.get(name, 0) >= MOST:
            return call()
        entries = storages.ordered()
        clipped, total = clip(entries, LIMIT_MORE if self.counts.get(name, 0) else LIMIT_FIRST)
        if clipped is None:
            self.skipped[name] = min(self.skipped.get(name, 1 << 60), total)
            return call()
        self.keys.add(key)
        result, images, times = run_twice(entries, call)
        self.counts[name] = self.counts.get(name, 0) + 1
        rows = [self.storage_row(e, *image) for e, image in zip(entries, images)]
        made = outside or "<locals>" in function.__qualname__
        if made:
            try:
                file = self.generated(function)
            except (OSError, TypeError, StopIteration):
                file = ""
        self.write(dict(suite=self.suite, driver=self.driver, file=file, made=made, kernel=function.__name__,
                        line=line, grid=grid, options=options, args=args, storages=rows, clipped=clipped, bytes=total, **times, **extra))
        return result

    def storage_row(self, entry, before, after, again):
        row = dict(number=entry["number"], lo=entry["lo"], bytes=len(before), base_align=alignment(entry["base"]),
                   before=self.blob(before), after=self.blob(after) if after != before else None)
        if again != after:
            row["again"] = self.blob(again)
        if entry["pointers"]:
            row["pointers"] = entry["pointers"]
        return row


def alignment(address):
    """The largest power of two up to 256 that divides the address."""
    return min(address & -address, 256) if address else 256


def clip(entries, limit):
    """Sets the end ("to") of what is kept of each storage. (whether storages were cut to the tensors in them, bytes);
    (None, bytes) when even that is more than the limit."""
    for e in entries:
        e["to"] = e["bytes"]
    size = lambda: sum(max(e["to"] - e["lo"], 0) for e in entries)
    if size() <= limit:
        return False, size()
    for e in entries:
        e["to"] = min(e["to"], e["hi"])
    return (True if size() <= limit else None), size()


def run_twice(entries, call):
    """(result of the first call, [(before, after the first, after the second)] of each storage, times)."""
    memories = [memory.of(e["device"]) for e in entries]
    places = [(m, e["base"] + e["lo"], max(e["to"] - e["lo"], 0)) for m, e in zip(memories, entries)]

    def read():
        for m in set(memories):
            m.wait()
        return [m.read(address, size) for m, address, size in places]

    def write(images):
        for (m, address, _), data in zip(places, images):
            m.write(address, data)

    before = read()
    result = call()
    after = read()
    write(before)
    call()
    again, times = read(), {}
    if TIMED:
        write(before)
        from record.timing import fastest_ms
        times["upstream_ms"] = fastest_ms(call, TIMED)
        read()
        write(again)
    return result, list(zip(before, after, again)), times
