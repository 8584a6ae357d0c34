#!/usr/bin/env python3
"""scripts/fetch-corpora: what could not be fetched is an error, also the next time.

    test/corpus/fetch_test.py SOURCES
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def git(folder, *words):
    command = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main():
    if not shutil.which("git"):
        print("skipped: no git")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        script = root / "scripts/fetch-corpora"
        for folder in ("scripts", "test/corpus", "python/test/upstream", "clones/owner+name/repo"):
            (root / folder).mkdir(parents=True)
        shutil.copy(Path(sys.argv[1]) / "scripts/fetch-corpora", script)
        (root / "python/test/upstream/checkout.txt").write_text("")
        clone, listed = root / "clones/owner+name/repo", root / "test/corpus/corpora.txt"
        git(clone, "init", "--quiet")
        (clone / "kernels").mkdir()
        (clone / "kernels/add.py").write_text("a kernel\n")
        git(clone, "add", "-A")
        git(clone, "commit", "--quiet", "-m", "a kernel")
        commit = git(clone, "rev-parse", "HEAD")
        shutil.rmtree(clone / "kernels")
        for file in (clone / ".git").iterdir():
            file.rename(clone / file.name)

        def fetch(wanted):
            listed.write_text(f"one owner/name {wanted} kernels\n")
            done = subprocess.run([script, "--from", root / "clones"], capture_output=True, text=True)
            return done.returncode, (root / ".corpora/one/kernels/add.py").exists(), "there already" in done.stdout

        got = [fetch("0" * 40), fetch("0" * 40), fetch(commit), fetch(commit)]
        wanted = [(1, False, False), (1, False, False), (0, True, False), (0, True, True)]
        if got != wanted:
            sys.exit(f"(status, fetched, there already): expected {wanted}, got {got}")
    print("what is missing stays missing")


if __name__ == "__main__":
    main()
