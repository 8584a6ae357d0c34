"""Upstream's package of a version, unpacked from PyPI into a folder and kept there."""
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import tempfile


def fetched(version, folder):
    """(the folder that has triton/, None), or (None, the reason why there is none)."""
    package = pathlib.Path(folder) / f"triton-{version}"
    if (package / "triton" / "__init__.py").is_file():
        return package, None
    package.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=package.parent) as place:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target",
                   f"{place}/package", f"triton=={version}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            return None, f"pip does not fetch triton {version}: {lines[-1]}"
        # Another test may have put it there meanwhile.
        if not package.exists():
            shutil.move(f"{place}/package", package)
    return package, None


def make_importable(version, folder):
    """Why `import triton` does not give this version; None where it does. Without a folder nothing is fetched."""
    try:
        installed = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        installed = None
    if installed == version:
        return None
    reason = f"triton {installed} is installed, and {version} is asked for" if installed else "Triton is not installed"
    if not folder:
        return reason
    package, failure = fetched(version, folder)
    if failure:
        return f"{reason}; {failure}"
    sys.path.insert(0, str(package))
    return None
