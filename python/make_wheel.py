#!/usr/bin/env python3
"""make_wheel.py BUILD FOLDER: puts the package of a build folder into a wheel. A wheel is an archive with a list of its files: no build
system is needed for one."""
import base64
import hashlib
import pathlib
import re
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
# What the extension's C library must be at least (scripts/build-wheel compares).
PLATFORM = "manylinux_2_35_x86_64"

METADATA = """Metadata-Version: 2.1
Name: nereid
Version: {version}
Summary: A compiler and runtime for Triton-language kernels on CPUs and GPUs
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.10
"""


def main():
    if len(sys.argv) != 3:
        sys.exit("make_wheel.py: expected a build folder and a folder for the wheel")
    package, target = pathlib.Path(sys.argv[1]) / "python/nereid", pathlib.Path(sys.argv[2])
    extensions = list(package.glob("_native*.so"))
    if len(extensions) != 1:
        sys.exit(f"make_wheel.py: expected one extension in {package}, got {len(extensions)}; hint: build NereidPython")
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "nereid/__init__.py").read_text())[1]
    is_stable = ".abi3." in extensions[0].name
    number = "cp312" if is_stable else "cp" + sysconfig.get_config_var("py_version_nodot")
    tag = f"{number}-{'abi3' if is_stable else number}-{PLATFORM}"
    files = {f"nereid/{path.relative_to(ROOT / 'nereid').as_posix()}": path for path in sorted((ROOT / "nereid").rglob("*.py"))}
    files[f"nereid/{extensions[0].name}"] = extensions[0]
    info = f"nereid-{version}.dist-info"
    texts = {
        f"{info}/METADATA": METADATA.format(version=version),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: nereid\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    license_file = ROOT.parent / "LICENSE"
    files[f"{info}/LICENSE"] = license_file
    target.mkdir(parents=True, exist_ok=True)
    wheel = target / f"nereid-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in [*((name, path.read_bytes()) for name, path in files.items()), *((name, text.encode()) for name, text in texts.items())]:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # equal inputs, equal wheels
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content, compresslevel=9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record.append(f"{name},sha256={digest},{len(content)}")
        record.append(f"{info}/RECORD,,")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), "\n".join(record) + "\n")
    print(wheel)


if __name__ == "__main__":
    main()
