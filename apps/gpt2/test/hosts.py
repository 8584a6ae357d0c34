"""Runs over two hosts, which are two network namespaces of this machine with a cable between them: started as torchrun, mpirun and
srun start processes, in one to four processes, over IPv4 and IPv6. What listens is looked at; strangers connect from the other
host; a process that dies, or stops to run, ends the others.

    apps/gpt2/test/hosts.py build/bin/nereid-gpt2

Needs the programs unshare, nsenter and ip, and namespaces of the network for this user. --silence waits for 20 s, too.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from program import SMALL, Program, curve_of, words_of

# Without dropout, whose masks are of the rows of one process where a micro-step is divided.
OPTIONS = SMALL | dict(dropout=0.0, batch_size=12, gradient_accumulation_steps=2, max_iters=6, eval_interval=3, log_interval=1, device="cpu")
SECRET = "a secret of two hosts of this test"
ADDRESSES = {4: ("10.77.0.1", "10.77.0.2"), 6: ("fd77::1", "fd77::2")}
INSIDE = "NEREID_TEST_INSIDE_NAMESPACE"


def fail(message):
    sys.exit("error: " + message)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def enter_namespace():
    """Goes on as this program in a network namespace of its own, where it may make others."""
    for tool in ("unshare", "nsenter", "ip"):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            skip(f"no program {tool}")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    ways = [["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"]]
    probe = ["sh", "-c", "ip link add va type veth peer name vb && unshare --net true"]
    for way in ways:
        if subprocess.run(way + probe, capture_output=True).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(way[0], way + [sys.executable, *sys.argv])
    skip("this user may not make network namespaces with a pair of devices between them")


def sh(*words):
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode:
        fail(" ".join(words) + ": " + result.stderr)


class Hosts:
    """Host 0 is this namespace; host 1 is that of a process that waits for the end of its input."""

    def __init__(self, program):
        self.program = program
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo here; exec cat"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.holder.stdout.readline()
        self.other = ["nsenter", "--target", str(self.holder.pid), "--net"]
        sh("ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
        sh("ip", "link", "set", "vb", "netns", str(self.holder.pid))
        self.has6 = pathlib.Path("/proc/net/if_inet6").exists()
        for host, device in enumerate(("va", "vb")):
            words = self.on(host)
            for version in (4, 6) if self.has6 else (4,):
                address = ADDRESSES[version][host] + ("/24" if version == 4 else "/64")
                sh(*words, "ip", f"-{version}", "address", "add", address, "dev", device, *(["nodad"] if version == 6 else []))
            sh(*words, "ip", "link", "set", "lo", "up")
            sh(*words, "ip", "link", "set", device, "up")

    def on(self, host):
        return self.other if host else []

    def start(self, host, variables, out, options=OPTIONS, before=(), **more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("SLURM_", "OMPI_", "PMI_", "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_"))}
        command = [*self.on(host), *before, self.program.path, "train", f"--out_dir={out}", "--dataset=text", *words_of(options)]
        return subprocess.Popen(command, cwd=self.program.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env=environment | variables | {"RENDEZVOUS_SECRET": SECRET}, **more)


def torchrun(rank, size, local, locals_, address):
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(local), "LOCAL_WORLD_SIZE": str(locals_),
            "MASTER_ADDR": address, "MASTER_PORT": "29511"}


def mpirun(rank, size, local, locals_, address):
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "OMPI_COMM_WORLD_LOCAL_RANK": str(local),
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(locals_), "MASTER_ADDR": address}


def srun(rank, size, local, locals_, address):
    return {"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": str(size), "SLURM_LOCALID": str(local), "SLURM_JOB_ID": "4711",
            "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_NODELIST": address + "," + ADDRESSES[4][1]}


def places(starter, size, version=4):
    """The environment of each process: the first half is on host 0, the rest on host 1."""
    first = (size + 1) // 2
    for rank in range(size):
        host = 0 if rank < first else 1
        locals_ = first if host == 0 else size - first
        yield host, starter(rank, size, rank - host * first, locals_, ADDRESSES[version][0])


def wait_all(processes, what):
    texts = [process.communicate()[0] for process in processes]
    for rank, (process, text) in enumerate(zip(processes, texts)):
        if process.returncode:
            fail(f"{what}: process {rank} ended with status {process.returncode}: {text[-600:]}")
    return texts


def losses_of(program, out):
    return curve_of(program.folder / out, ("iter", "loss", "train_loss", "val_loss"))


# Of six steps with few weights: what roundings of sums in other orders come to.
BOUND = 1e-6


def compare(one, other, what):
    """The same lines of the log, and losses within the bound. Returns the largest difference."""
    largest = 0
    if [line[0] for line in one] != [line[0] for line in other]:
        fail(f"{what}: other steps in the log")
    for x, y in zip(one, other):
        for a, b in zip(x[1:], y[1:]):
            if (a is None) != (b is None):
                fail(f"{what}: step {x[0]} has other numbers")
            if a is not None:
                difference = abs(a - b) / abs(a)
                largest = max(largest, difference)
                if difference > BOUND:
                    fail(f"{what}: losses of step {x[0]} differ by {difference:.1e}, expected at most {BOUND:.1e}")
    return largest


def check_losses(hosts, program):
    result = program.train("alone", OPTIONS)
    if result.returncode:
        fail(result.stderr)
    alone = losses_of(program, "alone")
    cases = [(starter, size, 4) for starter in (torchrun, mpirun, srun) for size in (2, 3, 4)]
    if hosts.has6:
        cases += [(torchrun, 3, 6)]
    else:
        print("skipped: IPv6, which this machine has not")
    for starter, size, version in cases:
        what = f"{starter.__name__}, {size} processes on two hosts, IPv{version}"
        out = f"{starter.__name__}{size}-{version}"
        wait_all([hosts.start(host, variables, out) for host, variables in places(starter, size, version)], what)
        largest = compare(alone, losses_of(program, out), what)
        print(f"{what}: losses of {len(alone)} lines of the log within {largest:.1e} of one process's")


def check_loopback6(hosts, program):
    """MASTER_ADDR=::1, on one host."""
    if not hosts.has6:
        return
    started = [hosts.start(0, torchrun(rank, 2, rank, 2, "::1"), "six") for rank in range(2)]
    wait_all(started, "MASTER_ADDR=::1")
    compare(losses_of(program, "alone"), losses_of(program, "six"), "MASTER_ADDR=::1")
    print("MASTER_ADDR=::1: two processes meet")


def check_all_addresses(hosts, program):
    """Process 0 may listen at every address, and the others name one of them."""
    for everywhere, version in (("0.0.0.0", 4), ("::", 4), ("::", 6)) if hosts.has6 else (("0.0.0.0", 4),):
        what = f"MASTER_ADDR={everywhere} for process 0, IPv{version} for process 1"
        (_, zero), (_, one) = places(torchrun, 2, version)
        out = f"all-{everywhere.replace(':', '_')}-{version}"
        started = [hosts.start(0, zero | {"MASTER_ADDR": everywhere}, out), hosts.start(1, one, out)]
        wait_all(started, what)
        compare(losses_of(program, "alone"), losses_of(program, out), what)
        print(f"{what}: they meet")


def listening_of(pid):
    """Addresses and ports at which this process listens, as /proc has them."""
    numbers = set()
    with contextlib.suppress(OSError):
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = os.readlink(link)
                if target.startswith("socket:["):
                    numbers.add(target[8:-1])
    found = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and fields[9] in numbers:
                    found.add(fields[1])
    return found


def wait_for_listening(process):
    while process.poll() is None:
        if found := listening_of(process.pid):
            return found
    fail("process 0 ended: " + process.communicate()[0])


def hexed(address, port):
    return "".join(f"{byte:02X}" for byte in reversed(socket.inet_aton(address))) + f":{port:04X}"


STRANGERS = """
import socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
words = [b"", b"GET / HTTP/1.1\\r\\n\\r\\n", (96).to_bytes(4, "little") + b"x" * 64 + b"nereid-gpt2 0.1.0 1 2" + b" " * 11]
held = []
for i in range(count):
    held.append(socket.create_connection((host, port)))
    held[-1].sendall(words[i % 3])
