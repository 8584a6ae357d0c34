"""What a launch on the simulated AMD GPU executed, read from its trace
(nereid-amd-run run --trace), and which waits and barriers of it did something.

This counts on its own what is on its way, by the mnemonics: it shares nothing with
the simulator's checks, which it judges."""

import collections
import re

REGISTER = re.compile(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])|\b(vcc)\b")
WAITS = {"s_waitcnt_vscnt": "store", "s_wait_loadcnt": "load", "s_wait_storecnt": "store", "s_wait_dscnt": "lds",
         "s_wait_kmcnt": "scalar"}
CACHE = re.compile(r"buffer_(wb|inv|gl\d)|global_(wb|inv)|s_dcache|s_icache")


def is_barrier(text):
    return bool(re.match(r"s_barrier$|s_barrier_wait", text))


def registers(text):
    found = set()
    for kind, one, first, last, vcc in REGISTER.findall(text):
        if vcc:
            found.add("vcc")
        elif one:
            found.add(kind + one)
        else:
            found |= {f"{kind}{i}" for i in range(int(first), int(last) + 1)}
    return found


class Operation:
    """A memory instruction on its way."""

    def __init__(self, text, counter, in_order):
        self.text, self.counter, self.in_order = text, counter, in_order
        name, _, operands = text.partition(" ")
        first = operands.split(",")[0]
        is_atomic = "atomic" in name
        returns = "_rtn" in name or re.search(r"\b(glc|sc0|TH_ATOMIC_RETURN)\b", text)
        loads = re.search(r"load|_read", name) or name.startswith(("ds_bpermute", "ds_permute", "ds_swizzle"))
        self.result = registers(first) if loads or is_atomic and returns or name.startswith("ds_") and returns else set()
        self.is_scalar = name.startswith("s_")
        self.is_cache = bool(CACHE.match(name))


def counter_of(text, target):
    """Which counter counts the instruction, and whether it is done in order; None where none does."""
    name = text.split(" ")[0]
    is_store = "store" in name or "atomic" in name and not re.search(r"\b(glc|sc0|TH_ATOMIC_RETURN)\b", text)
    is_store |= name in ("buffer_wbl2", "global_wb")
    if name.startswith(("s_load", "s_buffer_load", "s_memtime", "s_memrealtime")):
        return ("scalar" if target == "gfx1201" else "lds"), False
    if name.startswith("ds_"):
        return "lds", True
    if name.startswith(("global_", "buffer_", "scratch_")):
        return ("load" if target.startswith("gfx9") or not is_store else "store"), True
    return None


