"""Chooses launches and packs them into archives below 16 MiB: index.tar.xz (text) and blobsN.tar (memory images)."""
import json
from pathlib import Path
import tarfile

from record.recorder import MOST, key_of

PART = 15.5 * 2**20
LATER_TURNS = 400_000  # compressed bytes that a further launch of the same kernel may add


def main(words):
    out, dest = Path(words[0]), Path(words[1])
    budget = float(words[words.index("--budget") + 1]) if "--budget" in words else 56.0
    print(pack(out, dest, budget * 2**20))
    return 0


def read_rows(out):
    """(kernel -> launches, summaries)."""
    kernels, summaries, keys = {}, [], set()
    for path in sorted(Path(out).glob("launches-*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:  # the last line of a process that was ended
                continue
            if row.get("summary"):
                summaries.append(row)
                continue
            key = key_of(row["suite"], f"{row['file']}:{row['kernel']}", row["options"], row["args"])
            if key not in keys:
                keys.add(key)
                kernels.setdefault((row["suite"], row["file"], row["kernel"]), []).append(row)
    return kernels, summaries


def images_of(row):
    return {s[k] for s in row["storages"] for k in ("before", "after", "again") if s.get(k)}


def choose(kernels, size, budget):
    """The first launch of every kernel, smallest first, then the second of every kernel, while the images fit."""
    chosen, images, used = [], set(), 0
    for rows in kernels.values():
        rows.sort(key=lambda row: row["bytes"])
    order = [rows for _, rows in sorted(kernels.items(), key=lambda item: item[1][0]["bytes"])]
    for turn in range(4 * MOST):
        for rows in order:
            if turn >= len(rows):
                continue
            new = images_of(rows[turn]) - images
            if not all(name in size for name in new):
                continue
            cost = sum(512 + size[name] for name in new)
            if used + cost <= budget and (turn == 0 or cost < LATER_TURNS):
                chosen.append(rows[turn])
                images |= new
                used += cost
    return chosen, images


def pack(out, dest, budget):
    kernels, summaries = read_rows(out)
    size = {path.stem: path.stat().st_size for path in (out / "blobs").glob("*.z")}
    chosen, images = choose(kernels, size, budget)
    dest.mkdir(parents=True, exist_ok=True)
    (out / "index.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chosen))
    (out / "summaries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in summaries))
    write_text(out, dest, {row["file"] for row in chosen if row["made"]})
    write_images(out, dest, sorted(images))
    left = sum(len(rows) for rows in kernels.values()) - len(chosen)
    suites = {}
    for row in chosen:
        suites.setdefault(row["suite"], []).append((row["file"], row["kernel"]))
    lines = [f"{suite:24} {len(set(names)):5} kernels {len(names):6} launches" for suite, names in sorted(suites.items())]
    packed = len({(r["suite"], r["file"], r["kernel"]) for r in chosen})
    return "\n".join([*lines, f"{len(kernels)} kernels recorded, {packed} packed with {len(chosen)} launches, {left} launches left out"])


def write_text(out, dest, generated):
    files = [out / name for name in ("index.jsonl", "summaries.jsonl", "programs.json")]
    files += [out / name for name in sorted(generated) if name]
    files += sorted((out / "logs").glob("*.log"))
    with tarfile.open(dest / "index.tar.xz", "w:xz") as archive:
        for path in files:
            if path.is_file() and (path.suffix != ".log" or path.stat().st_size < 100_000):
                archive.add(path, str(path.relative_to(out)))


def write_images(out, dest, names):
    part, number, filled = None, 0, 0
    for name in names:
        path = out / "blobs" / (name + ".z")
        cost = -(-path.stat().st_size // 512) * 512 + 512
        if part is None or filled + cost > PART:
            if part:
                part.close()
            part = tarfile.open(dest / f"blobs{number}.tar", "w", format=tarfile.USTAR_FORMAT)
            number, filled = number + 1, 10240
        part.add(path, f"blobs/{path.name}")
        filled += cost
    if part:
        part.close()
