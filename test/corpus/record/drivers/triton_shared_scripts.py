"""The examples of triton-shared that are no pytest functions: every function named test, on the GPU."""
from pathlib import Path
import sys

from loading import attempt, finish, load

for path in sorted((Path.cwd() / "python/examples").glob("*.py")):
    if path.name in ("conftest.py", "benchmark.py"):
        continue
    sys.argv = [str(path)]
    names = load(path, path.stem)
    test = names.get("test")
    if callable(test):
        attempt(path.name, test, "cuda")
finish()
