"""Runs launches in `nereid run --launch`, many in one process; a crash or an endless kernel costs that launch only."""
import json
import os
import signal
import subprocess
import time

# How the command reports a kernel that was stopped by the processor.
FAULTS = ("segmentation fault at address", "bus error at address")


class Tool:
    def __init__(self, path, device, timeout, threads, cache):
        self.path, self.device, self.timeout = path, device, timeout
        self.environment = {**os.environ, "NEREID_CACHE_DIR": str(cache), "NEREID_NUM_THREADS": str(threads)}

    def run(self, launches, folder, **environment):
        """One result a launch: what the tool says, or status `crash` or `timeout`."""
        results, todo = {}, list(launches)
        while todo:
            done, ending = self.process(todo, folder, environment)
            results.update(done)
            rest = [one for one in todo if one["id"] not in done]
            if rest and ending:
                results[rest[0]["id"]] = ending
                rest = rest[1:]
            elif rest:
                results.update((one["id"], dict(status="tool-error", error="no line for this launch")) for one in rest)
                rest = []
            todo = rest
        return results

    def process(self, launches, folder, environment):
        """(results by id, how the process ended before it was through or None)."""
        file, output = folder / "launches.jsonl", folder / "results.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in launches))
        output.write_text("")
        errors = folder / "stderr"
        with open(errors, "w") as stream:
            process = subprocess.Popen([self.path, "run", "--launch", str(file), "--device", self.device, "--results", str(output)],
                                       stdout=stream, stderr=subprocess.STDOUT, cwd=folder, env={**self.environment, **environment},
                                       start_new_session=True)
        late = self.watch(process, output)
        done = read_results(output)
        text = errors.read_text(errors="replace").strip()
        if late:
            return done, dict(status="timeout", error=f"more than {self.timeout:g} s")
        if process.returncode < 0 or process.returncode >= 128:
            number = -process.returncode if process.returncode < 0 else process.returncode - 128
            return done, dict(status="crash", error=f"signal {number}: {' | '.join(text.splitlines()[-4:])}"[:600])
        if len(done) < len(launches):
            status = "crash" if any(fault in text for fault in FAULTS) else "tool-error"
            return done, dict(status=status, error=(text or f"exit code {process.returncode}")[:600])
        return done, None

    def watch(self, process, output):
        """Whether the process was ended because a launch took too long."""
        size, since = 0, time.time()
        while process.poll() is None:
            now = output.stat().st_size
            if now != size:
                size, since = now, time.time()
            if time.time() - since > self.timeout:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return True
            time.sleep(0.01)
        return False


def read_results(path):
    rows = {}
    for line in path.read_text(errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:  # cut off by a signal
            continue
        if row.get("status") == "failed" and any(fault in row.get("error", "") for fault in FAULTS):
            row["status"] = "crash"
        rows[row.get("id")] = row
    return rows
