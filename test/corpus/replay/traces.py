"""Recorded launches, from archives as the recorder packs them or from a folder that they were unpacked in."""
import json
from pathlib import Path
import tarfile
import zlib

# Suite -> folder below .corpora.
FOLDERS = {"TritonBench-G": "TritonBench", "tutorials": "triton-intel"}


class Trace:
    def __init__(self, folder, scratch):
        self.folder = Path(folder).resolve()
        if not (self.folder / "index.jsonl").exists():
            target = Path(scratch) / f"trace-{self.folder.name}"
            archives = [*self.folder.glob("index.tar.xz"), *self.folder.glob("blobs*.tar")]
            if not archives:
                raise SystemExit(f"{folder}: expected index.jsonl, or index.tar.xz and blobs*.tar, got neither")
            for archive in archives:
                with tarfile.open(archive) as opened:
                    opened.extractall(target, filter="data")
            self.folder = target
        lines = (self.folder / "index.jsonl").read_text().splitlines()
        self.rows = [json.loads(line) for line in lines]

    def blob(self, name):
        return zlib.decompress((self.folder / "blobs" / (name + ".z")).read_bytes())

    def images(self, storage):
        """(before, after, after the second run or None): bytes."""
        before = self.blob(storage["before"])
        after = self.blob(storage["after"]) if storage.get("after") else before
        return before, after, self.blob(storage["again"]) if storage.get("again") else None


def tensors_of(args):
    """Every tensor that the arguments reach directly: also those of tuples and descriptors."""
    for arg in args:
        if arg["kind"] == "tensor":
            yield arg
        elif arg["kind"] == "tuple":
            yield from tensors_of(arg["items"])
        elif arg["kind"] == "descriptor":
            yield from tensors_of([arg["base"]])


def identity(row):
    return json.dumps([row["suite"], row["file"], row["kernel"], row["options"], row["args"], row["grid"]], sort_keys=True)


def name_of(row):
    return f"{row['suite']}:{row['file']}:{row['kernel']}"


class Sources:
    """Where the files lie: .corpora, and a tree with the generated files beside links to the packages they import."""

    def __init__(self, corpora, scratch):
        self.corpora, self.scratch = Path(corpora).resolve(), Path(scratch)

    def path_of(self, trace, row):
        root = self.corpora / FOLDERS.get(row["suite"], row["suite"])
        if not row.get("made"):
            return root / row["file"]
        folder = self.scratch / "made" / row["suite"]
        if not folder.exists():
            folder.mkdir(parents=True)
            for base in (root, root / "src"):
                for child in sorted(base.iterdir()) if base.is_dir() else ():
                    if not (folder / child.name).exists():
                        (folder / child.name).symlink_to(child)
        place = folder / Path(row["file"]).name
        if not place.exists():
            place.write_bytes((trace.folder / row["file"]).read_bytes())
        return place