print("connected", flush=True)
sys.stdin.read()
"""


def check_strangers(hosts, program):
    """1,000 connections from the other host before process 1 comes: where process 0 may open 64 files, too."""
    for name, before in (("strangers", []), ("few files", ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"])):
        place = list(places(torchrun, 2))
        zero = hosts.start(0, place[0][1], name.split()[0], before=before)
        found = wait_for_listening(zero)
        if found != {hexed(ADDRESSES[4][0], 29511)}:
            fail(f"process 0 listens at {found}, expected {ADDRESSES[4][0]}:29511 alone")
        strangers = subprocess.Popen([*hosts.on(1), sys.executable, "-c", STRANGERS, ADDRESSES[4][0], "29511", "1000"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if strangers.stdout.readline() != "connected\n":
            fail("strangers could not connect")
        one = hosts.start(1, place[1][1], name.split()[0])
        wait_all([zero, one], name)
        strangers.communicate()
        compare(losses_of(program, "alone"), losses_of(program, name.split()[0]), name)
        print(f"{name}: after 1,000 connections the processes meet; process 0 listened at its address alone")


def begun(hosts, out):
    """Two processes on two hosts that have logged steps. They listen no more, or, with a newer Gloo, at the own address alone."""
    options = OPTIONS | dict(max_iters=100000, eval_interval=100000)
    zero, one = [hosts.start(host, variables, out, options) for host, variables in places(torchrun, 2)]
    text = ""
    for line in zero.stdout:
        text += line
        if line.startswith("iter 2:"):
            break
    else:
        fail("the run did not begin: " + text)
    for process, address in zip((zero, one), ADDRESSES[4]):
        found = listening_of(process.pid)
        if any(not place.startswith(hexed(address, 0)[:9]) for place in found):
            fail(f"a process listens at {found} while it trains, expected nothing outside of {address}")
    return zero, one


def check_deaths(hosts, program, silence):
    ways = [(signal.SIGKILL, "process 1 of 2 has ended, without a goodbye")]
    if silence:
        ways.append((signal.SIGSTOP, "process 1 of 2 has shown no sign of life for 20 s"))
    for number, words in ways:
        zero, one = begun(hosts, f"dies{number}")
        os.kill(one.pid, number)
        text = zero.communicate()[0]
        one.kill()
        one.communicate()
        if zero.returncode == 0 or words not in text:
            fail(f"{number.name}: status {zero.returncode}, expected '{words}', got {text[-600:]}")
        print(f"{number.name} of process 1: process 0 ends: {words}")


def check_refusals(hosts, program):
    """Said by the process that has another secret."""
    place = list(places(torchrun, 2))
    zero = hosts.start(0, place[0][1], "refused")
    wait_for_listening(zero)
    wrong = hosts.start(1, place[1][1] | {"RANK": "1"}, "refused", before=["env", "RENDEZVOUS_SECRET=another that is not theirs"])
    # Anybody can answer so: it says what it heard, and goes on trying.
    text = ""
    for line in wrong.stdout:
        text += line
        if "note: process 1 of 2 was refused by process 0" in line and "expected the run's RENDEZVOUS_SECRET, got another" in line:
            break
    else:
        fail(f"another secret: got {text[-600:]}")
    wrong.kill()
    wrong.communicate()
    wait_all([zero, hosts.start(1, place[1][1], "refused")], "after a refusal")
    print("another secret is refused, and the run goes on with the right one")


def check_without_secret(hosts, program):
    """Process 0 says what that means."""
    started = [hosts.start(host, variables, "open", before=["env", "-u", "RENDEZVOUS_SECRET"]) for host, variables in places(torchrun, 2)]
    texts = wait_all(started, "no secret")
    note = f"note: any process that reaches {ADDRESSES[4][0]}:29511 may take a process's place"
    if note not in texts[0] or "note: any process that" in texts[1]:
        fail(f"no secret: expected '{note}' of process 0, got {texts[0][:600]}")
    print("without a secret process 0 says what that means")


def main():
    if INSIDE not in os.environ:
        enter_namespace()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(next(word for word in sys.argv[1:] if not word.startswith("--")), folder)
        program.prepare()
        hosts = Hosts(program)
        check_losses(hosts, program)
        check_loopback6(hosts, program)
        check_all_addresses(hosts, program)
        check_strangers(hosts, program)
        check_refusals(hosts, program)
        check_without_secret(hosts, program)
        check_deaths(hosts, program, "--silence" in sys.argv)


if __name__ == "__main__":
    main()
