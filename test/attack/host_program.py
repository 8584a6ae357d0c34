"""Tuning decorators that come from objects, enums, files, exceptions and code of the host: something to spoil."""
import ast
import importlib
import json
import os
import subprocess
import threading
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property, lru_cache
from queue import Queue

import torch
import triton
import triton.language as tl
import yaml

chosen = None
HERE = os.path.dirname(os.path.abspath(__file__))


class Vendor(Enum):
    NVIDIA = 0
    OTHER = 1
    SAME = 1

    @classmethod
    def names(cls):
        return {member.name.lower(): member for member in cls}


class Level(IntEnum):
    LOW = 1
    HIGH = 4


@dataclass
class Info:
    name: str
    command: str = "nvidia-smi"


class Missing(KeyError):

    def __init__(self, key):
        super().__init__(key)
        self.key = key


class Base:
    unit = 2

    def __init__(self, scale=1):
        self.scale = scale

    def __len__(self):
        return self.scale

    def __getitem__(self, i):
        if i not in (0, 1, "x"):
            raise Missing(i)
        return self.unit * self.scale

    def __iter__(self):
        return iter([1, 2])

    def __add__(self, other):
        return type(self)(self.scale + len(other))

    def __eq__(self, other):
        return self.scale == other.scale

    @property
    def warps(self):
        return Level.HIGH * self.unit


class Loader(Base):
    made = None

    def __new__(cls, *args, **kwargs):
        if cls.made is None:
            cls.made = super(Loader, cls).__new__(cls)
        return cls.made

    def __init__(self, *args):
        if not hasattr(self, "ready"):
            super().__init__(*args)
            self.ready, self.rows = True, {}
            with open(os.path.join(HERE, "configs.yaml"), "r") as file:
                self.data = yaml.safe_load(file)
            self.more = json.loads('{"sizes": [32, 64], "deep": {"a": null}}')
            self.vendor = self.detect()

    def detect(self):
        found, threads = Queue(), []

        def ask(info):
            try:
                if subprocess.run([info.command]).returncode == 0:
                    found.put(info)
            except FileNotFoundError as error:
                self.rows["gone"] = str(error)

        for info in [Info("nvidia"), Info("other", "rocm-smi")]:
            thread = threading.Thread(target=ask, args=(info, ))
            threads.append(thread)
            thread.start()
        for thread in threads:
            thread.join()
        return Vendor.names()[found.get().name]

    @cached_property
    def sizes(self):
        return self.data["sizes"] + self.more["sizes"]

    def configs(self, key):
        try:
            rows = self.data[key]
        except KeyError as error:
            raise RuntimeError(f"no {key}: {error}")
        finally:
            self.rows[key] = len(self.rows)
        return [triton.Config({"BLOCK": size}, num_warps=row["warps"]) for row in rows for size in self.sizes]


def made(text, name):
    exec(compile(ast.parse(text), filename="<x>", mode="exec"), globals())
    return globals()[name]


@lru_cache(maxsize=8)
def loader():
    global chosen
    if chosen is None:
        chosen = Loader(3)
    return chosen


def prune(configs, named_args, **kwargs):
    return [config for config in configs if config.kwargs["BLOCK"] <= made("limit = 64 + 2 ** 4", "limit")]


first = loader()
first.unit = 3
del first.rows
first.rows = {"a": [1, 2]}
both = first + Base(2)
assert both == Loader() and both[0] > 1 and "x" not in both


@triton.autotune(configs=loader().configs("kernel"), key=["n"], prune_configs_by={"early_config_prune": prune})
@triton.heuristics({"WARPS": lambda args: first.warps if args["n"] > eval("1 + 2") else both["x"]})
@triton.jit
def k(p, q, n, x, BLOCK: tl.constexpr, WARPS: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), x + WARPS)
