"""Runs many programs at once, each in a process of its own with a timeout, and says how each went.

A job: dict(suite, root, words, cwd, timeout, env). Whatever fails, what was recorded until then stays.
"""
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time


def main(words):
    """plan OUT PLAN.json [--jobs N] [--limit SECONDS]"""
    out, jobs = words[0], json.loads(Path(words[1]).read_text())
    number = int(words[words.index("--jobs") + 1]) if "--jobs" in words else 16
    limit = float(words[words.index("--limit") + 1]) if "--limit" in words else 480
    report(run(out, jobs, number, limit))
    return 0


class Running:
    def __init__(self, out, number, job):
        self.number, self.job, self.began = number, job, time.time()
        self.log = Path(out) / "logs" / f"{number:04d}.log"
        command = [sys.executable, str(Path(__file__).resolve().parent), "run", str(Path(out).resolve()), job["suite"],
                   str(Path(job["root"]).resolve()), "--", *job["words"]]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
                       "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore",
                       **job.get("env", {})}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, cwd=job.get("cwd", "."), stdout=log, stderr=subprocess.STDOUT,
                                            start_new_session=True, env=environment)

    def finished(self, over):
        """The row of a program that ended or was ended, or None."""
        late = over or time.time() - self.began > self.job.get("timeout", 60)
        code = self.process.poll()
        if code is None and not late:
            return None
        if code is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                code = self.process.wait(2)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                code = self.process.wait()
        text = self.log.read_text(errors="replace").strip().splitlines()
        return row_of(self.number, self.job, code, late, round(time.time() - self.began, 1), text[-3:])


def row_of(number, job, code, late, seconds, tail):
    return dict(number=number, suite=job["suite"], words=job["words"], code=code, late=late, seconds=seconds, tail=tail)


def run(out, jobs, at_once, limit):
    start, todo, running, rows = time.time(), list(enumerate(jobs)), [], []
    (Path(out) / "logs").mkdir(parents=True, exist_ok=True)
    while todo or running:
        over = time.time() - start > limit
        while todo and len(running) < at_once and not over:
            running.append(Running(out, *todo.pop(0)))
        for one in list(running):
            row = one.finished(over)
            if row:
                running.remove(one)
                rows.append(row)
        if over:
            rows += [row_of(number, job, None, True, 0, ["not started"]) for number, job in todo]
            todo = []
        time.sleep(0.05)
    (Path(out) / "programs.json").write_text(json.dumps(rows, indent=0))
    return rows


def report(rows):
    bad = [row for row in rows if row["code"] != 0]
    print(f"{len(rows)} programs, {len(bad)} not clean")
    for row in sorted(bad, key=lambda row: row["number"]):
        print(row["number"], row["suite"], row["code"], "late" if row["late"] else "", row["seconds"],
              " ".join(row["words"])[-70:], "|", (row["tail"] or [""])[-1][:150])
