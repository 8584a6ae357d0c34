"""Files that host code keeps by a key. The compiler's own cache is the runtime's (NEREID_CACHE_DIR), and is not here."""
import base64
import hashlib
import json
import os
import tempfile

from nereid import _native

from triton import knobs


def triton_key():
    """Changes with the compiler's build."""
    return "nereid-" + _native.build_id()


def _base32(key):
    return base64.b32encode(bytes.fromhex(key)).decode("utf-8").rstrip("=")


class CacheManager:
    """Files of one key."""

    def __init__(self, key, override=False, dump=False):
        self.key = key

    def get_file(self, filename):
        """Its path; None where there is none."""
        raise NotImplementedError(f"{type(self).__name__}.get_file")

    def put(self, data, filename, binary=True):
        """Writes bytes or text, and gives the path."""
        raise NotImplementedError(f"{type(self).__name__}.put")

    def get_group(self, filename):
        """{name: path} of a group that `put_group` wrote; None where there is none."""
        raise NotImplementedError(f"{type(self).__name__}.get_group")

    def put_group(self, filename, group):
        raise NotImplementedError(f"{type(self).__name__}.put_group")


class FileCacheManager(CacheManager):
    """In the folder `key` of knobs.cache.dir (or dump_dir, override_dir). A file is written whole, or not at all."""

    def __init__(self, key, override=False, dump=False):
        super().__init__(key, override, dump)
        root = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not root:
            raise RuntimeError("expected a folder for the cache in TRITON_CACHE_DIR or TRITON_HOME, got none")
        self.cache_dir = os.path.join(root, key)
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)

    def _path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        return os.path.exists(self._path(filename))

    def get_file(self, filename):
        return self._path(filename) if self.has_file(filename) else None

    def put(self, data, filename, binary=True):
        if not isinstance(data, bytes):
            data = str(data).encode()
        with tempfile.NamedTemporaryFile(dir=self.cache_dir, delete=False) as file:
            file.write(data)
        os.chmod(file.name, 0o755)
        os.replace(file.name, self._path(filename))
        return self._path(filename)

    def get_group(self, filename):
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            paths = json.load(file)["child_paths"]
        return {name: path for name, path in paths.items() if os.path.exists(path)}

    def put_group(self, filename, group):
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def get_cache_manager(key):
    """That of `key`, a number in hexadecimal, by knobs.cache.manager_class."""
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key))


def get_dump_manager(key):
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), dump=True)


def get_override_manager(key):
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), override=True)


def make_key(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
