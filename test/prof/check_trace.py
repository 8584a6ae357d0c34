#!/usr/bin/env python3
"""A trace keeps the rules of Chrome's trace-event format.

    test/prof/check_trace.py out.json

The rules, as "Trace Event Format" (Google) and Perfetto's importer have them: an object with the list "traceEvents"; pid and tid
are whole numbers; each B has its E, each X a duration; nothing is negative; slices of a track are disjoint or nested; times of a
track and of a counter never go back in the file; every process and every track with slices has one name; an arrow that
ends has begun, and lies on slices. Prints what the trace holds; exits with 1 at the first rule that is broken, naming the event.
"""

import collections
import json
import sys


class Broken(Exception):
    pass


def require(holds, event, rule):
    if not holds:
        raise Broken(f"{rule}: {json.dumps(event)[:300]}")


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_time(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def nanoseconds(microseconds):
    """Times are written to the nanosecond; a float of them is not exact."""
    return round(microseconds * 1000)


def check(trace):
    """Of a parsed trace: {(process, track): [slices]} by name, or Broken."""
    require(isinstance(trace, dict) and isinstance(trace.get("traceEvents"), list), {}, 'expected an object with "traceEvents"')
    names = {"process_name": {}, "thread_name": {}}
    tracks = collections.defaultdict(list)
    open_begins = collections.defaultdict(list)
    last = {}
    arrows = {"s": {}, "f": []}
    for event in trace["traceEvents"]:
        require(isinstance(event, dict) and isinstance(event.get("ph"), str), event, "an event has a phase")
        require(is_whole(event.get("pid")) and is_whole(event.get("tid")), event, "pid and tid are whole numbers")
        require(event["pid"] >= 0 and event["tid"] >= 0, event, "pid and tid are not negative")
        require(isinstance(event.get("name"), str), event, "an event has a name")
        track = (event["pid"], event["tid"])
        if event["ph"] == "M":
            if event["name"] in names:
                key = event["pid"] if event["name"] == "process_name" else track
                require(key not in names[event["name"]], event, "a track is named once")
                require(event["args"]["name"], event, "the name is a text")
                names[event["name"]][key] = event["args"]["name"]
            continue
        require(is_time(event.get("ts")), event, "a time is a number from 0 on")
        line = ("C", event["pid"], event["name"]) if event["ph"] == "C" else (event["ph"] in "sf", *track)
        require(nanoseconds(event["ts"]) >= last.get(line, 0), event, "times never go back")
        last[line] = nanoseconds(event["ts"])
        if event["ph"] == "X":
            require(is_time(event.get("dur")), event, "a slice has a duration from 0 on")
            require(isinstance(event.get("cat"), str) and event["cat"], event, "a slice has a category")
            tracks[track].append(event)
        elif event["ph"] == "B":
            open_begins[track].append(event)
        elif event["ph"] == "E":
            require(open_begins[track], event, "an E has its B")
            begin = open_begins[track].pop()
            tracks[track].append({**begin, "ph": "X", "dur": event["ts"] - begin["ts"]})
        elif event["ph"] == "C":
            require(event.get("args"), event, "a counter has values")
            require(all(is_time(value) for value in event["args"].values()), event, "a counter's values are numbers from 0 on")
        elif event["ph"] in "sf":
            require("id" in event and event.get("cat"), event, "an arrow has an id and a category")
            if event["ph"] == "s":
                require(event["id"] not in arrows["s"], event, "an arrow begins once")
                arrows["s"][event["id"]] = event
            else:
                arrows["f"].append(event)
        else:
            require(False, event, "the phases are M, X, B, E, C, s and f")
    for begins in open_begins.values():
        require(not begins, begins[:1], "a B has its E")
    for track, slices in tracks.items():
        require(track in names["thread_name"], slices[0], "a track with slices has a name")
        require(track[0] in names["process_name"], slices[0], "its process has a name")
        check_nesting(slices)
    ends = {event["id"] for event in arrows["f"]}
    for event in arrows["f"]:
        require(event["id"] in arrows["s"], event, "an arrow that ends has begun")
    for event in [*arrows["s"].values(), *arrows["f"]]:
        require(event["id"] in ends, event, "an arrow that begins ends")
    check_arrows([*arrows["s"].values(), *arrows["f"]], tracks)
    named = {}
    for track, slices in tracks.items():
        named[(names["process_name"][track[0]], names["thread_name"][track], track)] = slices
    return named


def check_nesting(slices):
    stack = []
    for event in sorted(slices, key=lambda event: (nanoseconds(event["ts"]), -nanoseconds(event["dur"]))):
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        while stack and stack[-1] <= begin:
            stack.pop()
        require(not stack or end <= stack[-1], event, "slices of a track are disjoint or nested")
        stack.append(end)


def check_arrows(arrows, tracks):
    begins = {track: {nanoseconds(event["ts"]) for event in slices} for track, slices in tracks.items()}
    for arrow in arrows:
        track = (arrow["pid"], arrow["tid"])
        require(nanoseconds(arrow["ts"]) in begins.get(track, ()), arrow, "an arrow lies at the begin of a slice")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    try:
        tracks = check(trace)
    except Broken as broken:
        sys.exit(f"{sys.argv[1]}: {broken}")
    for (process, name, _), slices in sorted(tracks.items()):
        kinds = collections.Counter(event["cat"] for event in slices)
        print(f"{process}, {name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))


if __name__ == "__main__":
    main()
