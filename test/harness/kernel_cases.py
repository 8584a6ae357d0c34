"""The cases of kernels/<op>/cases.txt, as kernels/README.md describes them."""

import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
USERS = {"test", "assemble", "gpu", "cpu"}


class Case:
    def __init__(self, path, kernel, users, values, signature):
        self.path, self.kernel, self.users, self.values, self._signature = path, kernel, users, values, signature

    def __getitem__(self, name):
        """A number where it is one."""
        if name not in self.values:
            raise LookupError(f"{self.path}: a case of {self.kernel} says no {name}")
        value = self.values[name]
        return int(value) if re.fullmatch(r"-?\d+", value) else value

    def numbers(self, *names):
        return tuple(self[name] for name in names)

    def signature(self):
        text = self._signature.format_map(self.values)
        return text + (f",minnreg={self['minnreg']}" if "minnreg" in self.values else "")


def ops():
    return sorted(path.parent.name for path in KERNELS.glob("*/cases.txt"))


def read(path):
    signatures, defaults, found = {}, {}, []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] == "signature":
                signatures[words[1]] = words[2]
            elif words[0] == "default":
                defaults.update(word.split("=", 1) for word in words[1:])
            else:
                users = set(words[1].split(","))
                if not users <= USERS:
                    raise ValueError(f"users are {', '.join(sorted(USERS))}")
                values = {**defaults, **dict(word.split("=", 1) for word in words[2:])}
                found.append(Case(path, words[0], users, values, signatures.get(words[0], "")))
        except (IndexError, ValueError) as error:
            raise ValueError(f"{path}:{number}: {error}; expected KERNEL USERS NAME=VALUE..., got '{line}'") from None
    return found


def cases(op, user, kernel=None):
    """Those of one user, in the file's order."""
    return [case for case in read(KERNELS / op / "cases.txt")
            if user in case.users and kernel in (None, case.kernel)]
