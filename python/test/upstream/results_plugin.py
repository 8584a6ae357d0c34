"""A plugin of pytest for run-upstream and run-sample: a line of JSON for each test, a fixed sample, and no test in a process that has lost its GPU."""
import json
import os
import zlib

import pytest

RESULTS = os.environ["NEREID_TEST_RESULTS"]
SAMPLE = float(os.environ.get("NEREID_TEST_SAMPLE", "1"))
#: A file of names, one a line, which are the sample then.
LIST = os.environ.get("NEREID_TEST_LIST")
#: "2/4" for the third of four processes that share the sample, where pytest-xdist cannot.
PART, PARTS = map(int, os.environ.get("NEREID_TEST_PART", "0/1").split("/"))

_lost = []


def pytest_collection_modifyitems(items):
    # By name: the same tests on every machine, whatever was added.
    numbers = {item: zlib.crc32(item.nodeid.encode()) for item in items}
    if LIST:
        with open(LIST) as file:
            names = {line.split("  # ")[0].rstrip("\n") for line in file}
        chosen = [item for item in items if item.nodeid in names]
    else:
        chosen = [item for item in items if numbers[item] % 10000 < SAMPLE * 10000]
    items[:] = [item for item in chosen if numbers[item] // 10000 % PARTS == PART]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.excinfo is None or not report.failed:
        return
    report.user_properties.append(("error", f"{call.excinfo.typename}: {call.excinfo.value}"[:700]))
    import torch
    try:
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
    except RuntimeError:
        _lost.append(item.nodeid)


def pytest_runtest_logfinish():
    if _lost and "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(3)  # pytest-xdist starts another one


def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ or not (report.when == "call" or report.outcome != "passed"):
        return
    error = dict(report.user_properties).get("error", str(report.longrepr)[-300:]) if report.failed else ""
    with open(RESULTS, "a") as file:
        file.write(json.dumps([report.nodeid, report.outcome, error]) + "\n")
