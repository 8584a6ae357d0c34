//===- ReportHtml.cpp - A page: the source with its costs in the margin ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Comparison.h"

#include "nereid/Support/Markup.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace nereid::explain {

static constexpr const char *style = R"(
:root { color-scheme: light dark; --page: #fff; --text: #1b1f24; --soft: #667;
  --line: #d8dce2; --bar: #9cc3f5; --loss: #fff3d6; --lossLine: #a87400; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --text: #e3e6ea;
  --soft: #9aa4b0; --line: #333a43; --bar: #2f5d94; --loss: #3a2f12;
  --lossLine: #d99a00; } }
body { background: var(--page); color: var(--text); margin: 2em auto;
  max-width: 90em; padding: 0 1.5em; font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4em; margin-bottom: 0; } h2 { font-size: 1.1em; }
h1, h2, dd { overflow-wrap: anywhere; }
.soft, summary { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1.2em; }
dt { color: var(--soft); } dd { margin: 0; }
.limit { display: grid; grid-template-columns: 8em 6em 1fr; gap: .8em; }
.limit span:last-child { background: var(--bar); align-self: center;
  height: .8em; border-radius: 2px; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
td, th { padding: 0 .7em; text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: normal; border-bottom: 1px solid
  var(--line); } .source td:last-child, .source th:last-child,
.note td { text-align: left; } .source td:last-child, .number { font: 13px/1.5
  ui-monospace, monospace; white-space: pre; }
.number { color: var(--soft); } .share { background: linear-gradient(to left,
  var(--bar) var(--part), transparent var(--part)); }
.source .note td { white-space: normal; padding: .25em .7em .25em 2em;
  font: inherit; } .note div { max-width: 70em; }
.code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.note.hint td { background: var(--loss); border-left: 3px solid
  var(--lossLine); } .comparison td:first-child { text-align: left; }
.made { overflow-wrap: anywhere; } .roofline { max-width: 34em; }
.roofline text { fill: var(--soft); font-size: 13px; }
@media (max-width: 40em) { body { margin: .5em auto; padding: 0 .6em; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4em; }
  .source td:nth-child(3), .source th:nth-child(3), .source td:nth-child(5),
  .source th:nth-child(5) { display: none; }
  .source .note td { display: table-cell; }
  .roofline text { font-size: 15px; }
  .limit { grid-template-columns: 6em 5em 1fr; } td, th { padding: 0 .3em; }
  .source th { white-space: normal; } }
@media print { :root { color-scheme: light; --page: #fff; --text: #000;
  --soft: #444; --line: #bbb; --bar: #9cc3f5; --loss: #fff3d6;
  --lossLine: #a87400; }
  body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; } .source { width: 100%; font-size: 8pt; }
  .source td:last-child { white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: 8pt; } td, th { padding: 0 .3em; } tr { break-inside: avoid; }
  .source th { white-space: normal; } details > * { display: block; } }
)";

static std::string number(double value) {
  if (value >= 1000) {
    return countText(value);
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

static std::string cell(const std::string &text) {
  return "<td>" + escapedMarkup(text) + "</td>";
}

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

namespace {

/// What stands beside a line and below it.
struct LineNotes {
  double instructions = 0;
  double bytes = 0, requests = 0, sectors = 0, leastSectors = 0;
  double passes = 0, leastPasses = 0;
  std::vector<std::string> hints, decisions, machineCode;
};

} // namespace

using FileNotes = std::map<std::string, std::map<uint32_t, LineNotes>>;

static FileNotes notesOf(const Report &report) {
  FileNotes files;
  for (const LineCost &cost : report.lines) {
    files[cost.file][cost.line].instructions += cost.instructions;
  }
  for (const AccessCost &cost : report.accesses) {
    LineNotes &line = files[cost.file][cost.line];
    if (cost.isShared) {
      line.passes += cost.units;
      line.leastPasses += cost.leastUnits;
      continue;
    }
    line.bytes += cost.units * report.unitBytes();
    line.requests += cost.requests;
    line.sectors += cost.units;
    line.leastSectors += cost.leastUnits;
  }
  for (const Hint &hint : report.hints) {
    files[hint.file][hint.line].hints.push_back(hint.text);
  }
  for (const ToldDecision &one : report.decisions) {
    files[one.location.file][one.location.line].decisions.push_back(
        decisionText(report, one));
  }
  for (const MachineLine &one : report.machineCode) {
    files[one.file][one.line].machineCode.push_back(one.text);
  }
  for (auto &[file, lines] : files) {
    lines.erase(0); // of no line
  }
  return files;
}

/// "32 (4)": what it is, and what would do, where that is less.
static std::string ofLeast(double is, double least) {
  std::string text = number(is);
  return is > 1.02 * least ? text + " (" + number(least) + ")" : text;
}

/// A row that opens: "3 decisions", each on a line of its own.
static void addDetails(std::string &out, const std::vector<std::string> &texts,
                       const std::string &what, const char *attributes) {
  if (texts.empty()) {
    return;
  }
  out += std::string("<tr class=note><td colspan=6><details") + attributes +
         "><summary>" + countedText(texts.size(), what) + "</summary>";
  for (const std::string &text : texts) {
    out += escapedMarkup(text) + "<br>";
  }
  out += "</details></td></tr>\n";
}

static void addLine(std::string &out, uint32_t at, const std::string &text,
                    const LineNotes &line, const Report &report) {
  double instructions = report.instructions;
  double share = instructions ? 100 * line.instructions / instructions : 0;
  out += "<tr><td class=number>" + std::to_string(at) + "</td>";
  out += share >= 0.05 ? "<td class=share style=\"--part:" + number(share) +
                             "%\">" + number(share) + " %</td>"
                       : "<td></td>";
  out += cell(line.bytes > 0 ? bytesText(line.bytes) : "");
  out += cell(line.requests > 0 ? ofLeast(line.sectors / line.requests,
                                          line.leastSectors / line.requests)
                                : "");
  out += cell(line.passes > 0 ? ofLeast(line.passes, line.leastPasses) : "");
  out += cell(text) + "</tr>\n";
  for (const std::string &hint : line.hints) {
    out += "<tr class=\"note hint\"><td colspan=6><div>" + escapedMarkup(hint) +
           "</div></td></tr>\n";
  }
  addDetails(out, line.decisions, "decision", "");
  addDetails(out, line.machineCode,
             report.chip.isAmd() ? "machine instruction" : "SASS instruction",
             " class=code");
}

static void addSource(std::string &out, const Report &report,
                      const SourceText &source) {
  for (const auto &[file, lines] : notesOf(report)) {
    if (file.empty() || lines.empty()) {
      continue;
    }
    uint32_t first = lines.begin()->first, last = lines.rbegin()->first;
    if (file == report.location.file && report.location.line) {
      first = std::min(first, report.location.line);
    }
    out +=
        "<h2>" + escapedMarkup(file) +
        "</h2>\n<div class=wide><table class=source><tr><th></th>"
        "<th>instructions</th><th title=\"bytes of all requests of warps, in "
        "whole sectors\">asked for</th><th title=\"of " +
        std::to_string(report.unitBytes()) +
        " bytes; in brackets "
        "how many as many bytes need, where that is less\">sectors a "
        "request (would do)</th><th title=\"through shared memory, a word "
        "of each bank at a time; in brackets how many would do\">passes "
        "(would do)</th><th></th></tr>\n";
    for (uint32_t at = first; at <= last; ++at) {
      auto found = lines.find(at);
      addLine(out, at, source(file, at),
              found == lines.end() ? LineNotes() : found->second, report);
    }
    out += "</table></div>\n";
  }
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static void addFact(std::string &out, const char *what,
                    const std::string &value) {
  out += std::string("<dt>") + what + "</dt><dd>" + escapedMarkup(value) +
         "</dd>\n";
}

static void addReport(std::string &out, const Report &report,
                      const SourceText &source) {
  const Resources &r = report.resources;
  out += "<section>\n<h1>" + escapedMarkup(report.kernel) +
         "</h1>\n<p class=soft>" + escapedMarkup(report.target) + " as of an " +
         escapedMarkup(std::string(report.chip.name)) + ", " +
         countedText(report.blocks, "program") + " of " +
         countedText(r.warpsOfBlock(), report.chip.isAmd() ? "wave" : "warp") +
         (report.simulatedBlocks < report.blocks
              ? ", from " + countedText(report.simulatedBlocks, "program")
              : "") +
         "</p>\n<dl>\n";
  if (!report.configuration.empty()) {
    addFact(out, "configuration", report.configuration);
  }
  addFact(out, "time",
          (report.noPrediction.empty()
               ? "about " + predictedText(report.predictedUs) +
                     " predicted, bound by " + name(report.bound)
               : "not predicted: " + report.noPrediction) +
              (report.measuredUs
                   ? "; " + timeText(*report.measuredUs) + " measured"
                   : ""));
  addFact(out, "memory", memoryText(report));
  addFact(out, "operations", operationsText(report));
  addFact(out, "resources", resourcesText(report));
  out += "</dl>\n";
  double longest = 0;
  for (const auto &[bound, us] : report.limits) {
    longest = std::max(longest, us);
  }
  for (const auto &[bound, us] : report.limits) {
    out += std::string("<div class=limit><span>") + name(bound) +
           "</span><span>" + timeText(us) +
           "</span><span style=\"width:" + number(100 * us / longest) +
           "%\"></span></div>\n";
  }
  out += rooflineSvg(report);
  addSource(out, report, source);
  if (!report.noMachineCode.empty()) {
    out += "<p class=\"soft made\">No machine code: " +
           escapedMarkup(report.noMachineCode) + "</p>\n";
  }
  out += "</section>\n";
}

std::string reportHtml(const Side &ours, const Side &theirs,
                       const SourceText &source, const std::string &made) {
  std::string out = "<!doctype html>\n<html lang=en>\n<head>\n<meta "
                    "charset=utf-8>\n<meta name=viewport "
                    "content=\"width=device-width, initial-scale=1\">\n"
                    "<title>" +
                    escapedMarkup(ours.launches[0].kernel) +
                    " - nereid explain</title>\n<style>" + style +
                    "</style>\n</head>\n<body>\n";
  if (!theirs.launches.empty()) {
    out += "<section>\n<h1>A: " + escapedMarkup(ours.name) +
           "</h1>\n<h1>B: " + escapedMarkup(theirs.name) +
           "</h1>\n<table class=comparison><tr><th></th><th>A</th><th>B</th>"
           "<th>B / A</th></tr>\n";
    for (const ComparisonRow &row : compare(ours, theirs)) {
      out += "<tr>" + cell(row.what) + cell(row.ours) + cell(row.theirs) +
             cell(row.ratio) + "</tr>\n";
    }
    out += "</table>\n</section>\n";
  }
  for (const Side *side : {&ours, &theirs}) {
    for (const Report &report : side->launches) {
      addReport(out, report, source);
    }
  }
  if (!made.empty()) {
    out += "<p class=\"soft made\">" + escapedMarkup(made) + "</p>\n";
  }
  return out + "</body>\n</html>\n";
}

} // namespace nereid::explain
