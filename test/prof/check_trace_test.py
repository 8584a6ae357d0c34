"""check_trace.py finds what is wrong: a checker that accepts everything checks nothing."""

import copy
import unittest

from check_trace import Broken, check


def good():
    names = [{"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "host"}},
             {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "main"}}]
    slices = [{"ph": "X", "pid": 1, "tid": 2, "name": "outer", "cat": "launch", "ts": 10.0, "dur": 10.0},
              {"ph": "X", "pid": 1, "tid": 2, "name": "inner", "cat": "queue", "ts": 12.0, "dur": 2.0},
              {"ph": "s", "pid": 1, "tid": 2, "name": "queued", "cat": "queue", "id": "1", "ts": 12.0},
              {"ph": "f", "pid": 1, "tid": 2, "name": "queued", "cat": "queue", "id": "1", "bp": "e", "ts": 12.0},
              {"ph": "C", "pid": 1, "tid": 0, "name": "memory", "ts": 1.0, "args": {"used": 1}}]
    return names + slices


class CheckTraceTest(unittest.TestCase):
    def broken(self, change):
        events = copy.deepcopy(good())
        events = change(events) or events
        with self.assertRaises(Broken) as caught:
            check({"traceEvents": events})
        return str(caught.exception)

    def test_a_good_trace_passes(self):
        self.assertEqual(len(check({"traceEvents": good()})), 1)

    def test_no_list_of_events(self):
        with self.assertRaises(Broken):
            check([])

    def test_negative_duration(self):
        self.assertIn("duration", self.broken(lambda e: e[2].update(dur=-1)))

    def test_negative_time(self):
        self.assertIn("a time is", self.broken(lambda e: e[2].update(ts=-1)))

    def test_pid_that_is_a_text(self):
        self.assertIn("whole", self.broken(lambda e: e[2].update(pid="1")))

    def test_times_that_go_back(self):
        self.assertIn("never go back", self.broken(lambda e: e[3].update(ts=9.0, dur=0.1)))

    def test_slices_that_cross(self):
        self.assertIn("nested", self.broken(lambda e: e[3].update(dur=9.0)))

    def test_a_track_without_a_name(self):
        self.assertIn("has a name", self.broken(lambda e: e[:1] + e[2:]))

    def test_a_process_without_a_name(self):
        self.assertIn("process has a name", self.broken(lambda e: e[1:]))

    def test_an_end_without_a_begin(self):
        self.assertIn("has its B", self.broken(lambda e: e + [{"ph": "E", "pid": 1, "tid": 2, "name": "x", "ts": 30.0}]))

    def test_a_begin_without_an_end(self):
        self.assertIn("has its E", self.broken(lambda e: e + [{"ph": "B", "pid": 1, "tid": 2, "name": "x", "ts": 30.0}]))

    def test_an_arrow_from_nowhere(self):
        self.assertIn("has begun", self.broken(lambda e: e[:4] + e[5:]))

    def test_an_arrow_beside_its_slice(self):
        self.assertIn("lies at", self.broken(lambda e: e[5].update(ts=13.0)))

    def test_a_negative_counter(self):
        self.assertIn("from 0 on", self.broken(lambda e: e[6].update(args={"used": -1})))


if __name__ == "__main__":
    unittest.main()