def waits_of(text):
    """{counter: at most so many}"""
    name, _, rest = text.partition(" ")
    if name == "s_waitcnt":
        found = dict(re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", rest))
        return {{"vmcnt": "load", "lgkmcnt": "lds"}[one]: int(count) for one, count in found.items()}
    both = re.match(r"s_wait_(load|store)cnt_dscnt", name)
    if both:
        return {both.group(1): int(rest, 0) >> 8 & 0x3f, "lds": int(rest, 0) & 0x3f}
    return {WAITS[name]: int(rest.split(" ")[-1], 0) & 0x3f} if name in WAITS else {}


class Execution:
    def __init__(self, path, listing, target):
        """`listing`: {address: text}."""
        self.listing, self.target = listing, target
        self.groups = []  # of waves, each a list of (address, accesses)
        # By group and byte: which waves touch it and how, and after how many barriers at last.
        self.touches = []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                kind, *words = line.split()
                if kind == "g":
                    self.groups.append(collections.defaultdict(list))
                elif kind == "i":
                    self.groups[-1][int(words[0])].append((int(words[1]), []))
                else:
                    self.groups[-1][int(words[0])][-1][1].append((kind, int(words[1]), int(words[2]), words[3]))
        for waves in self.groups:
            self.touches.append({})
            for number, wave in waves.items():
                passed = 0
                for at, accesses in wave:
                    for kind, place, size, how in accesses:
                        for byte in range(place, place + size):
                            self.touches[-1].setdefault((kind, byte), {})[number, how] = passed
                    passed += is_barrier(listing[at])

    def needs_wait(self, address, counter, at_most):
        """Why a wait for one more than `at_most` there would not do; None where it does in every execution."""
        for group, waves in enumerate(self.groups):
            has_stored = any(kind == "m" and how == "w" for wave in waves.values() for _, accesses in wave
                             for kind, _, _, how in accesses)
            for number in waves:
                reason = self.wave_needs_wait((group, number), address, counter, at_most, has_stored)
                if reason:
                    return reason
        return None

    def wave_needs_wait(self, place, address, counter, at_most, has_stored):
        pending = collections.defaultdict(list)
        passed = 0
        for i, (at, accesses) in enumerate(self.groups[place[0]][place[1]]):
            text = self.listing[at]
            if at == address and len(pending[counter]) > at_most:
                on_way = pending[counter]
                is_ordered = all(one.in_order for one, _ in on_way)
                for j, (one, touched) in enumerate(on_way):
                    if is_ordered and j != len(on_way) - at_most - 1:
                        continue
                    reason = self.touched(place, i + 1, one, touched, passed, len(on_way) - j - 1, has_stored)
                    if reason:
                        return reason
            for waited, most in waits_of(text).items():
                if most == 0 or all(one.in_order for one, _ in pending[waited]):
                    pending[waited] = pending[waited][max(len(pending[waited]) - most, 0):]
            found = counter_of(text, self.target)
            if found:
                pending[found[0]].append((Operation(text, *found), accesses))
            passed += is_barrier(text)
        return None

    def conflicts(self, group, number, accesses, passed):
        """Whether another wave touches that memory after so many barriers, where one of the two writes."""
        for kind, place, size, how in accesses:
            for byte in range(place, place + size):
                for (other, then), last in self.touches[group].get((kind, byte), {}).items():
                    if other != number and last >= passed and (how, then) not in (("r", "r"), ("a", "a")):
                        return True
        return False

    def touched(self, place, start, operation, accesses, passed, newer, has_stored):
        """What needs the operation to be done, before a later wait says that it is. `place`: of the wave, its group
        and its number; `passed`: barriers before; `newer`: operations issued after it."""
        group, number = place
        wave = self.groups[group][number]
        if operation.is_cache:
            return "what was stored is made visible" if has_stored else None
        in_order = operation.in_order
        for at, _ in wave[start:]:
            text = self.listing[at]
            if waits_of(text).get(operation.counter, 1 << 30) <= (newer if in_order else 0):
                return None
            found = counter_of(text, self.target)
            # What is done in the same order may overwrite the result.
            is_later = in_order and found == (operation.counter, True)
            if operation.result & registers(text.partition(",")[2] if is_later else text):
                return f"{at:#x}: {text} touches what {operation.text} loads"
            if is_barrier(text):
                passed += 1
                if self.conflicts(group, number, accesses, passed):
                    return f"{operation.text} is on its way at a barrier that orders it"
            if CACHE.match(text) and not operation.is_scalar and (operation.result or has_stored):
                return f"{operation.text} is on its way at {text}"
            if found and found[0] == operation.counter:
                newer += 1
                in_order &= found[1]
        return None

    def needs_barrier(self, address):
        """Two accesses that only the barrier there orders; None where there are none in any execution."""
        for waves in self.groups:
            # By the barriers that a wave has passed: what it touched, and which barrier was this.
            intervals = collections.defaultdict(lambda: collections.defaultdict(set))
            places = set()
            for number, wave in waves.items():
                passed = 0
                for at, accesses in wave:
                    for kind, place, size, how in accesses:
                        for byte in range(place, place + size):
                            intervals[passed][kind, byte].add((number, how))
                    if is_barrier(self.listing[at]):
                        places |= {passed} if at == address else set()
                        passed += 1
            for k in places:
                for byte, before in intervals[k].items():
                    after = intervals[k + 1].get(byte, ())
                    for one, how in before:
                        for other, then in after:
                            if one != other and (how, then) not in (("r", "r"), ("a", "a")):
                                return f"waves {one} and {other} at byte {byte[1]}"
        return None
